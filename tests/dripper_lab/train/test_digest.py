"""The digest of examples."""

from dataclasses import replace

from dripper_lab.train.digest import SAMPLE, digest_of, sample_digest
from dripper_lab.truth import Texts
from support.made_examples import made_example

EXAMPLES = [made_example(number) for number in range(4)]


def test_the_digest_changes_with_words_labels_features_and_order() -> None:
    first = digest_of(EXAMPLES)
    assert first == digest_of(list(EXAMPLES))
    assert first != digest_of(EXAMPLES[::-1])
    assert first != digest_of(EXAMPLES[:-1])
    other = replace(EXAMPLES[0], matched=EXAMPLES[0].matched * 0)
    assert first != digest_of([other, *EXAMPLES[1:]])
    moved = EXAMPLES[0].blocks._replace(features=EXAMPLES[0].blocks.features + 1)
    assert first != digest_of([replace(EXAMPLES[0], blocks=moved), *EXAMPLES[1:]])
    retold = replace(EXAMPLES[0], texts=Texts.of([["other", "words"]], ["other"]))
    assert first != digest_of([retold, *EXAMPLES[1:]])


def test_the_sample_is_of_the_pages_in_the_repository_in_whatever_order() -> None:
    sample = [replace(example, key=("wcxb-dev", name)) for example, name in zip(EXAMPLES, sorted(SAMPLE), strict=False)]
    assert sample_digest([EXAMPLES[0], *sample[::-1]]) == digest_of(sample)
    assert sample_digest(sample[:-1]) != digest_of(sample)
    elsewhere = replace(sample[0], key=("fundus", sample[0].key[1]))
    assert sample_digest([elsewhere, *sample[1:]]) == digest_of(sample[1:])
