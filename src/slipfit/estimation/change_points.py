"""Where constants of linear models change: the partition of a drive that is worth its pieces, at a stated rate of false changes.

Several quantities, each a linear model with constants of its own, change together. Of all partitions into k pieces the best
leaves least,

    L_k = min over partitions of  sum over quantities of  misfit / (sigma^2 f t)

by dynamic programming over blocks of time. One more piece (or two, for a stretch in between) is worth it where

    L_k - L_k+1 > chi2_p(1 - alpha),    alpha = false changes per hour x hours of a block

Without a change the left side is, at each of the places where a piece may end, chi-squared with as many degrees of freedom as
there are constants p, so that alpha at each of them bounds the rate of false changes. Noise is that of residuals about the
partition *with* the change, so that a change does not hide itself (`block_scatter`: sigma^2 variance of blocks, f what neighbours
that err alike add). t = F_alpha(p_q, freedom) p_q / chi2_alpha(p_q) is what not knowing the noise adds: a quantity that few
blocks tell counts for less, and no others with it.

Reference  [Jackson2005] (optimal partitioning; here with a given number of pieces); one more change against k with noise from the
           larger model is the classical F test, derived in docs/theory/estimation, Surfaces
"""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import chi2
from scipy.stats import f as fisher

from slipfit.estimation.block_scatter import Scatter, between, misfit, scatters, weighed
from slipfit.estimation.blocks import Blocks

#: False changes per hour that are put up with.
FALSE_PER_HOUR = 0.1

#: Pieces shorter than this many blocks are not looked for.
LEAST_BLOCKS = 4

#: More pieces than this are not looked for.
MOST_PIECES = 40

#: Noise and partition are found from each other so often.
ROUNDS = 3

#: Information that keeps a piece without excitation solvable.
RIDGE = 1e-9


def change_points(
    parts: Mapping[str, Blocks], *, block_s: float, least: int = LEAST_BLOCKS, false_per_hour: float = FALSE_PER_HOUR
) -> list[int]:
    """Blocks at which pieces begin, the first of them 0, and the number of blocks at the end."""
    parts = {name: between(part) for name, part in parts.items()}
    alpha = min(false_per_hour * block_s / 3600.0, 0.5)
    dear = float(chi2.isf(alpha, sum(part.moment.shape[1] for part in parts.values())))
    n = len(next(iter(parts.values())))
    edges = [0, n]
    while True:
        for more in (1, 2):
            count = len(edges) - 1 + more
            if count > min(n // least, MOST_PIECES):
                return edges
            # Noise about the pieces so far holds the change itself; noise about short pieces does not, but few blocks tell it.
            starts = (edges, [*range(0, n - 2 * least + 1, 2 * least), n])
            found = {tuple(_self_consistent(parts, start, count, least, alpha)) for start in starts}
            gain, better = max((_gain(parts, edges, candidate, alpha), candidate) for candidate in found)
            if gain > more * dear:
                edges = list(better)
                break
        else:
            return edges


def _self_consistent(parts: Mapping[str, Blocks], start: list[int], count: int, least: int, alpha: float) -> list[int]:
    """The best partition into `count` pieces with the noise about itself, which is first taken about `start`."""
    found = start
    for _ in range(ROUNDS):
        better = _best(_costs(_in_units(parts, scatters(parts, found), alpha), least), count)
        if better == found:
            break
        found = better
    return found


def _gain(parts: Mapping[str, Blocks], edges: Sequence[int], more: Sequence[int], alpha: float) -> float:
    scaled = _in_units(parts, scatters(parts, more), alpha)
    return sum(misfit(part, edges) - misfit(part, more) for part in scaled)


def _in_units(parts: Mapping[str, Blocks], noise: Mapping[str, Scatter], alpha: float) -> list[Blocks]:
    """Blocks of each quantity in units in which a change of chance is chi-squared at `alpha`."""
    scaled = []
    for name, part in parts.items():
        s, p = noise[name], part.moment.shape[1]
        tail = p * float(fisher.isf(alpha, p, max(s.freedom, 1.0))) / float(chi2.isf(alpha, p))
        scaled.append(weighed(part, s.eta).over(s.variance * s.colour * tail))
    return scaled


def _costs(scaled: list[Blocks], least: int) -> np.ndarray:
    """Misfit of a piece from each block (row) to each end (column), infinite below the least length."""
    n = len(scaled[0])
    found = np.full((n, n + 1), np.inf)
    for end in range(least, n + 1):
        found[: end - least + 1, end] = 0.0
    for part in scaled:
        sums = [
            np.concatenate([np.zeros((1, *s.shape[1:])), np.cumsum(s, axis=0)]) for s in (part.gram, part.moment, part.square)
        ]
        for end in range(least, n + 1):
            found[: end - least + 1, end] += _misfits(sums, np.arange(end - least + 1), end)
    return found


def _misfits(sums: list[np.ndarray], starts: np.ndarray, end: int) -> np.ndarray:
    gram, moment, square = (s[end] - s[starts] for s in sums)
    scale = np.trace(gram, axis1=1, axis2=2)[:, None, None]
    ridge = np.eye(gram.shape[1]) * (RIDGE * scale + 1e-12)
    theta = np.linalg.solve(gram + ridge, moment[..., None])[..., 0]
    return np.asarray(np.maximum(square - np.einsum("ij,ij->i", moment, theta), 0.0))


def _best(costs: np.ndarray, count: int) -> list[int]:
    """Edges of the cheapest partition into `count` pieces."""
    n = len(costs)
    best, came = costs[0], []
    for _ in range(count - 1):
        total = best[:n, None] + costs
        came.append(total.argmin(axis=0))
        best = total.min(axis=0)
    edges = [n]
    for step in reversed(came):
        edges.append(int(step[edges[-1]]))
    return [0, *edges[::-1]]
