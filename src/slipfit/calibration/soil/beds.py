"""How much beds differ from test to test, which every row of a test shares, and what that adds to constants' covariance.

    y = (1 + b) f + e,    V = s^2 I + tau^2 sum over tests f f^T,    C = H^-1 J^T V J H^-1,    H = J^T J

s and tau by restricted maximum likelihood. b is told by as many degrees of freedom as there are more tests than constants that
strengths of whole tests tell (two of Bekker's three, c and phi of Janosi's). Where these are fewer than ENOUGH, what is missing
comes from SPREAD:

    tau^2 = (d tau_told^2 + (ENOUGH - d) SPREAD^2) / ENOUGH

Symbols    b how much stronger than the mean a test's bed is · e error of a row · f fitted rows · d degrees of freedom
Reference  restricted likelihood: [PattersonThompson1971]; filling up degrees of freedom: [Smyth2004];
           derived in docs/theory/soil_calibration.md, covariance
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

#: How much the strength of beds differs from test to test where tests are too few to tell: a standard deviation, as a share.
#: Equal plates of CMU's small box (three of each, prepared alike in one laboratory, [CmuSingleWheel]) differ by 10 % in pressure
#: at 10 mm and by 8 % at 15 mm; tests/real/test_soil_in_sand.py reads it off the file.
SPREAD = 0.10

#: Degrees of freedom from which on tests alone say how much beds differ. Student's quantile of 4 is 2.1; of 1 it would be 6.3.
ENOUGH = 4

#: Where tau^2 |f|^2 / s^2 is sought, as powers of ten: no difference to be seen, and nothing else.
_POWERS = (-4.0, 14.0)


@dataclass(frozen=True, eq=False, slots=True)
class Beds:
    """Which rows share a bed, what was measured in them (in the unit of residuals), and what whole tests must tell."""

    test: np.ndarray
    measured: np.ndarray
    constants: int  # that strengths of whole tests tell

    @property
    def degrees(self) -> int:
        """Of freedom that tests leave to tell how they differ."""
        return max(len(np.unique(self.test)) - self.constants, 0)

    @property
    def degrees_taken(self) -> int:
        """With what is filled up."""
        return max(self.degrees, ENOUGH)

    def spread(self, jacobian: np.ndarray, left: np.ndarray) -> tuple[float, float]:
        """tau and s; the jacobian must have full rank."""
        unit, length, number = self._shapes(left)
        free = max(len(left) - jacobian.shape[1], 1)
        if self.degrees == 0:
            return SPREAD, float(np.sqrt(left @ left / free))
        middle = float(np.mean(length**2))

        def split(power: float) -> tuple[float, float]:
            """Minus twice the restricted logarithm of likelihood, and s^2."""
            apart = 1.0 + 10.0**power / middle * length**2
            shrink = 1.0 - 1.0 / np.sqrt(apart)

            def whitened(rows: np.ndarray) -> np.ndarray:
                along = np.zeros((len(length), rows.shape[1]))
                np.add.at(along, number, unit[:, None] * rows)
                return np.asarray(rows - unit[:, None] * (shrink[:, None] * along)[number])

            triangle = np.linalg.qr(whitened(np.column_stack([jacobian, left])), mode="r")
            size = np.maximum(np.abs(np.diag(triangle)), 1e-150)
            variance = float(size[-1] ** 2) / free
            return float(free * np.log(variance) + np.log(apart).sum() + 2.0 * np.log(size[:-1]).sum()), variance

        powers = np.linspace(*_POWERS, 37)
        first = float(powers[int(np.argmin([split(power)[0] for power in powers]))])
        ends = (max(first - 0.5, _POWERS[0]), min(first + 0.5, _POWERS[1]))
        best = float(minimize_scalar(lambda power: split(power)[0], bounds=ends, method="bounded").x)
        variance = split(best)[1]
        told = variance * 10.0**best / middle
        filled = max(ENOUGH - self.degrees, 0)
        return float(np.sqrt((self.degrees * told + filled * SPREAD**2) / (self.degrees + filled))), float(np.sqrt(variance))

    def root(self, jacobian: np.ndarray, left: np.ndarray) -> np.ndarray:
        """A matrix whose square, R^T R, is J^T V J; the jacobian's columns must be of length one and at right angles."""
        tau, noise = self.spread(jacobian, left)
        unit, length, number = self._shapes(left)
        sums = np.zeros((len(length), jacobian.shape[1]))
        np.add.at(sums, number, (unit * length[number])[:, None] * jacobian)
        return np.vstack([noise * np.eye(jacobian.shape[1]), tau * sums])

    def finding(self, more: str) -> str:
        """What was assumed where tests are few, and what to do."""
        if self.degrees >= ENOUGH:
            return ""
        count = len(np.unique(self.test))
        tests = "one test tells" if count == 1 else f"{count} tests tell"
        share = "nothing" if self.degrees == 0 else "too little"
        return (
            f"few tests: {tests} {share} of how beds differ from one test to the next; intervals assume that beds' "
            f"strengths differ by {100.0 * SPREAD:.0f} %; {more} ({self.constants + ENOUGH} tests or more)"
        )

    def _shapes(self, left: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Fitted rows as a vector of length one per test, those lengths, and each row's test."""
        _, number = np.unique(self.test, return_inverse=True)
        fitted = left + self.measured
        length = np.sqrt(np.maximum(np.bincount(number, weights=fitted**2), 1e-300))
        return fitted / length[number], length, number
