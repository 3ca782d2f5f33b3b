"""A tracked robot's twin in a climb: its ground of friction stands for the climb's surface, its soil for the climb's soil."""

from typing import Any, NamedTuple

from slipfit.errors import ParameterError
from slipfit.library import TrackedRobot, find_ground, tracked_robot
from slipfit.library.files import validated
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.scenario_ground import ScenarioGround
from slipfit.twin import Driver, TrackedTwin, tracked_twin
from slipfit.twin.tracked import FRICTION, SOIL

#: What a ground of each law stands for in a climb.
_PLACES = {FRICTION: "surface", SOIL: "soil"}


class OnGround(NamedTuple):
    """Who climbs, and what over: the climb with the twin's grounds in it, their names, and what is to be said of them."""

    robot: TrackedRobot
    climb: Scenario
    grounds: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def climber_on_ground(driver: Driver, climb: Scenario, ground: str | None = None) -> OnGround:
    """A twin's only ground of friction counts whatever the climb's surface, and its only soil where the climb has soil; of
    several, `ground` or the name in the climb chooses. A soil that `ground` names is there even if the climb has none."""
    robot = tracked_robot(driver.robot)
    if driver.twin is None:
        if ground is not None:
            raise ParameterError(
                f"ground '{ground}' is given with the robot {robot.name}; surface and soil of tracked robots stand in the "
                f"scenario, grounds beside it belong to twins: leave `ground` out"
            )
        return OnGround(robot, climb)
    twin = tracked_twin(driver.twin)
    chosen = {law: _chosen(twin, climb, law, ground) for law in _PLACES}
    names = tuple(name for name in chosen.values() if name is not None)
    if not names:
        said = f"the twin of {robot.name} has no ground for this climb: surface and soil are the climb's own"
        return OnGround(robot, climb, (), (said,))
    update: dict[str, Any] = {}
    if chosen[FRICTION] is not None:
        surface = climb.ground.surface
        from_file = None if surface is None or surface in twin.grounds else find_ground(surface)
        gravity = climb.ground.gravity_on(from_file)
        update |= {"surface": None, "gravity_mps2": gravity, **twin.values(chosen[FRICTION])}
    if chosen[SOIL] is not None:
        update["soil"] = twin.values(chosen[SOIL])
    whole = validated(
        ScenarioGround, dict(climb.ground) | update, where=f"the twin of {robot.name}, ground {' and '.join(names)}"
    )
    return OnGround(robot, climb.model_copy(update={"ground": whole}), names, tuple(_notes(twin, chosen)))


def _chosen(twin: TrackedTwin, climb: Scenario, law: str, ground: str | None) -> str | None:
    """Name of the twin's ground that stands for the climb's surface or soil."""
    if ground is not None and twin.grounds[twin.ground_name(ground)].law == law:
        if not twin.grounds[ground].tells_forces:
            raise ParameterError(
                f"ground {ground} of the twin of {twin.robot.name} tells kinematics only, no friction; leave `ground` out, and "
                f"the climb's own is taken"
            )
        return ground
    there, named = twin.grounds_of(law), climb.ground.surface if law == FRICTION else climb.ground.soil
    if named in there:
        return str(named)
    if not there or (law == SOIL and climb.ground.soil is None):
        return None
    if len(there) > 1:
        raise ParameterError(
            f"the twin of {twin.robot.name} has {', '.join(there)} for the climb's {_PLACES[law]}; choose one as its ground"
        )
    return there[0]


def _notes(twin: TrackedTwin, chosen: dict[str, str | None]) -> list[str]:
    """Which grounds are the twin's, and what of them no drive told."""
    notes = []
    for law, name in chosen.items():
        if name is None:
            continue
        notes.append(f"{_PLACES[law]}: ground {name} of the twin")
        ground = twin.grounds[name]
        for key, p in ground.filled(where=name).items():
            if key not in ground.parameters or ground.parameters[key].value is None:
                notes.append(f"{key} = {p.value:g} was assumed: {p.note or 'not in the twin'}")
    return notes
