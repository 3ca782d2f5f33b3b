"""Steady states of two tracks as kinematics of a twin's ground.

With slip that is linear in both belts' speeds the body's motion is linear in them, too, which is the asymmetric model of rotation
centres. Of two models the one with the smaller leave-one-out error is taken: that one, or one effective track with one gain.

    u = p w_l + q w_r,    r = t w_r - s w_l;    y_l = q / t,    y_r = -p / s,    g_l = s (y_l - y_r),    g_r = t (y_l - y_r)

Symbols    w belt speeds, left and right (m/s) · u speed ahead · r yaw rate · y, g rotation centres and gains of both sides
Reference  `vehicles.kinematic.IcrDrive` [Mandow2007], solved for its constants
Valid for  steady driving within the speeds of the states; they do not tell how the body slides aside (x_m)
"""

import hashlib
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from slipfit.errors import FitError
from slipfit.twin import FittedKinematics, FittedOn, FittedParameter, LogOrigin, Status, TrackGround
from slipfit.twin.tracked import FRICTION

#: Names of the asymmetric model's constants that steady states tell.
CENTRES = ("y_left_m", "y_right_m", "gain_left", "gain_right")

#: Relative step of the derivatives.
_STEP = 1e-6


def ground_of_states(states: np.ndarray, *, tread_m: float, origin: LogOrigin) -> TrackGround:
    """A ground that tells kinematics alone, from steady states (n, 4) as `compare_track_models` takes them."""
    left, right, slip_left, slip_right = np.asarray(states, dtype=float).T
    source = f"states {origin.sha256[:12] or origin.name}"
    ground_left, ground_right = left - slip_left, right - slip_right
    ahead, turn = 0.5 * (ground_left + ground_right), (ground_right - ground_left) / tread_m
    note = "steady states tell no forces"
    return TrackGround(
        about=f"{len(left)} steady states of {origin.name}",
        law=FRICTION,
        parameters={"mu_static": FittedParameter(status=Status.NOT_EXCITED, source=source, note=note)},
        fitted_on=FittedOn(
            speed_mps=(float(ahead.min()), float(ahead.max())), yaw_rate_radps=(float(turn.min()), float(turn.max()))
        ),
        kinematics=_kinematics(np.column_stack([left, right]), ahead, turn, tread_m, source),
    )


def origin_of(path: Path) -> LogOrigin:
    """A table by its name and digest."""
    return LogOrigin(name=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def _kinematics(belts: np.ndarray, ahead: np.ndarray, turn: np.ndarray, tread_m: float, source: str) -> FittedKinematics:
    ideal_ahead, ideal_turn = belts.mean(axis=1), np.diff(belts).ravel() / tread_m
    gain, gain_variance = _slopes(ideal_ahead[:, None], ahead)
    share, share_variance = _slopes(ideal_turn[:, None], turn)
    track = float(gain[0]) * tread_m / float(share[0])
    std = track * float(np.sqrt(gain_variance[0, 0] / gain[0] ** 2 + share_variance[0, 0] / share[0] ** 2))
    freedom = len(ahead) - 1.0
    plain = np.hypot(_left_out(ideal_ahead[:, None], ahead), 0.5 * tread_m * _left_out(ideal_turn[:, None], turn))
    is_plain = plain <= np.hypot(_left_out(belts, ahead), 0.5 * tread_m * _left_out(belts, turn))
    return FittedKinematics(
        track_m=tread_m,
        effective_track_m=_told(track, std, freedom, source),
        gain=_told(float(gain[0]), float(np.sqrt(gain_variance[0, 0])), freedom, source),
        rung="track and gain" if is_plain else "icr",
        numbers={} if is_plain else _centres(belts, ahead, turn, source),
    )


def _centres(belts: np.ndarray, ahead: np.ndarray, turn: np.ndarray, source: str) -> dict[str, FittedParameter]:
    """Rotation centres and gains; their spreads through the derivatives."""
    rows = [_slopes(belts, ahead), _slopes(belts, turn)]
    values = np.concatenate([row[0] for row in rows])
    covariance = np.zeros((4, 4))
    covariance[:2, :2], covariance[2:, 2:] = rows[0][1], rows[1][1]
    found = _of_slopes(values)
    step = _STEP * np.abs(values).max()
    jacobian = np.column_stack([(_of_slopes(values + step * e) - _of_slopes(values - step * e)) / (2 * step) for e in np.eye(4)])
    stds = np.sqrt(np.diag(jacobian @ covariance @ jacobian.T))
    if not (found[0] > 0.0 > found[1] and (found[2:] > 0.0).all()):
        raise FitError(
            f"steady states: rotation centres of left and right come out at {found[0]:.3g} and {found[1]:.3g} m; expected one on "
            f"each side: check signs and the order of the columns"
        )
    freedom = len(ahead) - 2.0
    told = zip(CENTRES, found.tolist(), stds.tolist(), strict=True)
    return {name: _told(value, std, freedom, source) for name, value, std in told}


def _of_slopes(slopes: np.ndarray) -> np.ndarray:
    """(y_l, y_r, g_l, g_r) of speed ahead u = p w_l + q w_r and yaw rate r = -s w_l + t w_r, by the slopes (p, q, -s, t): where
    only the right belt moves the robot turns about y_l = q / t, where only the left does about y_r = -p / s."""
    p, q, minus_s, t = slopes
    y_left, y_right = q / t, p / minus_s
    return np.array([y_left, y_right, -minus_s * (y_left - y_right), t * (y_left - y_right)])


def _slopes(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least squares and the covariance of what it gives."""
    inverse = np.linalg.pinv(x)
    found = inverse @ y
    rest = y - x @ found
    return found, inverse @ inverse.T * float(rest @ rest) / max(len(y) - x.shape[1], 1)


def _left_out(x: np.ndarray, y: np.ndarray) -> float:
    """RMS error on states that are left out of the fit one by one, by the leverages, exactly."""
    inverse = np.linalg.pinv(x)
    rest = y - x @ (inverse @ y)
    return float(np.sqrt(np.mean((rest / (1.0 - np.einsum("ij,ji->i", x, inverse))) ** 2)))


def _told(value: float, std: float, freedom: float, source: str) -> FittedParameter:
    reach = float(student.ppf(0.95, max(freedom, 1.0))) * std
    return FittedParameter(
        value=value, std=std, interval_90=(value - reach, value + reach), status=Status.CONVERGED, source=source
    )
