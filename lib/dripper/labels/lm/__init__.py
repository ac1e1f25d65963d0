"""The labeler `lm`: Dripper's language models, label-only decoding (Dripper paper, 3.3 and 3.4).
See docs/labeler_lm.md.

Importing it loads nothing. `labeler` loads vLLM and transformers, `encoder` the tokenizer alone.
"""
