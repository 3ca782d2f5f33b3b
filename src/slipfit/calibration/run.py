"""Calibrate: logs and a robot in, a fit out."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from slipfit.calibration.choice import solved
from slipfit.calibration.first_look import NO_LIMIT
from slipfit.calibration.fit import DriveFit, Fit, Nuisance, Trace
from slipfit.calibration.grip import grips, proven_grip, sliding_s
from slipfit.calibration.observations import Observations, observe
from slipfit.calibration.odometry.commands import has_commands
from slipfit.calibration.odometry.speed_loop import fit_speed_loops
from slipfit.calibration.one_drive import Doubts, Problem, Solution, noise_of_readings
from slipfit.calibration.pool import pooled_fit, told_by_draws
from slipfit.calibration.posterior import Posterior, PosteriorKind, checked_kind, sample_posterior
from slipfit.calibration.protocol import ProtocolResult, run_protocol
from slipfit.calibration.replay import STEP_S, Replay, replay
from slipfit.calibration.spread import Spread, spread_of, without_robot
from slipfit.calibration.stamp_jitter import without_jitter
from slipfit.calibration.unknowns import Unknown, body, constant, imu_unknowns, pose_unknowns
from slipfit.calibration.weights import DOUBT, DOUBT_ACROSS, DOUBT_TURNING_S, DOUBTED_INTERVAL_S, PoseNoise
from slipfit.calibration.wheel_speeds import angle_noise, change_of_acceleration, speed_noise, speeds_at, uncertain_acceleration
from slipfit.errors import LogError, ParameterError, SlipfitError
from slipfit.library import Ground, SkidSteerRobot, skid_steer_robot
from slipfit.library.files import nearest
from slipfit.logs import DriveLog
from slipfit.logs.channels import ENCODERS, IMU
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.inspection import Inspection, inspect_log
from slipfit.logs.read import loaded
from slipfit.logs.wheel_motion import WheelAngles, wheel_angles
from slipfit.twin import FittedPowertrain
from slipfit.vehicles import skid_steer

#: Laws whose constants a fit can find.
CALIBRATED_LAWS = ("wheel_slip", "wheel_slip_cone")

#: Longest drive that is fitted (s); of longer ones the first so many seconds, which the fit's notes say.
LONGEST_S = 300.0

#: Seconds before and after wheels left the ground that are not used.
LIFT_MARGIN_S = 0.2


#: A robot turns when its wheels do so faster than this (rad/s): what counts and unequal tyres make is less.
TURNING_RADPS = 0.1

#: Noise of good sensors: a log that has less is simulated, and rounding is not a misfit.
USUAL_NOISE = {
    "accel_x_mps2": 0.02, "accel_y_mps2": 0.02, "gyro_z_radps": 1e-3, "pose_x_m": 5e-4, "pose_y_m": 5e-4, "pose_yaw_rad": 5e-4,
}  # fmt: skip


def calibrate(
    *logs: DriveLog | str | Path,
    robot: SkidSteerRobot | str | Path,
    ground: str = "calibrated",
    law: str = "wheel_slip",
    gravity_mps2: float = 9.81,
    counts_per_turn: float | None = None,
    gyro_scale_std: float = 0.0,
    posterior: PosteriorKind = "gauss",
    truth: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Fit:
    """Find the slip constants of a robot on a ground from one or several recorded drives.

    Parameters
    ----------
    logs : recordings (files or `DriveLog`s) with encoders and an IMU, a pose, or both; several are pooled
    robot : a record, a name of the library, or the path of a robot file
    ground : what the ground is called in the twin
    law : wheel_slip (each axis limited by mu N, as Gazebo does) or wheel_slip_cone
    counts_per_turn : of encoders that tell ticks
    gyro_scale_std : how far the gyro's scale may be off, as a share (0.005: half a per cent), where no pose tells it
    posterior : gauss (a Gaussian about the fit), or emcee (draws with replays, of one log, up to a minute)
    truth : the pose that serves as truth (a topic, or pose or odometry of a log without topics), or "none"; without it a pose
        that is independent of the wheels, if there is one

    Examples
    --------
    >>> fit = calibrate("run.mcap", robot="p3at")  # doctest: +SKIP
    >>> fit.to_twin().save("p3at.twin.yaml")  # doctest: +SKIP
    """
    if not logs:
        raise LogError("calibrate: no log given; expected one or more recordings of a drive")
    if law not in CALIBRATED_LAWS:
        raise ParameterError(f"law '{law}' cannot be calibrated from a drive; {nearest(law, CALIBRATED_LAWS)}")
    if not 0.0 <= gyro_scale_std < 0.2:
        raise ParameterError(f"gyro_scale_std = {gyro_scale_std:g}; expected a share from 0 (exact) to 0.2, as 0.005 for 0.5 %")
    is_sampled = checked_kind(posterior) == "emcee"
    if is_sampled and len(logs) > 1:
        raise ParameterError(f"posterior 'emcee' takes one log, and {len(logs)} were given; give one, or leave it at 'gauss'")
    chosen = skid_steer_robot(robot, "calibrate")
    surface = _ground(law, gravity_mps2)
    drives, powertrain = [], None
    for log in logs:
        record = loaded(log, truth)
        drives.append(_fit_drive(record, chosen, surface, counts_per_turn, gyro_scale_std, progress, is_sampled=is_sampled))
        powertrain = powertrain or _speed_loops(drives[-1], chosen, counts_per_turn)
    fit = replace(pooled_fit(drives, chosen, ground, law, gravity_mps2), powertrain=powertrain)
    return told_by_draws(fit) if is_sampled else fit


def _speed_loops(drive: DriveFit, robot: SkidSteerRobot, counts: float | None) -> FittedPowertrain | None:
    """The powertrain where the log has commands; slip constants do not wait for it, so that one it cannot tell is no error."""
    corrected = drive.inspection.corrected
    if not has_commands(corrected):
        return None
    try:
        return fit_speed_loops(corrected, robot, counts_per_turn=counts).powertrain
    except LogError:
        return None


def _ground(law: str, gravity_mps2: float) -> Ground:
    data = {"c_long_per_n": 0.005, "c_lat_per_n": 0.05, "mu": NO_LIMIT}
    mapping = {"schema": Ground.kind(), "name": "unknown", "law": law, "gravity_mps2": gravity_mps2, "parameters": data}
    return Ground.from_mapping(mapping, where="gravity_mps2")


def _fit_drive(
    log: DriveLog,
    robot: SkidSteerRobot,
    ground: Ground,
    counts: float | None,
    gyro_scale_std: float,
    progress: Callable[[str], None],
    *,
    is_sampled: bool,
) -> DriveFit:
    """One drive by itself."""
    name = log.source or log.about or "drive"
    progress(f"inspecting {name}")
    inspection = inspect_log(log, robot)
    if inspection.fatal:
        stop = inspection.fatal
        raise LogError(f"{name}: {stop.channel + ': ' if stop.channel else ''}{stop.found}; {stop.remedy}")
    corrected = inspection.corrected
    try:
        wheels = without_jitter(_shortened(wheel_angles(corrected, robot, counts_per_turn=counts)))
        problem = problem_of(corrected, robot, ground, wheels, inspection)
    except LogError as error:
        raise LogError(f"{name}: {error}") from None
    progress(f"fitting {name}")
    solution = solved(problem, unknowns_of(problem, robot, gyro_scale_std))
    spread = spread_of(solution)
    posterior = sample_posterior(problem, solution, spread, progress=progress) if is_sampled else None
    progress(f"running the published protocol on {name}")
    protocol = _protocol(corrected, robot, counts, ground.gravity_mps2.value)
    return _record(name, log, problem, solution, spread, inspection, protocol, posterior)


def _shortened(wheels: WheelAngles) -> WheelAngles:
    kept = wheels.stamps_ns <= wheels.stamps_ns[0] + int(LONGEST_S * NANOSECONDS)
    return replace(wheels, stamps_ns=wheels.stamps_ns[kept], angle_rad=wheels.angle_rad[kept])


def problem_of(log: DriveLog, robot: SkidSteerRobot, ground: Ground, wheels: WheelAngles, inspection: Inspection) -> Problem:
    start_ns, end_ns = int(wheels.stamps_ns[0]), int(wheels.stamps_ns[-1])
    observations = observe(log, start_ns, end_ns)
    if observations.imu is None and observations.pose is None:
        raise LogError("neither IMU nor pose overlaps with the encoders; expected one of them while the wheels turn")
    model = replay(robot, ground, speeds_at(wheels, STEP_S))
    doubts = _doubts(model, robot, wheels, observations, inspection)
    return Problem(robot, model, observations, doubts, ground.gravity_mps2.value, imu_at_m=log.mounts_m.get(IMU))


def _doubts(
    model: Replay, robot: SkidSteerRobot, wheels: WheelAngles, observations: Observations, inspection: Inspection
) -> Doubts:
    """Where the replay cannot be trusted: next to corners of the wheels' speeds, and while wheels are off the ground."""
    imu = observations.imu
    time_s = imu.time_s if imu is not None else np.empty(0)
    rims = model.wheel_speeds * robot.wheels.radius_m.value
    left, right = rims[:, ::2].mean(axis=1), rims[:, 1::2].mean(axis=1)
    noise = speed_noise(wheels) * robot.wheels.radius_m.value
    interval_s = float(np.median(np.diff(wheels.stamps_ns))) / NANOSECONDS
    ahead = change_of_acceleration(0.5 * (left + right), model.step_s, time_s, noise / 2.0, interval_s)
    turning = change_of_acceleration((right - left) / robot.track_m, model.step_s, time_s, noise / robot.track_m, interval_s)
    slower = max(1.0, interval_s / DOUBTED_INTERVAL_S)
    shown = robot.wheels.radius_m.value * uncertain_acceleration(wheels, time_s)
    ahead, turning = np.maximum(ahead, shown), np.maximum(turning, 2.0 * shown / robot.track_m)
    readings = np.column_stack([DOUBT * ahead, DOUBT_ACROSS * ahead, slower * DOUBT_TURNING_S * turning])
    excluded = np.zeros(len(time_s), dtype=bool)
    for begin, end in inspection.lifted_s:
        excluded |= (time_s > begin - LIFT_MARGIN_S) & (time_s < end + LIFT_MARGIN_S)
    per_side = robot.wheels.radius_m.value * angle_noise(wheels) / np.sqrt(model.wheel_speeds.shape[1] / 2)
    if len(time_s) > 1:
        # White at the encoder's rate; on the IMU's stamps the same density is a larger standard deviation.
        per_side *= np.sqrt(max(1.0, interval_s / float(np.median(np.diff(time_s)))))
    return Doubts(readings, excluded, per_side / np.sqrt(2.0), per_side * np.sqrt(2.0) / robot.track_m)


