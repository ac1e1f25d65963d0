"""A made run, and one in which every text is an attack."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from dripper.spark.reports.account import FileFacts, PageFacts, RunFacts

START = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)
EVIL = "<script>alert(1)</script>\"'&${policy}"


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


RUN = {
    "run_id": "ab" * 16,
    "state": "ended",
    "exit_code": 4,
    "holder": "node7 9f/pid:[1] 77 12",
    "started_at": START,
    "ended_at": at(100),
    "job": "run",
    "input": "s3://crawl/warc/",
    "settings": '{"labeler": {"name": "cpu"}}',
    "versions": {"dripper": "0.1.0", "spark": "4.0.2"},
    "files": 3,
    "records": 60,
    "pages": 40,
    "failed_pages": 2,
    "skipped": {"not html": 15, "status": 5},
    "errors": {"empty_page": 1, "time_limit": 1},
    "stage_ms": {"extract": 95000},
    "complaints": ["1 file does not exist, s3://crawl/warc/9.warc.gz; if that is known, say so"],
}
FILES = [
    FileFacts("s3://crawl/warc/1.warc.gz", "done", 1, 10, 0, 5_000_000, finished_at=at(40), task_ms=20_000),
    FileFacts(
        "s3://crawl/warc/2.warc.gz", "done", 1, 20, 2, 9_000_000, n_problems=3, finished_at=at(40), task_ms=70_000
    ),
    FileFacts("s3://crawl/warc/3.warc.gz", "done", 2, 10, 0, 4_000_000, finished_at=at(90), task_ms=18_000),
]
SLOW = [PageFacts("https://example.org/slow", "s3://crawl/warc/2.warc.gz", 77, "time_limit", "20 s", 900_000, 20_100)]
FACTS = RunFacts(
    "s3a://bucket/out", RUN, FILES, SLOW, SLOW, {"cpu": 36, "fallback:body": 2}, {"en": 30, "unknown": 8}, 0.04
)


def evil_facts() -> RunFacts:
    """The facts of a run that puts markup wherever a text can be."""
    run = RUN | {"run_id": EVIL, "input": EVIL, "state": EVIL, "settings": EVIL, "complaints": [EVIL], "holder": EVIL}
    run |= {"versions": {EVIL: EVIL}, "errors": {EVIL: 1}, "skipped": {EVIL: 20}, "stage_ms": {EVIL: 5}}
    files = [replace(file, warc_file=EVIL, error=EVIL, error_kind=EVIL, state=EVIL) for file in FILES]
    pages = [PageFacts(EVIL, EVIL, 1, EVIL, EVIL, 1, 1)]
    doubtful = [PageFacts(EVIL, EVIL, 1, page_id=EVIL, page_kind=EVIL, confidence=0.1)]
    return RunFacts(
        EVIL,
        run,
        files,
        pages,
        pages,
        {EVIL: 1},
        {EVIL: 1},
        kinds={EVIL: 1},
        confidences={2: 1},
        doubtful_pages=doubtful,
    )
