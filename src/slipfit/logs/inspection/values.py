"""Numbers that do not move as they should: held, frozen or saturated samples, the resolution of encoders, axes of the IMU."""

from dataclasses import replace

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog
from slipfit.logs.inspection.record import Finding, Severity, Step, spans
from slipfit.logs.inspection.signals import origin_ns, rolled, rotation_of, seconds, wheels_of
from slipfit.logs.inspection.stamps import rows_of

#: A channel is held when this share of its rows repeats the row before while the robot moves; frozen when it repeats so long.
HELD_SHARE, FROZEN_S = 0.2, 1.0

#: A slower source repeats a few rows at a time; wheels at a steady speed repeat many.
HELD_RUN = 4

#: A run of rows that is so many of its source's intervals long, and so long (s), is a steady value.
STEADY_INTERVALS, STEADY_S = 4.0, 0.2

#: Numbers whose usual change is at most so many of their smallest are counted in coarse steps: what repeats there is resolution.
FEW_QUANTA = 1.5

#: A rail is an extreme value that is kept for so many samples in a row and so many altogether, and entered by a leap.
RAIL_RUN, RAIL_SAMPLES, RAIL_LEAP = 3, 6, 4.0

SENSORS = (names.ENCODERS, names.IMU, names.POSE)


def moving_at(log: DriveLog, robot: SkidSteerRobot, when_s: np.ndarray) -> np.ndarray:
    """Whether the wheels turn faster than 5 % of their usual fast speed, a quarter of a second around each time."""
    wheels = wheels_of(log, robot, origin_ns(log))
    if wheels is None:
        return np.ones(len(when_s), dtype=bool)
    half = max(0.125, wheels.period_s)
    speed = np.abs(wheels.at(when_s + half) - wheels.at(when_s - half)).max(axis=1) / (2.0 * half)
    return np.asarray(speed > 0.05 * max(float(np.percentile(speed, 98.0)), 1e-6))


def turning_at(log: DriveLog, when_s: np.ndarray) -> np.ndarray:
    """Whether the gyro turns faster than 30 % of its usual fast rate: a witness against frozen encoders."""
    if names.IMU not in log or "gyro_z_radps" not in log[names.IMU].columns:
        return np.zeros(len(when_s), dtype=bool)
    rate = np.abs(log[names.IMU].column("gyro_z_radps"))
    fast = float(np.percentile(rate, 98.0))
    turning = np.interp(when_s, seconds(log[names.IMU], origin_ns(log)), rate) > 0.3 * fast
    return np.asarray(turning) if fast > 0.15 else np.zeros(len(when_s), dtype=bool)


