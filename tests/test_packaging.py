"""The files around the code: the bundle, the notebook's form, the pins, the preflight."""

import ast
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import dripper
from dripper.labels.config import load
from dripper.labels.registry import check_blocks

ROOT = Path(__file__).parents[1]
RESOURCES = sorted((ROOT / "conf/databricks").glob("*.yml"))
JOBS = [file for file in RESOURCES if file.stem != "schemas"]
OPTION = re.compile(r"^( *)# ((?:policy_id|instance_profile_arn|spark_env_vars|trigger): .*)$", re.MULTILINE)
"""A line of the bundle that people switch on by removing the comment sign."""


def test_the_bundle_fits_its_schema(shared: Path, tmp_path: Path) -> None:
    """By default, and with every option turned on. One process checks all files."""
    files = [ROOT / "databricks.yml", *RESOURCES]
    for file in files:
        (tmp_path / file.name).write_text(switch_on(file.read_text()))
    check_schema(shared, *files, *tmp_path.glob("*.yml"))


def switch_on(text: str) -> str:
    return OPTION.sub(r"\1\2", text)


def check_schema(shared: Path, *files: Path) -> None:
    """The schema is Databricks' own and not ours to copy; Python's jsonschema stumbles over its
    patterns."""
    schema = shared / "data" / "databricks_bundle_schema_v1.13.0.json"
    checker = str(Path(sys.executable).parent / "check-jsonschema")
    command = [checker, "--schemafile", str(schema), *map(str, files)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_the_schema_check_can_fail(shared: Path, tmp_path: Path) -> None:
    wrong = (ROOT / "conf/databricks/extract_main_content.yml").read_text().replace("max_workers", "max_wrkers")
    (tmp_path / "wrong.yml").write_text(wrong)
    with pytest.raises(AssertionError, match="max_wrkers"):
        check_schema(shared, tmp_path / "wrong.yml")


def read_bundle() -> dict[str, Any]:
    """Return the bundle with every option switched on and all its resources."""
    bundle: dict[str, Any] = yaml.safe_load(switch_on((ROOT / "databricks.yml").read_text()))
    for file in RESOURCES:
        for kind, found in yaml.safe_load(switch_on(file.read_text()))["resources"].items():
            bundle.setdefault("resources", {}).setdefault(kind, {}).update(found)
    return bundle


def test_a_run_that_hangs_ends_and_a_long_one_is_reported() -> None:
    for name, job in read_bundle()["resources"]["jobs"].items():
        assert job["timeout_seconds"], name
        (rule,) = job["health"]["rules"]
        assert (rule["metric"], rule["op"]) == ("RUN_DURATION_SECONDS", "GREATER_THAN")
        assert job["email_notifications"]["on_duration_warning_threshold_exceeded"] == ["${var.notify}"], name
    variables = read_bundle()["variables"]
    assert variables["warning_seconds"]["default"] < variables["longest_seconds"]["default"] < 24 * 3600


def test_schemas_and_volumes_come_with_their_grants() -> None:
    bundle = read_bundle()
    made = bundle["resources"]
    assert made["schemas"].keys() == {"tables", "staged_tables", "serverless_tables"}
    assert made["volumes"].keys() == {"warcs", "models", "prompts"}
    for resource in (*made["schemas"].values(), *made["volumes"].values()):
        granted = {each["principal"]: each["privileges"] for each in resource["grants"]}
        assert granted["${var.service_principal}"]
        assert resource["lifecycle"] == {"prevent_destroy": "${var.keeps_tables}"}
    outputs = {
        next(each["default"] for each in job["parameters"] if each["name"] == "output") for job in made["jobs"].values()
    }
    assert outputs == {f"${{var.catalog}}.${{resources.schemas.{name}.name}}" for name in made["schemas"]}
    kept = {name: target["variables"].get("keeps_tables", False) for name, target in bundle["targets"].items()}
    assert kept == {name: name.startswith("prod") for name in kept}


def test_every_cluster_may_have_a_policy_and_on_aws_rights_for_s3() -> None:
    bundle = read_bundle()
    for name, target in bundle["targets"].items():
        for job in target["resources"]["jobs"].values():
            for cluster in job["job_clusters"]:
                assert cluster["new_cluster"]["policy_id"] == "${var.policy_id}", name
                if aws := cluster["new_cluster"].get("aws_attributes"):
                    assert aws["instance_profile_arn"] == "${var.instance_profile_arn}"
                    assert "DATABRICKS_DEFAULT_SERVICE_CREDENTIAL_NAME" in cluster["new_cluster"]["spark_env_vars"]
    jobs = bundle["resources"]["jobs"]
    clusters = {
        each["job_cluster_key"]: each["new_cluster"] for job in jobs.values() for each in job.get("job_clusters", [])
    }
    assert clusters["gpu"]["policy_id"] == "${var.policy_id}"
    assert {each["data_security_mode"] for each in clusters.values()} == {"DATA_SECURITY_MODE_DEDICATED"}
    assert jobs["extract_main_content"]["trigger"]["file_arrival"]["url"] == "${var.arrival_url}"
    serverless = jobs["extract_main_content_serverless"]
    assert serverless["performance_target"] == "${var.performance_target}"
    assert serverless["environments"][0]["spec"]["environment_version"] == "${var.environment_version}"


@pytest.mark.parametrize("resource", JOBS, ids=lambda file: file.stem)
def test_the_bundle_names_files_variables_and_flags_that_exist(resource: Path) -> None:
    bundle = yaml.safe_load((ROOT / "databricks.yml").read_text())
    text = resource.read_text()
    assert set(re.findall(r"\$\{var\.(\w+)\}", text)) <= set(bundle["variables"])
    (job,) = yaml.safe_load(text)["resources"]["jobs"].values()
    clusters = {cluster["job_cluster_key"] for cluster in job.get("job_clusters", [])}
    environments = {each["environment_key"] for each in job.get("environments", [])}
    parameters = {parameter["name"] for parameter in job["parameters"]}
    assert set(re.findall(r"\{\{job\.parameters\.(\w+)\}\}", text)) == parameters
    for task in job["tasks"]:
        assert (task.get("job_cluster_key") in clusters) != (task.get("environment_key") in environments)
        for library in task.get("libraries", []):
            assert "requirements" not in library or (resource.parent / library["requirements"]).is_file()
        main = (resource.parent / task["spark_python_task"]["python_file"]).resolve()
        assert main.parent == ROOT / "jobs"
        usage = subprocess.run([sys.executable, str(main), "--help"], capture_output=True, text=True, check=True).stdout
        for flag in task["spark_python_task"]["parameters"]:
            if flag.startswith("--"):
                assert flag in usage


def jobs_of_the_bundle() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for resource in JOBS:
        found |= yaml.safe_load(resource.read_text())["resources"]["jobs"]
    return found


def test_every_variable_has_a_value_in_every_target_and_is_used() -> None:
    bundle = yaml.safe_load((ROOT / "databricks.yml").read_text())
    without = {name for name, variable in bundle["variables"].items() if "default" not in variable}
    for name, target in bundle["targets"].items():
        assert without <= set(target["variables"]) <= set(bundle["variables"]), name
    used = "".join(file.read_text() for file in (ROOT / "databricks.yml", *RESOURCES))
    assert {name for name in bundle["variables"] if f"${{var.{name}}}" not in used} == set()


CLOUDS = {"": "aws", "_azure": "azure", "_gcp": "gcp"}


@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize("kind", ["dev", "prod"])
def test_a_target_has_the_machines_of_its_cloud_and_no_others(kind: str, cloud: str) -> None:
    """A driver that is not reclaimed, on every cluster that may have others on spot."""
    bundle = yaml.safe_load((ROOT / "databricks.yml").read_text())
    target = bundle["targets"][kind + cloud]
    assert target["mode"] == {"dev": "development", "prod": "production"}[kind]
    assert target.get("default", False) == (kind + cloud == "dev")
    scaled = {
        name: {cluster["job_cluster_key"] for cluster in job["job_clusters"] if "autoscale" in cluster["new_cluster"]}
        for name, job in jobs_of_the_bundle().items()
        if "job_clusters" in job
    }
    for name, keys in scaled.items():
        found = {
            each["job_cluster_key"]: each["new_cluster"] for each in target["resources"]["jobs"][name]["job_clusters"]
        }
        assert found.keys() == keys
        for cluster in found.values():
            ((attributes, values),) = cluster.items()
            assert attributes == f"{CLOUDS[cloud]}_attributes"
            assert values["first_on_demand"] == 1
    nodes = {"node_type_id", "gpu_node_type_id"}
    assert nodes.isdisjoint(target["variables"]) if not cloud else nodes <= set(target["variables"])


def test_in_production_the_jobs_run_as_nobody_in_person_and_others_may_look() -> None:
    bundle = yaml.safe_load((ROOT / "databricks.yml").read_text())
    for name, target in bundle["targets"].items():
        if target["mode"] == "production":
            assert target["run_as"] == {"service_principal_name": "${var.service_principal}"}, name
            assert {each["level"] for each in target["permissions"]} == {"CAN_MANAGE", "CAN_RUN", "CAN_VIEW"}, name


def test_every_job_tells_of_failures_and_is_tagged_and_repeats_no_wrong_usage() -> None:
    """Databricks would retry a task for every exit code; `--tries` does it only for 3."""
    for name, job in jobs_of_the_bundle().items():
        assert job["email_notifications"]["on_failure"] == ["${var.notify}"], name
        assert job["tags"].keys() == {"project", "target", "cost_center"}, name
        for task in job["tasks"]:
            key = (name, task["task_key"])
            assert task["max_retries"] == 0, key
            is_maintenance = task["spark_python_task"]["python_file"].endswith("maintain.py")
            assert ("--tries" in task["spark_python_task"]["parameters"]) != is_maintenance, key
            # A run succeeds if its last tasks succeed, so tasks with followers must report their
            # own failures.
            assert len(job["tasks"]) == 1 or task["email_notifications"]["on_failure"] == ["${var.notify}"], key


def test_what_is_extracted_is_published_and_maintained() -> None:
    for name in ("extract_main_content", "extract_main_content_staged"):
        last = jobs_of_the_bundle()[name]["tasks"][-1]
        assert (last["task_key"], last["depends_on"], last["run_if"]) == (
            "publish",
            [{"task_key": "extract"}],
            "ALL_DONE",
        )
        assert "--publish" in last["spark_python_task"]["parameters"]
        assert {"quartz_cron_expression", "timezone_id", "pause_status"} <= jobs_of_the_bundle()[name][
            "schedule"
        ].keys()


def test_the_staged_job_splits_pages_as_its_checkpoint_reads_them() -> None:
    """The defaults fit: otherwise the task `label` would refuse the output of `preprocess`."""
    variables = yaml.safe_load((ROOT / "databricks.yml").read_text())["variables"]
    job = jobs_of_the_bundle()["extract_main_content_staged"]
    parameters = {each["name"]: each["default"] for each in job["parameters"]}
    assert {name: parameters[name] for name in ("model", "profile", "prompt_folder")} == {
        name: f"${{var.{name}}}" for name in ("model", "profile", "prompt_folder")
    }
    flags = {task["task_key"]: task["spark_python_task"]["parameters"] for task in job["tasks"]}
    assert "profile={{job.parameters.profile}}" in flags["preprocess"]
    assert "labels.lm.prompt_folder={{job.parameters.prompt_folder}}" in flags["label"]
    model = f"opendatalab/{Path(variables['model']['default']).name}"
    settings = load(assignments=["labeler.name=lm", f"labels.lm.model={model}"])
    check_blocks(settings.labeler, settings.labels, variables["profile"]["default"])


@pytest.mark.parametrize("labeler", ["lm", "encoder"])
def test_the_settings_that_bundles_give_exist(labeler: str) -> None:
    for resource in RESOURCES:
        for assignment in re.findall(r"--set\n\s+- (\S+)", resource.read_text()):
            for reference, value in {
                "${var.gpu_workers}": "2",
                "${var.gpu_batch_files}": "2",
                "{{job.parameters.profile}}": "mineru-1.1",
                "{{job.parameters.crawl}}": "",
                "{{job.parameters.labeler}}": labeler,
            }.items():
                assignment = assignment.replace(reference, value)
            load(assignments=[assignment])


def test_the_staged_job_labels_on_gpus_alone() -> None:
    jobs = yaml.safe_load((ROOT / "conf/databricks/extract_main_content_staged.yml").read_text())["resources"]["jobs"]
    tasks = {task["task_key"]: task for task in jobs["extract_main_content_staged"]["tasks"]}
    assert {key: task["job_cluster_key"] for key, task in tasks.items()} == {
        "preprocess": "cpu",
        "label": "gpu",
        "extract": "cpu",
        "publish": "cpu",
    }
    before = {key: [wait["task_key"] for wait in task.get("depends_on", [])] for key, task in tasks.items()}
    assert before == {"preprocess": [], "label": ["preprocess"], "extract": ["label"], "publish": ["extract"]}


@pytest.mark.parametrize("resource", JOBS, ids=lambda file: file.stem)
def test_one_run_at_a_time(resource: Path) -> None:
    (job,) = yaml.safe_load(resource.read_text())["resources"]["jobs"].values()
    assert job["max_concurrent_runs"] == 1


def test_every_dependency_is_pinned(setup_py: dict[str, Any]) -> None:
    pinned = {
        re.split(r"==", line)[0].lower().replace("_", "-")
        for line in (ROOT / "conf/constraints.txt").read_text().splitlines()
        if "==" in line
    }
    # Except for the extras encoder and gpu, because each GPU needs its own builds.
    lists = ("RUN", "WARC", "INSPECT", "CLUSTER", "SPARK", "TEST", "TRAIN", "EVAL", "BENCH", "LM", "DOCS")
    needed = {normal(each) for name in lists for each in setup_py[name]}
    assert len(needed) > 20
    assert needed - pinned == set()


def test_the_lock_has_hashes_and_the_same_versions(setup_py: dict[str, Any]) -> None:
    """`make lock` adds missing packages."""
    entries = re.split(r"\n(?=[a-z])", (ROOT / "conf/lock.txt").read_text())[1:]
    locked = {}
    for entry in entries:
        head, *hashes = re.sub(r"\\\n", "", entry).split("--hash=")
        (pin,) = Requirement(head).specifier
        assert pin.operator == "=="
        assert hashes, head
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each.strip()) for each in hashes), head
        locked[normal(head)] = pin.version
    pins = dict(line.split("==") for line in (ROOT / "conf/constraints.txt").read_text().splitlines() if "==" in line)
    versions = {normal(name): version for name, version in pins.items()}
    assert {name: version for name, version in locked.items() if versions.get(name, version) != version} == {}
    needed = {normal(each) for name in ("RUN", "WARC", "INSPECT", "CLUSTER", "SPARK", "LM") for each in setup_py[name]}
    assert needed - set(locked) == set()


