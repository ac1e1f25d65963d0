"""A recipe and its repositories give a data set; missing pages are counted by reason."""

import gzip
import json
import subprocess
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

from dripper.errors import InputError
from dripper_lab.annotate import main
from dripper_lab.annotation.answers import answer_of
from dripper_lab.annotation.collecting import collect, read_recipe, unpack_page
from dripper_lab.datasets import DATA_SETS, Role, names_with, read_pages
from dripper_lab.kept_out import host_in, lines_of, read_kept_out

SHARED_DATA = Path(__file__).parents[4] / "shared" / "data"
PAGE = (
    b"<html><body><nav><a href='/'>Home</a></nav>"
    b"<article><h1>Boats</h1><p>A boat of wood, found in a lake.</p></article></body></html>"
)
MHTML = (
    b"From: <Saved by a browser>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n"
    b"--x\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>a =3D b</p>\r\n--x--\r\n"
)


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, str]:
    """A folder with one repository, and its commit."""
    repository = tmp_path / "clones" / "somebody+pages"
    (repository / "html").mkdir(parents=True)
    (repository / "html" / "a.html").write_bytes(PAGE)
    (repository / "html" / "b.html.gz").write_bytes(gzip.compress(PAGE))

    def git(*arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", "-C", str(repository), *who, *arguments], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "pages")
    return repository.parent, git("rev-parse", "HEAD")


def row(commit: str, number: int, **fields: object) -> dict[str, object]:
    return {
        "id": f"w{number}", "repository": "github:somebody/pages", "commit": commit, "path": "html/a.html",
        "licence": "MIT", "html_sha256": sha256(PAGE).hexdigest(), "url": f"https://e.org/{number}", "host": "e.org",
        "n_blocks": 3, "kind": "article", "main": "2-3", "sure": 3,
    } | fields  # fmt: skip


def test_a_recipe_gives_a_data_set(clones: tuple[Path, str], tmp_path: Path) -> None:
    folder, commit = clones
    rows = [row(commit, 1), row(commit, 2, path="html/b.html.gz"), row(commit, 3, main="")]
    made = collect(rows, folder, tmp_path / "set")
    assert (made.written, made.left_out) == (3, {})
    pages = list(read_pages(tmp_path, "set"))
    assert [page.id for page in pages] == ["w1", "w2"]
    assert {page.truth_text for page in pages} == {"Boats\nA boat of wood, found in a lake."}
    assert {page.page_type for page in pages} == {"article"}
    assert [page.id for page in read_pages(tmp_path, "set", empty=True)] == ["w1", "w2", "w3"]


def test_a_recipe_gives_a_training_set(clones: tuple[Path, str], tmp_path: Path) -> None:
    folder, commit = clones
    rows = [row(commit, 1, kind="service", second={"kind": "service", "main": "3"}), row(commit, 2, main="")]
    collect(rows, folder, tmp_path / "unlabelled-web-training")
    assert names_with(Role.TRAIN_SHIPS, folder=tmp_path) == ["unlabelled-web-training"]
    (page,) = read_pages(tmp_path, "unlabelled-web-training")
    assert (page.page_type, page.host, page.more["main_blocks"]) == ("service", "e.org", "2-3")
    assert (page.more["page_type_second"], page.more["main_blocks_second"]) == ("service", "3")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"repository": "github:somebody/else"}, "no clone of somebody/else"),
        ({"path": "html/gone.html"}, "somebody/pages has no such file at that commit"),
        ({"commit": "0" * 40}, "somebody/pages has no such file at that commit"),
        ({"html_sha256": "0" * 64}, "the page is another one than was labelled"),
        ({"n_blocks": 4}, "it has other blocks now than when it was labelled"),
    ],
)
def test_what_cannot_be_had_is_counted(
    clones: tuple[Path, str], tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    folder, commit = clones
    made = collect([row(commit, 1), row(commit, 2) | change], folder, tmp_path / "set")
    assert (made.written, made.left_out) == (1, {reason: 1})
    with pytest.raises(InputError, match=f"no page of the recipe can be had .*{reason}"):
        collect([row(commit, 2) | change], folder, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_the_command_says_what_is_missing(
    clones: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, commit = clones
    recipe = tmp_path / "recipe.jsonl"
    rows = [row(commit, 1), row(commit, 2, path="x.html"), row(commit, 3)]
    del rows[2]["main"]
    recipe.write_text("".join(json.dumps(each) + "\n" for each in rows))
    assert main(["collect", str(recipe), "--clones", str(folder), "--out", str(tmp_path / "set")]) == 3
    said = capsys.readouterr().out
    assert said == (
        f"1 page written to {tmp_path / 'set'}\n1 left out: somebody/pages has no such file at that commit\n"
    )
    assert main(["collect", "no-such", "--clones", str(folder), "--out", str(tmp_path / "other")]) == 2


def test_pages_are_unpacked() -> None:
    assert unpack_page("a.mhtml", MHTML) == b"<p>a = b</p>"
    assert unpack_page("a.mhtml", b"nothing") is None
    assert unpack_page("a.gz", b"nothing") is None
    assert unpack_page("a.html", PAGE) == PAGE


def test_the_recipes_of_the_package_are_known_sets() -> None:
    training, evaluation = read_recipe("web_kinds_2_training"), read_recipe("web_kinds_2_evaluation")
    assert (len(training), len(evaluation)) == (861, 131)
    assert not {row["host"] for row in training} & {row["host"] for row in evaluation}
    assert {DATA_SETS[name].role for name in ("web-kinds-2", "web-kinds-3")} == {Role.TRAIN_SHIPS}
    assert DATA_SETS["web-kinds-2-evaluation"].role == Role.EVALUATION
    with pytest.raises(
        InputError,
        match="one of unlabelled_web_training, web_kinds_2_evaluation, web_kinds_2_training, web_kinds_3_training",
    ):
        read_recipe("nothing")


@pytest.mark.parametrize(
    ("recipe", "pages", "read_twice"), [("unlabelled_web_training", 455, 160), ("web_kinds_3_training", 300, 72)]
)
def test_a_recipe_is_labelled_in_form_and_of_no_evaluation(recipe: str, pages: int, read_twice: int) -> None:
    rows = read_recipe(recipe)
    assert len(rows) == pages
    for each in rows:
        answer_of(each, each["n_blocks"], each["id"])
        if "second" in each:
            answer_of(each["second"] | {"sure": 3}, each["n_blocks"], each["id"])
    assert sum("second" in each for each in rows) == read_twice
    assert not {each["host"] for each in rows} & {each["host"] for each in read_recipe("web_kinds_2_evaluation")} - {
        None
    }


@pytest.mark.skipif(not (SHARED_DATA / "kept_out.txt").is_file(), reason="needs ../shared/data/kept_out.txt")
def test_no_recipe_has_a_page_or_host_that_is_kept_out() -> None:
    kept_out, n_rows = read_kept_out(SHARED_DATA), 0
    for recipe in (files("dripper_lab") / "recipes").iterdir():
        if recipe.name.endswith(".jsonl") and recipe.name != "wrong_truths.jsonl":
            rows = [json.loads(line) for line in recipe.read_text(encoding="utf-8").splitlines()]
            found = [row for row in rows if lines_of(row["html_sha256"], row["host"], host_in(row["url"])) & kept_out]
            assert not found, recipe.name
            n_rows += len(rows)
    assert kept_out
    assert n_rows > 1_000


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", "../a"), ("repository", "https://e.org/a"), ("commit", "--help"), ("path", "-x"), ("html_sha256", None)],
)
def test_rows_out_of_form_are_refused(tmp_path: Path, field: str, value: object) -> None:
    recipe = tmp_path / "recipe.jsonl"
    recipe.write_text(json.dumps(row("0" * 40, 1)) + "\n" + json.dumps(row("0" * 40, 2) | {field: value}))
    with pytest.raises(InputError, match=f"row 2 has no usable {field}"):
        read_recipe(str(recipe))
