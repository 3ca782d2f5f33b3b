"""From a twin and a log to slip over time: inspection, clocks, filter, smoother, ratios, verdict."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.stats import chi2

from slipfit.errors import LogError
from slipfit.estimate.clocks import find_delay
from slipfit.estimate.filter import FilterRun, run_filter
from slipfit.estimate.immobilisation import immobilisation
from slipfit.estimate.motion import Motion, motion_of
from slipfit.estimate.readings import Readings, readings_of
from slipfit.estimate.record import Consistency, SlipEstimate
from slipfit.estimate.settings import FilterSettings
from slipfit.library import OmniRobot, Robot
from slipfit.logs import DriveLog
from slipfit.logs.inspection import inspect_log
from slipfit.logs.inspection.record import Finding, Severity, spans
from slipfit.logs.wheel_motion import TurnCounts
from slipfit.twin import Twin
from slipfit.vehicles.slip_filter import ACCELEROMETER, GATED, GYRO, POSE, PSI, RELOCATED, VELOCITY, N, Q, side_ratios

#: A ratio means something where rim or ground is faster than this (m/s), and its spread below this.
TOLD_MPS, TOLD_STD = 0.05, 0.3

#: An absence of poses that is longer than this (s) is told.
OUTAGE_S = 2.0

#: A twin's expectation comes back with this correlation time (s) where the caller does not say.
CORRELATION_S = 5.0

_KINDS = {"pose": POSE, "gnss": POSE, "gyro": GYRO, "accelerometer": ACCELEROMETER, "odometry": VELOCITY}


def estimate(
    driver: Twin | Robot | OmniRobot,
    log: DriveLog,
    *,
    ground: str | None = None,
    formulation: str = "slip",
    settings: FilterSettings | None = None,
    smooth: bool = True,
    use: tuple[str, ...] = ("pose", "gnss", "gyro", "accelerometer"),
    late_s: Mapping[str, float] | None = None,
    counts_per_turn: TurnCounts | None = None,
) -> SlipEstimate:
    """Slip of a drive, with spreads.

    Parameters
    ----------
    driver : a twin, whose kinematics say which slip to expect; or a robot, of which geometry is known
    formulation : "slip" (velocities of both sides), or "centres" (rotation centres)
    settings : noise of sensors and slip; the default lets poses be off by 2 cm
    smooth : run back through the log too; without, every moment rests on what came before it, as online
    late_s : delay of each sensor; what is not given is found, for poses and gyro
    """
    motion = motion_of(driver, ground=ground, formulation=formulation)
    robot = driver.robot if isinstance(driver, Twin) else driver
    chosen = settings or FilterSettings()
    if settings is None and motion.expected is not None:
        chosen = replace(chosen, correlation_s=CORRELATION_S)
    corrected, findings = _inspected(log, robot)
    readings = readings_of(corrected, robot, motion, chosen, use=use, counts_per_turn=counts_per_turn)
    delays = dict(late_s or {})
    for sensor in ("gyro", "pose"):
        if readings.has(sensor) and sensor not in delays:
            found = find_delay(readings, motion, chosen, sensor, late_s=delays)
            if found.is_told:
                delays[sensor] = found.late_s
    run = run_filter(readings, motion, chosen, late_s=delays, smooth=smooth)
    return _record(robot, motion, readings, run, log, delays, [*findings, *_findings(readings, run)])


def _inspected(log: DriveLog, robot: Robot | OmniRobot) -> tuple[DriveLog, list[Finding]]:
    """The log with everything corrected that can be; a skid-steer robot's only, which is what the inspection knows."""
    if isinstance(robot, OmniRobot):
        return log, []
    inspection = inspect_log(log, robot)
    if inspection.fatal:
        stop, name = inspection.fatal, log.source or log.about or "drive"
        raise LogError(f"{name}: {stop.channel + ': ' if stop.channel else ''}{stop.found}; {stop.remedy}")
    return inspection.corrected, [f for f in inspection.findings if f.severity in (Severity.ERROR, Severity.WARNING)]


def _findings(readings: Readings, run: FilterRun) -> list[Finding]:
    found = []
    for sensor, count in readings.left_out.items():
        found.append(Finding(Severity.WARNING, sensor, "not finite", f"{count} readings", "they are left out", float(count)))
    for name in ("pose", "gnss"):
        if not readings.has(name):
            continue
        times = readings[name].time_s
        edges = np.concatenate([[readings.time_s[0]], times, [readings.time_s[-1]]])
        gaps = np.diff(edges)
        for at in np.flatnonzero(gaps > OUTAGE_S)[:5]:
            said = f"none for {gaps[at]:.1f} s from {edges[at]:.1f} s on"
            found.append(Finding(Severity.WARNING, name, "outage", said, "slip rests on wheels and IMU there", float(gaps[at])))
    moved = int((run.fates == RELOCATED).sum())
    if moved:
        said = f"{moved} times farther off than any error explains, again and again"
        found.append(Finding(Severity.WARNING, "pose", "jumps", said, "the filter follows; look after the pose", float(moved)))
    return found


