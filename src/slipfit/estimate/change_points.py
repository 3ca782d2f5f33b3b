"""Where the constants of a linear model change: the partition of a series whose pieces, each with its own constants, leave least.

    min over partitions of  sum over pieces of min_theta |y - A theta|^2 / sigma^2 + penalty x pieces

by dynamic programming over blocks of time; a piece's misfit follows from sums of A^T A, A^T y and y^T y.

Symbols    A regressors · y readings, in units of their noise · theta constants of a piece
Reference  [Jackson2005] (optimal partitioning); the penalty is Schwarz's, (constants + 1) log(blocks), times a caution for blocks
           that are not independent
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

#: Pieces shorter than this many blocks are not looked for.
LEAST_BLOCKS = 4

#: How much dearer than Schwarz's criterion a piece is.
CAUTION = 3.0

#: Information that keeps a piece without excitation solvable.
RIDGE = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class Blocks:
    """Sums over each block of time, readings in units of their noise."""

    gram: np.ndarray  # (n, p, p)
    moment: np.ndarray  # (n, p)
    square: np.ndarray  # (n,)
    count: np.ndarray  # (n,) readings

    @classmethod
    def of(cls, block: np.ndarray, regressors: np.ndarray, readings: np.ndarray) -> "Blocks":
        """From rows (m, p) and (m,), and the number of each one's block (m,); rows that are not finite are left out."""
        kept = np.isfinite(regressors).all(axis=1) & np.isfinite(readings)
        n, p = int(block.max()) + 1, regressors.shape[1]
        found = cls(np.zeros((n, p, p)), np.zeros((n, p)), np.zeros(n), np.zeros(n))
        at, a, y = block[kept], regressors[kept], readings[kept]
        np.add.at(found.gram, at, a[:, :, None] * a[:, None, :])
        np.add.at(found.moment, at, a * y[:, None])
        np.add.at(found.square, at, y * y)
        np.add.at(found.count, at, 1.0)
        return found

    def __len__(self) -> int:
        return len(self.count)

    def beside(self, other: "Blocks") -> "Blocks":
        """Both models at once, each with its own constants."""
        n, p, q = len(self), self.moment.shape[1], other.moment.shape[1]
        gram = np.zeros((n, p + q, p + q))
        gram[:, :p, :p], gram[:, p:, p:] = self.gram, other.gram
        return Blocks(gram, np.hstack([self.moment, other.moment]), self.square + other.square, self.count + other.count)


@dataclass(frozen=True, eq=False, slots=True)
class Piece:
    """Blocks `first` to `last` (not included), their constants and covariance by the noise that was supposed."""

    first: int
    last: int
    constants: np.ndarray
    covariance: np.ndarray


def pieces(blocks: Blocks, *, noise_scale: float = 1.0, caution: float = CAUTION, least: int = LEAST_BLOCKS) -> list[Piece]:
    """The best partition. `noise_scale` multiplies the noise that readings are in units of."""
    n, p = len(blocks), blocks.moment.shape[1]
    sums = [
        np.concatenate([np.zeros((1, *s.shape[1:])), np.cumsum(s, axis=0)]) for s in (blocks.gram, blocks.moment, blocks.square)
    ]
    penalty = caution * (p + 1) * np.log(max(n, 2)) * noise_scale**2
    best, came = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=int)
    best[0] = -penalty
    for end in range(min(least, n), n + 1):
        starts = np.arange(0, end - least + 1) if end - least >= 0 else np.array([0])
        total = best[starts] + _misfit(sums, starts, end) + penalty
        k = int(total.argmin())
        best[end], came[end] = total[k], starts[k]
    edges = [n]
    while edges[-1] > 0:
        edges.append(int(came[edges[-1]]))
    edges = edges[::-1]
    return [_piece(blocks, a, b, noise_scale) for a, b in pairwise(edges)]


def _misfit(sums: list[np.ndarray], starts: np.ndarray, end: int) -> np.ndarray:
    gram, moment, square = (s[end] - s[starts] for s in sums)
    scale = np.trace(gram, axis1=1, axis2=2)[:, None, None]
    ridge = np.eye(gram.shape[1]) * (RIDGE * scale + 1e-12)
    theta = np.linalg.solve(gram + ridge, moment[..., None])[..., 0]
    return np.asarray(np.maximum(square - np.einsum("ij,ij->i", moment, theta), 0.0))


def _piece(blocks: Blocks, first: int, last: int, noise_scale: float) -> Piece:
    gram, moment = blocks.gram[first:last].sum(axis=0), blocks.moment[first:last].sum(axis=0)
    spread = np.linalg.pinv(gram, rcond=1e-9, hermitian=True)
    return Piece(first, last, spread @ moment, spread * noise_scale**2)


def block_noise(blocks: Blocks, width: int = 8) -> float:
    """How much larger than supposed the noise of whole blocks is. Readings of one block may err alike, so that what counts is how
    far the sums of each block are from a fit to `width` neighbours,

        lambda = sum over blocks of s^T (A^T A)^+ s / (directions told - p),    s = A^T y - A^T A theta

    the median over the series, so that a few changes do not count. Its root.
    """
    heard = np.flatnonzero(blocks.count > 0)
    p = blocks.moment.shape[1]
    inverses = [np.linalg.pinv(blocks.gram[b], rcond=1e-9, hermitian=True) for b in heard]
    ranks = np.array([round(float(np.trace(blocks.gram[b] @ inverse))) for b, inverse in zip(heard, inverses, strict=True)])
    found = []
    for first in range(0, max(len(heard) - width + 1, 1), max(1, width // 4)):
        part = heard[first : first + width]
        told = int(ranks[first : first + width].sum()) - p
        if told <= 0:
            continue
        gram, moment = blocks.gram[part], blocks.moment[part]
        theta = np.linalg.pinv(gram.sum(axis=0), rcond=1e-9, hermitian=True) @ moment.sum(axis=0)
        scores = moment - gram @ theta
        found.append(sum(s @ inverses[first + j] @ s for j, s in enumerate(scores)) / told)
    return float(np.sqrt(np.median(found))) if found else 1.0
