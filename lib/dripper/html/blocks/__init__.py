"""The steps that all profiles share: splitting a page into blocks, writing simplified HTML and
mapping HTML, and pruning (Dripper paper 3.2, A.10)."""
