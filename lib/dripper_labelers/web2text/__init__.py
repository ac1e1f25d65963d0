"""The labeler `web2text` (Vogels, Ganea, Eickhoff 2018, "Web2Text: Deep Structured Boilerplate
Removal", https://arxiv.org/abs/1801.02607): features of the collapsed DOM, two small convolutional
networks, and the labels of the whole page by the Viterbi algorithm."""