SAFE = {"jinja2": "3.1.6", "urllib3": "2.7"}
"""The first versions without the holes that matter here: a template that leaves its sandbox, an
answer that is inflated without a limit."""


def test_no_extra_allows_a_version_with_a_hole_and_no_pin_is_below_a_floor(setup_py: dict[str, Any]) -> None:
    pins = dict(line.split("==") for line in (ROOT / "conf/constraints.txt").read_text().splitlines() if "==" in line)
    pinned = {normal(name): Version(version) for name, version in pins.items()}
    lists = [each for name, each in setup_py.items() if isinstance(each, list) and name != "C_FLAGS"]
    needed = [Requirement(text) for each in lists for text in each]
    assert {normal(one.name) for one in needed} >= set(SAFE)
    for one in needed:
        name = normal(one.name)
        assert name not in pinned or pinned[name] in one.specifier, one
        if name in SAFE:
            floor = min(Version(bound.version) for bound in one.specifier if bound.operator == ">=")
            assert floor >= Version(SAFE[name]), one


def test_html2text_has_an_extra_of_its_own(setup_py: dict[str, Any]) -> None:
    """It is under the GPL, so it is never installed with another extra."""
    others = (
        "RUN",
        "WARC",
        "PARQUET",
        "INSPECT",
        "MINERU",
        "MINERU_1_0",
        "TRAFILATURA",
        "CLUSTER",
        "SPARK",
        "LM",
        "ENCODER",
        "GPU",
    )
    assert [normal(each) for each in setup_py["HTML2TEXT"]] == ["html2text"]
    assert not any(normal(each) == "html2text" for name in others for each in setup_py[name])
    assert "`html2text` brings html2text" in (ROOT / "docs/licences.md").read_text().replace("\n", " ")
    assert "| `html2text` |" in (ROOT / "docs/install.md").read_text()


