"""Estimates for `--dry-run` what site memory would do, by a few pages of the input that are
labelled on the driver."""

from collections import defaultdict
from contextlib import closing

from dripper.addresses import host_name
from dripper.errors import PageError
from dripper.guard import Guard, GuardLimits
from dripper.labels import Labels
from dripper.page.prepare import Prepared, prepare
from dripper.settings import Settings
from dripper.sites import PageBlocks, SiteStatistics, relabel
from dripper.spark.reports.sample import PagesRead
from dripper.spark.sites.labels import LEAST_PAGES
from dripper.spark.workers.read import PageInput, warm_labeler
from dripper.spark.workers.routing import who_labels

_BLOCK_BYTES = 24
"""Kept of a block in `pages`, uncompressed: two hashes, its words, its probability."""


def sites_summary(pages_read: PagesRead, settings: Settings) -> str:
    """Return what the hosts of a sample would change, as a line for a person; "" where there is
    nothing to do."""
    if not pages_read.files:
        return ""
    by_host: dict[str, list[tuple[PageBlocks, Labels]]] = defaultdict(list)
    with closing(_guard(settings)) as guard:
        for _, records in pages_read.files:
            for record in records:
                host = host_name(record.url)
                if host is None or record.error_code is not None:
                    continue
                try:
                    page = guard.call((record.payload, record.content_type, record.url))
                except PageError:
                    continue
                if page.memory is not None and page.labels is not None:
                    by_host[host].append((page.memory.blocks, page.labels))
    return sites_words(list(by_host.values()))


def sites_words(hosts: list[list[tuple[PageBlocks, Labels]]]) -> str:
    """Return what hosts change, each given as the pages it keeps and their labels.

    >>> sites_words([])
    'sites     no estimate: the sample has no page with text\\n'
    """
    n_pages = sum(map(len, hosts))
    if not n_pages:
        return "sites     no estimate: the sample has no page with text\n"
    large = [pages for pages in hosts if len(pages) >= LEAST_PAGES]
    changed = n_blocks = 0
    for pages in hosts:
        site = SiteStatistics.of(page for page, _ in pages)
        changed += sum(relabel(page, labels, site) is not labels for page, labels in pages)
        n_blocks += sum(len(page.words) for page, _ in pages)
    shared = sum(map(len, large))
    return (
        f"sites     {shared} of {n_pages} pages of a sample share their host with another, labels of {changed} would change; "
        f"with more pages of a host read, more do\n"
        f"  kept    about {_BLOCK_BYTES * n_blocks / n_pages:,.0f} bytes a page, uncompressed\n"
    )


def _guard(settings: Settings) -> Guard[PageInput, Prepared]:
    first = who_labels(settings)[0] or settings.labeler
    labeler = warm_labeler(first, settings.labels)
    return Guard(
        lambda page: prepare(
            page[0], page[1], settings.profile, first=labeler, remembers=True, drop=settings.html.drop
        ),
        GuardLimits.of(settings.limits),
    )
