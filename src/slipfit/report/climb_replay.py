"""A climb as a scene for the rerun viewer: ground, soil, the robot with tracks and flippers, its ruts, and numbers over time."""

from typing import Any

import numpy as np

from slipfit.library import TrackedRobot
from slipfit.report.climb_profile import DEEP_M, Profile, climb_profile, hard_ground
from slipfit.report.playing import spread_out
from slipfit.report.replay import Motion, Scene, Strips, Surface
from slipfit.report.side_view import SideShape, side_shape, stage
from slipfit.simulation.climb import climb_numbers
from slipfit.simulation.scenario import Scenario
from slipfit.simulation.trajectory import Trajectory

#: Ground is shown this far to either side, and beyond where the robot was, m.
_ASIDE_M, _BEYOND_M = 1.5, 1.5

#: Heights along each side of a terrain.
_GRID = 160

Things = dict[str, Surface | Strips]

_STONE, _SAND, _BLUE = (150, 158, 165, 255), (214, 170, 92, 140), (0, 114, 178, 255)
_GREY, _ORANGE = (120, 128, 136, 255), (213, 94, 0, 255)


def climb_scene(climb: Trajectory, robot: TrackedRobot, scenario: Scenario) -> Scene:
    """Everything that the records of a climb hold, in the ground's frame."""
    v, shape = climb_numbers(robot, scenario), side_shape(robot, scenario.start.flipper_angle_rad)
    profile = climb_profile(scenario, v)
    still = _terrain(climb, scenario, profile) if profile.terrain else _drawn_out(climb, scenario, v, profile)
    still |= _robot(shape, robot)
    radius_m = robot.tracks.sprocket_radius_m.value
    numbers = {"nose_up_rad": climb.pitch_up_rad, "heading_rad": climb.heading_rad, "slip": climb.slip}
    numbers |= {f"torque_{side}_nm": radius_m * climb[f"drive_{side}_n"] for side in ("left", "right")}
    told = ("belt_{}_mps", "sinkage_{}_m", "hard_load_{}_n", "soil_load_{}_n")
    numbers |= {name: climb[name] for entry in told for name in (entry.format("left"), entry.format("right"))}
    return Scene(
        name=f"{climb.robot}: {climb.scenario}",
        time_s=climb["time_s"],
        still=still,
        bodies={
            "world/robot": Motion(
                np.column_stack([climb[n] for n in ("x_m", "y_m", "z_m")]),
                np.column_stack([climb[n] for n in ("qx", "qy", "qz", "qw")]),
            )
        },
        numbers={f"numbers/{name}": values for name, values in numbers.items()},
        changing={"world/ruts": _ruts(climb, shape, profile)} if scenario.ground.soil is not None else {},
        about=climb.summary(),
    )


def _drawn_out(climb: Trajectory, scenario: Scenario, v: dict[str, Any], profile: Profile) -> Things:
    """Level ground with its obstacle, and soil before it."""
    yaw, along = profile.yaw_rad, profile.along(climb["x_m"], climb["y_m"])
    left, right = float(along.min()) - _BEYOND_M, float(along.max()) + _BEYOND_M
    outline, soil_until = hard_ground(scenario, v, profile, left, right)
    surface = outline[:-3] if scenario.ground.soil is None or scenario.ground.obstacle is None else outline[1:-3]
    found: Things = {"world/hard_ground": extruded(surface, yaw, _STONE)}
    if scenario.ground.soil is not None:
        flat = np.array([(left, 0.0), (min(soil_until, right), 0.0)])
        found["world/soil"] = extruded(flat, yaw, _SAND)
    return found


