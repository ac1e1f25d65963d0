"""The labeler `lm`: Dripper's language models, label-only decoding (Dripper paper, 3.3 and 3.4). See docs/labeler_lm.md.

Importing it loads neither vLLM nor transformers; :class:`LmLabeler` loads both, :class:`PageEncoder` the tokenizer alone.
"""

from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.labeler import LmLabeler

__all__ = ["LmLabeler", "PageEncoder"]
