"""The labeler around a decoder that is a rule: windows, counts, failures."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from dripper.errors import ErrorCode, MachineError, PageError
from dripper.html import preprocess
from dripper.labels.base import Labels, SimplifiedPage
from dripper.labels.fallback import AllLabeler
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.checkpoint import Checkpoint
from dripper.labels.lm.decoder import DecodedLabels
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.form_check import FormCheck, Rival
from dripper.labels.lm.labeler import DECODERS, LmLabeler
from dripper.labels.lm.prompt import Prompt
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.template import Templates


class Characters:
    """A tokenizer of characters, as `ChatTokenizer` looks to the encoder; labels are single
    tokens."""

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text.replace("main", "\1").replace("other", "\2")]

    def count(self, text: str) -> int:
        return len(self.encode(text))

    def prompt_ids(self, prompt: str) -> list[int]:
        return self.encode(prompt)

    def without_specials(self, html: str) -> str:
        return html


class Rule:
    """Every block with an odd number in its window is main, with its number as the margin."""

    def __init__(self) -> None:
        self.form_check: FormCheck | None = None
        self.calls: list[int] = []
        self.drafts: list[Sequence[bool] | None] = []
        self.fails: Exception | None = None
        self.closed = False

    def decode(self, jobs: Iterable[Job]) -> list[DecodedLabels]:
        jobs = list(jobs)
        self.drafts = [job.draft for job in jobs]
        self.calls.append(len(jobs))
        if self.fails:
            raise self.fails
        numbers = [np.arange(1, job.n_blocks + 1) for job in jobs]
        return [
            DecodedLabels(each % 2 == 1, each.astype(float), 3, len(job.prompt_ids))
            for each, job in zip(numbers, jobs, strict=True)
        ]

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def rule() -> Rule:
    return Rule()


@pytest.fixture
def labeler(rule: Rule, tmp_path) -> LmLabeler:  # type: ignore[no-untyped-def]
    checkpoint = Checkpoint("rule", tmp_path, "RuleForCausalLM", 600, "rule@0")
    tokenizer = Characters()
    templates = Templates(FORMS["compact"], tokenizer.encode)
    encoder = PageEncoder(checkpoint, tokenizer, Prompt("own", "Label: "), templates, LmSettings())  # type: ignore[arg-type]
    return LmLabeler(encoder, rule)


def page(n_blocks: int, size: int = 1) -> SimplifiedPage:
    blocks = "".join(f'<p _item_id="{item}">{"x" * size}</p>' for item in range(1, n_blocks + 1))
    return SimplifiedPage(f"<html><body>{blocks}</body></html>", n_blocks)


def test_pages_get_their_own_labels_in_order(labeler: LmLabeler, rule: Rule) -> None:
    labels = labeler.label_simplified([page(3), page(0), page(1), page(5)])
    assert [one.main.tolist() for one in labels] == [[True, False, True], [], [True], [True, False, True, False, True]]
    assert [(one.passes, one.windows) for one in labels] == [(3, 1), (0, 1), (3, 1), (3, 1)]
    assert labels[2].probability.tolist() == [pytest.approx(1 / (1 + np.exp(-1)))]
    assert labels[0].main.dtype == bool
    assert labels[0].probability.dtype == np.float32
    assert rule.calls == [3]


def test_a_long_page_is_windowed_and_each_block_labelled_once(labeler: LmLabeler) -> None:
    (labels,) = labeler.label_simplified([page(30, size=40)])
    assert labels.windows > 1
    assert labels.passes == 3 * labels.windows
    assert len(labels.main) == len(labels.probability) == 30
    assert labels.main[0]


def test_a_page_object_gives_the_same_as_its_simplified_html(labeler: LmLabeler) -> None:
    made = preprocess("<body><p>One</p><p>Two</p><h2>Three</h2></body>")
    (ours,) = labeler.label([made])
    (theirs,) = labeler.label_simplified([SimplifiedPage.of(made)])
    assert ours.main.tolist() == theirs.main.tolist() == [True, False, True]


def test_a_draft_goes_with_the_windows_of_its_page(labeler: LmLabeler, rule: Rule) -> None:
    whole, long = page(3), page(30, size=40)
    draft = [block % 4 == 0 for block in range(30)]
    drafts = [Labels.certain(np.array(main)) for main in ([True, False, True], draft)]
    pages = [replace(page, draft=draft) for page, draft in zip((whole, long), drafts, strict=True)]
    (_, labels) = labeler.label_simplified(pages)
    assert rule.drafts[0] == [True, False, True]
    windows = labeler.encoder.windows(long)
    assert rule.drafts[1:] == [draft[window.start : window.end] for window in windows]
    assert labels.windows == len(windows) > 1
    labeler.label_simplified([whole])
    assert rule.drafts == [None]


def test_whole_pages_are_drafted_by_another_labeler(labeler: LmLabeler, rule: Rule) -> None:
    made = preprocess("<body><p>One</p><p>Two</p><h2>Three</h2></body>")
    labeler.label([made])
    assert rule.drafts == [None]
    drafted = LmLabeler(labeler.encoder, rule, AllLabeler())
    assert drafted.label([made])[0].main.tolist() == [True, False, True]
    assert rule.drafts == [[True, True, True]]


def test_a_page_that_fits_is_tokenized_once(labeler: LmLabeler, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = list[str]()
    encode = labeler.encoder.tokenizer.encode
    monkeypatch.setattr(labeler.encoder.tokenizer, "encode", lambda text: texts.append(text) or encode(text))
    labeler.label_simplified([page(4), page(2)])
    assert sum("_item_id" in text for text in texts) == 2


def test_nothing_is_asked_for_nothing(labeler: LmLabeler, rule: Rule) -> None:
    assert labeler.label([]) == []
    assert len(labeler.label_simplified([page(0)])[0].main) == 0
    assert rule.calls == []


def test_stats_add_up(labeler: LmLabeler) -> None:
    labels = labeler.label_simplified([page(3), page(2)]) + labeler.label_simplified([page(30, size=40)])
    stats = labeler.stats()
    windows = sum(one.windows for one in labels)
    assert (stats["pages"], stats["blocks"], stats["windows"], stats["passes"]) == (3, 35, windows, 3 * windows)
    assert stats["tokens"] > 30 * 40
    assert stats["seconds"] >= 0


@pytest.mark.parametrize(
    ("fails", "words"),
    [
        (RuntimeError("engine is out of memory"), "labeler_failed: RuntimeError: engine is out of memory"),
        (PageError(ErrorCode.LABELER_FAILED, "no answer"), "labeler_failed: no answer"),
    ],
)
def test_what_stops_a_page_is_a_page_error(labeler: LmLabeler, rule: Rule, fails: Exception, words: str) -> None:
    rule.fails = fails
    with pytest.raises(PageError) as caught:
        labeler.label_simplified([page(1)])
    assert str(caught.value) == words
    rule.fails = None
    assert labeler.label_simplified([page(1)])[0].main.tolist() == [True]


def test_what_stops_all_pages_is_not_a_page_error(labeler: LmLabeler, rule: Rule) -> None:
    rule.fails = MachineError("the server is gone")
    with pytest.raises(MachineError):
        labeler.label_simplified([page(1)])


def test_its_name_version_and_end(labeler: LmLabeler, rule: Rule) -> None:
    assert labeler.name == "lm"
    assert labeler.version == f"rule@0/{Prompt('own', 'Label: ').version}/compact"
    labeler.close()
    assert rule.closed


def test_every_setting_of_the_decoder_has_one() -> None:
    assert set(DECODERS) == set(LmSettings.model_fields["decoder"].annotation.__args__)  # type: ignore[union-attr]
    assert LmSettings.model_validate({}).decoder in DECODERS


def test_what_the_form_check_says_is_the_labelers_to_tell(rule: Rule, labeler: LmLabeler) -> None:
    assert labeler.warnings == {}
    rule.form_check = FormCheck("rule@0", "compact", [Rival("json", 0, 1, 5)], pages=1)
    assert labeler.warnings == {}
    rule.form_check.add({"json": 3.0})
    assert labeler.warnings == {"labels.lm.answer": rule.form_check.warning}
    assert "rather begin to write json" in rule.form_check.warning
