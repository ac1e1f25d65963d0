"""Defines the forms of a language model's answer, and parses answers.

The number N of blocks determines everything in an answer except the labels (Dripper paper, 3.4). An
answer is therefore fixed text with N holes.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAIN, OTHER = "main", "other"
_COMPACT_ITEM = re.compile(r"(\d+)(main|other)")
# Matches the complete pairs of a JSON answer that breaks off.
_JSON_ITEM = re.compile(r'"\s*(\d+)\s*"\s*:\s*"\s*(main|other)\s*"')
# Only braces are escaped, because xgrammar warns about other escapes that `re.escape` writes, such
# as a backslash before a space.
_ESCAPED = str.maketrans({"{": r"\{", "}": r"\}"})


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The form of an answer: `opening`, then each block's id, `between` and label, with `after`
    between two blocks, then `closing`. The ids are 1..N, as in the simplified HTML."""

    name: str
    opening: str
    between: str
    after: str
    closing: str
    token: re.Pattern[str] | None = None
    """Pattern of the pieces that are tokenized one by one. If None, the text is tokenized as a
    whole."""

    def pieces(self, text: str) -> list[str]:
        """Split an answer into the pieces that are tokenized separately.

        >>> FORMS["json_machine"].pieces('{"12":"main","13":"other"}')
        ['{', '"', '1', '2', '":"', 'main', '",', '"', '1', '3', '":"', 'other', '"}']
        """
        return [text] if self.token is None else self.token.findall(text)

    def text(self, main: Sequence[bool]) -> str:
        """Write the answer for these labels.

        >>> FORMS["json"].text([True, False])
        '{"1": "main", "2": "other"}'
        >>> FORMS["compact"].text([True, False])
        '1main2other'
        """
        items = (f"{item}{self.between}{MAIN if label else OTHER}" for item, label in enumerate(main, 1))
        return f"{self.opening}{self.after.join(items)}{self.closing}"

    def regex(self, n_blocks: int) -> str:
        """Return a regular expression that matches exactly the answers for a page with `n_blocks`
        blocks."""
        items = (f"{item}{self.between}({MAIN}|{OTHER})" for item in range(1, n_blocks + 1))
        return f"{self.opening.translate(_ESCAPED)}{self.after.join(items)}{self.closing.translate(_ESCAPED)}"


FORMS: Mapping[str, AnswerForm] = {
    form.name: form
    for form in (
        # Paper, 3.4 and A.7, with white space as json.dumps writes it.
        AnswerForm("json", '{"', '": "', '", "', '"}'),
        # As in the example that prompt v0 of MinerU-HTML 1.0 shows to the model.
        AnswerForm("json_v0", '{"', '": "', '","', '"}'),
        AnswerForm("json_tight", '{"', '":"', '","', '"}'),
        # As written by the state machine of MinerU-HTML 1.0 (`TokenStateMachine`). The tokens
        # differ from the tokenizer's: Qwen's tokenizer writes `{"` and `","` as one token each.
        AnswerForm("json_machine", '{"', '":"', '","', '"}', re.compile(r'":"|",|"}|main|other|["{0-9]')),
        # MinerU-HTML 1.1, response_format "compact".
        AnswerForm("compact", "", "", "", ""),
        # The compact form that MinerU-HTML 1.1 makes vLLM write:
        # `<answer>\s*1main2other…\s*</answer>`. The tags are from Hunyuan's chat format, which has
        # a line feed on both sides. The white space that the weights prefer has not been verified;
        # `dripper lm probe` reports it.
        AnswerForm("tagged", "<answer>\n", "", "", "\n</answer>"),
        AnswerForm("tagged_tight", "<answer>", "", "", "</answer>"),
    )
}


def parse_answer(text: str) -> dict[int, bool]:
    """Parse an answer in free form, and return the label of each block id, True for main. Meant for
    engines that cannot be restricted to a form.

    Text with `{` is read as JSON, from the first `{` on. If the JSON breaks off or does not parse,
    its complete pairs are used. Values other than `main` and `other`, and keys that are not
    numbers, are ignored. Text without `{` is read as compact. If a block is answered twice, the
    last answer counts, as in the public code (MinerU-HTML 1.1, `parse_llm_response`). The caller
    must drop ids that the page does not have, and treat blocks without an answer as not main, as
    the public code does.

    >>> parse_answer('Sure! {"1": "main", "2": "oth')
    {1: True}
    >>> parse_answer("<answer>1other2main</answer>")
    {1: False, 2: True}
    """
    start = text.find("{")
    if start < 0:
        return {int(item): label == MAIN for item, label in _COMPACT_ITEM.findall(text)}
    text = text[start:]
    try:
        answer = json.loads(text[: text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return {int(item): label == MAIN for item, label in _JSON_ITEM.findall(text)}
    return {
        int(item): label == MAIN
        for item, label in answer.items()
        if label in (MAIN, OTHER) and item.strip().isdecimal()
    }
