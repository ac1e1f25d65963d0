"""The `web2text` labeler (Vogels, Ganea, Eickhoff 2018, "Web2Text: Deep Structured Boilerplate
Removal", https://arxiv.org/abs/1801.02607). It computes features from the collapsed DOM, runs two
small convolutional networks, and labels all blocks of a page together with the Viterbi
algorithm."""
