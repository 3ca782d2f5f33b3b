"""The static limit of a robot on omni wheels, by direction and as a polytope; and what moves within it save."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

from slipfit.control.static_limit import StaticLimit, polytope
from slipfit.library import OmniRobot
from slipfit.report.figures import BLUE, _tidy
from slipfit.simulation.gentle import SavedSlip
from slipfit.simulation.omni_slip import roller_slip

#: Edges of the hull between faces that lie in one plane, to this accuracy, are not drawn.
_SAME_PLANE = 1e-6


def draw_static_limit(limit: StaticLimit) -> Figure:
    """Left: largest acceleration, braking and push over mass, by direction. Right: what the ground can do to the robot."""
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    by_direction: Any = figure.add_subplot(1, 2, 1, projection="polar")
    around = np.append(limit.direction_rad, limit.direction_rad[0])
    mass = limit.footing.mass_kg
    lines = (("brake", limit.brake_mps2), ("push / m", limit.push_n / mass), ("speed up", limit.speed_up_mps2))
    for (name, values), style in zip(lines, ("-", "--", "-"), strict=True):
        by_direction.plot(around, np.append(values, values[0]), style, label=name)
    by_direction.set_theta_zero_location("N")
    by_direction.set_title(f"{limit.robot} on {limit.ground}: m/s² before a wheel slips", fontsize="medium")
    by_direction.legend(loc="lower left", bbox_to_anchor=(-0.15, -0.12), fontsize="small")
    space: Any = figure.add_subplot(1, 2, 2, projection="3d")
    _draw_polytope(space, limit)
    return figure


def draw_saved_slip(saved: SavedSlip, robot: OmniRobot) -> Figure:
    """Wheel speeds as they were told, the largest slip of all wheels, and the paths, of the step and of each profile."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    figure.suptitle(f"{saved.robot} on {saved.ground}", fontsize=11, fontweight="bold")
    wheels, slips, paths = figure.subplots(1, 3)
    for name, run in saved.runs.items():
        fastest = int(np.argmax(np.abs(run.wheel_speed_radps).max(axis=0)))
        wheels.plot(run.time_s, run.wheel_speed_radps[:, fastest], label=name)
        slips.plot(run.time_s, 1e3 * np.abs(roller_slip(run, robot)[:, :, 0]).max(axis=1), label=name)
        paths.plot(run.x_m, run.y_m, label=f"{name}: {1e3 * saved.place_error_m[name]:.1f} mm beside odometry")
    _tidy(wheels, "time [s]", "speed [rad/s]", "the fastest wheel")
    _tidy(slips, "time [s]", "slip [mm/s]", "largest slip along a roller's axis")
    _tidy(paths, "x [m]", "y [m]", "paths")
    paths.set_aspect("equal", adjustable="datalim")
    slips.legend(fontsize="small")
    paths.legend(fontsize="small")
    return figure


def _draw_polytope(space: Any, limit: StaticLimit) -> None:
    hull = polytope(limit.footing)
    faces = hull.points[hull.simplices]
    space.add_collection3d(Poly3DCollection(faces, alpha=0.25, facecolor=BLUE, edgecolor="none"))
    for a, b in _edges(hull):
        space.plot(*hull.points[[a, b]].T, color=BLUE, linewidth=0.8)
    span = np.abs(hull.points).max(axis=0)
    space.set(
        xlim=(-span[0], span[0]), ylim=(-span[1], span[1]), zlim=(-span[2], span[2]),
        xlabel="ahead, N", ylabel="left, N", zlabel="moment, N m",
    )  # fmt: skip
    space.set_title("forces and moments that the wheels hold", fontsize="medium")


def _edges(hull: Any) -> list[tuple[int, int]]:
    """Pairs of corners whose two faces do not lie in one plane."""
    found = []
    for face, (corners, neighbours) in enumerate(zip(hull.simplices, hull.neighbors, strict=True)):
        for k, other in enumerate(neighbours):
            if other > face and np.abs(hull.equations[face] - hull.equations[other]).max() > _SAME_PLANE:
                a, b = np.delete(corners, k)
                found.append((int(a), int(b)))
    return found
