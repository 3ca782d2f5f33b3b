"""From a twin and a log to slip over time: inspection, clocks, filter, smoother, ratios, verdict."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import chi2

from slipfit.errors import LogError, ParameterError
from slipfit.estimation.clocks import EARLIEST_S, LATEST_S, Delay, find_delays
from slipfit.estimation.filter import FilterRun, run_filter
from slipfit.estimation.immobilisation import Evidence, immobilisation
from slipfit.estimation.motion import BodyMotion, Motion, motion_of
from slipfit.estimation.readings import SENSORS, Readings, check_vehicle, readings_of
from slipfit.estimation.record import OMNI_SLIPS, SIDE_SLIPS, WINDOW_S, Consistency, SlipEstimate
from slipfit.estimation.scatter import widened
from slipfit.estimation.settings import FilterSettings
from slipfit.estimation.truth import Truth, state_consistency
from slipfit.library import OmniRobot, Robot, SkidSteerRobot, skid_steer_robot
from slipfit.logs import DriveLog
from slipfit.logs.channels import ENCODERS, GNSS, IMU, ODOMETRY
from slipfit.logs.channels import POSE as POSES
from slipfit.logs.inspection import inspect_log, inspect_stamps
from slipfit.logs.inspection.record import Finding, Severity, spans
from slipfit.logs.provenance import with_truth
from slipfit.logs.wheel_motion import TurnCounts
from slipfit.twin import Driver, Twin, find_driver
from slipfit.vehicles.slip_filter import ACCELEROMETER, GATED, GYRO, POSE, PSI, RELOCATED, USED, VELOCITY, N, Q
from slipfit.vehicles.slip_ratios import TOLD_MPS, TOLD_STD, slip_ratios

#: No sensor is later than this (s).
LONGEST_DELAY_S = 60.0

#: An absence of poses that is longer than this (s) is told.
OUTAGE_S = 2.0

#: What an IMU alone does not tell: of two sides, of an omni robot.
NOT_AHEAD = (
    "an IMU alone tells how much less the robot turns than its rims say, and not which side slips, nor at which angle",
    "an IMU alone tells slip of turning, and not of the way ahead and aside",
)

#: Sensors that are used where nothing else is said: a body's own odometry is told by the same wheels, as a rule.
USUAL = ("pose", "gnss", "gyro", "accelerometer")

#: Sensors whose delay the filter looks for, and their channels.
_CLOCKS = {"gyro": IMU, "pose": POSES}

_KINDS = {"pose": POSE, "gnss": POSE, "gyro": GYRO, "accelerometer": ACCELEROMETER, "odometry": VELOCITY}


def estimate(
    driver: Driver | Twin | Robot | str | Path,
    log: DriveLog,
    *,
    ground: str | None = None,
    formulation: str = "slip",
    settings: FilterSettings | None = None,
    smooth: bool = True,
    use: tuple[str, ...] = USUAL,
    late_s: Mapping[str, float] | None = None,
    counts_per_turn: TurnCounts | None = None,
    imu_at_m: tuple[float, float] | None = None,
    effective_track_m: float | None = None,
    expected: BodyMotion | None = None,
    widen: tuple[str, ...] | None = None,
    truth: Truth | None = None,
) -> SlipEstimate:
    """Slip of a drive, with spreads.

    Parameters
    ----------
    driver : a twin, whose kinematics say which slip to expect; or a skid-steer, tracked or omni robot, of which geometry is known
    formulation : "slip" (velocities of both sides), or "centres" (rotation centres)
    settings : noise of sensors and slip; the default lets poses be off by 2 cm
    smooth : run back through the log too; without, every moment rests on what came before it, as online
    late_s : delay of each sensor; what is not given is found, for poses and gyro
    imu_at_m, effective_track_m, expected : as in `slipfit.estimation.motion.motion_of`
    widen : sensors that are taken to be no better than they scatter (`slipfit.estimation.scatter`); None: all where no settings
        are given, none where they are
    truth : how the robot really moved, which the filter is not told: its errors are compared with the spreads that it says
    """
    log, driver = with_truth(log), find_driver(driver)
    if imu_at_m is None and IMU in log.mounts_m:
        imu_at_m = log.mounts_m[IMU][:2]
    motion = motion_of(
        driver, ground=ground, formulation=formulation, effective_track_m=effective_track_m, expected=expected, imu_at_m=imu_at_m
    )
    robot, chosen = driver.robot.as_wheeled(), settings or FilterSettings()
    _check_delays(late_s)
    if ENCODERS in log:
        check_vehicle(log, robot, is_tracked=driver.robot.has_belts)
    corrected, findings = _inspected(log, robot)
    readings = readings_of(corrected, robot, motion, chosen, use=use, counts_per_turn=counts_per_turn)
    if widen is None:
        widen = SENSORS if settings is None else ()
    readings, scattering = widened(readings, widen)
    motion = replace(motion, is_heard_ahead=readings.tell_ahead)
    if not motion.is_ahead_told and readings.has("gyro"):
        readings = readings.without("accelerometer")  # it would be taken for motion, and is tilt
    delays = dict(late_s or {})
    is_set = {f.channel for f in findings if f.kind == "clock offset" and f.is_corrected}  # by the inspection, with an interval
    asked = tuple(
        sensor for sensor, channel in _CLOCKS.items() if readings.has(sensor) and sensor not in delays and channel not in is_set
    )
    found = find_delays(readings, motion, chosen, asked, late_s=delays) if asked else ()
    delays |= {delay.sensor: delay.late_s for delay in found if delay.is_told}
    findings += [_clock_finding(delay) for delay in found if delay.is_told or delay.is_at_end]
    run = run_filter(readings, motion, chosen, late_s=delays, smooth=smooth, keep=truth is not None)
    slip = _record(robot, motion, readings, run, log, delays, [*findings, *scattering, *_findings(readings, run, motion)])
    return slip if truth is None else replace(slip, errors=state_consistency(truth, readings, motion, run))


def _inspected(log: DriveLog, robot: SkidSteerRobot | OmniRobot) -> tuple[DriveLog, list[Finding]]:
    """The log with everything corrected that can be; of an omni robot's log stamps and numbers only."""
    # Places and velocities are enough for slip, though not for a calibration.
    inspection = inspect_log(log, skid_steer_robot(robot), witnesses=(GNSS, ODOMETRY)) if robot.has_sides else inspect_stamps(log)
    if inspection.fatal:
        stop, name = inspection.fatal, log.source or log.about or "drive"
        raise LogError(f"{name}: {stop.channel + ': ' if stop.channel else ''}{stop.found}; {stop.remedy}")
    told = [f for f in inspection.findings if f.severity in (Severity.ERROR, Severity.WARNING) and f.kind != "no spin"]
    # What was corrected is no error of the estimate any more.
    return inspection.corrected, [replace(f, severity=Severity.WARNING) if f.is_corrected else f for f in told]


