"""The state machine: parsing its output, and its effect on logits."""

from types import SimpleNamespace

import numpy as np
import pytest

from dripper.errors import PageError
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.fsm_rules import HOLE, Machine, check_arguments, machine_of
from dripper.labels.lm.generating import PROCESSORS, follow
from dripper.labels.lm.server import allowed_tokens
from dripper.labels.lm.template import Templates


def encode(text: str) -> list[int]:
    return [int(character, 16) for character in text.replace("main", "a").replace("other", "b")]


TEMPLATES = Templates(FORMS["compact"], encode)
ARGUMENTS = {"dripper_answer": [1, HOLE, 2, HOLE], "dripper_labels": [10, 11]}


def test_an_answer_is_followed() -> None:
    assert follow(np.array([1, 10, 2, 11]), TEMPLATES.of(2), TEMPLATES).tolist() == [True, False]


@pytest.mark.parametrize("written", [[], [1, 10, 2], [1, 10, 3, 11], [1, 9, 2, 11]])
def test_an_answer_that_left_the_template_fails_the_page(written: list[int]) -> None:
    with pytest.raises(PageError, match=f"{len(written)} tokens that are not an answer for 2 blocks"):
        follow(np.array(written), TEMPLATES.of(2), TEMPLATES)


def test_requests_of_others_are_left_alone() -> None:
    assert machine_of(None) is None
    assert machine_of({"theirs": 1}) is None
    check_arguments({"theirs": 1})


def test_a_request_of_ours() -> None:
    assert machine_of(ARGUMENTS) == Machine([1, HOLE, 2, HOLE], 10, 11)
    check_arguments(ARGUMENTS)


@pytest.mark.parametrize(
    "change", [{"dripper_labels": [10]}, {"dripper_labels": None}, {"dripper_answer": []}], ids=["one", "none", "empty"]
)
def test_a_request_that_cannot_be_followed_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="dripper_answer"):
        check_arguments(ARGUMENTS | change)


@pytest.mark.parametrize(
    ("written", "margin_of_main", "left"),
    [(0, 9.0, 1), (1, 0.1, 10), (1, 0.0, 11), (1, -3.0, 11), (2, 9.0, 2), (3, 0.6, 10), (99, 0.6, 10)],
)
def test_one_token_is_left(written: int, margin_of_main: float, left: int) -> None:
    torch = pytest.importorskip("torch", reason="needs torch: make test-vllm installs it")
    logits = torch.linspace(1, 2, 20)
    logits[10] = logits[11] + margin_of_main
    before = logits[left].item()
    machine = machine_of(ARGUMENTS)
    assert machine is not None
    machine.mask(logits, written)
    assert logits.isfinite().nonzero().flatten().tolist() == [left]
    assert logits[left].item() == before


def test_rows_are_followed_through_the_batch() -> None:
    """Removed, added, moved and swapped, as vLLM's scheduler does it."""
    torch = pytest.importorskip("torch", reason="needs torch: make test-vllm installs it")
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm installs it")
    from vllm.v1.sample.logits_processor import BatchUpdate, MoveDirectionality

    from dripper.labels.lm.fsm_v1 import StateMachine

    def left(logits):  # type: ignore[no-untyped-def]
        return [row.isfinite().nonzero().flatten().tolist() for row in logits]

    machine = StateMachine(None, torch.device("cpu"), False)
    ours, theirs = SimpleNamespace(extra_args=ARGUMENTS), SimpleNamespace(extra_args=None)
    outputs: list[list[int]] = [[], []]
    machine.update_state(
        BatchUpdate(3, [], [(0, ours, [], outputs[0]), (1, theirs, [], []), (2, ours, [], outputs[1])], [])
    )
    outputs[1].extend([1, 10])
    free = list(range(20))
    assert left(machine.apply(torch.zeros(3, 20))) == [[1], free, [2]]
    machine.update_state(BatchUpdate(3, [], [], [(0, 2, MoveDirectionality.SWAP)]))
    assert left(machine.apply(torch.zeros(3, 20))) == [[2], free, [1]]
    machine.update_state(BatchUpdate(2, [0], [], [(2, 0, MoveDirectionality.UNIDIRECTIONAL)]))
    assert left(machine.apply(torch.zeros(2, 20))) == [[1], free]
    machine.update_state(BatchUpdate(2, [], [(0, theirs, [], [])], []))
    machine.update_state(None)
    assert left(machine.apply(torch.zeros(2, 20))) == [free, free]
    assert not machine.is_argmax_invariant()


def test_the_second_runner_masks_rows_as_the_first() -> None:
    """Rows in any order, a foreign request among them, reused slots: everything that can be tested
    without a GPU."""
    torch = pytest.importorskip("torch", reason="needs torch: make test-vllm installs it")
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm installs it")
    from dripper.labels.lm.fsm_v2 import StateMachine

    prompts = np.array([5, 7, 3, 4])
    states = SimpleNamespace(max_num_reqs=4, device=torch.device("cpu"), prompt_len=SimpleNamespace(np=prompts))
    machine = StateMachine(SimpleNamespace(model_config=SimpleNamespace(max_model_len=32)), states)
    other_answer = ARGUMENTS | {"dripper_answer": [3, HOLE], "dripper_labels": [12, 13]}
    arguments = [other_answer, ARGUMENTS, None, other_answer]
    machine.add_request(0, SimpleNamespace(extra_args=ARGUMENTS))
    taken = [machine.add_request(slot, SimpleNamespace(extra_args=each)) for slot, each in enumerate(arguments)]
    assert taken == [True, True, False, True]

    torch.manual_seed(3)
    slots = torch.tensor([2, 0, 1, 3, 1, 0, 1, 1, 3])
    written = torch.tensor([0, 0, 0, 1, 1, 1, 2, 3, 9])
    positions = torch.tensor(prompts)[slots] + written - 1
    for _ in range(20):
        logits = torch.randn(len(slots), 20)
        wanted = logits.clone()
        for row, slot in enumerate(slots.tolist()):
            rules = machine_of(arguments[slot])
            if rules is not None:
                rules.mask(wanted[row], int(written[row]))
        context = SimpleNamespace(expanded_idx_mapping=slots, pos=positions)
        assert torch.equal(machine.apply(logits, context), wanted)


def test_both_runners_have_a_processor() -> None:
    assert set(PROCESSORS) == {False, True}


def test_the_answers_own_tokens_are_allowed() -> None:
    assert allowed_tokens(TEMPLATES.of(12), TEMPLATES) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
