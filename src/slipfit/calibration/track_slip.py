"""Slip of each track from steady states: what a track loses, as a function of both tracks' speeds.

    beta = sum c_k f_k(own, other),     ground speed of a track = own - beta

Each track has its own constants, found by linear least squares. Of three nested sets of functions f the one with the smallest
leave-one-out error within the fitted states is taken; states that are held out have no say.

Symbols    own, other speeds of the two belts (m/s) · beta longitudinal slip velocity (m/s), positive in driving
Reference  derived in docs/theory/tracked; measured states such as those of the MAXXII robot (indoor)
Valid for  steady driving within the speeds of the fitted states
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from slipfit.errors import FitError
from slipfit.library.files import nearest, write_json

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


# --- three models, on states that they have not seen ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelError:
    """RMS errors of one model on states that it was not fitted to."""

    model: str
    speed_mps: float
    yaw_rate_radps: float


@dataclass(frozen=True)
class TrackComparison:
    """Ideal tracks, a constant effective track, and slip of each track: each half of the states predicted from the other."""

    errors: tuple[ModelError, ...]
    form: str  # of the per-track slip, all states fitted
    effective_track_m: float  # all states fitted
    effective_track_std_m: float
    tread_m: float
    states: int

    def __getitem__(self, model: str) -> ModelError:
        return next(entry for entry in self.errors if entry.model == model)

    def summary(self) -> str:
        """A few lines for people."""
        rows = [
            f"{self.states} steady states: root mean square errors on the half that a model was not fitted to",
            f"{'model':<24}{'speed error':>12}{'yaw rate error':>16}",
        ]
        rows += [f"{e.model:<24}{1e3 * e.speed_mps:>7.2f} mm/s{1e3 * e.yaw_rate_radps:>9.1f} mrad/s" for e in self.errors]
        ratio = self.effective_track_m / self.tread_m
        rows.append(
            f"effective track {self.effective_track_m:.3f} ± {self.effective_track_std_m:.3f} m, {ratio:.3f} times the tread of "
            f"{self.tread_m:g} m; slip of each track: form '{self.form}'"
        )
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        return asdict(self) | {"errors": [asdict(entry) for entry in self.errors]}

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a .json file."""
        write_json(Path(path), self.to_document(), force=force)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read what `save` wrote."""
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        return cls(**data | {"errors": tuple(ModelError(**entry) for entry in data["errors"])})


@dataclass(frozen=True, eq=False, slots=True)
class TrackPredictions:
    """Speed (m/s) and yaw rate (rad/s) of steady states, (n, 2): measured, and by each model fitted to the other half of them."""

    measured: np.ndarray
    by_model: dict[str, np.ndarray]


def predict_tracks(states: np.ndarray, *, tread_m: float) -> TrackPredictions:
    """What three models say of steady states (n, 4), as `compare_track_models` takes them, that they were not fitted to."""
    left, right, slip_left, slip_right = np.asarray(states, dtype=float).T
    ahead, turn = 0.5 * (left - slip_left + right - slip_right), (right - slip_right - left + slip_left) / tread_m
    ideal_ahead, ideal_turn = 0.5 * (left + right), (right - left) / tread_m
    if not ideal_turn.any():
        raise FitError("both tracks run alike in every state: nothing tells how the robot turns; drive turns both ways")
    found = {name: np.empty((len(left), 2)) for name in ("ideal", "constant track", "per-track slip")}
    for first in (0, 1):
        fitted = np.arange(len(left)) % 2 == first
        held = ~fitted
        fit = fit_track_slip(left[fitted], right[fitted], slip_left[fitted], slip_right[fitted])
        share, _ = _turned_share(ideal_turn[fitted], turn[fitted])
        ground_left, ground_right = fit.ground_speeds_mps(left[held], right[held])
        found["ideal"][held] = np.column_stack([ideal_ahead[held], ideal_turn[held]])
        found["constant track"][held] = np.column_stack([ideal_ahead[held], share * ideal_turn[held]])
        found["per-track slip"][held] = np.column_stack(
            [0.5 * (ground_left + ground_right), (ground_right - ground_left) / tread_m]
        )
    return TrackPredictions(np.column_stack([ahead, turn]), found)


def compare_track_models(states: np.ndarray, *, tread_m: float) -> TrackComparison:
    """Errors of three models on steady states (n, 4): speeds of the belts and slip velocities, left and right, all in m/s.

    Every second state is fitted and the others are predicted, then the other way round; errors are RMS over all states.
    """
    predicted = predict_tracks(states, tread_m=tread_m)
    left, right, slip_left, slip_right = np.asarray(states, dtype=float).T
    turn, ideal_turn = predicted.measured[:, 1], (right - left) / tread_m
    errors = []
    for name, told in predicted.by_model.items():
        speed, rate = np.sqrt(np.mean((told - predicted.measured) ** 2, axis=0)).tolist()
        errors.append(ModelError(name, speed, rate))
    share, std = _turned_share(ideal_turn, turn)
    whole = fit_track_slip(left, right, slip_left, slip_right)
    return TrackComparison(tuple(errors), whole.form, tread_m / share, tread_m / share**2 * std, tread_m, len(left))


def _turned_share(ideal: np.ndarray, turn: np.ndarray) -> tuple[float, float]:
    """Turning over ideal turning by least squares, and its standard deviation."""
    share = float(ideal @ turn / (ideal @ ideal))
    return share, float(np.sqrt(np.sum((turn - share * ideal) ** 2) / max(1, len(turn) - 1) / (ideal @ ideal)))


#: Columns of a table of steady states.
STATE_COLUMNS = ("left_radps", "right_radps", "slip_left_mps", "slip_right_mps")

#: Belts that seem to run faster are a motor's speeds without its gear ratio; climbs end at this speed too.
FASTEST_BELT_MPS = 10.0


def read_track_states(path: Path | str, *, radius_m: float, gear_ratio: float = 1.0) -> np.ndarray:
    """Steady states (n, 4) as `compare_track_models` takes them, from a CSV file with the columns `STATE_COLUMNS`.

    Speeds are those of the sprockets, or of motors geared by `gear_ratio`. Without a header the first four columns are taken.
    """
    try:
        lines = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError):
        raise FitError(f"{path}: cannot be read; expected a CSV file of steady states") from None
    names = [name.strip() for name in lines[0].split(",")] if lines else []
    places = list(range(len(STATE_COLUMNS)))
    if any(name[:1].isalpha() for name in names):
        missing = next((name for name in STATE_COLUMNS if name not in names), None)
        if missing:
            raise FitError(f"{path}: there is no column '{missing}'; {nearest(missing, names)}")
        places, lines = [names.index(name) for name in STATE_COLUMNS], lines[1:]
    try:
        table = np.array([[float(row.split(",")[place]) for place in places] for row in lines])
    except (ValueError, IndexError):
        raise FitError(f"{path}: a row is no row of numbers; expected the columns {', '.join(STATE_COLUMNS)}") from None
    if len(table) < 8 or not np.isfinite(table).all():
        raise FitError(f"{path}: {len(table)} steady states; expected 8 or more, all finite")
    fastest_mps = np.abs(table[:, :2]).max() * radius_m / gear_ratio
    if fastest_mps > FASTEST_BELT_MPS:
        raise FitError(
            f"{path}: belts would run at {fastest_mps:.3g} m/s; expected {FASTEST_BELT_MPS:g} m/s or less of a robot: speeds of "
            f"motors need their gear ratio (--gear-ratio), and the unit is rad/s"
        )
    return np.asarray(table * [radius_m / gear_ratio, radius_m / gear_ratio, 1.0, 1.0])
