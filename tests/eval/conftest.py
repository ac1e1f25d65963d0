"""Property tests run without a deadline: the first call loads jieba's dictionary, and tests are never timed."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
