"""The settings of the labeler `cpu`: the section `labels.cpu`."""

from typing import Literal

from dripper.settings import Section

Wish = Literal["auto", "include", "exclude"]
"""What to do with something that some annotators count as main content and others do not."""


class CpuSettings(Section):
    """The labeler `cpu`: what counts as main where people disagree."""

    comments: Wish = "auto"
    """Readers' comments under an article, a product, a video. Posts of a forum are content and
    stay. auto: as the labelled pages mostly have it, without."""
    title: Wish = "auto"
    """The heading that repeats the page's title. auto: as the labelled pages mostly have it,
    without on articles."""
