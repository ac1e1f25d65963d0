"""The decoder `regex`: structured outputs, for engines that offer nothing else.

A regular expression alone lets the model spell a label in other tokens (`o`, `ther`), and the
labels then differ from the state machine's. Together with the few tokens that the template is made
of, only its own spelling is left.
"""

from typing import Any

from dripper.errors import SettingsError
from dripper.labels.lm.decision import DecisionRule
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.engine import require, start_engine
from dripper.labels.lm.generating import GeneratingDecoder
from dripper.labels.lm.optional import import_extra
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.template import Template, Templates

# xgrammar is slow on the expression of a long page, guidance is not; outlines timed out at 12
# blocks.
BACKEND = "guidance"
# What vLLM lets a bias be.
BIAS_LIMIT = 100.0


class RegexDecoder(GeneratingDecoder):
    """See the module."""

    def __init__(self, engine: Any, templates: Templates, decision: DecisionRule) -> None:
        """engine: vLLM's LLM with structured outputs."""
        super().__init__(engine, templates)
        self._bias = label_bias(templates, decision)

    @classmethod
    def start(cls, encoder: PageEncoder, settings: LmSettings) -> "RegexDecoder":
        """Return the decoder with its engine started. Raises MachineError, see `start_engine`."""
        require(settings, "vllm.sampling_params", "StructuredOutputsParams")
        engine = start_engine(encoder, settings, structured_outputs_config={"backend": BACKEND})
        return cls(engine, encoder.templates, DecisionRule.of(settings))

    def parameters(self, template: Template) -> Any:
        """The expression says where digits and labels stand; the allowed tokens, how they are
        spelt."""
        vllm = import_extra("vllm")
        structure = import_extra("vllm.sampling_params").StructuredOutputsParams
        return vllm.SamplingParams(
            temperature=0,
            max_tokens=int(template.holes[-1]) + 1,
            detokenize=False,
            structured_outputs=structure(regex=self._templates.form.regex(len(template.holes))),
            allowed_token_ids=allowed_tokens(template, self._templates),
            logit_bias=self._bias,
        )


def allowed_tokens(template: Template, templates: Templates) -> list[int]:
    """Return the tokens that an answer is made of: both labels and what stands around them,
    ascending."""
    return sorted({*template.tokens.tolist(), templates.main, templates.other} - {-1})


def label_bias(templates: Templates, decision: DecisionRule) -> dict[int, float] | None:
    """Return what to add to the logit of main so that the arg-max applies the threshold; None for
    none.

    Raises SettingsError where vLLM takes no such bias: a smaller one would give other labels than
    the other decoders.
    """
    if decision.margin == 0:
        return None
    if abs(decision.margin) > BIAS_LIMIT:
        raise SettingsError(
            f"labels.lm.threshold={decision.threshold} with labels.lm.temperature={decision.temperature} is a bias of "
            f"{-decision.margin:.0f} on a logit, and vLLM takes {BIAS_LIMIT:.0f} at most: lower one, or use "
            "labels.lm.decoder=parallel"
        )
    return {templates.main: -decision.margin}
