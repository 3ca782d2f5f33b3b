"""A twin before any calibration: a robot and a ground's file, so that other constants have a place to go to."""

import typing

from slipfit.errors import ParameterError
from slipfit.library import AnyRobot, Ground, OmniRobot, Robot, TrackedRobot
from slipfit.library.parameter import Parameter
from slipfit.twin.find import AnyTwin
from slipfit.twin.fitted import FittedParameter, Status
from slipfit.twin.fitted_ground import FittedGround
from slipfit.twin.omni import OmniTwin
from slipfit.twin.record import Provenance
from slipfit.twin.tracked import FRICTION, SOIL, TrackedTwin, TrackGround
from slipfit.twin.twin import Twin

NOTE = "of the ground's file, not calibrated with this robot"


@typing.overload
def uncalibrated_twin(robot: Robot, ground: Ground) -> Twin: ...
@typing.overload
def uncalibrated_twin(robot: TrackedRobot, ground: Ground) -> TrackedTwin: ...
@typing.overload
def uncalibrated_twin(robot: OmniRobot, ground: Ground) -> OmniTwin: ...
def uncalibrated_twin(robot: AnyRobot, ground: Ground) -> AnyTwin:
    """The twin; every constant says that it comes from the ground's file."""
    note = f"ground {ground.name} is that of its file: its constants were not calibrated with this robot"
    provenance = Provenance.now([], [], [note])
    if isinstance(robot, TrackedRobot):
        return TrackedTwin(robot=robot, grounds={ground.name: track_ground(ground)}, provenance=provenance)
    if ground.law not in FittedGround.laws:
        raise ParameterError(
            f"ground {ground.name} has the law {ground.law}, which twins of robots on wheels do not hold; drive the robot on it "
            f"with `slipfit simulate --ground`"
        )
    fitted = FittedGround(about=ground.about, gravity_mps2=ground.gravity_mps2, law=ground.law, parameters=_told(ground))
    if isinstance(robot, OmniRobot):
        return OmniTwin(robot=robot, grounds={ground.name: fitted}, provenance=provenance)
    return Twin(robot=robot, grounds={ground.name: fitted}, provenance=provenance)


def track_ground(ground: Ground) -> TrackGround:
    """A ground as tracks meet it: a soil as it is; of Coulomb's friction the coefficient along, which serves every direction."""
    if ground.law == SOIL:
        law, parameters = SOIL, _told(ground)
    elif ground.law == "coulomb":
        law, parameters = FRICTION, {"mu_static": _from_file(ground.parameters["mu_long"])}
    else:
        raise ParameterError(
            f"ground {ground.name} has the law {ground.law}; tracks slide by Coulomb's or sink into soil: take a ground with the "
            f"law coulomb or soil"
        )
    return TrackGround(about=ground.about, gravity_mps2=ground.gravity_mps2, law=law, parameters=parameters)


def _told(ground: Ground) -> dict[str, FittedParameter]:
    return {name: _from_file(p) for name, p in ground.parameters.items()}


def _from_file(p: Parameter) -> FittedParameter:
    return FittedParameter(value=p.value, std=p.std, status=Status.CONVERGED, source=p.source, note=NOTE)
