"""A twin before any calibration: a robot and a ground's file, so that other constants have a place to go to."""

import typing

from slipfit.library import Ground, Robot, SkidSteerRobot
from slipfit.twin.drives import TWINS
from slipfit.twin.record import Provenance, Twin
from slipfit.twin.skid_steer import SkidSteerTwin


@typing.overload
def uncalibrated_twin(robot: SkidSteerRobot, ground: Ground) -> SkidSteerTwin: ...
@typing.overload
def uncalibrated_twin(robot: Robot, ground: Ground) -> Twin: ...
def uncalibrated_twin(robot: Robot, ground: Ground) -> Twin:
    """The twin; every constant says that it comes from the ground's file."""
    model = TWINS[robot.drive]
    note = f"ground {ground.name} is that of its file: its constants were not calibrated with this robot"
    fitted = model.ground_model.of_file(ground)
    return model(robot=robot, grounds={ground.name: fitted}, provenance=Provenance.now([], [], [note]))
