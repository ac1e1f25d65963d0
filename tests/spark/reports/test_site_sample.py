"""What `--dry-run` says of sites, from real archives."""

from pathlib import Path

from dripper.labels.config import load
from dripper.spark.reports.sample import read_pages
from dripper.spark.reports.site_sample import sites_summary
from dripper.spark.tables.batches import PlannedFile
from support.warcs import pages, write_warc

SITES = load(assignments=["sites.enabled=true"])


def told_of(*files: Path) -> str:
    return sites_summary(read_pages([PlannedFile(str(file)) for file in files], SITES), SITES)


def test_pages_that_share_their_host_are_counted_and_labels_that_would_change(tmp_path: Path) -> None:
    frame = "<div class=story><p>{}</p><p>{}</p><p>The museum lends its rooms to friends of old ships.</p></div>"
    words = ("ferry left the pier at noon and nobody waved", "tug came home in the rain with a broken mast")
    stories = [
        (f"http://a.org/{i}", frame.format(f"The {i} {words[0]}.", f"A {i} {words[1]}.").encode()) for i in "abcde"
    ]
    file = write_warc(
        tmp_path / "a.warc", [*stories, ("http://b.org/", b"<p>One page."), ("http://b.org/e", b"<html></html>")]
    )
    told = told_of(file).splitlines()
    assert told[0].startswith("sites     5 of 6 pages of a sample share their host with another, labels of ")
    assert told[1].startswith("  kept    about ")


def test_without_pages_there_is_no_estimate(tmp_path: Path) -> None:
    assert told_of() == ""
    alone = write_warc(tmp_path / "a.warc", pages(1, 1))
    assert "0 of 1 pages of a sample share their host" in told_of(alone)
    assert "no estimate" in told_of(tmp_path / "missing.warc")
