"""The README's pictures, made anew: python docs/images/make_images.py (needs Chromium and Pillow,
and nothing of the network)."""

import html
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from dripper.inspect.document import build_document  # noqa: E402
from dripper.inspect.looking import view_pages  # noqa: E402
from dripper.inspect.sources import find_pages  # noqa: E402
from dripper.page.extraction import shared_extractor  # noqa: E402
from dripper.settings import Settings  # noqa: E402
from support.chromium import Chromium  # noqa: E402

# CC-BY-4.0, see README.md there.
PAGES = ROOT / "tests" / "data" / "labelled" / "wcxb-dev" / "html"
BEFORE_AFTER = PAGES / "dev-4249.html"

FRAME = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; display: grid; grid-template: auto 1fr / 1fr 1fr; gap: 0 22px; height: 100vh; padding: 18px 22px 0;
  box-sizing: border-box; background: #eef1f4; font: 17px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1c2530; }}
h2 {{ font-size: 17px; margin: 0 0 8px; color: #55606c; font-weight: 600; }}
iframe, pre {{ border: 0; border-radius: 10px 10px 0 0; background: #fff; box-shadow: 0 2px 14px #0002; width: 100%; height: 100%;
  min-height: 0; margin: 0; overflow: hidden; box-sizing: border-box; }}
pre {{ padding: 18px 24px; font: 15px/1.55 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }}
</style><h2>The page</h2><h2>What dripper makes of it: Markdown</h2>
<iframe sandbox srcdoc="{page}"></iframe><pre>{markdown}</pre>"""
# Style sheets and pictures of the page are not stored with it.
STYLE = "<style>body{font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;margin:14px 22px}img{display:none}</style>"


def main() -> None:
    """Write both pictures beside this file."""
    folder = Path(tempfile.mkdtemp())
    settings = Settings()
    inspected = folder / "inspect.html"
    inspected.write_text(build_document(list(view_pages(find_pages([str(PAGES)], settings.reading), settings))))
    page = BEFORE_AFTER.read_text(encoding="utf-8")
    markdown = shared_extractor(settings).extract(page).markdown
    frame = folder / "frame.html"
    frame.write_text(FRAME.format(page=html.escape(page + STYLE), markdown=html.escape(markdown)))
    browser = Chromium(folder, 1400, 860)
    browser.call("Network.setBlockedURLs", urls=["http://*", "https://*"])
    browser.open(inspected)
    browser.wait("screen.content !== null")
    for _ in range(2):
        browser.press("d")
    save(browser, "inspect")
    browser.open(frame)
    save(browser, "before_after")
    browser.close()


def save(browser: Chromium, name: str) -> None:
    """Keep what is seen in 256 colours: a third of the bytes, and no difference to the eye."""
    taken = Path(tempfile.mkdtemp()) / "taken.png"
    browser.screenshot(taken)
    picture = Image.open(io.BytesIO(taken.read_bytes())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(Path(__file__).parent / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