def _record(
    robot: Robot | OmniRobot, motion: Motion, readings: Readings, run: FilterRun, log: DriveLog, delays: Mapping[str, float],
    findings: list[Finding],
) -> SlipEstimate:  # fmt: skip
    rows = run.events.is_report
    best, rims = run.best[rows], run.events.rims_mps[rows]
    time_s = run.events.time_s[rows]
    velocity, velocity_std = best[:, 2 * N : 2 * N + 3], best[:, 2 * N + 3 : 2 * N + 6]
    slipping, slipping_std = slip_velocities(motion, best, rims)
    slip, std, told = ratios(motion, rims, velocity, slipping_std)
    drives = slice(0, 3) if motion.is_omni else slice(0, 2)
    verdict = immobilisation(time_s, slip[:, drives], std[:, drives], told[:, drives], _driven(motion, rims))
    held = [(name, ~told[:, k]) for k, name in enumerate(("left", "right", "slip angle"))] if not motion.is_omni else []
    for name, flags in held:
        if flags.any():
            said = f"held for {flags.mean() * 100.0:.0f} % of the time, in {len(spans(flags))} pieces"
            findings.append(Finding(Severity.INFO, "", f"{name} not observable", said, "nothing", float(flags.mean())))
    return SlipEstimate(
        robot=robot.name, name=readings.name, digest=log.digest,
        formulation="omni" if motion.is_omni else "centres" if motion.is_centres else "slip",
        start_ns=readings.start_ns, time_s=time_s, slip=slip, slip_std=std, is_told=told, slip_velocity=slipping,
        slip_velocity_std=slipping_std, velocity=velocity, velocity_std=velocity_std, pose=best[:, : PSI + 1],
        pose_std=best[:, N : N + PSI + 1], rims_mps=rims, stuck=verdict.probability, warning_s=verdict.warning_s,
        alarms_s=verdict.alarms_s, late_s=delays, consistency=consistency(readings, run), findings=tuple(findings),
        is_smoothed=run.smoothed is not None,
    )  # fmt: skip


def _driven(motion: Motion, rims: np.ndarray) -> np.ndarray:
    """What each slip is a share of (m/s): rims of both sides; an omni robot's velocity by its wheels, turns at an arm."""
    return rims * np.array([1.0, 1.0, motion.arm_m]) if motion.is_omni else rims


def slip_velocities(motion: Motion, rows: np.ndarray, rims: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slip velocities and their spreads, (n, 3): left, right, across; of an omni robot ahead, aside, turning."""
    if not motion.is_centres:
        return rows[:, Q : Q + 3], rows[:, N + Q : N + Q + 3]
    u, v, r, u_std, v_std, r_std = rows[:, 2 * N : 2 * N + 6].T
    half = 0.5 * motion.track_m
    side_std = np.hypot(u_std, half * r_std)
    found = np.column_stack([rims[:, 0] - (u - half * r), rims[:, 1] - (u + half * r), -v])
    return found, np.column_stack([side_std, side_std, v_std])


def ratios(
    motion: Motion, rims: np.ndarray, velocity: np.ndarray, slipping_std: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slip ratios (and the slip angle of sides), their spreads, and where they mean something; held where they do not."""
    slip, std = np.zeros((len(rims), 3)), np.zeros((len(rims), 3))
    told = np.zeros((len(rims), 3), dtype=bool)
    if motion.is_omni:
        scale = np.array([1.0, 1.0, motion.arm_m])
        said, over = rims * scale, velocity * scale
        pairs = [(k, said[:, k], over[:, k], slipping_std[:, k] * scale[k]) for k in range(3)]
    else:
        half = 0.5 * motion.track_m * velocity[:, 2]
        pairs = [
            (0, rims[:, 0], velocity[:, 0] - half, slipping_std[:, 0]),
            (1, rims[:, 1], velocity[:, 0] + half, slipping_std[:, 1]),
        ]
    for k, rim, over, spread in pairs:
        pair = np.empty((len(rims), 2))
        side_ratios(np.ascontiguousarray(rim), np.ascontiguousarray(over), np.ascontiguousarray(spread), pair)
        slip[:, k], std[:, k] = pair.T
        told[:, k] = (np.maximum(np.abs(rim), np.abs(over)) > TOLD_MPS) & (std[:, k] < TOLD_STD)
    if not motion.is_omni:
        u, v = velocity[:, 0], velocity[:, 1]
        safe = np.where(np.abs(u) > TOLD_MPS, u, TOLD_MPS)
        slip[:, 2] = np.arctan(-v / safe)
        std[:, 2] = slipping_std[:, 2] / np.abs(safe) * np.cos(slip[:, 2]) ** 2
        told[:, 2] = (np.abs(u) > TOLD_MPS) & (std[:, 2] < TOLD_STD)
    for k in range(3):
        slip[:, k], std[:, k] = _held(slip[:, k], told[:, k]), _held(std[:, k], told[:, k])
    return slip, std, told


def _held(values: np.ndarray, told: np.ndarray) -> np.ndarray:
    """The last value that was told; zero before the first."""
    if not told.any():
        return np.zeros(len(values))
    last = np.maximum.accumulate(np.where(told, np.arange(len(values)), -1))
    return np.where(last >= 0, values[np.maximum(last, 0)], 0.0)


def consistency(readings: Readings, run: FilterRun) -> tuple[Consistency, ...]:
    """Normalised innovations of each sensor, refused ones apart."""
    found = []
    for sensor in readings.sensors:
        of = (run.events.kinds == _KINDS[sensor.name]) & (run.told > 0)
        used = of & (run.fates != GATED)
        dof = float(run.told[used].sum())
        if not dof:
            continue
        low, high = (float(q) / dof for q in chi2.ppf([0.025, 0.975], dof))
        mean = float(run.nis[used].sum() / dof)
        counts = {fate: int((run.fates[of] == fate).sum()) for fate in (GATED, RELOCATED)}
        found.append(Consistency(sensor.name, int(dof), mean, (low, high), counts[GATED], counts[RELOCATED]))
    return tuple(found)
