"""The steady part of a run: from when wheels and body keep their velocity until the wheels leave theirs.

    v(t) = motion from t to t + w, over w,        steady where |v - median v| < s |median v|
    begins at t_0 + 2 (t_1 + w - t_0),            t_0 the wheels start, t_1 wheels and body are steady for the first time

Means over w that are within s leave less than s at the window's end, and what came within a tenth in some time comes within a
hundredth in twice that: starts decay as exponentials, or faster where the wheels slide.

Symbols    v (u, v, l r), body velocity of wheels (without slip) or truth, l mean distance of the wheels from the centre ·
           w `WINDOW_S` · s `WITHIN`, more where velocities shake more than that all along
"""

import numpy as np

from slipfit.calibration.omni.runs import OmniRun
from slipfit.library import OmniRobot

#: Velocities are means over this long (s): poses shake by millimetres, encoders' stamps by half an interval.
WINDOW_S = 0.5

#: A velocity is steady within this share of the run's median, or so many times its typical deviation, but never beyond the last.
WITHIN, TIMES_TYPICAL, MOST = 0.1, 2.0, 0.5

#: Wheels start where they turn faster than this share of their median speed.
STARTED = 0.1

#: A steady part is at least so many windows long.
LEAST_WINDOWS = 2.0


def steady_part(run: OmniRun, robot: OmniRobot) -> OmniRun | None:
    """A run without its start and stop; none where too little is left."""
    wheels = _steady_windows(run, _ideal_velocity(run, robot))
    body = _steady_windows(run, _true_velocity(run, robot))
    if not (wheels & body).any():
        return None
    first = run.time_s[np.argmax(wheels & body)] + WINDOW_S
    begins, ends = 2.0 * first - run.time_s[_start(run)], _end(run, wheels)
    kept = (run.time_s >= begins) & (run.time_s <= ends)
    if ends - begins < LEAST_WINDOWS * WINDOW_S or kept.sum() < 2:
        return None
    return OmniRun(run.name, run.time_s[kept], run.wheels_rad[kept] - run.wheels_rad[kept][0], run.poses[kept], run.currents_a)


def steady_wheel_speeds(run: OmniRun, robot: OmniRobot) -> np.ndarray:
    """Mean wheel speeds (n,) while they are steady, by the wheels alone; of the whole run where they never are."""
    steady = _steady_windows(run, _ideal_velocity(run, robot))
    if not steady.any():
        return np.asarray(run.wheels_rad[-1] / run.duration_s)
    begins, ends = float(run.time_s[np.argmax(steady)]) + WINDOW_S, _end(run, steady)
    if ends - begins < WINDOW_S:
        return np.asarray(run.wheels_rad[-1] / run.duration_s)
    at = np.array([np.interp([begins, ends], run.time_s, wheel) for wheel in run.wheels_rad.T])
    return np.asarray((at[:, 1] - at[:, 0]) / (ends - begins))


def _later(run: OmniRun, samples: np.ndarray) -> np.ndarray:
    """Change of columns (T, c) over the window that begins at each time."""
    return np.column_stack([np.interp(run.time_s + WINDOW_S, run.time_s, column) - column for column in samples.T])


def _ideal_velocity(run: OmniRun, robot: OmniRobot) -> np.ndarray:
    return np.asarray(_later(run, run.wheels_rad) @ np.linalg.pinv(robot.wheel_map()).T * _lengths(robot) / WINDOW_S)


def _true_velocity(run: OmniRun, robot: OmniRobot) -> np.ndarray:
    moved = _later(run, run.poses)
    ahead = (moved @ [1.0, 1j, 0.0]) * np.exp(-1j * (run.poses[:, 2] + 0.5 * moved[:, 2]))
    return np.asarray(np.column_stack([ahead.real, ahead.imag, moved[:, 2]]) * _lengths(robot) / WINDOW_S)


def _lengths(robot: OmniRobot) -> np.ndarray:
    return np.array([1.0, 1.0, float(np.hypot(*robot.at_m.T).mean())])


def _steady_windows(run: OmniRun, velocity: np.ndarray) -> np.ndarray:
    """Which windows, by their first samples, have a velocity near the median; those that reach beyond the run's end have none."""
    whole = run.time_s + WINDOW_S <= run.time_s[-1] + 1e-9
    if not whole.any():
        return np.zeros(len(whole), dtype=bool)
    usual = np.median(velocity[whole], axis=0)
    off = np.linalg.norm(velocity - usual, axis=1) / max(float(np.linalg.norm(usual)), 1e-12)
    return np.asarray(whole & (off < min(MOST, max(WITHIN, TIMES_TYPICAL * float(np.median(off[whole]))))))


def _start(run: OmniRun) -> int:
    """Sample at which the wheels start."""
    speed = np.linalg.norm(np.diff(run.wheels_rad, axis=0), axis=1) / np.diff(run.time_s)
    return int(np.argmax(speed > STARTED * np.median(speed)))


def _end(run: OmniRun, wheels: np.ndarray) -> float:
    """When the wheels leave their speed: the run's end, or the first sample of the last window that is steady."""
    last = len(wheels) - 1 - int(np.argmax(wheels[::-1]))
    is_driving = last + 1 >= len(wheels) or run.time_s[last + 1] + WINDOW_S > run.time_s[-1] + 1e-9
    return float(run.time_s[-1] if is_driving else run.time_s[last])
