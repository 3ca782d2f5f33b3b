"""Where a climb begins: how deep in soil, and whether a robot can stand there, outside the obstacle and not on its flippers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from slipfit.contact.soil.pressure import SHALLOWEST_M
from slipfit.errors import ParameterError
from slipfit.simulation.scenario_ground import ScenarioGround
from slipfit.vehicles import tracked
from slipfit.vehicles.track_shape import Stations

#: A robot that begins this far inside hard ground is refused, m: ten times the dents of standing; it would be thrown out.
_INSIDE_M = 0.002

#: On a height field contacts feel tangent planes, and a robot put down on rough ground may begin this far inside them, m.
_INSIDE_FIELD_M = 0.01

#: Distances to the obstacle are told to this, m, and looked for this much further away.
_TELLING_M, _FURTHER_M = 0.001, 2.0


def depth_at_start_m(batch: tracked.TrackedRuns, n: int) -> np.ndarray:
    """How deep each run begins in hard ground, (n,): the depth of one contact that holds the same energy as all do."""
    out, status = np.empty((n, 1, len(tracked.TRACK_COLUMNS))), np.empty(n)
    # One record and no step: what the kernel finds where the run begins.
    tracked.in_lanes(batch, 0, n, 1, 1, 1e-3, out, status)
    begin, mass, hard = batch.begin, batch.body.mass, batch.hard
    moving = 0.5 * (mass + 2.0 * batch.belt.mass) * begin.speed**2
    shape = batch.ground.shape
    gravity = getattr(shape, "gravity", None)
    gravity = shape.shape.gravity if gravity is None else gravity
    pressed = out[:, 0, tracked.TRACK_COLUMNS.index("energy_j")] - moving - mass * gravity * begin.z
    return np.asarray((np.maximum(pressed, 0.0) * (hard.exponent + 1.0) / hard.stiffness) ** (1.0 / (hard.exponent + 1.0)))


def static_sinkage_m(stations: Stations, mass_above_m: Any, weight_n: Any, soil: Any) -> Any:
    """Sinkage of the level robot's belts at rest in untouched soil, on all that bears in the run: undersides, arcs of sprockets,
    flippers, belly. Negative where it stands on its cleats.

    stations      those of `track_tables`, (n, entries)
    mass_above_m  height of the centre of mass above the underside
    """
    up = stations.z + np.reshape(np.asarray(mass_above_m, dtype=float), (-1, 1))  # above the underside
    like = 0.0 * up[:, 0] * np.asarray(weight_n)
    exponent, layer, cohesive, frictional = (
        np.reshape(np.asarray(x, dtype=float), (-1, 1)) for x in (soil.exponent, soil.layer, soil.cohesive, soil.frictional)
    )
    constant = np.maximum(cohesive / stations.width + frictional, 1e-9)
    reach = np.where(stations.cleat_area > 0.0, stations.cleat_height, 0.0)
    # Soil presses along a segment's own normal, a rigid base upwards. Only what can bear is asked, and of both sides one.
    near = slice(0, up.shape[1] // 2)
    upward = stations.tx[:, near]
    bearing = [(2.0 * area[:, near], (lower - up)[:, near]) for area, lower in
               ((stations.area, 0.0), (stations.cleat_area, reach))]  # fmt: skip
    low, high = like - np.max(reach, axis=1), like + 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        carried = like
        for area, lower in bearing:
            depth = np.maximum(middle[:, None] + lower, 0.0)
            deep = np.maximum(depth, SHALLOWEST_M)
            pressure = upward * constant[:, near] * deep ** (exponent - 1.0) * depth
            pressure = pressure + soil.base * np.maximum(depth - layer, 0.0)
            carried = carried + np.sum(area * pressure, axis=1)
        low, high = np.where(carried < weight_n, middle, low), np.where(carried < weight_n, high, middle)
    return low


def check_flippers(v: dict[str, Any]) -> None:
    """Flippers that reach below the tracks would begin inside the ground."""
    angle, radius, tip, length = (
        np.asarray(v[name], dtype=float)
        for name in ("flipper_angle_rad", "sprocket_radius_m", "flipper_tip_radius_m", "flipper_length_m")
    )
    below, angle = np.broadcast_arrays(tip - radius - length * np.sin(angle), angle)
    if (below > _INSIDE_M).any():
        worst = int(np.nanargmax(below))
        lowest = float(np.max(np.arcsin(np.clip((tip - radius) / length, -1.0, 1.0))))
        raise ParameterError(
            f"flipper_angle_rad = {angle.flat[worst]:.3g}: the flippers' tips begin {1e3 * below.flat[worst]:.0f} mm below the "
            f"tracks, inside the ground; a climb begins on level tracks: take {np.ceil(1e3 * lowest) / 1e3:g} or more"
        )


def check_start(ground: ScenarioGround, v: dict[str, Any], depths: np.ndarray, depth_from: Callable[[int, float], float]) -> None:
    """Refuse runs that begin inside the obstacle, with the distance to use; depth_from(run, distance_m) is the depth there."""
    is_field = ground.terrain is not None
    inside = depths > (_INSIDE_FIELD_M if is_field else _INSIDE_M)
    if not inside.any():
        return
    worst = int(np.nanargmax(depths))
    if is_field:
        raise ParameterError(
            f"start.x_m, y_m: the robot would begin {1e3 * depths[worst]:.0f} mm inside the ground there, with its flippers or "
            f"between its tracks; start elsewhere, turn start.heading_rad, or raise start.flipper_angle_rad"
        )
    kind = ground.obstacle.kind if ground.obstacle else "ground"
    given = float(np.broadcast_to(np.asarray(v["distance_m"], dtype=float), depths.shape)[worst])
    low, high = given, given + _FURTHER_M
    while high - low > 0.5 * _TELLING_M:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if depth_from(worst, middle) > _INSIDE_M else (low, middle)
    raise ParameterError(
        f"obstacle.distance_m = {given:g} m: the robot would begin {1e3 * depths[worst]:.0f} mm inside the {kind}; it "
        f"is counted from the front of the tracks, and flippers reach further: take {np.ceil(1e3 * high) / 1e3:g} m or more, or "
        f"another flipper_angle_rad"
    )