def unknowns_of(problem: Problem, robot: SkidSteerRobot, gyro_scale_std: float = 0.0) -> list[Unknown]:
    found = [constant("c_long_per_n", 0.005), constant("c_lat_per_n", 0.05), *body(robot)]
    has_pose = problem.observations.pose is not None
    if problem.observations.imu is not None:
        moves = bool(np.abs(problem.replay.wheel_speeds[0]).max() * robot.wheels.radius_m.value > 0.05)
        found += imu_unknowns(has_pose=has_pose, moves_at_start=moves, gyro_scale_std=gyro_scale_std, at_m=problem.imu_at_m)
    return found + (pose_unknowns() if has_pose else [])


def _protocol(log: DriveLog, robot: SkidSteerRobot, counts: float | None, gravity_mps2: float) -> ProtocolResult | None:
    """The method of [Trimble2022] on the same log, to stand beside; a log that it cannot use is no error."""
    for method in ("central", "imu"):
        try:
            return run_protocol(log, robot, method=method, gravity_mps2=gravity_mps2, counts_per_turn=counts)
        except SlipfitError:
            continue
    return None


def _record(
    name: str,
    log: DriveLog,
    problem: Problem,
    solution: Solution,
    spread: Spread,
    inspection: Inspection,
    protocol: ProtocolResult | None,
    posterior: Posterior | None,
) -> DriveFit:
    constants = [j for j, u in enumerate(solution.unknowns) if u.is_constant]
    others = [j for j, u in enumerate(solution.unknowns) if not u.is_constant]
    _, _, body_columns = grips(problem, solution)
    grip = proven_grip(problem, solution, body_columns)
    at = {c: k for k, c in enumerate(skid_steer.BODY_COLUMNS)}
    speeds, rates = body_columns[:, at["vx_mps"]], body_columns[:, at["yaw_rate_radps"]]
    thin = slice(None, None, max(1, round(0.05 / problem.replay.step_s)))
    names = [solution.unknowns[j].name for j in constants]
    # Covariance also names the mass, so that m c_long can be told more precisely than c_long.
    if "mass_kg" in solution.names:
        constants = [*constants, solution.names.index("mass_kg")]
        names.append("mass_kg")
    return DriveFit(
        name=name,
        digest=log.digest,
        duration_s=float(problem.replay.time_s[-1]),
        names=tuple(names),
        values=solution.values[constants],
        covariance=spread.covariance[np.ix_(constants, constants)],
        own_covariance=without_robot(solution, spread)[np.ix_(constants, constants)],
        nuisances=tuple(
            Nuisance(u.name, float(solution.values[j]), float(spread.std[j]), u.prior_std, u.about, u.expected)
            for j, u in ((j, solution.unknowns[j]) for j in others)
        ),
        traces=_traces(problem, solution, body_columns),
        misfit=_misfit(problem, solution, own=True),
        outlying=_misfit(problem, solution, own=False),
        turned_rad=_turned_rad(problem),
        inflation=float(spread.inflation[constants].max()),
        inspection=inspection,
        protocol=protocol,
        most_grip_used=grip,
        slid_s=sliding_s(problem, solution) if "mu" in solution.names else 0.0,
        speed_range_mps=(float(speeds.min()), float(speeds.max())),
        yaw_rate_range_radps=(float(rates.min()), float(rates.max())),
        log_s=float(np.ptp(inspection.corrected[ENCODERS].stamps_ns)) / NANOSECONDS,
        is_converged=solution.is_converged,
        doubtful_grip_s=solution.doubtful_grip_s,
        is_grip_doubtful=solution.is_grip_doubtful,
        odometry_m=np.column_stack([problem.replay.time_s, body_columns[:, 0], body_columns[:, 1]])[thin],
        posterior=posterior,
    )