def _clock_finding(delay: Delay) -> Finding:
    """What the filter found of a sensor's clock, and whether it uses that."""
    kind, channel = "clock offset, by the filter", _CLOCKS[delay.sensor]
    if delay.is_told:
        side = "late: its stamps come after" if delay.late_s > 0.0 else "early: its stamps come before"
        said = f"the {delay.sensor} is {abs(delay.late_s):.3f} s {side} what it tells, against wheels and other sensors"
        remedy = "stamp all sensors by one clock"
        return Finding(Severity.WARNING, channel, kind, said, remedy, delay.late_s, is_corrected=True)
    said = f"the {delay.sensor} fits better the farther its stamps are moved, to the end of the {-EARLIEST_S:g} s early to "
    said += f"{LATEST_S:g} s late that were tried; none of them is used"
    remedy = "say its delay (late_s, --pose-late-s), or look for a sign, a unit or another robot"
    return Finding(Severity.WARNING, channel, kind, said, remedy)


def _check_delays(late_s: Mapping[str, float] | None) -> None:
    for sensor, late in (late_s or {}).items():
        if sensor not in SENSORS:
            raise ParameterError(f"late_s names the sensor '{sensor}'; known are {', '.join(SENSORS)}")
        if not abs(late) < LONGEST_DELAY_S:
            raise ParameterError(f"late_s of {sensor} is {late:g} s; expected seconds between ±{LONGEST_DELAY_S:g}")


