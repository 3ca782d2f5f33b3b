"""One pass over a log: every check in the order in which corrections build on each other."""

from collections.abc import Callable
from pathlib import Path

from slipfit.errors import LogError
from slipfit.library import SkidSteerRobot, skid_steer_robot
from slipfit.logs.drive_log import DriveLog
from slipfit.logs.inspection.clock import correct_clocks
from slipfit.logs.inspection.drive import require_motion, require_witnesses
from slipfit.logs.inspection.lift import find_lift
from slipfit.logs.inspection.other_robot import look_at_robot
from slipfit.logs.inspection.provenance import truth_findings
from slipfit.logs.inspection.record import Finding, Inspection, Severity, Step, worst_first
from slipfit.logs.inspection.rest import measure_lever_arm, measure_rest
from slipfit.logs.inspection.sides import require_both_sides
from slipfit.logs.inspection.signs import correct_one_side, correct_signs
from slipfit.logs.inspection.stamps import drop_bad_numbers, look_at_rates, put_in_order
from slipfit.logs.inspection.swapped import correct_swapped_acceleration, correct_swapped_pose
from slipfit.logs.inspection.tilt import level_axes
from slipfit.logs.inspection.units import correct_units
from slipfit.logs.inspection.values import correct_axes, drop_repeated, look_for_rails, measure_resolution
from slipfit.logs.provenance import with_truth

#: Stamps before numbers, units before signs (a pose in degrees has no course), signs before clocks, these before
#: rest; units before dead sides.
CHECKS: tuple[Callable[[DriveLog, SkidSteerRobot], Step], ...] = (
    drop_bad_numbers,
    put_in_order,
    look_at_rates,
    require_witnesses,
    drop_repeated,
    look_for_rails,
    correct_axes,
    measure_resolution,
    correct_one_side,
    correct_swapped_acceleration,
    correct_units,
    correct_swapped_pose,
    correct_signs,
    require_both_sides,
    require_motion,
    look_at_robot,
    correct_clocks,
    level_axes,
    measure_rest,
    measure_lever_arm,
)


#: What any robot's log can be asked, whatever its wheels.
OF_ANY_ROBOT = (drop_bad_numbers, put_in_order, look_at_rates)


def inspect_stamps(log: DriveLog, *, truth: str | None = None) -> Inspection:
    """Stamps, numbers and poses of a log of any robot: order, repetition, what is not finite, gaps, rates, which pose is
    independent of the wheels."""
    log = with_truth(log, truth)
    findings: list[Finding] = list(truth_findings(log))
    corrections: list[str] = []
    corrected = log
    for check in OF_ANY_ROBOT:
        step = check(corrected)
        corrected = step.log
        findings += step.findings
        corrections += step.corrections
    return Inspection(log, corrected, worst_first(findings), tuple(corrections))


def inspect_log(
    log: DriveLog | str | Path, robot: SkidSteerRobot | str | Path, *, witnesses: tuple[str, ...] = (), truth: str | None = None
) -> Inspection:
    """What is wrong with a log, and the log as it should have been: of records, or of a file and a robot of the library.

    Nothing is resampled. `corrected` has rows in order of time, without those that are not finite, doubled, held or frozen;
    units and signs set right; stamps of IMU and pose on the encoders' clock. After a fatal finding the rest is not looked at.
    `witnesses` are channels that tell how the body moves as well as IMU and pose do, for what the log is wanted for; `truth` is
    the pose that serves as truth, as in `read_log`.
    """
    log, robot = with_truth(_log(log, truth), truth), skid_steer_robot(robot, "inspect_log")
    findings: list[Finding] = list(truth_findings(log))
    corrections: list[str] = []
    corrected = log
    for check in CHECKS if log.channels else (require_witnesses,):
        step = require_witnesses(corrected, robot, witnesses) if check is require_witnesses else check(corrected, robot)
        corrected = step.log
        findings += step.findings
        corrections += step.corrections
        if any(f.severity is Severity.FATAL for f in step.findings):
            return Inspection(log, corrected, worst_first(findings), tuple(corrections))
    step, lifted = find_lift(corrected, robot)
    return Inspection(log, corrected, worst_first([*findings, *step.findings]), tuple(corrections), lifted)


def _log(log: DriveLog | str | Path, truth: str | None) -> DriveLog:
    if isinstance(log, str | Path):
        from slipfit.logs.read import read_log

        return read_log(log, truth=truth)
    if not isinstance(log, DriveLog):
        raise LogError(f"log is of type {type(log).__name__}; expected a DriveLog, or the path of a log")
    return log
