"""Twins of omnidirectional robots: friction of rollers and of what lies between them, ground by ground."""

from typing import Annotated, ClassVar

from pydantic import Field

from slipfit.library import OmniRobot
from slipfit.twin.fitted_ground import FittedGround
from slipfit.twin.record import GroundName, Twin


class OmniTwin(Twin):
    """An omnidirectional robot and the grounds that something was found out on."""

    drive: ClassVar[str] = "omni"
    whose: ClassVar[str] = "an omnidirectional robot"
    at_home: ClassVar[str] = (
        "`slipfit simulate` and `slipfit study` drive it, `slipfit estimate` takes it, and in Python Twin.load reads it"
    )

    robot: OmniRobot
    grounds: Annotated[dict[GroundName, FittedGround], Field(min_length=1)]

    @property
    def powertrain(self) -> None:
        """None is fitted for omnidirectional robots."""
        return None

    def _body_row(self) -> str:
        return f"  {self.robot.mass_kg.value:g} kg, {len(self.robot.at_m)} wheels"
