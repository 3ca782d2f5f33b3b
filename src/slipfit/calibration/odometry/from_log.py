"""What one log tells of a powertrain: its speed loops where it has commands, its effective track where it turned."""

from dataclasses import replace

from slipfit.calibration.odometry.commands import has_commands
from slipfit.calibration.odometry.constants import OdometryConstants
from slipfit.calibration.odometry.speed_loop import fit_speed_loops
from slipfit.calibration.odometry.turning import effective_track_of_log
from slipfit.errors import LogError
from slipfit.library import SkidSteerRobot
from slipfit.logs import DriveLog
from slipfit.logs.provenance import with_truth
from slipfit.logs.wheel_motion import TurnCounts
from slipfit.twin import FittedPowertrain


def constants_of_log(
    log: DriveLog, robot: SkidSteerRobot, *, counts_per_turn: TurnCounts | None = None, known: FittedPowertrain | None = None
) -> OdometryConstants:
    """Speed loops, and the effective track; what the log cannot tell is a finding. A log that tells nothing is an error."""
    log = with_truth(log)
    name = log.source or log.about or "log"
    result, said = OdometryConstants(FittedPowertrain(), (), name), []
    if has_commands(log):
        try:
            result = fit_speed_loops(log, robot, counts_per_turn=counts_per_turn, known=known)
        except LogError as error:
            said.append(f"no speed loop: {error}")
    else:
        said.append("no speed loop: the log has no commands")
    try:
        track = effective_track_of_log(log, robot, counts_per_turn=counts_per_turn)
        note = "by the turns of this log, on its floor"
        found = track.fitted(f"log {log.digest[:12] or name}", note)
        result = replace(result, powertrain=result.powertrain.model_copy(update={"effective_track_m": found}))
        share = 100.0 * (track.value / robot.track_m - 1.0)
        said.append(
            f"turning: effective track {track.value:.4g} ± {track.std:.2g} m, {share:+.1f} % of the robot's {robot.track_m:g} m"
        )
    except LogError as error:
        said.append(f"no effective track: {error}")
    if not list(result.powertrain.parameters()):
        raise LogError(f"{name}: tells neither speed loop nor track ({'; '.join(said)})")
    return replace(result, findings=(*result.findings, *said))