def wheel_built(folder: Path, **environment: str) -> tuple[str, list[str]]:
    """Build the package's wheel; return its name, and the names of the files in it."""
    # A copy, because the next build would reuse `build` and files compiled in place.
    source = shutil.copytree(
        ROOT, folder / "source", ignore=shutil.ignore_patterns(".*", "build", "tests", "*.so", "*.egg-info")
    )
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(source),
    ]
    subprocess.run(build, check=True, capture_output=True, cwd=folder, env=os.environ | environment)
    (wheel,) = folder.glob("*.whl")
    return wheel.name, zipfile.ZipFile(wheel).namelist()


@pytest.mark.slow
def test_a_wheel_of_nothing_compiled_runs_everywhere(tmp_path: Path) -> None:
    name, files = wheel_built(tmp_path, DRIPPER_COMPILE="0")
    assert name == f"dripper_spark-{dripper.__version__}-py3-none-any.whl"
    for part in (
        "dripper/py.typed",
        "dripper/spark/log4j2.properties",
        "dripper/standalone.css",
        "dripper/spark/reports/account/assets/account.css",
        "dripper/labels/cpu/cpu_weights.npz",
        "dripper_labelers/web2text/web2text_weights.npz",
        "licenses/LICENSE",
    ):
        assert any(file.endswith(part) for file in files), part
    assert [file for file in files if "tests/" in file or "dripper_lab/" in file or file.endswith((".so", ".c"))] == []


