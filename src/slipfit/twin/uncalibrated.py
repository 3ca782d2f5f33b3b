"""A twin before any calibration: the library's robot on the library's ground, so that other constants have a file to go to."""

from slipfit.library import Ground, Robot
from slipfit.library.parameter import Parameter
from slipfit.twin.fitted import FittedParameter, Status
from slipfit.twin.fitted_ground import FittedGround
from slipfit.twin.twin import Provenance, Twin

NOTE = "of the library, not calibrated"


def uncalibrated_twin(robot: Robot, ground: Ground) -> Twin:
    """The twin; every constant says that it comes from the library."""
    fitted = FittedGround(
        about=ground.about,
        gravity_mps2=ground.gravity_mps2,
        law=ground.law,
        parameters={name: _from_library(p) for name, p in ground.parameters.items()},
    )
    note = f"ground {ground.name} is the library's: its slip constants were not calibrated on this robot"
    return Twin(robot=robot, grounds={ground.name: fitted}, provenance=Provenance.now([], [], [note]))


def _from_library(p: Parameter) -> FittedParameter:
    return FittedParameter(value=p.value, std=p.std, status=Status.CONVERGED, source=p.source, note=NOTE)
