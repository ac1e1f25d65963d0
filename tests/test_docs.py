"""The documents describe the tables correctly, and their SQL, Python and commands run unchanged."""

import csv
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dripper.errors import ErrorCode, FileErrorKind
from dripper.labels import Labels, SimplifiedPage
from dripper.labels.config import load
from dripper.labels.fallback import Fallback
from dripper.warc.read.record import FLAGS, SKIP_REASONS
from support.job_mains import job
from support.warcs import page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
TABLES_MD = "".join(
    page.read_text() for page in (ROOT / "docs" / "tables.md", *sorted((ROOT / "docs" / "tables").glob("*.md")))
)


def section(title: str) -> str:
    """Return the text under a heading of the pages on tables that begins with `title`."""
    behind = re.split(rf"^##+ {re.escape(title)}", TABLES_MD, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split("^##+ ", behind, maxsplit=1, flags=re.MULTILINE)[0]


STRUCT = re.compile(r"^(array<)?struct<(.*)>(?(1)>)$")
"""The type of a struct, in a list or not, and its fields, which are below the table."""


def shown(kind: str) -> str:
    """Return a type as the documents show it: Markdown would take `<` for a tag."""
    short = STRUCT.sub(lambda found: "array<struct>" if found[1] else "struct", kind)
    return f"`{short}`" if "<" in short else short


def first_cells(text: str) -> set[str]:
    """Return the code words in the first cells of a table."""
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return {word for row in rows for word in re.findall("`([^`]+)`", row)}


def test_every_column_stands_there_with_its_comment() -> None:
    from dripper.spark.tables.schemas import TABLES

    for name, (schema, comment) in TABLES.items():
        known = TABLES["extractions"][0].names if name == "published" else ()
        own = [field for field in schema if field.name not in known]
        types = {f.name: f.dataType.simpleString() for f in own}
        rows = [f"| `{f.name}` | {shown(types[f.name])} | {f.metadata['comment']} |" for f in own]
        assert f"{comment}.\n" in section(f"`{name}`"), name
        assert "\n".join(["| column | type | holds |", "|---|---|---|", *rows]) in section(f"`{name}`"), name
        words = " ".join(section(f"`{name}`").split())
        for column, fields in ((each, STRUCT.search(kind)) for each, kind in types.items()):
            assert not fields or f"- `{column}`: `{fields[2].replace(':', ' ').replace(',', ', ')}`" in words, column
    assert set(re.findall(r"^## `(\w+)`", TABLES_MD, re.MULTILINE)) == TABLES.keys()


def test_every_value_of_a_closed_list_is_explained_and_no_other() -> None:
    assert first_cells(section("Why there is no extraction")) == {code.value for code in ErrorCode}
    assert first_cells(section("What was skipped")) == set(SKIP_REASONS)
    assert first_cells(section("What was odd")) == set(FLAGS)
    decided = section("Who decided")
    assert set(re.findall(r"`fallback:(\w+)`", decided)) == {value.value for value in Fallback}


def fenced(file: str, language: str) -> list[str]:
    """Return the blocks of a document that are in a language, in their order."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / file).read_text(), re.DOTALL)


def statements(text: str) -> list[str]:
    """Return SQL statements."""
    return [statement.strip() for statement in text.split(";") if statement.strip()]


@pytest.fixture(scope="module")
def clone(spark: "SparkSession", sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with all files of the examples, and the tables of a run. Relative paths start there,
    also Spark's."""
    from dripper.settings import Settings
    from dripper.spark.run.run import run
    from dripper.spark.tables.schemas import TABLES
    from dripper.spark.tables.store import Tables

    folder = tmp_path_factory.mktemp("clone")
    (folder / "tests").symlink_to(ROOT / "tests")
    (folder / "page.html").write_bytes(page(7)[1])
    (folder / "page.html.gz").write_bytes(gzip.compress(page(8)[1]))
    for place in ("saved", "more"):
        (folder / place).mkdir()
        (folder / place / "one.html").write_bytes(page(9)[1])
    (folder / "list.txt").write_text("more/one.html\n")
    with (folder / "pages.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("url", "html"), (page(3)[0], page(3)[1].decode())])
    shutil.copy(sample / "world.warc.gz", folder / "crawl.warc.gz")
    run(spark, str(folder / "crawl.warc.gz"), str(folder / "out"), Settings())
    tables = Tables(spark, str(folder / "out"))
    for table in TABLES:
        if not tables.exists(table):
            tables.create(table)
    spark.createDataFrame([page(1), page(2)], "url string, html binary").write.parquet(str(folder / "pages"))
    java = spark._jvm
    files = java.org.apache.hadoop.fs.FileSystem.get(java.java.net.URI("file:///"), spark._jsc.hadoopConfiguration())
    before = files.getWorkingDirectory()
    files.setWorkingDirectory(java.org.apache.hadoop.fs.Path(str(folder)))
    spark.sql("SET output=out")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder
    files.setWorkingDirectory(before)
    spark.sql("RESET output")
    for table in (*TABLES, "block_labels"):
        spark.catalog.dropTempView(table)


def views_of(output: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["sh", str(ROOT / "conf/views.sh"), output], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_every_table_has_a_view_and_one_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    from dripper.spark.tables.schemas import TABLES

    def names(output: str) -> set[str]:
        return set(re.findall(r"VIEW (\w+) USING delta OPTIONS \(path '\$\{output\}/\1'\);", views_of(output).stdout))

    assert names("s3a://bucket/out") == TABLES.keys()
    assert "VIEW block_labels AS" in views_of("s3a://bucket/out").stdout
    missing = views_of(str(tmp_path))
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("there are no tables in")
    there = {"warc_files", "extractions", "published"}
    for table in there:
        (tmp_path / table / "_delta_log").mkdir(parents=True)
    assert names(str(tmp_path)) == there
    assert "block_labels" not in views_of(str(tmp_path)).stdout


@pytest.mark.spark
def test_labels_are_had_block_by_block(spark: "SparkSession", clone: Path) -> None:
    (view,) = (each for each in statements((ROOT / "conf/views.sql").read_text()) if "block_labels" in each)
    blocks = [("p", 1, [1, 2]), ("q", 1, [1])]
    labels = [("p", 1, [True, False], [0.75, 0.25]), ("q", 1, None, None)]
    spark.createDataFrame(blocks, "page_id string, batch long, item_ids array<int>").createOrReplaceTempView("blocks")
    columns = "page_id string, batch long, main array<boolean>, probability array<float>"
    spark.createDataFrame(labels, columns).createOrReplaceTempView("labels")
    spark.sql(view)
    told = [tuple(row) for row in spark.sql("SELECT * FROM block_labels ORDER BY item_id").collect()]
    for name in ("blocks", "labels"):
        spark.catalog.dropTempView(name)
    assert told == [("p", 1, True, 0.75), ("p", 2, False, 0.25)]


@pytest.mark.spark
def test_the_recipes_count_what_they_say(spark: "SparkSession", clone: Path) -> None:
    recipes = re.findall(r"```sql\n(.*?)```", section("Recipes"), re.DOTALL)
    compare, export, came, changed = [one for block in recipes for one in statements(block) if "published" not in one][
        :4
    ]
    columns = "url string, host string, crawl string, text_sha256 string, fetched_at timestamp, page_id string, error_code string"
    more = ", markdown string, markdown_chars bigint, language string, title string, batch bigint"
    now, before = datetime.now(UTC), datetime(2025, 1, 1, tzinfo=UTC)
    pages = {"a": ("x", "x"), "b": ("x", "y"), "c": ("z", None), "d": (None, "w")}
    rows = [
        (f"http://h/{name}", "h", crawl, text, at, f"{crawl} {name}", None, text * 60, 60, "en", name, number)
        for name, texts in pages.items()
        for crawl, text, at, number in zip(
            ("harbours 2025", "harbours 2026"), texts, (before, now), (1, 2), strict=True
        )
        if text
    ]
    spark.createDataFrame(rows, columns + more).createOrReplaceTempView("extractions")
    spark.createDataFrame([(1, before), (2, now)], "batch bigint, finished_at timestamp").createOrReplaceTempView(
        "warc_files"
    )
    compared = {row["change"]: row["pages"] for row in spark.sql(compare).collect()}
    assert compared == {"same": 1, "changed": 1, "gone": 1, "new": 1}
    spark.sql(export)
    parts = [gzip.decompress(file.read_bytes()) for file in (clone / "training").glob("*.json.gz")]
    lines = [json.loads(line) for part in parts for line in part.splitlines()]
    assert {line["id"]: line["url"][-1] for line in lines} == {"x": "a", "y": "b", "z": "c", "w": "d"}
    assert len(lines) == 4
    assert sorted(row["title"] for row in spark.sql(came).collect()) == ["a", "b", "d"]
    assert [(row["url"], row["text_before"]) for row in spark.sql(changed).collect()] == [("http://h/b", "x")]


@pytest.mark.spark
@pytest.mark.parametrize(
    "file",
    ["README.md", "docs/tables.md", "docs/tables/extractions.md", "docs/tables/published.md", "docs/operations.md"],
)
def test_the_sql_of_the_documents_runs_as_it_stands(spark: "SparkSession", clone: Path, file: str) -> None:
    views = statements((ROOT / "conf/views.sql").read_text())
    asked = [statement for block in fenced(file, "sql") for statement in statements(block)]
    # The other queries are for `make sql`; docs/tables.md makes the views itself.
    rows = [spark.sql(each).collect() for each in (asked if file == "docs/tables.md" else (*views, *asked))]
    assert asked
    if file == "README.md":
        assert all(rows[len(views) :])


@pytest.mark.spark
@pytest.mark.parametrize(
    ("file", "told"), [("README.md", "language: string"), ("docs/tables.md", "example.org"), ("docs/spark.md", "")]
)
def test_the_python_over_tables_runs_as_it_stands(
    spark: "SparkSession", clone: Path, capfd: pytest.CaptureFixture[str], file: str, told: str
) -> None:
    names: dict[str, Any] = {"spark": spark}
    # Of docs/tables.md the rest keeps a stream up to date: tests/spark/upkeep/test_publish.py.
    ours = [block for block in fenced(file, "python") if "DeltaTable(" in block or "dripper.spark" in block]
    for block in ours:
        exec(
            block.replace(
                "pages = spark.read", "spark.read.parquet('pages').createOrReplaceTempView('pages')\npages = spark.read"
            ),
            names,
        )
    if "extracted" in names:
        spark.catalog.dropTempView("pages")
        assert "harbour at noon" in names["extracted"].first()["extraction"]["markdown"]
    assert ours
    assert told in capfd.readouterr().out


def commands(document: Path) -> list[str]:
    """Return the commands of a document's shell blocks, each on one line."""
    found = "".join(re.findall(r"^```(?:sh|bash)\n(.*?)```", document.read_text(), re.DOTALL | re.MULTILINE))
    lines = found.replace("\\\n", " ").splitlines()
    # The labeler `longest` is there in tests/labels/test_own_labeler.py; `encoder`, `neuscraper`
    # and `reader` need PyTorch and a checkpoint, which their own tests make.
    elsewhere = re.compile("longest|^dripper .*(encoder|neuscraper|reader)")
    return [line for line in lines if line.strip() and not elsewhere.search(line)]


DOCUMENTS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
COMMANDS = {document: commands(document) for document in DOCUMENTS}
WORDS = [shlex.split(command, comments=True) for of_one in COMMANDS.values() for command in of_one]
JOBS = [words for words in WORDS if words[1:] and words[1].startswith("jobs/")]


def test_every_command_of_the_documents_is_of_a_kind_that_is_tried() -> None:
    # Targets of `make` are looked up below; `annotate` and one's own data sets have separate tests.
    known = {
        "dripper",
        "curl",
        "spark-submit",
        "python",
        "python3",
        "make",
        "pip",
        ".",
        "tar",
        "DRIPPER_COMPILE=1",
        ".ci/run",
        "git",
    }
    assert {words[0] for words in WORDS} <= known
    assert len(JOBS) >= 8
    for words in WORDS:
        if words[:2] == ["python", "-m"]:
            assert find_spec(words[2]), words
        elif words[0] in ("python", "spark-submit"):
            script = (ROOT / words[1]).read_text()
            flags = {word for word in words if word.startswith("--")}
            assert words in JOBS or {flag for flag in flags if f'"{flag}"' not in script} == set(), words


@pytest.mark.spark
@pytest.mark.parametrize(
    "document",
    [each for each, of_one in COMMANDS.items() if "dripper " in "".join(of_one)],
    ids=lambda document: document.name,
)
def test_the_commands_of_the_documents_run_as_they_stand(clone: Path, document: Path) -> None:
    ours = [command for command in COMMANDS[document] if command.startswith(("dripper ", "curl "))]
    script = "\n".join(["set -e", "curl() { cat page.html; }", *ours])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "lib")}
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, cwd=clone, env=environment
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", JOBS, ids=" ".join)
def test_the_jobs_of_the_documents_understand_their_flags(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    from dripper.spark import cli

    class UnderstoodError(Exception):
        """All flags and settings are known, and a session is requested."""

    def session(settings: object) -> None:
        raise UnderstoodError

    monkeypatch.setattr(cli, "session", session)
    with pytest.raises(UnderstoodError):
        job(Path(words[1]).stem).main(words[2:])


def test_the_page_of_the_readme_gives_what_stands_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    command, (python, *_), (told, printed) = (fenced("README.md", language) for language in ("sh", "python", "text"))
    (extract,) = [block for block in command if block.startswith("dripper extract tests/data")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        extract, shell=True, capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, "PATH": path}
    )
    assert done.stdout == told
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        exec(python, {})
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("file", ["docs/python.md", "docs/metadata.md", "docs/labeler_cpu.md", "docs/labeler_vote.md"])
def test_the_python_of_the_documents_runs(monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for block in fenced(file, "python"):
        exec(block, names)


def test_the_layouts_of_a_pipeline_of_ones_own() -> None:
    """Curator's way with our functions: of seven pages of a host the engine labels two."""
    (block,) = (block for block in fenced("docs/coming_from.md", "python") if "choose_representatives" in block)
    asked = list[SimplifiedPage]()

    class Engine:
        def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
            """Label headings of stories as other, unlike `cpu` for some of them."""
            asked.extend(pages)
            parts = [re.split(r' _item_id="', page.simplified_html)[1:] for page in pages]
            return [Labels.certain(np.array(["Story" in part for part in one])) for one in parts]

    stories = [f"<p>Story {n} of the harbour at noon, as told by {n} of its {n + 7} sailors.</p>" for n in range(6)]
    frame = (
        "<div class=nav><a href=/>Home</a></div><div class=story><h2>Told {0}</h2>{1}</div><div class=end>Imprint</div>"
    )
    htmls = [frame.format(n, story * (1 + n % 3)) for n, story in enumerate(stories)]
    names: dict[str, Any] = {"htmls": [*htmls, "<form><ul><li>Other<li>frame</ul></form>"], "engine": Engine()}
    exec(block, names)
    assert len(asked) == 2
    assert [html.count("Story") for html in names["main_htmls"]] == [*(1 + n % 3 for n in range(6)), 0]
    own = names["cpu"].label(names["pages"])
    by_template = [n for n, one in enumerate(names["labels"]) if one.main.sum() < own[n].main.sum()]
    assert by_template == [2, 5]
    assert not any("Told" in html or "Imprint" in html for html in names["main_htmls"])


def test_the_readme_is_short_and_names_what_there_is() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 120
    assert [line for line in lines if len(line) > 100] == []
    makefile = (ROOT / "Makefile").read_text()
    for document in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"(?:^|`)make ([a-z-]+)(?=`|\s*$|\s+#| [A-Z]+=)", document.read_text(), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (document.name, target)


def test_no_recipe_takes_hosts_from_addresses() -> None:
    """`parse_url` gives null for some hosts, and raises for some addresses."""
    for file in (*(ROOT / "docs").rglob("*.md"), *(ROOT / "conf").glob("*.sql"), *(ROOT / "notebooks").iterdir()):
        assert not re.search(r"(?<!try_)parse_url *\(", file.read_text(encoding="utf-8")), file


def test_links_between_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)", document.read_text()):
            assert target.startswith("http") or (document.parent / target).exists(), (document.name, target)


def test_operations_explain_every_state_of_a_file_and_why_it_failed() -> None:
    from dripper.spark.ledger.ledger import CRASHED
    from dripper.spark.ledger.plan import FINISHED, UNFINISHED

    text = (
        (ROOT / "docs/operations.md")
        .read_text()
        .split("\n## What to do for each state of a file", 1)[1]
        .split("\n## ", 1)[0]
    )
    states, kinds = text.split("| `error_kind` |")
    assert first_cells(states) == {*UNFINISHED, *FINISHED}
    assert first_cells(kinds) == {*FileErrorKind, CRASHED}


def test_the_settings_that_operations_name_exist() -> None:
    words = set(
        re.findall(r"`((?:batch|limits|labeler|reading|stages)\.\w+)`", (ROOT / "docs/operations.md").read_text())
    )
    settings = load().model_dump()
    assert {"batch.files", "limits.page_memory_bytes"} <= words
    assert {word for word in words if word.split(".")[1] not in settings[word.split(".")[0]]} == set()