def _misfit(problem: Problem, solution: Solution, *, own: bool) -> float:
    """Root mean square of the white residuals, as if no sensor were better than those of robots are.

    Against the sensors' `own` noise, as their readings show it, or against what the fit gave them in the end. A pose does not
    show its own.
    """
    usual = np.array([USUAL_NOISE[signal] for signal, _ in problem.signals])
    noise = np.array(solution.noise)
    supposed = np.array(
        [noise[k] if isinstance(n, PoseNoise) else n for k, n in enumerate(noise_of_readings(problem.observations))]
    )
    shares = noise / np.maximum(usual, np.minimum(noise, supposed) if own else noise)
    return float(np.sqrt(np.mean((solution.white * shares[solution.white_signal]) ** 2)))


def _turned_rad(problem: Problem) -> float:
    """How far the wheels turned the robot, both ways added, where they clearly did."""
    rims = problem.replay.wheel_speeds * problem.robot.wheels.radius_m.value
    rate = (rims[:, 1::2].mean(axis=1) - rims[:, ::2].mean(axis=1)) / problem.robot.track_m
    return float(np.abs(rate[np.abs(rate) > TURNING_RADPS]).sum() * problem.replay.step_s)


def _traces(problem: Problem, solution: Solution, body_columns: np.ndarray) -> tuple[Trace, ...]:
    x = dict(zip(solution.names, solution.values, strict=True))
    predicted = [p[:, k] for p in problem.predict(x, body_columns) for k in range(3)]
    measured = [m[:, k] for m in problem.observations.measured for k in range(3)]
    times = ([problem.observations.imu.time_s] * 3 if problem.observations.imu else []) + (
        [problem.observations.pose.to_s] * 3 if problem.observations.pose else []
    )
    found = []
    for k, (signal, about) in enumerate(problem.signals):
        w = solution.weighings[k]
        weight = w.weight if w is not None else np.zeros(len(times[k]))
        white = solution.white[solution.white_signal == k]
        found.append(Trace(signal, about, times[k], measured[k], predicted[k], weight, white, solution.noise[k]))
    return tuple(found)
