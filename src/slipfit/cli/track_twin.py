"""Where commands put what they found out about a tracked robot: a twin, new or extended."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from slipfit.errors import ParameterError

if TYPE_CHECKING:
    from slipfit.library import TrackedRobot
    from slipfit.twin import Driver, LogOrigin, TrackedTwin, TrackGround

TwinOption = Annotated[
    Path | None, typer.Option("--twin", help="Write what was found as a ground of this twin of a tracked robot, new or extended.")
]


class TwinTarget(NamedTuple):
    """A twin that is to be written."""

    path: Path
    robot: "TrackedRobot"
    older: "TrackedTwin | None"
    force: bool

    def write(self, found: "Mapping[str, TrackGround]", logs: "list[LogOrigin]") -> Path:
        """The twin with these grounds; one that is there already is lost with --force only."""
        from slipfit.library.files import check_target
        from slipfit.twin import TrackedTwin

        is_added = self.older is not None and self.path.exists() and not set(found) & set(self.older.grounds)
        check_target(self.path, force=self.force or is_added)
        TrackedTwin.new_or_extended(self.older, self.robot, found, logs).save(self.path, force=True)
        return self.path


def twin_target(path: Path | None, driver: "Driver", ground: str, *, force: bool) -> TwinTarget | None:
    """What is at the path, or the twin that was given, is extended; anything that stands in the way is told before any work."""
    from slipfit.library import tracked_robot
    from slipfit.library.files import check_target
    from slipfit.twin import TrackedTwin, tracked_twin

    if path is None:
        return None
    if not driver.robot.has_belts:
        raise ParameterError(
            f"--twin {path}: such twins are written of tracked robots; `slipfit calibrate` and `slipfit compare` write those of "
            f"robots on wheels"
        )
    robot, given = tracked_robot(driver.robot), tracked_twin(driver.twin) if driver.twin else None
    there = TrackedTwin.load(path) if path.exists() else None
    if there is not None and there.robot.name != robot.name:
        raise ParameterError(f"{path} is a twin of {there.robot.name}, and this is {robot.name}; expected one robot in both")
    if not re.fullmatch(r"[a-z0-9_\-]+", ground):
        raise ParameterError(f"the ground is called '{ground}'; expected a name of a-z, 0-9, _ and -")
    is_added = there is not None and ground not in there.grounds
    check_target(path, force=force or is_added, formats=(".yaml", ".yml"))
    return TwinTarget(path, robot, there or given, force)
