"""Another surface is told where what blocks say changes by more than they scatter, and not where neighbours err alike."""

import numpy as np
import pytest

from slipfit.estimation.block_scatter import scatters
from slipfit.estimation.blocks import Blocks
from slipfit.estimation.surfaces import partition

BLOCKS, PER = 80, 20


def blocks(seed, before=0.63, after=0.63, correlation=0.0, scatter=0.03, back_at=BLOCKS, share=1.0):
    """Blocks of readings y = kappa x whose kappa wanders about its mean from block to block: a first-order process. How much a
    block turns differs by factors, as in a drive; only a `share` of blocks turn at all."""
    draw = np.random.default_rng(seed)
    off = np.zeros(BLOCKS)
    off[0] = draw.normal(0.0, scatter)
    for b in range(1, BLOCKS):
        off[b] = correlation * off[b - 1] + np.sqrt(1.0 - correlation**2) * draw.normal(0.0, scatter)
    number = np.arange(BLOCKS)
    kappa = np.where((number < BLOCKS // 2) | (number >= back_at), before, after) + off
    at = np.repeat(number, PER)
    x = draw.normal(size=len(at)) * np.exp(draw.normal(size=BLOCKS))[at]
    y = kappa[at] * x + 0.001 * draw.normal(size=len(at))
    return Blocks.of(at, x[:, None], np.where(draw.random(BLOCKS)[at] < share, y, np.nan))


def changes(seed, false_per_hour=0.1, **given):
    """Of two quantities, one of which never changes."""
    parts = {"turning": blocks(seed, **given), "ahead": blocks(1000 + seed)}
    return partition(parts, false_per_hour=false_per_hour)[1:-1]


@pytest.mark.parametrize("correlation", [0.0, 0.4])
def test_false_changes_are_no_more_than_stated(correlation):
    """12 drives of 80 blocks of 12 s, 3.2 h, at most one false change per hour: with Poisson, 8 or more have 1.7 % or less."""
    count = sum(len(changes(seed, false_per_hour=1.0, correlation=correlation)) for seed in range(12))
    assert count <= 7


def test_a_change_of_many_deviations_is_found_where_it_is():
    """0.63 to 0.55, as asphalt and sand have it: each half's mean is sure to 0.03 / sqrt(40) = 0.005."""
    for seed in range(4):
        (found,) = changes(seed, after=0.55)
        assert abs(found - BLOCKS // 2) <= 2


def test_a_stretch_in_between_is_found_at_both_ends():
    """Eight blocks of 0.5 within 0.63: one change alone explains little of them, two all."""
    found = changes(1, after=0.5, back_at=BLOCKS // 2 + 8)
    assert len(found) == 2
    assert np.abs(np.array(found) - [BLOCKS // 2, BLOCKS // 2 + 8]).max() <= 1


def test_a_change_of_one_deviation_is_not_made_up():
    """0.006, as between asphalt and gravel, is one spread of the difference: nothing to find."""
    assert sum(bool(changes(seed, after=0.636)) for seed in range(8)) <= 1


def test_a_quantity_that_few_blocks_tell_still_shows_a_change_of_many_deviations():
    """A fifth of the blocks turn, eight on each side: halved, as current in turns from flooring to ice, of a scatter of 5 %."""
    (found,) = changes(2, before=0.6, after=0.3, share=0.2)
    assert abs(found - BLOCKS // 2) <= 6


@pytest.mark.parametrize(("correlation", "expected"), [(0.0, 1.0), (0.4, 7.0 / 3.0)])
def test_neighbours_that_err_alike_count_for_less(correlation, expected):
    """(1 + rho) / (1 - rho). The median of 30 drives; each one's rho is sure to 1 / sqrt(80) = 0.11, a third of which moves the
    factor by 0.1 at none and 0.25 at 0.4, and none is taken below one. Two quantities alike, so that none is drawn elsewhere."""
    both = [{"a": blocks(s, correlation=correlation), "b": blocks(500 + s, correlation=correlation)} for s in range(30)]
    found = np.median([scatters(parts, [0, BLOCKS])["a"].colour for parts in both])
    assert found == pytest.approx(expected, abs=0.2 if correlation == 0.0 else 0.5)


def test_a_block_that_turns_much_does_not_outweigh_the_others():
    """Blocks whose kappa scatters by 0.03 and whose readings are good to 0.001 count alike, however much they turn: the mean
    of 80 is sure to 0.03 / sqrt(80), as if they all turned the same."""
    from slipfit.estimation.block_scatter import constant_of

    spreads = []
    for seed in range(10):
        given = blocks(seed)
        spreads.append(constant_of(given, scatters({"turning": given}, [0, BLOCKS])["turning"], 0, BLOCKS)[1])
    assert np.median(spreads) == pytest.approx(0.03 / np.sqrt(BLOCKS), rel=0.2)
