"""Slip of each track from steady states: what a track loses, as a function of both tracks' speeds.

    beta = sum c_k f_k(own, other),     ground speed of a track = own - beta

Each track has its own constants, found by linear least squares. Of three nested sets of functions f the one with the smallest
leave-one-out error within the fitted states is taken; states that are held out have no say.

Symbols    own, other speeds of the two belts (m/s) · beta longitudinal slip velocity (m/s), positive in driving
Reference  derived in docs/theory/tracked; measured states such as those of the MAXXII robot (indoor)
Valid for  steady driving within the speeds of the fitted states
"""

from dataclasses import dataclass

import numpy as np

from slipfit.errors import FitError

#: Speed over which Coulomb friction's sign is smoothed, m/s: below what steady states were driven at.
_SMOOTH_MPS = 0.02


def _linear(own: np.ndarray, other: np.ndarray) -> list[np.ndarray]:
    return [own, other]


def _with_sizes(own: np.ndarray, other: np.ndarray) -> list[np.ndarray]:
    return [*_linear(own, other), np.abs(own), np.abs(other), np.abs(own - other), np.abs(own + other)]


def _with_signs(own: np.ndarray, other: np.ndarray) -> list[np.ndarray]:
    signs = [np.tanh((own - other) / _SMOOTH_MPS), np.tanh(own / _SMOOTH_MPS), np.tanh(other / _SMOOTH_MPS)]
    products = [own * np.abs(other), other * np.abs(own), own * own, other * other, own * other]
    return [*_with_sizes(own, other), *signs, *products]


_FORMS = {"linear": _linear, "sizes": _with_sizes, "signs": _with_signs}


@dataclass(frozen=True, eq=False)
class TrackSlipFit:
    """Slip of both tracks: constants with their standard deviations, and the form that was chosen."""

    form: str
    left: np.ndarray
    right: np.ndarray
    left_std: np.ndarray
    right_std: np.ndarray
    left_out_rmse_mps: float  # leave-one-out error within the fitted states
    states: int

    def ground_speeds_mps(self, left_mps: np.ndarray, right_mps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Speeds of the two tracks over the ground."""
        left_mps, right_mps = np.asarray(left_mps, dtype=float), np.asarray(right_mps, dtype=float)
        form = _FORMS[self.form]
        lost_left = np.column_stack(form(left_mps, right_mps)) @ self.left
        lost_right = np.column_stack(form(right_mps, left_mps)) @ self.right
        return left_mps - lost_left, right_mps - lost_right

    def summary(self) -> str:
        """A few lines for people."""
        return (
            f"slip of two tracks from {self.states} steady states: form '{self.form}', {len(self.left)} constants each, "
            f"{1e3 * self.left_out_rmse_mps:.1f} mm/s left out"
        )


def fit_track_slip(
    left_mps: np.ndarray, right_mps: np.ndarray, slip_left_mps: np.ndarray, slip_right_mps: np.ndarray
) -> TrackSlipFit:
    """Fit the slip of both tracks, (n,) each: belt speeds and slip velocities."""
    arrays = [np.asarray(a, dtype=float) for a in (left_mps, right_mps, slip_left_mps, slip_right_mps)]
    if len({a.shape for a in arrays}) > 1 or arrays[0].ndim != 1:
        raise FitError(f"steady states have the shapes {[a.shape for a in arrays]}; expected four columns of one length")
    if not all(np.isfinite(a).all() for a in arrays):
        raise FitError("steady states hold values that are not finite; leave those rows out")
    left, right, slip_left, slip_right = arrays
    found = []
    for name, form in _FORMS.items():
        a, b = np.column_stack(form(left, right)), np.column_stack(form(right, left))
        if len(a) < 2 * a.shape[1] or np.linalg.matrix_rank(a) < a.shape[1] or np.linalg.matrix_rank(b) < b.shape[1]:
            continue
        one, other = _solved(a, slip_left), _solved(b, slip_right)
        error = float(np.sqrt(0.5 * (one[2] ** 2 + other[2] ** 2)))
        found.append(TrackSlipFit(name, one[0], other[0], one[1], other[1], error, len(left)))
    if not found:
        raise FitError(
            f"{len(left)} steady states do not tell two constants for each track; drive more pairs of speeds, turning both ways"
        )
    return min(found, key=lambda fit: fit.left_out_rmse_mps)


def _solved(functions: np.ndarray, slip: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Constants, their standard deviations, and the leave-one-out error (by the leverages, exactly)."""
    inverse = np.linalg.pinv(functions)
    constants = inverse @ slip
    rest = slip - functions @ constants
    leverage = np.einsum("ij,ji->i", functions, inverse)
    variance = float(rest @ rest) / (len(slip) - functions.shape[1])
    std = np.sqrt(variance * np.einsum("ij,ij->i", inverse, inverse))
    return constants, std, float(np.sqrt(np.mean((rest / (1.0 - leverage)) ** 2)))