def _terrain(climb: Trajectory, scenario: Scenario, profile: Profile) -> Things:
    """The terrain around the path, as soil or hard; below soil the base on which it lies, where that is near."""
    x, y = (np.linspace(climb[name].min() - _BEYOND_M, climb[name].max() + _BEYOND_M, _GRID) for name in ("x_m", "y_m"))
    east, north = np.meshgrid(x, y)
    corners = np.column_stack([east.ravel(), north.ravel(), profile.height(east, north).ravel()])
    first = (np.arange(_GRID - 1)[:, None] * _GRID + np.arange(_GRID - 1)).ravel()
    ways = [(0, 1, _GRID), (1, _GRID + 1, _GRID)]
    triangles = np.concatenate([np.column_stack([first + step for step in way]) for way in ways])
    if scenario.ground.soil is None:
        return {"world/hard_ground": Surface(corners, triangles, _STONE)}
    found: Things = {"world/soil": Surface(corners, triangles, _SAND)}
    if scenario.ground.soil_depth_m < DEEP_M:
        found["world/hard_ground"] = Surface(corners - [0.0, 0.0, scenario.ground.soil_depth_m], triangles, _STONE)
    return found


def extruded(profile: np.ndarray, yaw_rad: float, rgba: tuple[int, int, int, int]) -> Surface:
    """A profile (k, 2) of places along an obstacle's direction and heights, drawn out across it."""
    ahead, across = np.array([np.cos(yaw_rad), np.sin(yaw_rad)]), np.array([-np.sin(yaw_rad), np.cos(yaw_rad)])
    sides = [profile[:, :1] * ahead + aside * across for aside in (_ASIDE_M, -_ASIDE_M)]
    corners = np.concatenate([np.column_stack([side, profile[:, 1]]) for side in sides])
    k, n = np.arange(len(profile) - 1), len(profile)
    triangles = np.concatenate([np.column_stack([k, k + n, k + 1]), np.column_stack([k + 1, k + n, k + n + 1])])
    return Surface(corners, triangles, rgba)


def _robot(shape: SideShape, robot: TrackedRobot) -> dict[str, Surface | Strips]:
    """Both edges of tracks and flippers, and the belly, in the robot's own axes."""
    tracks, found = robot.tracks, {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        middle, half = 0.5 * sign * tracks.tread_m.value, 0.5 * tracks.belt_width_m.value
        found[f"world/robot/track_{side}"] = _band(shape.track, middle, half, _BLUE)
        if robot.flippers:
            middle, half = 0.5 * sign * robot.flippers.flipper_tread_m.value, 0.5 * robot.flippers.flipper_width_m.value
            found[f"world/robot/flipper_{side}"] = _band(shape.flipper, middle, half, _GREY)
    if robot.belly:
        found["world/robot/belly"] = _band(shape.belly, 0.0, 0.5 * robot.belly.belly_width_m.value, _GREY)
    return {**found}


def _band(outline: np.ndarray, middle_m: float, half_m: float, rgba: tuple[int, int, int, int]) -> Strips:
    """An outline at both sides of a plate, and the lines across."""
    sides = [np.column_stack([outline[:, 0], np.full(len(outline), middle_m + s * half_m), outline[:, 1]]) for s in (1.0, -1.0)]
    rungs = [np.stack([sides[0][k], sides[1][k]]) for k in range(0, len(outline) - 1, 3)]
    return Strips([*sides, *rungs], rgba)


def _ruts(climb: Trajectory, shape: SideShape, profile: Profile) -> list[tuple[float, Strips]]:
    """Where the rear sprockets' lowest points were, as long as that was below the soil's surface, up to some of the moments."""
    o, seen_from = shape.outline, stage(climb, profile)
    axle = np.array([(-o.mass_ahead_m, o.radius_m - o.mass_above_m)])
    paths = []
    for side in (0.5, -0.5):
        axles = [seen_from.there(k, axle, side * o.tread_m)[0] for k in range(len(climb["time_s"]))]
        paths.append(np.array(axles) - [0.0, 0.0, o.radius_m])
    is_below = [path[:, 2] < profile.height(path[:, 0], path[:, 1]) for path in paths]
    found = []
    for k in spread_out(len(climb["time_s"])).tolist()[::2]:
        lines = [path[: k + 1][low[: k + 1]] for path, low in zip(paths, is_below, strict=True)]
        found.append((float(climb["time_s"][k]), Strips([line for line in lines if len(line) > 1], _ORANGE)))
    return found
