"""Tracked robots on terrain: where a climb over a height field begins and ends, and how the robot is put down there."""

from typing import Any

import numpy as np

from slipfit.errors import ParameterError
from slipfit.ground.blocks import FAR_BELOW_M
from slipfit.ground.covered import Covered
from slipfit.ground.height_field import surface_at
from slipfit.library.terrain import Terrain
from slipfit.vehicles.track_shape import Outline
from slipfit.vehicles.tracked import Begin

#: Places along each track that are looked at when a robot is put down.
_PLACES = 25

#: How often its attitude is fitted: below a robot that leans lies other ground than below one that stands upright.
_SETTLING = 4


def field_ground(terrain: Terrain, v: dict[str, Any], has_soil: bool) -> Covered:
    """The terrain as ground of a climb; progress counts along the heading at the start."""
    heading: Any = np.asarray(v["heading_rad"], dtype=float)
    hard, soil = (FAR_BELOW_M, 0.0) if has_soil else (0.0, FAR_BELOW_M)
    return Covered(terrain.model(v["gravity_mps2"]), np.cos(heading), np.sin(heading), hard, soil)


def check_on_map(terrain: Terrain, distance_m: float, v: dict[str, Any], length_m: float) -> None:
    """Start and end of every run must lie on the map."""
    heading = np.atleast_1d(np.asarray(v["heading_rad"], dtype=float))
    x, y = np.asarray(v["start_x_m"], dtype=float), np.asarray(v["start_y_m"], dtype=float)
    for what, way in (("the rear at the start", -0.5 * length_m), ("the front at the end", distance_m + length_m)):
        at_x, at_y = np.broadcast_arrays(x + way * np.cos(heading), y + way * np.sin(heading))
        off = np.isfinite(at_x + at_y) & ~terrain.covers(at_x, at_y)  # a run that is no number gets its own status
        if off.any():
            x_from, x_to, y_from, y_to = terrain.extent_m
            raise ParameterError(
                f"start: {what}, [{at_x[off][0]:.3g}, {at_y[off][0]:.3g}] m, lies off the map of {terrain.name}; expected x "
                f"from {x_from:g} to {x_to:g} and y from {y_from:g} to {y_to:g}; move "
                f"start.x_m and y_m, turn start.heading_rad, or shorten straight.distance_m"
            )


def put_down(ground: Covered, outline: Outline, v: dict[str, Any], sinkage_m: Any, n: int) -> Begin:
    """A robot at its start: pitched and rolled like the plane that fits the ground below its tracks best, its lowest place just
    touching (in soil, as deep as on level ground)."""
    o = Outline(*(np.broadcast_to(np.asarray(value, dtype=float), n) for value in outline))
    heading, x0, y0, sunk = (
        np.broadcast_to(np.asarray(value, dtype=float), n)
        for value in (v["heading_rad"], v["start_x_m"], v["start_y_m"], sinkage_m)
    )
    share = np.linspace(0.0, 1.0, _PLACES)
    ahead = -o.radius_m[:, None] + share * (o.axle_distance_m + 2.0 * o.radius_m)[:, None]
    beyond = np.maximum(np.maximum(-ahead, ahead - o.axle_distance_m[:, None]), 0.0)
    # The outline's underside: straight between the axles, round before and behind.
    low = o.radius_m[:, None] - np.sqrt(np.maximum(o.radius_m[:, None] ** 2 - beyond**2, 0.0))
    body_x = np.concatenate([ahead - o.mass_ahead_m[:, None]] * 2, axis=1)
    body_y = np.concatenate([np.full_like(ahead, 0.5), np.full_like(ahead, -0.5)], axis=1) * o.tread_m[:, None]
    body_z = np.concatenate([low + (sunk - o.mass_above_m)[:, None]] * 2, axis=1)
    pitch, roll, z = np.zeros(n), np.zeros(n), np.zeros(n)
    for _ in range(_SETTLING):
        # Nose up about the body's own y axis, after a roll, left side up, about its x axis.
        (cp, sp), (cr, sr) = ((np.cos(angle)[:, None], np.sin(angle)[:, None]) for angle in (pitch, roll))
        left, up = cr * body_y - sr * body_z, sr * body_y + cr * body_z
        ahead_of, above = cp * body_x - sp * up, sp * body_x + cp * up
        c, s = np.cos(heading)[:, None], np.sin(heading)[:, None]
        heights = surface_at(ground.shape._replace(gravity=0.0), x0[:, None] + c * ahead_of - s * left,
                             y0[:, None] + s * ahead_of + c * left)[..., 0]  # fmt: skip
        z = np.max(heights - above, axis=1)
        for i in np.flatnonzero(np.isfinite(z)):
            columns = np.column_stack([ahead_of[i], left[i], np.ones(2 * _PLACES)])
            along, across, _ = np.linalg.lstsq(columns, heights[i], rcond=None)[0]
            pitch[i], roll[i] = np.arctan(along), np.arctan(across * np.cos(np.arctan(along)))
    found: list[Any] = [x0, y0, z, pitch, heading, 0.0, roll]
    return Begin(*found)
