"""The decoder `fsm`: the state machine of the paper (3.4), token by token, as a vLLM logits
processor.

Slow, and exact by construction: what the other decoders are tested against.
"""

from typing import Any

from dripper.labels.lm.decision import DecisionRule
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.engine import require, start_engine, uses_model_runner_v2
from dripper.labels.lm.generating import GeneratingDecoder
from dripper.labels.lm.optional import import_extra
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.template import Template, Templates

# Where the processor classes lie, by model runner; as text, so that vLLM's process can import them
# too.
PROCESSORS = {False: "dripper.labels.lm.fsm_v1:StateMachine", True: "dripper.labels.lm.fsm_v2:StateMachine"}


class FsmDecoder(GeneratingDecoder):
    """See the module."""

    def __init__(self, engine: Any, templates: Templates, decision: DecisionRule) -> None:
        """engine: vLLM's LLM with the state machine among its logits processors."""
        super().__init__(engine, templates)
        self._decision = decision

    @classmethod
    def start(cls, encoder: PageEncoder, settings: LmSettings) -> "FsmDecoder":
        """Return the decoder with its engine started. Raises MachineError, see `start_engine`."""
        require(settings, "vllm.v1.sample.logits_processor", "LogitsProcessor")
        processor = PROCESSORS[uses_model_runner_v2(encoder, settings)]
        engine = start_engine(encoder, settings, logits_processors=[processor])
        return cls(engine, encoder.templates, DecisionRule.of(settings))

    def parameters(self, template: Template) -> Any:
        """After the last label the answer holds nothing that is not known."""
        answer = template.tokens[: template.holes[-1] + 1].tolist()
        machine = {
            "dripper_answer": answer,
            "dripper_labels": [self._templates.main, self._templates.other],
            "dripper_margin": self._decision.margin,
        }
        return import_extra("vllm").SamplingParams(
            temperature=0, max_tokens=len(answer), ignore_eos=True, detokenize=False, extra_args=machine
        )
