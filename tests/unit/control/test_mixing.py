"""Mixing with limits: document 001's table, its mirror images, and any input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipfit.control import Mode, mix, unmix

#: Document 001, Table 2.
TABLE_2 = [((0, 20), (-20, 20)), ((20, 20), (0, 40)), ((40, 20), (20, 60)), ((96, 50), (27, 127))]

#: SPEC 2(b), mirror cases.
MIRRORED = [((-96, 50), (-126, -26)), ((0, 127), (-126, 127)), ((-100, -60), (-6, -126))]

channels = st.integers(-127, 127)


@pytest.mark.parametrize(("told", "sides"), TABLE_2 + MIRRORED)
def test_rows_of_the_document(told, sides):
    assert mix(*told) == sides


@given(channels, channels)
def test_the_difference_is_kept_whenever_it_fits(ch1, ch2):
    """SPEC 2(a): |right - left| = 2 |ch2| as long as that is no more than the range of 253."""
    left, right = mix(ch1, ch2)
    assert min(left, right) >= -126
    assert max(left, right) <= 127
    if 2 * abs(ch2) <= 253:
        assert right - left == 2 * ch2
    else:
        assert {left, right} == {-126, 127}


@given(channels, channels)
def test_translation_changes_only_as_far_as_it_must(ch1, ch2):
    """Document 001, section 2.3: as little as possible, so a changed pair has a side on its limit."""
    left, right = mix(ch1, ch2)
    if (left, right) != (ch1 - ch2, ch1 + ch2):
        assert min(left, right) == -126 or max(left, right) == 127


@given(channels, channels)
def test_left_and_right_mirror(ch1, ch2):
    """SPEC 7, item 3: a turn the other way swaps the sides; with symmetric limits driving backward flips both."""
    left, right = mix(ch1, ch2)
    assert mix(ch1, -ch2) == (right, left)
    symmetric = mix(ch1, ch2, (-127, 127))
    assert mix(-ch1, -ch2, (-127, 127)) == (-symmetric[0], -symmetric[1])


def test_limits_are_a_parameter():
    """Erratum 4: the document prints {-127:128}, 127 and -126. With its first pair the fourth row would become (28, 128)."""
    assert mix(96, 50, (-127, 128)) == (28, 128)


@given(channels, channels)
def test_unmixing_undoes_mixing_within_limits(ch1, ch2):
    if abs(ch1) + abs(ch2) <= 126:
        assert unmix(*mix(ch1, ch2)) == (ch1, ch2)


def test_separate_channels_are_the_sides():
    assert Mode.SEPARATE.sides(200, -200) == (127, -126)
    assert Mode.SEPARATE.channels(3.5, 4.5) == (3.5, 4.5)
    assert Mode.MIXED.channels(27, 127) == (77, 50)
