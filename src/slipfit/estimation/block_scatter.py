"""How much blocks of one quantity scatter about pieces that are constant, and how alike neighbours err.

A block b tells constants theta_b, by its readings with the covariance sigma^2 G_b^-1; they are off the piece's by what the block
itself is off, because a law bends and a ground is patchy. That does not shrink with more readings:

    V_b = sigma^2 (G_b^-1 + eta M^-1),    M = mean of G_b

sigma and eta by restricted maximum likelihood about the pieces. Without eta a block in which the robot turns much would outweigh
all others, and its own deviation would look like another surface.

Neighbouring blocks correlate by rho, from residuals about the pieces, less the bias that m blocks with a mean of their own have,
-(1 + 3 rho) / m. Means over many blocks then scatter by f = (1 + rho) / (1 - rho) more than independent ones. Few blocks tell rho
badly: each quantity's is drawn to the mean of all as if that were told by `KINDRED` pairs.

What is found from n blocks is itself unsure; of log(sigma^2 f) the variance is

    2 (1 + rho^2) / ((1 - rho^2) n)  +  4 / ((1 - rho^2) pairs)    =: 2 / freedom

so that a change is judged by Fisher's F with that many degrees of freedom and not by chi-squared.

Symbols    G_b = A^T A of a block · theta constants · n directions told less constants of pieces · m blocks of a piece
Reference  derived in docs/theory/estimation, Surfaces; the bias of rho is checked by drives with a known one in the tests
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from slipfit.estimation.blocks import Blocks

#: Quantities of one drive are taken to differ in rho by 0.2, which is what so many pairs of neighbours would tell: 1 / 0.2^2.
KINDRED = 25.0

#: Neighbouring blocks are taken to correlate by no more than this: beyond, a few of them say as little as one.
MOST_ALIKE = 0.8

#: What blocks are off by themselves over what their readings are (eta): looked for among these.
ETAS = (0.0, *(4.0**k for k in range(-4, 8)))

#: Directions with less than this share of the best one's information are not told.
SMALLEST_SHARE = 1e-9


@dataclass(frozen=True, slots=True)
class Scatter:
    """Of one quantity: variance of readings, `eta`, correlation of neighbours, degrees of freedom of variance times colour."""

    variance: float
    eta: float
    rho: float
    freedom: float

    @property
    def colour(self) -> float:
        """By how much means over many blocks scatter more than independent ones would (in variance)."""
        return (1.0 + self.rho) / (1.0 - self.rho)


def scatters(parts: Mapping[str, Blocks], edges: Sequence[int]) -> dict[str, Scatter]:
    """Of each quantity about pieces between `edges`."""
    parts = {name: between(blocks) for name, blocks in parts.items()}
    alone = {name: _variance(blocks, edges) for name, blocks in parts.items()}
    alike = {name: _neighbours(weighed(parts[name], eta), edges) for name, (_, eta, _) in alone.items()}
    every = sum(pairs for _, pairs in alike.values())
    mean = sum(rho * pairs for rho, pairs in alike.values()) / every if every else 0.0
    found = {}
    for name, (variance, eta, told) in alone.items():
        own, pairs = alike[name]
        heard = pairs + KINDRED
        rho = float(np.clip((pairs * own + KINDRED * mean) / heard, 0.0, MOST_ALIKE))
        unsure = (2.0 * (1.0 + rho**2) / max(told, 1.0) + 4.0 / min(heard, max(every, 1.0))) / (1.0 - rho**2)
        found[name] = Scatter(variance, eta, rho, 2.0 / unsure)
    return found


def between(blocks: Blocks) -> Blocks:
    """Without what scatters inside each block: only what its constants say of all readings counts."""
    theta = np.einsum("bij,bj->bi", np.linalg.pinv(blocks.gram, rcond=SMALLEST_SHARE, hermitian=True), blocks.moment)
    return Blocks(blocks.gram, blocks.moment, np.einsum("bi,bi->b", theta, blocks.moment), blocks.count)


def weighed(blocks: Blocks, eta: float) -> Blocks:
    """`between` blocks that count by `V_b` with sigma of one."""
    usual, p = _usual(blocks), blocks.moment.shape[1]
    less = np.linalg.solve(np.eye(p) + eta * blocks.gram @ usual, np.dstack([blocks.gram, blocks.moment[:, :, None]]))
    gram, moment = 0.5 * (less[:, :, :p] + less[:, :, :p].transpose(0, 2, 1)), less[:, :, p]
    return Blocks(gram, moment, blocks.square - eta * np.einsum("bi,ij,bj->b", blocks.moment, usual, moment), blocks.count)


def _usual(blocks: Blocks) -> np.ndarray:
    return np.asarray(np.linalg.pinv(blocks.gram[blocks.count > 0].mean(axis=0), rcond=SMALLEST_SHARE, hermitian=True))


def constant_of(blocks: Blocks, noise: Scatter, first: int, last: int) -> tuple[float, float]:
    """The first constant of a piece, and its standard deviation by how much blocks scatter; NaN where nothing tells it."""
    now = weighed(between(blocks), noise.eta)
    information = now.gram[first:last].sum(axis=0)
    if not information[0, 0] > 0.0:
        return float("nan"), float("nan")
    spread = np.linalg.pinv(information, rcond=SMALLEST_SHARE, hermitian=True)
    theta = spread @ now.moment[first:last].sum(axis=0)
    return float(theta[0]), float(np.sqrt(spread[0, 0] * noise.variance * noise.colour))


def misfit(blocks: Blocks, edges: Sequence[int]) -> float:
    """What is left of weighed blocks about pieces between `edges`."""
    return sum(_fit(blocks, a, b)[1] for a, b in pairwise(edges))


def _fit(blocks: Blocks, first: int, last: int) -> tuple[np.ndarray, float, np.ndarray]:
    """Constants of a piece, its misfit, and the information of the directions it tells."""
    information, axes = np.linalg.eigh(blocks.gram[first:last].sum(axis=0))
    told = information > SMALLEST_SHARE * max(float(information[-1]), 1e-300)
    moment = blocks.moment[first:last].sum(axis=0)
    theta = axes[:, told] @ (axes[:, told].T @ moment / information[told])
    return theta, max(float(blocks.square[first:last].sum() - moment @ theta), 0.0), information[told]


def _variance(blocks: Blocks, edges: Sequence[int]) -> tuple[float, float, float]:
    """sigma^2, eta, and directions told less those that pieces' constants take."""
    heard, usual = blocks.gram[blocks.count > 0], _usual(blocks)
    lengths = np.linalg.eigvalsh(heard)
    told = int((lengths > SMALLEST_SHARE * lengths[:, -1:]).sum())
    best = (np.inf, 1.0, 0.0, 1.0)
    for eta in ETAS:
        now = weighed(blocks, eta)
        left, information, constants = 0.0, 0.0, 0
        for a, b in pairwise(edges):
            _, more, directions = _fit(now, a, b)
            left, information, constants = left + more, information + float(np.log(directions).sum()), constants + len(directions)
        free = max(told - constants, 1)
        variance = max(left / free, 1e-18)
        spread = float(np.linalg.slogdet(np.eye(heard.shape[1]) + eta * heard @ usual)[1].sum())
        best = min(best, (free * np.log(variance) + spread + information, variance, eta, float(free)))
    return best[1:]


def _neighbours(blocks: Blocks, edges: Sequence[int]) -> tuple[float, int]:
    """Correlation of neighbouring blocks of a piece, its bias taken out, and how many pairs told it."""
    scale = _usual(blocks)
    both, alone, pairs, voices, lengths = 0.0, 0.0, 0, 0, []
    for a, b in pairwise(edges):
        scores = blocks.moment[a:b] - blocks.gram[a:b] @ _fit(blocks, a, b)[0]
        heard = blocks.count[a:b] > 0
        near = heard[1:] & heard[:-1]
        both += float(np.einsum("bi,ij,bj->b", scores[1:], scale, scores[:-1])[near].sum())
        alone += float(np.einsum("bi,ij,bj->b", scores, scale, scores)[heard].sum())
        pairs, voices = pairs + int(near.sum()), voices + int(heard.sum())
        lengths.append(int(heard.sum()))
    m = voices / max(sum(n > 0 for n in lengths), 1)
    if pairs == 0 or alone <= 0.0 or m <= 6.0:
        return 0.0, 0
    return (both / pairs / (alone / voices) + 1.0 / m) / (1.0 - 3.0 / m), pairs
