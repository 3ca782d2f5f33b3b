"""Twins of omnidirectional robots: friction of rollers and of what lies between them, ground by ground."""

from typing import Annotated, ClassVar

from pydantic import Field

from slipfit.library import Ground, OmniRobot
from slipfit.twin.fitted_ground import FittedGround
from slipfit.twin.record import GroundName, TwinFile


class OmniTwin(TwinFile):
    """An omnidirectional robot and the grounds that something was found out on."""

    drive: ClassVar[str] = "omni"
    powertrain: ClassVar[None] = None  # none is fitted

    robot: OmniRobot
    grounds: Annotated[dict[GroundName, FittedGround], Field(min_length=1)]

    def ground(self, name: str | None = None) -> Ground:
        """A ground for simulation, filled as of robots on wheels."""
        name = self.ground_name(name)
        return self.grounds[name].as_ground(name, where=f"the twin of {self.robot.name}, ground {name}")

    def _body_row(self) -> str:
        return f"  {self.robot.mass_kg.value:g} kg, {len(self.robot.at_m)} wheels"
