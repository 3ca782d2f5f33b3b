"""The ground of a climb from the side: the upright plane that it is seen in, what is hard there, and what soil covers.

The plane holds the direction in which obstacles follow each other, or, on a terrain, the line along which the robot starts; xi
counts along it, from the origin or from the start:

    xi = (x - x0) cos yaw + (y - y0) sin yaw

Symbols    x, y place on the ground (m) · x0, y0 start on a terrain, else 0 · yaw of the obstacle, or heading at the start (rad)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from slipfit.library import Terrain, find_terrain
from slipfit.simulation.climb import obstacle_corners, obstacle_starts_m
from slipfit.simulation.scenario import Scenario

#: Ground is drawn down to here, m below its lowest place.
DEEP_M = 2.0

#: Places along a terrain's line, m apart; never more than so many.
_STEP_M, _MOST_PLACES = 0.01, 2000


@dataclass(frozen=True, eq=False)
class Profile:
    """The plane of a side view, and the ground that nothing has touched."""

    yaw_rad: float
    start_m: tuple[float, float] = (0.0, 0.0)
    terrain: Terrain | None = None  # level without

    @property
    def axis_title(self) -> str:
        return "from the start, along its heading [m]" if self.terrain else "along the obstacle's direction [m]"

    def along(self, x_m: Any, y_m: Any) -> Any:
        """xi of places."""
        x0, y0 = self.start_m
        return np.cos(self.yaw_rad) * (np.asarray(x_m) - x0) + np.sin(self.yaw_rad) * (np.asarray(y_m) - y0)

    def height(self, x_m: Any, y_m: Any) -> Any:
        """Height of level ground, or of the terrain, at places."""
        return self.terrain.height_at(x_m, y_m) if self.terrain else 0.0 * np.asarray(x_m)

    def line(self, xi_m: Any) -> Any:
        """The same along the plane."""
        (x0, y0), xi = self.start_m, np.asarray(xi_m)
        return self.height(x0 + np.cos(self.yaw_rad) * xi, y0 + np.sin(self.yaw_rad) * xi)

    def places(self, left_m: float, right_m: float) -> np.ndarray:
        """Places that tell the line between two: its ends where it is level."""
        count = min(_MOST_PLACES, int(np.ceil((right_m - left_m) / _STEP_M)) + 1) if self.terrain else 2
        return np.linspace(left_m, right_m, count)


def climb_profile(scenario: Scenario, v: dict[str, Any]) -> Profile:
    """The plane that a climb with these numbers is seen in."""
    if scenario.ground.terrain is None:
        return Profile(float(v["yaw_rad"]))
    start = (float(v["start_x_m"]), float(v["start_y_m"]))
    return Profile(float(v["heading_rad"]), start, find_terrain(scenario.ground.terrain))


def hard_ground(
    scenario: Scenario, v: dict[str, Any], profile: Profile, left_m: float, right_m: float
) -> tuple[np.ndarray, float]:
    """Outline (k, 2) of all that is hard between two places, closed far below by its last three points; and where soil ends."""
    if profile.terrain:
        xi = profile.places(left_m, right_m)
        top = list(zip(xi, profile.line(xi) - _base_depth_m(scenario), strict=True))
        return _closed_below(top), np.inf
    obstacle = scenario.ground.obstacle
    corners, _, is_ditch = obstacle_corners(scenario, v, float(obstacle_starts_m(v)))
    first = float(corners[0].xi_m) if corners else np.inf
    foot = -_base_depth_m(scenario)
    line: list[tuple[float, float]] = [(left_m, foot)]
    turn = np.linspace(0.0, 0.5 * np.pi, 12)
    for k, corner in enumerate(corners):
        at, top_m, radius = float(corner.xi_m), float(corner.z_m), float(corner.radius_m)
        rounding = list(zip(at + radius * (1.0 - np.cos(turn)), top_m - radius * (1.0 - np.sin(turn)), strict=True))
        if obstacle and obstacle.kind == "ramp":
            rise = np.tan(obstacle.slope_rad)
            line += [(at - (top_m - foot) / rise, foot), (at, top_m)]
            first = min(first, at - top_m / rise)
        elif is_ditch and k == 0:
            line += [(2.0 * at - x, z) for x, z in reversed(rounding)] + [(at, -float(v["height_m"]))]
        else:
            line += [(at, line[-1][1]), *rounding]
    line.append((right_m, line[-1][1]))
    return _closed_below(line), first


def soil_body(scenario: Scenario, profile: Profile, left_m: float, right_m: float) -> np.ndarray:
    """Outline (k, 2) of the soil that nothing has touched, between two places."""
    xi = profile.places(left_m, right_m)
    top = np.column_stack([xi, profile.line(xi)])
    return np.concatenate([top, (top - [0.0, _base_depth_m(scenario)])[::-1], top[:1]])


def _base_depth_m(scenario: Scenario) -> float:
    """How far the rigid base lies below the surface, as it is drawn."""
    return min(scenario.ground.soil_depth_m, DEEP_M) if scenario.ground.soil is not None else 0.0


def _closed_below(line: list[tuple[float, float]]) -> np.ndarray:
    low = min(min(z for _, z in line) - DEEP_M, -DEEP_M)
    return np.array([*line, (line[-1][0], low), (line[0][0], low), line[0]])
