"""The annotation pipeline (Dripper paper 4.1): pages are sampled by layout, annotated, filtered,
and exported for training.

`sources` finds pages and `layout` samples them. `export` writes pages and guidelines for annotators
(`rendering`, `folders`). `asking` queries a large language model, and `answers` validates its
answers. `importing` converts answers to a data set, and `agreement` and `filtering` assess the data
set. `fine_tuning` writes prompts and answers for the `lm` labeler. The command is `python -m
dripper_lab.annotate`.
"""
