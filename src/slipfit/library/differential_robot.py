"""A differential-drive robot as its file describes it: two driven wheels, and casters that carry the rest of the weight."""

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, model_validator

from slipfit.library.parameter import VectorParameter, Vectors
from slipfit.library.skid_steer_robot import SkidSteerRobot, Wheels
from slipfit.vehicles.differential import MOST_CASTERS, is_stable, wheels_and_casters


class DrivenWheels(Wheels):
    """The left and the right wheel."""

    @model_validator(mode="after")
    def _come_in_pairs(self) -> "DrivenWheels":
        at = self.at_m.value
        if len(at) != 2:
            raise ValueError(
                f"at_m has {len(at)} wheels; a differential-drive robot has two that are driven, casters stand in casters_m "
                f"(four or more driven wheels: `drive: skid_steer`)"
            )
        left, right = at
        if not (left[1] > 0.0 > right[1]) or abs(left[0] - right[0]) > 1e-3 or abs(left[1] + right[1]) > 1e-3:
            raise ValueError(
                f"at_m has {list(left)} and {list(right)}; expected the left wheel (y > 0) and then the right one, opposite to it"
            )
        return self


class DifferentialRobot(SkidSteerRobot):
    """A differential-drive robot: every number with its source."""

    model_config = ConfigDict(title="DifferentialRobot")

    kind_of_robot: ClassVar[str] = "differential-drive robots, which have two driven wheels and casters"
    at_home: ClassVar[str] = "a differential-drive robot is simulated by `slipfit simulate` and `slipfit study`, on planes"

    drive: Literal["differential"]  # type: ignore[assignment]
    wheels: DrivenWheels
    casters_m: Annotated[VectorParameter, Vectors(2, is_list=True)]  # where casters touch the ground

    @model_validator(mode="after")
    def _casters_hold_the_robot_up(self) -> "DifferentialRobot":
        casters = self.casters_m.value
        if not 1 <= len(casters) <= MOST_CASTERS:
            raise ValueError(f"casters_m has {len(casters)} casters; expected one or {MOST_CASTERS}")
        axle_m = self.wheels.at_m.value[0][0]
        if min(abs(x - axle_m) for x, _ in casters) < 1e-3:
            raise ValueError(
                f"casters_m has a caster on the axle (x = {axle_m:g} m); it holds nothing up, expected it ahead or behind"
            )
        return self

    @model_validator(mode="after")
    def _centre_of_mass_between_the_wheels(self) -> "DifferentialRobot":
        x, y, height = self.centre_of_mass_m.value
        if not is_stable(self.supports_m, x, y):
            raise ValueError(
                f"centre_of_mass_m = [{x:g}, {y:g}] lies outside wheels and casters; the robot would tip over at rest"
            )
        if height <= 0.0:
            raise ValueError(f"centre_of_mass_m has a height of {height:g} m; expected a height above the ground")
        return self

    @property
    def supports_m(self) -> np.ndarray:
        """Where the robot stands on the ground, (n, 2): wheels, then casters."""
        return np.vstack([self.at_m, np.array(self.casters_m.value)])

    def wheel_tables(self) -> Any:
        """The kernel's tables of wheels and casters, radius 1 m."""
        return wheels_and_casters(self.at_m, self.casters_m.value, 1.0)

    @property
    def size_words(self) -> tuple[str, str]:
        """There is one axle: casters in place of the wheelbase."""
        count = len(self.casters_m.value)
        return f"{self.track_m:g} m", f"{count} caster{'s' if count > 1 else ''}"

    def sources(self) -> set[str]:
        return super().sources() | {self.casters_m.source}

    def _rows_of_drive(self) -> list[str]:
        places = ", ".join(f"[{x:g}, {y:g}]" for x, y in self.casters_m.value)
        return [
            f"  track {self.track_m:g} m, two driven wheels",
            f"  {'casters_m':<32}{places:>22}  {self.casters_m.source}",
            self._centre_row(),
        ]