@pytest.mark.slow
def test_what_is_written_in_c_is_compiled_where_there_is_a_compiler(setup_py: dict[str, Any], tmp_path: Path) -> None:
    for compiler, there in (
        (os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc"), True),
        ("false", False),
    ):
        if compiler is None:
            pytest.skip("no C compiler on this machine")
        (tmp_path / str(there)).mkdir()
        _, files = wheel_built(tmp_path / str(there), DRIPPER_COMPILE="", CC=compiler)
        compiled = {re.sub(r"\..*", "", file) for file in files if file.endswith((".so", ".pyd"))}
        assert compiled == ({f"dripper/{name}" for name in setup_py["WRITTEN_IN_C"]} if there else set())


def test_a_wrong_wish_to_compile_says_what_can_be_wished() -> None:
    told = subprocess.run(
        [sys.executable, str(ROOT / "setup.py"), "--name"],
        env=os.environ | {"DRIPPER_COMPILE": "yes"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    assert told.stderr.splitlines()[-1] == "DRIPPER_COMPILE must be 0 or 1, or not set; it is 'yes'"


@pytest.mark.slow
def test_insisting_on_c_without_a_compiler_fails(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        wheel_built(tmp_path, DRIPPER_COMPILE="1", CC="false")


def fake(folder: Path, name: str, says: str, stream: int = 1) -> None:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\ncase \"$1\" in -c) exit 1;; esac\necho '{says}' >&{stream}\n")
    program.chmod(0o755)


def preflight(**environment: str) -> "subprocess.CompletedProcess[str]":
    base = {"PATH": os.environ["PATH"]}
    command = ["/bin/sh", str(ROOT / "conf/preflight.sh")]
    return subprocess.run(command, capture_output=True, text=True, env=base | environment, check=False)


def test_preflight_finds_a_fitting_python() -> None:
    told = preflight(PYTHON=sys.executable)
    assert (told.returncode, told.stdout.strip()) == (0, sys.executable), told.stderr


def test_preflight_names_the_wrong_python(tmp_path: Path) -> None:
    fake(tmp_path / "bin", "python3", "Python 3.9.2")
    told = preflight(PYTHON=str(tmp_path / "bin" / "python3"))
    assert told.returncode == 1
    assert "Python 3.11, 3.12 or 3.13 is needed; found: Python 3.9.2" in told.stderr


@pytest.mark.parametrize(("version", "words"), [("11.0.2", "is Java 11"), ("25.0.1", "is Java 25")])
def test_preflight_names_the_wrong_java(tmp_path: Path, version: str, words: str) -> None:
    (tmp_path / "jdk").mkdir()
    fake(tmp_path / "jdk" / "bin", "java", f'openjdk version "{version}"', stream=2)
    told = preflight(PYTHON=sys.executable, JAVA_HOME=str(tmp_path / "jdk"))
    assert told.returncode == 1
    assert words in told.stderr


def test_preflight_names_missing_java(tmp_path: Path) -> None:
    told = preflight(PYTHON=sys.executable, JAVA_HOME=str(tmp_path))
    assert told.returncode == 1
    assert "Java 17 or 21 is needed, none found at JAVA_HOME=" in told.stderr


def test_the_notebook_is_stored_with_outputs_that_name_no_machine() -> None:
    text = (ROOT / "notebooks/tour.ipynb").read_text()
    code = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [number for number, cell in enumerate(code) if cell["outputs"]] == list(range(1, len(code) - 1))
    kinds = {output["output_type"] for cell in code for output in cell["outputs"]}
    assert kinds == {"execute_result", "display_data"}
    shown = ["".join(output["data"].get("text/html", "")) for cell in code for output in cell["outputs"]]
    assert [text for text in shown if "<table>" in text and "<td" not in text] == []
    assert str(ROOT) not in text
    assert not re.search(r"(file://|[\" ])/(home|root|work|tmp|Users)/", text)


EXTRAS = {
    "dripper/adapters": ["DATATROVE", "NEMO", "RAY", "LANGCHAIN", "LLAMA_INDEX", "HAYSTACK", "SCRAPY"],
    "dripper/decode": ["WARC"],
    "dripper/warc": ["WARC"],
    "dripper/warc/index/columnar": ["PARQUET"],
    "dripper/local/output": ["PARQUET"],
    "dripper/local/tables": ["PARQUET"],
    "dripper/blocks/profiles/mineru": ["MINERU_1_0"],
    "dripper/labels/align": ["TRAFILATURA"],
    "dripper/labels/fallback": ["TRAFILATURA"],
    "dripper/labels/lm": ["LM", "GPU"],
    "dripper/labels/torch_device": ["ENCODER"],
    "dripper/page/rows": ["WARC"],
    "dripper/spark": ["SPARK"],
    "dripper/eval": ["EVAL"],
    "dripper_labelers": ["ENCODER"],
    "dripper_labelers/reader": ["READER"],
    "dripper_lab": ["TRAIN", "EVAL"],
    "dripper_lab/spark": ["SPARK"],
    "dripper_lab/train/command_line": ["ENCODER"],
    "dripper_lab/train/descent": ["ENCODER"],
    "dripper_lab/train/progress": ["ENCODER"],
    "dripper_lab/train/encoder": ["ENCODER"],
    "dripper_lab/train/reader": ["TRAIN_READER"],
    "dripper_lab/train/lm": ["ENCODER"],
    "dripper_lab/gpu_check": ["ENCODER"],
    "dripper_lab/train/neuscraper": ["ENCODER"],
}
"""Packages that parts of the library may import in addition to those of every installation."""
NAMED_OTHERWISE = {"llama_index": ["llama-index-core"], "haystack": ["haystack-ai"]}
"""Packages that this environment lacks, by the imported name."""


def test_every_import_is_declared(setup_py: dict[str, Any]) -> None:
    """A package that is installed by chance, or by another extra, must not be missing elsewhere."""
    providers = NAMED_OTHERWISE | dict(packages_distributions())
    missing = set()
    for module in (ROOT / "lib").rglob("*.py"):
        path = module.relative_to(ROOT / "lib").as_posix()
        extras = [
            extra for part, names in EXTRAS.items() if path.startswith((f"{part}/", f"{part}.")) for extra in names
        ]
        allowed = {normal(each) for name in ["RUN", *extras] for each in setup_py[name]}
        for name in third_party(ast.parse(module.read_text(encoding="utf-8"))):
            if allowed.isdisjoint(map(normal, providers.get(name, [name]))):
                missing.add(f"{path}: {name}")
    assert missing == set()


def test_databricks_installs_pinned_packages(setup_py: dict[str, Any]) -> None:
    make = runpy.run_path(str(ROOT / "conf/make_requirements.py"))
    files = make["make_files"](setup_py)
    assert {name: (ROOT / "conf/databricks" / name).read_text() for name in files} == files
    lines = {Requirement(line).name: line for line in files["requirements.txt"].splitlines() if line[0] != "#"}
    named = {Requirement(each).name for each in (*setup_py["RUN"], *setup_py["CLUSTER"])}
    assert {normal(name) for name in named} <= {normal(name) for name in lines}
    locked = make["read_pins"]("lock.txt")
    for name, line in lines.items():
        version = line.partition("==")[2]
        assert not version or locked[normal(name)].removesuffix("\\").strip().endswith(f"=={version}"), line
    pins = make["read_pins"]("vllm-gpu.txt")
    for each in map(Requirement, (*setup_py["GPU"], *setup_py["ENCODER"])):
        if each.name in pins:
            assert each.specifier.contains(pins[each.name].partition("==")[2])
            assert pins[each.name] in files["requirements-gpu.txt"]
    assert "extras=${3:-cluster}" in (ROOT / "conf/emr/bootstrap.sh").read_text()


def normal(requirement: str) -> str:
    """Return the name in a requirement, as PyPI compares names."""
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-")


def third_party(module: ast.Module) -> set[str]:
    """Return the packages that a module imports when it runs, anywhere in it, without the standard
    library and this package."""
    nodes = list(ast.walk(module))
    checks = [node for node in nodes if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for_types = {child for check in checks for child in ast.walk(check)}
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import) and node not in for_types:
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node not in for_types:
            names.add((node.module or "").split(".")[0])
    return names - sys.stdlib_module_names - {"dripper", "dripper_labelers", "dripper_lab"}
