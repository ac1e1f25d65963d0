"""Declares the settings of the labeler `reader`, the section `labels.reader`."""

from dripper_labelers.encoder.settings import ModelSettings


class ReaderSettings(ModelSettings):
    """The labeler `reader`: a multilingual encoder for the blocks of which the labeler before it is
    unsure."""
