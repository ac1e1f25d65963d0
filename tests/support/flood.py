"""One small page with a menu, an article and a footer, for tests of labelers that know no model."""

from dripper.html import Page
from dripper.labels import Labels

STORY = "The river rose over night, and the lower town was under water by morning. Forty houses have to be rebuilt. "
ARTICLE = (
    "<html><head><title>Flood</title></head><body><nav><a href='/'>Home</a> <a href='/n'>News</a></nav>"
    f"<article><h1>Flood in the lower town</h1><p>{STORY * 3}</p><p>{STORY.upper() * 2}</p></article>"
    "<footer>Copyright The Paper</footer></body></html>"
)


def main_text(page: Page, labels: Labels) -> str:
    """Return the text of the main blocks."""
    return " ".join(block.text for block, is_main in zip(page.blocks, labels.main, strict=True) if is_main)
