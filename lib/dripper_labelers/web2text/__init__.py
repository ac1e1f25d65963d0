"""The labeler `web2text` (Vogels, Ganea, Eickhoff 2018, "Web2Text: Deep Structured Boilerplate
Removal", https://arxiv.org/abs/1801.02607): features from the collapsed DOM, two small
convolutional networks, and the Viterbi algorithm, which labels the whole page."""
