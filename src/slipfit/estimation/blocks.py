"""Sums of a linear model over blocks of time, of which every longer stretch is a sum again."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, slots=True)
class Blocks:
    """A^T A, A^T y and y^T y of each block's regressors A and readings y."""

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

    def over(self, variance: float) -> "Blocks":
        """With readings in units of their noise."""
        return Blocks(self.gram / variance, self.moment / variance, self.square / variance, self.count)
