"""The annotation path (Dripper paper 4.1): pages are sampled by layout, annotated, filtered, and
exported for training.

The steps: `sources` finds pages, `layout` chooses among them, `export` writes the pages and
guidelines for annotators (`rendering`, `folders`), `asking` asks a large language model, `answers`
checks its answers, `importing` makes a data set of them, `agreement` and `filtering` judge it, and
`fine_tuning` writes prompts and answers for the labeler `lm`. The command is `python -m
dripper_lab.annotate`.
"""
