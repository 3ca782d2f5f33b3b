"""What tractions tell of a soil: the rank of their slopes, what lies outside the null space, and why the rest is not told.

A number whose slopes by (c, phi, K) have a part in the null space of J is moved at will by changes that no reading sees: it has
no value. At one load c and phi act alike; at one slip, and where all slips are small or all are large, so do K and the strength.

Symbols    J slopes of F by c, phi, K, scaled · S = A c + W tan(phi) strength (N) · x = i L / K
Reference  derived in docs/theory/estimation (soil from traction)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

#: Singular values of the scaled Jacobian below this share of the largest say nothing.
RANK_TOLERANCE = 1e-5

#: Nor do directions along which the noise leaves more than so many scales: 50 kPa, 15 rad or half a metre of K.
WIDEST = 50.0

#: A number is told when no more than this share of its slopes lies in the null space.
BLIND_SHARE = 1e-3

#: Ranges of slip below this share of the largest are one slip; x below and above these have left the bend of the curve.
ONE_SLIP, BEFORE_BEND, BEYOND_BEND = 0.02, 0.1, 20.0

#: What constant loads tell in place of cohesion and friction angle; what slips before the bend tell in place of that and K.
STRENGTH, STIFFNESS = "A c + W tan(phi), N", "(A c + W tan(phi)) / K, N/m"


@dataclass(frozen=True, eq=False, slots=True)
class Told:
    """Singular values and directions of slopes over the noise, (n, 3) by scaled constants."""

    singular: np.ndarray
    directions: np.ndarray  # in rows
    rank: int

    @classmethod
    def of(cls, slopes: np.ndarray) -> "Told":
        filled = np.vstack([slopes, np.zeros((3, 3))])  # three rows at least
        _, singular, directions = np.linalg.svd(filled, full_matrices=False)
        return cls(singular, directions, int((singular > max(RANK_TOLERANCE * singular[0], 1.0 / WIDEST)).sum()))

    @property
    def condition(self) -> float:
        return float(self.singular[0] / self.singular[-1]) if self.singular[-1] > 0.0 else float("inf")

    @property
    def blind(self) -> np.ndarray:
        """Directions that no reading sees, in rows."""
        return self.directions[self.rank :]

    def tells(self, slopes: np.ndarray) -> bool:
        """Whether a number with these scaled slopes has a value."""
        size = float(np.linalg.norm(slopes))
        return size > 0.0 and float(np.linalg.norm(self.blind @ slopes)) <= BLIND_SHARE * size

    @property
    def constants(self) -> tuple[bool, bool, bool]:
        """Whether c, phi and K have values."""
        c, phi, modulus = (self.tells(row) for row in np.eye(3))
        return c, phi, modulus

    def covariance(self) -> np.ndarray:
        """Of scaled constants within what is told; infinite variances beyond."""
        seen = self.directions[: self.rank]
        found: np.ndarray = (seen.T / self.singular[: self.rank] ** 2) @ seen
        for k, is_told in enumerate(self.constants):
            if not is_told:
                found[k, k] = np.inf
        return found

    def std(self, slopes: np.ndarray) -> float:
        """Spread of a number that is told."""
        return float(np.linalg.norm(self.directions[: self.rank] @ slopes / self.singular[: self.rank]))


def strength_of(p: np.ndarray, area_m2: float, load_n: float) -> tuple[float, np.ndarray]:
    """S at a load, and its slopes."""
    return float(area_m2 * p[0] + load_n * np.tan(p[1])), np.array([area_m2, load_n / np.cos(p[1]) ** 2, 0.0])


def candidates(
    p: np.ndarray, area_m2: float, load_n: float, tractions: Mapping[str, tuple[float, np.ndarray]]
) -> Iterator[dict[str, tuple[float, np.ndarray]]]:
    """Numbers with their slopes that may be told in place of constants, the most useful first: strength, stiffness, tractions."""
    strength, slopes = strength_of(p, area_m2, load_n)
    yield {STRENGTH: (strength, slopes)}
    yield {STIFFNESS: (strength / p[2], slopes / p[2] - np.array([0.0, 0.0, strength / p[2] ** 2]))}
    yield dict(tractions)


def reasons(slopes: np.ndarray, slip: np.ndarray, load_n: np.ndarray, length_m: float, modulus_m: float) -> list[str]:
    """Why constants are not told, in words."""
    said = []
    if Told.of(np.column_stack([slopes[:, :2], np.zeros(len(slopes))])).rank < 2:
        same = np.ptp(load_n) <= 1e-9 * max(1.0, float(np.abs(load_n).max()))
        said.append(
            f"{'the load is the same throughout' if same else 'the load hardly changes'}, {float(np.median(load_n)):.5g} N: "
            f"cohesion and friction angle act alike; vary the load to tell them apart"
        )
    if not Told.of(slopes).constants[2]:
        said.append(_about_slips(slip, slip * length_m / modulus_m))
    return said


def _about_slips(slip: np.ndarray, x: np.ndarray) -> str:
    low, high = float(slip.min()), float(slip.max())
    if high - low <= ONE_SLIP * high:
        same = "the slip is the same throughout" if high - low <= 1e-9 else "the slip hardly changes"
        return f"{same}, {float(np.median(slip)):.3g}: K and the strength act alike; vary the slip to tell them apart"
    if float(x.max()) < BEFORE_BEND:
        return f"all slips are small, {high:.3g} at most: K and the strength act alike; slip more to tell them apart"
    if float(x.min()) > BEYOND_BEND:
        return f"all slips are large, {low:.3g} at least: K has no part in the traction; slip less to tell it"
    return "K is not told by these slips; vary them from small to large ones"
