"""Odometry calibrations as people ask for them: robots by name, readings and logs by path, several inputs at once."""

from collections.abc import Sequence
from pathlib import Path

from slipfit.calibration.odometry.constants import OdometryConstants, constants_of
from slipfit.calibration.odometry.from_log import constants_of_log
from slipfit.calibration.odometry.path_fit import OdometryFit, fit_runs
from slipfit.calibration.odometry.readings import OdometryReadings, is_readings
from slipfit.calibration.odometry.spreads import Estimate
from slipfit.calibration.odometry.travel import Run, run_of_log
from slipfit.calibration.odometry.umbmark import Umbmark, mean_radius, umbmark_of_runs
from slipfit.errors import LogError, ParameterError
from slipfit.library import SkidSteerRobot, skid_steer_robot
from slipfit.logs import DriveLog
from slipfit.logs.read import loaded
from slipfit.logs.wheel_motion import TurnCounts
from slipfit.twin import FittedPowertrain


def calibrate_odometry(
    *sources: OdometryReadings | DriveLog | Path | str,
    robot: SkidSteerRobot | str | Path,
    known: FittedPowertrain | None = None,
    counts_per_turn: TurnCounts | None = None,
    truth: str | None = None,
) -> OdometryConstants:
    """Counts per turn, metres per count, setpoint per speed, speed loops and effective track from readings and logs.

    What a later source finds stands for what an earlier one did; `known`, a twin's powertrain, was found before all of them.
    `truth` is the pose that serves as truth, as in `read_log`.
    """
    if not sources:
        raise ParameterError("calibrate_odometry: nothing to calibrate from; expected readings (.yaml, .csv) or logs")
    chosen, whole = skid_steer_robot(robot, "odometry calibration"), known or FittedPowertrain()
    findings: list[str] = []
    names: list[str] = []
    for source in sources:
        if isinstance(source, OdometryReadings) or (not isinstance(source, DriveLog) and is_readings(Path(source))):
            found = constants_of(source, chosen, known=whole)
        else:
            log = loaded(source, truth)
            found = constants_of_log(log, chosen, counts_per_turn=counts_per_turn or whole.turn_counts_both, known=whole)
        whole = whole.merged(found.powertrain)
        findings += found.findings
        names.append(found.source)
    return OdometryConstants(whole, tuple(findings), ", ".join(names))


def calibrate_paths(
    *logs: DriveLog | Path | str,
    robot: SkidSteerRobot | str | Path,
    known: FittedPowertrain | None = None,
    counts_per_turn: TurnCounts | None = None,
    truth: str | None = None,
) -> OdometryFit:
    """Radii, and tracks on arcs and on the spot, from driven paths of any shape, a log with encoders and a pose each; `truth` as
    in `read_log`."""
    chosen = skid_steer_robot(robot, "odometry calibration")
    radius, runs = _runs(logs, chosen, known, counts_per_turn, truth)
    return fit_runs(runs, radius_m=radius.value, track_m=chosen.track_m)


def run_umbmark(
    *logs: DriveLog | Path | str,
    robot: SkidSteerRobot | str | Path,
    side_m: float | None = None,
    known: FittedPowertrain | None = None,
    counts_per_turn: TurnCounts | None = None,
    truth: str | None = None,
) -> Umbmark:
    """UMBmark from squares driven both ways, a log with encoders and a pose each; `side_m` else is a quarter of the way,
    `truth` as in `read_log`."""
    chosen = skid_steer_robot(robot, "odometry calibration")
    radius, runs = _runs(logs, chosen, known, counts_per_turn, truth)
    return umbmark_of_runs(runs, radius_m=radius.value, radius_std_m=radius.std, track_m=chosen.track_m, side_m=side_m)


def _runs(
    logs: Sequence[DriveLog | Path | str],
    robot: SkidSteerRobot,
    known: FittedPowertrain | None,
    counts_per_turn: TurnCounts | None,
    truth: str | None,
) -> tuple[Estimate, list[Run]]:
    """The mean radius that is known before, and the logs as runs of wheels of that radius."""
    drives = [loaded(log, truth) for log in logs]
    _each_once(drives)
    radius, counts = mean_radius(robot, known), counts_per_turn or (known.turn_counts_both if known else None)
    larger = radius.value / robot.wheels.radius_m.value
    return radius, [run_of_log(log, robot, counts_per_turn=counts).rolled_by(larger) for log in drives]


def _each_once(drives: Sequence[DriveLog]) -> None:
    """The same recording twice would count as a repetition and make the spread too small."""
    seen: dict[str, str] = {}
    for log in drives:
        if log.digest and log.digest in seen:
            raise LogError(f"{log.source}: the same recording as {seen[log.digest]}; expected each path once")
        seen[log.digest] = log.source