def _findings(readings: Readings, run: FilterRun, motion: Motion) -> list[Finding]:
    found = []
    if not motion.is_ahead_told:
        remedy = "log a pose, GNSS or a velocity; or say which slip to expect: " + (
            "--slip-map" if motion.is_omni else "a twin, or --effective-track-m"
        )
        found.append(Finding(Severity.WARNING, "", "way ahead not told", NOT_AHEAD[motion.is_omni], remedy))
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
    if not run.is_heading_known:
        said = "places never tell it: the robot hardly moves among them, or they do not fit its way"
        remedy = "slip rests on guesses; log a pose or a heading, or drive farther"
        found.append(Finding(Severity.WARNING, "gnss", "heading not known", said, remedy))
    moved = int(((run.fates == RELOCATED) & (run.events.kinds == POSE)).sum())
    if moved:
        said = f"{'once' if moved == 1 else f'{moved} times'} farther off than any error explains, several readings in a row"
        remedy = "the filter follows; the pose jumped there, or the robot lost its grip"
        found.append(Finding(Severity.WARNING, "pose", "jumps", said, remedy, float(moved)))
    return found


def _record(
    robot: SkidSteerRobot | OmniRobot, motion: Motion, readings: Readings, run: FilterRun, log: DriveLog,
    delays: Mapping[str, float], findings: list[Finding],
) -> SlipEstimate:  # fmt: skip
    rows = run.events.is_report
    best, rims = run.best[rows], run.events.rims_mps[rows]
    time_s = run.events.time_s[rows]
    velocity, velocity_std = best[:, 2 * N : 2 * N + 3], best[:, 2 * N + 3 : 2 * N + 6]
    slipping, slipping_std = slip_velocities(motion, best, rims)
    slip, std, told = ratios(motion, rims, velocity, slipping_std)
    judged = _judged(motion, run.forward[rows], rims)
    verdict = immobilisation(time_s, *judged, _driven(motion, rims), evidence=evidence(time_s, run))
    names = OMNI_SLIPS if motion.is_omni else SIDE_SLIPS
    for name, flags in zip(names, ~told.T, strict=True):
        if flags.any():
            share = f"{flags.mean() * 100.0:.0f} %" if flags.mean() >= 0.01 else "less than 1 %"
            said = f"held for {share} of the time, {_in_pieces(len(spans(flags)))}"
            findings.append(
                Finding(Severity.INFO, "", f"{name.removesuffix('_rad')} not observable", said, "nothing", float(flags.mean()))
            )
    return SlipEstimate(
        robot=robot.name, name=readings.name, digest=log.digest,
        formulation="omni" if motion.is_omni else "centres" if motion.is_centres else "slip",
        start_ns=readings.start_ns, time_s=time_s, slip=slip, slip_std=std, is_told=told, slip_velocity=slipping,
        slip_velocity_std=slipping_std, velocity=velocity, velocity_std=velocity_std, pose=best[:, : PSI + 1],
        pose_std=best[:, N : N + PSI + 1], rims_mps=rims, stuck=verdict.probability, warning_s=verdict.warning_s,
        alarms_s=verdict.alarms_s, late_s=delays, consistency=consistency(readings, run), findings=tuple(findings),
        is_smoothed=run.smoothed is not None, pose_used=log.truth_line(),
    )  # fmt: skip


