"""The labeler `web2text` (Vogels, Ganea, Eickhoff 2018, "Web2Text: Deep Structured Boilerplate
Removal", https://arxiv.org/abs/1801.02607). It computes features from the collapsed DOM, runs two
small convolutional networks, and labels the whole page jointly with the Viterbi algorithm."""
