"""The annotation path (Dripper paper 4.1): pages are sampled by layout, annotated, filtered, and
exported for training.

The way: `sources` finds pages, `layout` chooses among them, `export` writes what annotators read
(`rendering`, `instructions`), `asking` asks a large language model, `answers` checks what comes
back, `importing` makes a data set of it, `agreement` and `filtering` judge it, `fine_tuning` writes
prompts and answers for the labeler `lm`. The command is `python -m dripper_lab.annotate`.
"""