def _judged(motion: Motion, forward: np.ndarray, rims: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slips, spreads and where they are told, by which a robot is judged to be stuck: of the filter forwards, as online, whether
    smoothed or not. How late and how often for nothing alarms come was measured so, and evidence is of what came before."""
    velocity, velocity_std = forward[:, 2 * N : 2 * N + 3], forward[:, 2 * N + 3 : 2 * N + 6]
    if not (motion.is_ahead_told or motion.is_omni):
        return turning_slip(motion.track_m, rims, velocity[:, 2], velocity_std[:, 2])
    _, slipping_std = slip_velocities(motion, forward, rims)
    slip, std, told = ratios(motion, rims, velocity, slipping_std)
    drives = slice(0, 3) if motion.is_omni else slice(0, 2)
    return slip[:, drives], std[:, drives], told[:, drives]


def _in_pieces(count: int) -> str:
    return "in one piece" if count == 1 else f"in {count} pieces"


def evidence(time_s: np.ndarray, run: FilterRun) -> Evidence:
    """Which motion was told lately: poses, places and velocities tell the way ahead, these and the gyro turning. Readings that
    the gate refused tell nothing."""
    used = (run.told > 0) & (run.fates == USED)
    ahead = used & np.isin(run.events.kinds, (POSE, VELOCITY))
    turning = ahead | (used & (run.events.kinds == GYRO))
    return Evidence.of(time_s, run.events.time_s[ahead], run.events.time_s[turning])


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
    """Slip ratios (and the slip angle of sides), their spreads, and where they mean something; held where they do not. Where
    nothing tells the way ahead an omni robot's turning is told, and of sides nothing."""
    out = np.empty((len(rims), 9))
    columns = (np.ascontiguousarray(column) for column in (rims, velocity, slipping_std))
    slip_ratios(motion.is_omni, motion.length_m, *columns, out)
    slip, std, told = out[:, :3].copy(), out[:, 3:6].copy(), out[:, 6:] > 0.0
    if not motion.is_ahead_told:
        told[:, : 2 if motion.is_omni else 3] = False
    for k in range(3):
        slip[:, k], std[:, k] = _held(slip[:, k], told[:, k], 0.0), _held(std[:, k], told[:, k], np.inf)
    return slip, std, told


def turning_slip(
    track_m: float, rims: np.ndarray, yaw_rate: np.ndarray, yaw_rate_std: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As ratios, spreads and where they are told, (n, 2) each: the slip 1 - r B / (w_r - w_l) of both sides alike, above which
    the smaller one never is where sides turn against each other (`slipfit.estimation.immobilisation`)."""
    apart = rims[:, 1] - rims[:, 0]
    told = (rims.prod(axis=1) < 0.0) & (np.abs(apart) > 2.0 * TOLD_MPS)
    safe = np.where(told, apart, 1.0)
    slip, std = 1.0 - yaw_rate * track_m / safe, yaw_rate_std * track_m / np.abs(safe)
    alike = np.sign(rims) * slip[:, None]
    return alike, np.column_stack([std, std]), np.column_stack([told, told]) & (std < TOLD_STD)[:, None]


def _held(values: np.ndarray, told: np.ndarray, before: float) -> np.ndarray:
    """The last value that was told; what is given before the first."""
    last = np.maximum.accumulate(np.where(told, np.arange(len(values)), -1))
    return np.where(last >= 0, values[np.maximum(last, 0)], before)


def consistency(readings: Readings, run: FilterRun) -> tuple[Consistency, ...]:
    """Normalised innovations of each sensor, refused ones apart, and those after which the filter followed a jump."""
    found = []
    for sensor in readings.sensors:
        of = (run.events.kinds == _KINDS[sensor.name]) & (run.told > 0)
        used = of & (run.fates == USED)
        dof = float(run.told[used].sum())
        if not dof:
            continue
        low, high = (float(q) / dof for q in chi2.ppf([0.025, 0.975], dof))
        mean = float(run.nis[used].sum() / dof)
        counts = {fate: int((run.fates[of] == fate).sum()) for fate in (GATED, RELOCATED)}
        windows = _over_time(run.events.time_s[used], run.nis[used], run.told[used])
        found.append(Consistency(sensor.name, int(dof), mean, (low, high), counts[GATED], counts[RELOCATED], windows))
    return tuple(found)


def _over_time(time_s: np.ndarray, nis: np.ndarray, told: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Middle and mean normalised innovation squared of each stretch that has readings."""
    stretch = (time_s / WINDOW_S).astype(int)
    count, total = np.bincount(stretch, weights=told), np.bincount(stretch, weights=nis)
    at = np.flatnonzero(count)
    return tuple(zip(((at + 0.5) * WINDOW_S).tolist(), (total[at] / count[at]).tolist(), strict=True))