def drop_repeated(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """Rows that repeat the row before in every column while the robot moves: held by a slower source, or frozen."""
    findings, corrections, channels = [], [], []
    for name in SENSORS:
        if name not in log or len(log[name].stamps_ns) < 20:
            continue
        channel = log[name]
        found = rotation_of(channel) if name == names.ENCODERS else None
        if found and found[0] != "speed" and not _is_fine(channel):
            continue  # few counts between two rows: repetition is resolution
        time_s = seconds(channel, origin_ns(log))
        same = np.concatenate([[False], (np.diff(channel.values, axis=0) == 0.0).all(axis=1)])
        moving = moving_at(log, robot, time_s)
        while_driven = same & (turning_at(log, time_s) if name == names.ENCODERS else moving)
        if found and found[0] == "speed":  # a steady speed in coarse steps repeats itself; only zero is suspicious
            while_driven &= (channel.values == 0.0).all(axis=1)
        frozen = [(a, b) for a, b in spans(while_driven) if time_s[b] - time_s[a - 1] > FROZEN_S]
        stuck = np.zeros(len(same), dtype=bool)
        for a, b in frozen:
            stuck[a : b + 1] = True
        if frozen:
            longest = frozen[int(np.argmax([time_s[b] - time_s[a] for a, b in frozen]))]
            findings.append(
                Finding(
                    Severity.ERROR,
                    name,
                    "frozen",
                    f"says the same from {time_s[longest[0] - 1]:.2f} s to {time_s[longest[1]]:.2f} s, "
                    f"while the robot moves; {stuck.sum()} rows in {len(frozen)} places",
                    "look after the sensor; these rows are left out",
                    float(stuck.sum()),
                    is_corrected=True,
                )
            )
            corrections.append(f"{stuck.sum()} frozen rows of {name}")
        held = same & moving & ~stuck
        share = int(np.count_nonzero(held)) / max(int(np.count_nonzero(moving)), 1)
        if found and found[0] == "speed" and held.any() and np.percentile([b - a + 1 for a, b in spans(held)], 95.0) > HELD_RUN:
            share = 0.0
        if share > HELD_SHARE and _is_coarse(channel.values, moving):
            share = 0.0
        if share > HELD_SHARE:
            rate = channel.rate_hz * (1.0 - share)
            findings.append(
                Finding(
                    Severity.WARNING,
                    name,
                    "held",
                    f"{100 * share:.0f} % of the rows repeat the row before while the robot moves: "
                    f"a source of about {rate:.3g} Hz, written at {channel.rate_hz:.3g} Hz",
                    "record the source itself; repeated rows are left out",
                    rate,
                    is_corrected=True,
                )
            )
            corrections.append(f"held rows of {name}")
        if found and found[0] == "speed":
            held = _without_steady(held, stuck, time_s)
        dropped = stuck | (held if share > HELD_SHARE else np.zeros(len(held), dtype=bool))
        if dropped.any():
            channels.append(rows_of(channel, ~dropped))
    return Step(log.having(*channels), tuple(findings), tuple(corrections))


def _without_steady(held: np.ndarray, stuck: np.ndarray, time_s: np.ndarray) -> np.ndarray:
    """Held rows of speeds but for runs much longer than the source's interval: a steady speed, told again and again."""
    intervals = np.diff(time_s[~(held | stuck)])
    long = max(STEADY_INTERVALS * float(np.quantile(intervals, 0.9)), STEADY_S) if len(intervals) else np.inf
    kept = held.copy()
    for a, b in spans(held):
        if time_s[b] - time_s[a - 1] > long:
            kept[a : b + 1] = False
    return kept


def _is_fine(channel: Channel) -> bool:
    """Whether counters move by ten counts and more between rows when they move fast."""
    steps = np.abs(np.diff(channel.values, axis=0))
    nonzero = steps[steps > 1e-12]
    return bool(len(nonzero) and np.percentile(nonzero, 90.0) > 10.0 * np.percentile(nonzero, 1.0))


def _is_coarse(values: np.ndarray, moving: np.ndarray) -> bool:
    """Whether numbers mostly change by one quantum, the smallest change of their column, while the robot moves.

    Speeds made of counts (4096 a turn at 100 Hz: 1.46 rpm) stay on one step or go to the next as long as the speed is about
    steady. Fine numbers that a slower source holds change by many times their smallest change when the next one comes.
    """
    quanta = []
    for steps in np.abs(np.diff(values, axis=0))[moving[1:]].T:
        changes = steps[steps > 1e-9 * steps.max(initial=0.0)]  # what is left of equal numbers after arithmetic is no change
        if len(changes):
            quanta.append(changes / changes.min())
    return bool(quanta) and float(np.median(np.concatenate(quanta))) <= FEW_QUANTA


def look_for_rails(log: DriveLog, _: SkidSteerRobot) -> Step:
    """Columns of the IMU that stop at a largest value."""
    if names.IMU not in log:
        return Step(log)
    channel, findings = log[names.IMU], []
    for name, column in zip(channel.columns, channel.values.T, strict=True):
        steps = np.abs(np.diff(column))
        if name.startswith("orientation") or not (steps > 0.0).any():
            continue
        quantum = float(steps[steps > 0.0].min())
        for extreme in (column.max(), column.min()):
            runs = [(a, b) for a, b in spans(column == extreme) if b - a + 1 >= RAIL_RUN and a > 0]
            samples = sum(b - a + 1 for a, b in runs)
            leaps = [abs(column[a] - column[a - 1]) for a, _ in runs]
            if samples >= RAIL_SAMPLES and np.median(leaps) > RAIL_LEAP * quantum and extreme != 0.0:
                first = (channel.stamps_ns[runs[0][0]] - origin_ns(log)) / NANOSECONDS
                findings.append(
                    Finding(
                        Severity.WARNING,
                        names.IMU,
                        "saturated",
                        f"{name} stays at its extreme of {extreme:.5g} for {samples} samples in {len(runs)} places, "
                        f"the first at {first:.2f} s",
                        "choose a wider range of the sensor, or drive more gently",
                        float(extreme),
                    )
                )
    return Step(log, tuple(findings))


def measure_resolution(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """Smallest step of the encoders; ticks whose number per turn nobody said."""
    found = rotation_of(log[names.ENCODERS]) if names.ENCODERS in log else None
    if found is None or found[0] == "speed" or len(log[names.ENCODERS].stamps_ns) < 3:
        return Step(log)
    channel = log[names.ENCODERS]
    steps = np.abs(np.diff(channel.values[:, found[1] + found[2]], axis=0))
    nonzero = steps[steps > 1e-9]
    if not len(nonzero):
        return Step(log)
    if found[0] == "ticks":
        return Step(log, (_ticks(log, robot, channel),))
    step = float(nonzero.min())
    turns = 2.0 * np.pi / step
    if turns > 1e6 or np.abs(nonzero / step - np.round(nonzero / step)).max() > 0.1:
        return Step(log)  # no counter
    rim_mm = 1e3 * step * robot.wheels.radius_m.value
    finding = Finding(
        Severity.WARNING if rim_mm > 5.0 else Severity.INFO,
        names.ENCODERS,
        "resolution",
        f"{turns:.0f} counts per turn, {rim_mm:.3g} mm at the rim",
        "fit a finer encoder" if rim_mm > 5.0 else "nothing",
        step,
    )
    return Step(log, (finding,))


def _ticks(log: DriveLog, robot: SkidSteerRobot, channel: Channel) -> Finding:
    """Ticks need their number per turn; the length of the path by the pose tells it to a few per cent."""
    path = 0.0
    if names.POSE in log and {"x_m", "y_m"} <= set(log[names.POSE].columns):
        step_s = max(1, round(0.5 * log[names.POSE].rate_hz))
        places = np.column_stack([log[names.POSE].column("x_m"), log[names.POSE].column("y_m")])[::step_s]
        path = float(np.hypot(*np.diff(places, axis=0).T).sum())
    turned = rolled(channel.values, channel.time_s, "ticks").mean(axis=1)
    travelled = float(np.abs(np.diff(turned[:: max(1, round(0.5 * channel.rate_hz))])).sum())
    about = travelled * 2.0 * np.pi * robot.wheels.radius_m.value / path if path > 0.5 and travelled > 0.0 else None
    guess = f"; the path of the pose says about {about:.0f}" if about else ""
    return Finding(
        Severity.ERROR,
        channel.name,
        "ticks",
        f"counts without their number per turn{guess}",
        "give ticks_per_turn in the column map, or an angle instead of ticks",
        about,
    )


def correct_axes(log: DriveLog, _: SkidSteerRobot) -> Step:
    """Gravity along another axis than z up: the IMU is mounted on its back or its side, or speaks NED."""
    if names.IMU not in log or not set(names.IMU_COLUMNS[:3]) <= set(log[names.IMU].columns):
        return Step(log)
    channel = log[names.IMU]
    force = np.median(np.column_stack([channel.column(f"accel_{axis}_mps2") for axis in "xyz"]), axis=0)
    if np.linalg.norm(force) < 1e-9:
        return Step(log)
    along = force / np.linalg.norm(force)
    axis = int(np.argmax(np.abs(along)))
    if along[2] > 0.8 or abs(along[axis]) < 0.95:
        return Step(log)
    turn = _turn_up(axis, float(np.sign(along[axis])))
    values = channel.values.copy()
    for kind, unit in (("accel", "mps2"), ("gyro", "radps")):
        wanted = [f"{kind}_{a}_{unit}" for a in "xyz"]
        if set(wanted) <= set(channel.columns):
            places = [channel.columns.index(name) for name in wanted]
            values[:, places] = channel.values[:, places] @ turn.T
        elif kind == "gyro" and axis == 2 and "gyro_z_radps" in channel.columns:
            values[:, channel.columns.index("gyro_z_radps")] *= -1.0
    said = f"{'+' if along[axis] > 0 else '-'}{'xyz'[axis]}"
    finding = Finding(
        Severity.ERROR,
        names.IMU,
        "axes",
        f"gravity is along {said}, expected along +z: the IMU lies on its {'back' if axis == 2 else 'side'}"
        + (", or speaks NED" if axis == 2 else ""),
        "turn the axes to x forward, y left, z up (REP 103)",
        float(along[axis]),
        is_corrected=True,
    )
    return Step(log.having(replace(channel, values=values)), (finding,), (f"axes of imu, gravity along {said}",))


def _turn_up(axis: int, sign: float) -> np.ndarray:
    """Rotation that brings an axis up: about x where it can be, else about y."""
    if axis == 2:
        return np.diag([1.0, -1.0, -1.0])
    if axis == 1:
        return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -sign], [0.0, sign, 0.0]])
    return np.array([[0.0, 0.0, -sign], [0.0, 1.0, 0.0], [sign, 0.0, 0.0]])
