"""Pictures. They read results and compute nothing that a result does not hold."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.contact import LAWS, LawInfo, Touch, force, traction
from slipfit.library import OmniRobot, SkidSteerRobot, omni_robot
from slipfit.library.files import write_through
from slipfit.simulation.omni_slip import roller_slip
from slipfit.simulation.showcase import Showcase
from slipfit.simulation.trajectory import Trajectory

#: Colour-blind safe (Okabe and Ito), one meaning each.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7f7f7f"
FIGURE_FORMATS = (".png", ".svg", ".pdf")


def save_figure(figure: Figure, path: Path, *, force: bool = False) -> None:
    """Write a picture; the format follows the name."""
    write_through(path, lambda temporary: figure.savefig(temporary, dpi=130), force=force, formats=FIGURE_FORMATS)


def _tidy(axes: Any, x: str, y: str, title: str = "") -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _wheel_width_m(robot: SkidSteerRobot | OmniRobot) -> float:
    return float(robot.drawn_width_m(robot.wheels.radius_m.value))


def _outline(robot: SkidSteerRobot | OmniRobot) -> np.ndarray:
    """Corners of the body, (n, 2): between the wheels."""
    at = np.array(robot.wheels.at_m.value)
    if not robot.has_sides:
        centred = at - at.mean(axis=0)
        return np.asarray(at[np.argsort(np.arctan2(centred[:, 1], centred[:, 0]))])
    front, rear = at[:, 0].max(), at[:, 0].min()
    left, right = 0.75 * at[:, 1].max(), 0.75 * at[:, 1].min()
    return np.array([(front, left), (front, right), (rear, right), (rear, left)])


def _turned(points: np.ndarray, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points @ np.array([[c, s], [-s, c]]))


def _draw_robot(axes: Any, robot: SkidSteerRobot | OmniRobot, x: float, y: float, heading: float, colour: str) -> None:
    """Outline of the body with the wheels on it, seen from above."""
    here, radius, half = np.array([x, y]), robot.wheels.radius_m.value, 0.5 * _wheel_width_m(robot)
    wheel = np.array([(radius, half), (radius, -half), (-radius, -half), (-radius, half)])
    for at, angle in zip(robot.at_m, robot.rolling_rad, strict=True):
        corners = _turned(_turned(wheel, angle) + at, heading) + here
        axes.fill(*corners.T, color=colour, linewidth=0)
    body = _turned(_outline(robot), heading) + here
    axes.fill(*body.T, color=colour, alpha=0.35, linewidth=0)


def _apart(drives: Sequence[Trajectory], robot: SkidSteerRobot | OmniRobot, most: int) -> list[tuple[int, int]]:
    """Drive and place of the robots to draw: the ends, then along the way, none over another."""
    at = np.abs(robot.wheels.at_m.value).max(axis=0)
    least = 2.0 * float(np.hypot(at[0] + robot.wheels.radius_m.value, at[1] + 0.5 * _wheel_width_m(robot)))
    candidates = [(d, len(t.x_m) - 1) for d, t in enumerate(drives)]
    for d, t in enumerate(drives):
        way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(t.x_m), np.diff(t.y_m)))])
        # Staggered, so that robots of two drives do not stand side by side where their paths are close.
        shares = (np.arange(1, most - 1) - d / len(drives)) / (most - 1) if most > 2 else np.empty(0)
        candidates += [(d, int(np.searchsorted(way, share * way[-1]))) for share in shares]
        candidates.append((d, 0))
    chosen: list[tuple[int, int]] = []
    for d, k in candidates:
        here = np.array([drives[d].x_m[k], drives[d].y_m[k]])
        if all(np.hypot(*(here - (drives[e].x_m[j], drives[e].y_m[j]))) >= least for e, j in chosen):
            chosen.append((d, k))
    return chosen


def _slip_shown(trajectory: Trajectory, robot: SkidSteerRobot | OmniRobot) -> np.ndarray:
    """Slip velocity of each wheel where it grips, (T, n): along the wheel, or along the roller's axis."""
    t = trajectory
    if not robot.has_sides:
        return roller_slip(t, omni_robot(robot))[:, :, 0]
    rim = t.wheel_speed_radps * robot.wheels.radius_m.value
    side = np.array([at[1] for at in robot.wheels.at_m.value])
    return np.asarray(rim - (t.vx_mps[:, None] - t.yaw_rate_radps[:, None] * side))


