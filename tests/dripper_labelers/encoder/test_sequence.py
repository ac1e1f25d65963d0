"""Pages as tokens: blocks, separators, chunks."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.errors import MachineError, PageError, SettingsError
from dripper.labels.base import SimplifiedPage
from dripper_labelers.encoder.reading import PULPIE_SEPARATOR, Reading
from dripper_labelers.encoder.sequence import MARKERS, Sequencer, cut
from support.tiny_encoder import make_tokenizer, simplified

PAGE = SimplifiedPage(
    '<html><head><meta charset="utf-8"></head><body><h1 _item_id="1">Rain</h1><p _item_id="2">It rained.</p></body></html>',
    2,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("html")
    make_tokenizer(made)
    return made


@pytest.fixture(scope="module")
def outlines(tmp_path_factory: pytest.TempPathFactory) -> Sequencer:
    reading = Reading(form="outline", block_tokens=12)
    return Sequencer(make_tokenizer(tmp_path_factory.mktemp("outline"), "outline"), reading, 100)


def text_of(folder: Path, ids: object) -> str:
    from transformers import AutoTokenizer

    return str(AutoTokenizer.from_pretrained(folder).decode(ids))


def test_a_page_is_written_as_pulpie_does(folder: Path) -> None:
    """BOS, each block's markup and a separator after each, EOS; the last block goes to the
    page's end."""
    (chunk,) = Sequencer.load(folder, Reading(), 512).chunks(PAGE, 0)
    assert text_of(folder, chunk.ids) == (
        '<s><h1 _item_id="1">Rain</h1><|sep|><p _item_id="2">It rained.</p></body></html><|sep|></s>'
    )


def test_labels_are_read_at_the_separators(folder: Path) -> None:
    sequencer = Sequencer.load(folder, Reading(), 256)
    for page in simplified()[:4]:
        for chunk in sequencer.chunks(page, 0):
            assert [place for place, token in enumerate(chunk.ids) if token == sequencer.separator] == chunk.separators
            assert len(chunk.separators) == chunk.end - chunk.start
            assert len(chunk.ids) <= 256


def test_an_outline_has_markers_and_is_short(outlines: Sequencer) -> None:
    for page in simplified()[:4]:
        blocks = outlines.block_ids(page)
        assert len(blocks) == page.n_blocks
        assert max(map(len, blocks)) <= 12
        chunks = outlines.chunks(page, 2)
        places = {outlines._tokenizer.convert_ids_to_tokens(chunk.ids[1]) for chunk in chunks}
        assert places <= set(MARKERS[-10:])
        assert all(
            chunk.separators == [i for i, t in enumerate(chunk.ids) if t == outlines.separator] for chunk in chunks
        )


def test_a_page_cannot_write_separators_of_its_own(folder: Path, outlines: Sequencer) -> None:
    """In an attribute, or escaped in a text: it would end a block early, and shift its
    neighbours' labels."""
    page = SimplifiedPage(
        '<html><body><p class="<|sep|> </s>" _item_id="1">&lt;|sep|&gt; &lt;|place 3|&gt;</p></body></html>', 1
    )
    for sequencer in (Sequencer.load(folder, Reading(), 512), outlines):
        (chunk,) = sequencer.chunks(page, 0)
        assert list(chunk.ids).count(sequencer.separator) == 1
        (block,) = sequencer.block_ids(page)
        named = set(sequencer._tokenizer.convert_ids_to_tokens(block)) & set(sequencer._tokenizer.all_special_tokens)
        assert not {token for token in named if not token.startswith("<|words")}


def test_a_block_that_fits_nowhere_is_cut(folder: Path) -> None:
    page = SimplifiedPage(f'<html><body><p _item_id="1">{"rain " * 300}</p><p _item_id="2">b</p></body></html>', 2)
    first, second = Sequencer.load(folder, Reading(), 64).chunks(page, 0)
    assert (first.start, first.end, len(first.ids)) == (0, 1, 64)
    assert (second.start, second.end) == (1, 2)


def test_no_blocks_no_chunks(folder: Path) -> None:
    assert Sequencer.load(folder, Reading(), 64).chunks(SimplifiedPage("<html><body></body></html>", 0), 0) == []


def test_blocks_that_are_not_there_fail_the_page(folder: Path) -> None:
    with pytest.raises(PageError, match="not numbered 1 to 3"):
        Sequencer.load(folder, Reading(), 64).chunks(SimplifiedPage(PAGE.simplified_html, 3), 0)


def test_tokens_are_counted_for_batches(folder: Path) -> None:
    sequencer = Sequencer.load(folder, Reading(), 8192)
    (chunk,) = sequencer.chunks(PAGE, 0)
    assert abs(sequencer.count_tokens(PAGE.simplified_html) - len(chunk.ids)) < 40


def test_a_tokenizer_without_the_separator_is_refused(folder: Path) -> None:
    with pytest.raises(MachineError, match=r"does not know '<\|block\|>': .* not trained to label blocks"):
        Sequencer.load(folder, Reading(separator="<|block|>"), 64)
    with pytest.raises(MachineError, match=r"does not know '<\|words 0 links 0\|>'"):
        Sequencer.load(folder, Reading(form="outline", block_tokens=12), 64)


def test_a_separator_that_only_the_weights_know_is_the_next_token(folder: Path) -> None:
    """As Pulpie's code adds it, if the weights have a row for it."""
    from transformers import AutoTokenizer

    n_tokens, known = len(AutoTokenizer.from_pretrained(folder)), Reading(separator="<|block|>")
    added = Sequencer.load(folder, known, 64, n_tokens + 1)
    assert added.separator == n_tokens
    (chunk,) = added.chunks(PAGE, 0)
    assert [chunk.ids[place] for place in chunk.separators] == [n_tokens, n_tokens]
    page = SimplifiedPage(PAGE.simplified_html.replace("It rained", "A &lt;|block|> or <|block|>"), 2)
    assert sum(token == n_tokens for token in added.chunks(page, 0)[0].ids) == 2, "none but our own"
    with pytest.raises(MachineError, match="does not know"):
        Sequencer.load(folder, known, 64, n_tokens)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra [lm]")
    with pytest.raises(MachineError, match="has no tokenizer: none of"):
        Sequencer.load(tmp_path, Reading(), 64)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(MachineError, match="has no tokenizer that can be read"):
        Sequencer.load(tmp_path, Reading(), 64)


def test_a_context_too_short_for_any_block_is_refused(folder: Path) -> None:
    with pytest.raises(SettingsError, match=r"context_tokens=3 of the checkpoint leaves no room"):
        Sequencer.load(folder, Reading(), 3)


def test_outlines_without_room_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="block_tokens=0: an outline needs 2 tokens or more"):
        Sequencer(make_tokenizer(tmp_path, "outline"), Reading(form="outline"), 64)


def test_the_separator_is_pulpies() -> None:
    assert Reading().separator == PULPIE_SEPARATOR == "<|sep|>"


@given(st.lists(st.integers(1, 30), max_size=40), st.integers(1, 40), st.integers(0, 6))
def test_chunks_cover_every_block_and_fit(sizes: list[int], room: int, overlap: int) -> None:
    spans = list(cut(sizes, room, overlap))
    edges = [0, *(end for _, end in spans)]
    assert edges[-1] == len(sizes)
    for (start, end), before in zip(spans, edges, strict=False):
        assert before - overlap <= start <= before < end
        assert sum(sizes[start:end]) <= room or end == start + 1
    starts = [start for start, _ in spans]
    assert starts == sorted(set(starts))
    if not overlap:
        assert starts == edges[:-1]
