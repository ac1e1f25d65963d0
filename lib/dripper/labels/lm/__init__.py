"""The `lm` labeler: Dripper's language models with label-only decoding (Dripper paper, 3.3 and
3.4). See docs/labeler_lm.md.

Importing this package loads nothing. The module `labeler` loads vLLM and transformers, and
`encoder` loads only the tokenizer.
"""