def draw_drive(trajectory: Trajectory, robot: SkidSteerRobot | OmniRobot) -> Figure:
    """One drive: the path from above, velocities, wheel speeds against the ground, loads."""
    t = trajectory
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    path, speed, slip, load = figure.subplots(2, 2).ravel()
    path.plot(t.x_m, t.y_m, color=BLUE)
    for _, k in _apart([t], robot, 5):
        _draw_robot(path, robot, t.x_m[k], t.y_m[k], t.heading_rad[k], BLUE)
    path.set_aspect("equal", adjustable="datalim")
    _tidy(path, "x [m]", "y [m]", f"{t.robot} on {t.ground}, from above")
    speed.plot(t.time_s, t.vx_mps, color=BLUE, label="ahead [m/s]")
    speed.plot(t.time_s, t.vy_mps, color=GREEN, label="to the left [m/s]")
    speed.plot(t.time_s, t.yaw_rate_radps, color=ORANGE, label="yaw rate [rad/s]")
    speed.legend(frameon=False, fontsize=8)
    _tidy(speed, "time [s]", "m/s, rad/s", "velocity of the wheels' centre")
    slipping = _slip_shown(t, robot)
    for w, name in enumerate(t.wheel_names):
        slip.plot(t.time_s, slipping[:, w], label=name, linewidth=1.0)
        load.plot(t.time_s, t.load_n[:, w], label=name, linewidth=1.0)
    slip.legend(frameon=False, fontsize=8, ncols=2)
    title = "longitudinal slip velocity" if robot.has_sides else "slip velocity along the rollers' axes"
    _tidy(slip, "time [s]", "rim - ground speed [m/s]", title)
    _tidy(load, "time [s]", "load [N]", "wheel loads")
    return figure


def draw_demo(story: Showcase) -> Figure:
    """The same commands three times: what slip does to a path and to the turning rate."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    path, rate = figure.subplots(1, 2, width_ratios=[1.15, 1.0])
    path.plot(
        story.without_slip[:, 0],
        story.without_slip[:, 1],
        color=GREY,
        linestyle="--",
        label="no slip (what odometry believes)",
    )
    time_s = np.arange(len(story.commanded_yaw_rate_radps)) * story.step_s
    rate.plot(time_s, story.commanded_yaw_rate_radps, color=GREY, linestyle="--", label="commanded")
    colours = dict(zip(story.drives, (BLUE, ORANGE), strict=True))
    for name, t in story.drives.items():
        label = name.replace("_", " ")
        path.plot(t.x_m, t.y_m, color=colours[name], label=label)
        rate.plot(t.time_s, t.yaw_rate_radps, color=colours[name], label=label)
    drives = list(story.drives.items())
    for d, k in _apart([t for _, t in drives], story.robot, 4):
        name, t = drives[d]
        _draw_robot(path, story.robot, t.x_m[k], t.y_m[k], t.heading_rad[k], colours[name])
    path.set_aspect("equal", adjustable="datalim")
    path.legend(frameon=False, fontsize=8)
    rate.legend(frameon=False, fontsize=8)
    _tidy(path, "x [m]", "y [m]", f"{story.robot.name}: one list of commands, three paths")
    _tidy(rate, "time [s]", "yaw rate [rad/s]", "turning is where skid-steer robots slip")
    return figure


def law_curve(law: LawInfo, slips: np.ndarray, *, lateral: bool, rim_mps: float = 0.5, load_n: float = 50.0) -> np.ndarray:
    """|F| / N of a law against slip velocity over rim speed, at one rim speed and load."""
    model = law.model(law.example)
    forces = []
    for slip in slips:
        sx, sy = (0.0, slip * rim_mps) if lateral else (slip * rim_mps, 0.0)
        answer = traction(model, Touch(sx, sy, rim_mps, load_n), None, 0, 0.001)
        forces.append(force(answer, sx, sy)[1 if lateral else 0] / load_n)
    return np.array(forces)


def draw_laws(figure: Any = None) -> Any:
    """Every law with its example constants: force along and across the wheel against slip. Onto a part of a figure, if given."""
    slips = np.linspace(0.0, 1.0, 201)
    figure = figure or Figure(figsize=(11, 8.5), layout="constrained")
    columns = 3
    grid = figure.subplots(-(-len(LAWS) // columns), columns, sharex=True, sharey=True).ravel()
    for axes, law in zip(grid, LAWS.values(), strict=False):
        axes.plot(slips, law_curve(law, slips, lateral=False), color=BLUE, label="along the wheel")
        axes.plot(slips, law_curve(law, slips, lateral=True), color=ORANGE, linestyle="--", label="across the wheel")
        _tidy(axes, "slip velocity / rim speed [-]", "force / load [-]", law.name)
    grid[0].legend(frameon=False, fontsize=8)
    for axes in grid[len(LAWS) :]:
        axes.set_visible(False)
    figure.suptitle("contact laws at 0.5 m/s rim speed and 50 N load, example constants", fontsize=10)
    return figure
