"""Times MinerU-HTML 1.1.2 on pickled pages, and prints JSON. html_core.py runs this script in a
separate interpreter."""

import importlib
import importlib.util
import json
import pickle
import sys
import time
import types
from pathlib import Path


def prepare() -> None:
    """Make the modules of mineru_html importable without running the package's `__init__`, which
    requires an inference engine."""
    spec = importlib.util.find_spec("mineru_html")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("mineru-html is not installed in this interpreter")
    root = Path(spec.submodule_search_locations[0])
    for package, folder in (("mineru_html", root), ("mineru_html.process", root / "process")):
        module = types.ModuleType(package)
        module.__path__ = [str(folder)]
        sys.modules[package] = module


def main(path: str) -> None:
    """Print {"mineru simplify": [seconds, …], "mineru prune": […], "mineru blocks": [number of
    blocks, …]}, with a value for each page."""
    prepare()
    simplify = importlib.import_module("mineru_html.process.simplify_html").simplify_html
    extract = importlib.import_module("mineru_html.process.map_to_main").extract_main_html
    times: dict[str, list[float]] = {"mineru simplify": [], "mineru prune": [], "mineru blocks": []}
    for html in pickle.loads(Path(path).read_bytes()):
        mapping = ""
        start = time.process_time()
        try:
            simplified, mapping = simplify(html)
            blocks = simplified.count(" _item_id=")
        except Exception:
            blocks = 0
        middle = time.process_time()
        labels = {str(k): "main" for k in range(1, blocks + 1) if 0.3 * blocks < k <= 0.7 * blocks}
        extract(mapping, labels)
        times["mineru simplify"].append(middle - start)
        times["mineru prune"].append(time.process_time() - middle)
        times["mineru blocks"].append(blocks)
    sys.stdout.write(json.dumps(times))


if __name__ == "__main__":
    main(sys.argv[1])
