"""The report of a climb: one page with the robot from the side, moment by moment, and what happened over time."""

from pathlib import Path
from typing import Any

import numpy as np

import slipfit
from slipfit.library import TrackedRobot, citation, references
from slipfit.report.board import BLUE, GREEN, GREY, INK, ORANGE, SHADE, packed
from slipfit.report.drive_report import NUMBER_HEADS, number_row
from slipfit.report.html import Panel, render, write_page
from slipfit.simulate.climb import ClimbTrajectory, Verdict, climb_numbers, obstacle_corners
from slipfit.simulate.climb_scenario import ClimbScenario

#: Moments that the slider offers.
_MOMENTS = 60


def write_climb_report(
    climb: ClimbTrajectory, robot: TrackedRobot, scenario: ClimbScenario, path: Path | str, *, force: bool = False
) -> None:
    """Write the report of a climb: one .html file that loads nothing from anywhere."""
    numbers = list(robot.parameters().values())
    works = sorted({p.source for p in numbers} & set(references()))
    html = render(
        "climb.html.j2",
        climb=climb,
        robot=robot,
        about=scenario.about,
        is_good=climb.verdict in (Verdict.CLIMBED, Verdict.FINISHED),
        told=told_rows(climb),
        side=Panel("side", side_view(climb, robot, scenario), "The robot from the side; the slider chooses the moment."),
        over_time=Panel("over-time", over_time(climb), "Pitch of the nose, speeds, loads and sinkage."),
        number_heads=NUMBER_HEADS,
        robot_rows=[number_row(p) for p in numbers],
        works=[f"{key}: {citation(key)}" for key in works],
        scenario_yaml=scenario.to_yaml(),
        version=slipfit.__version__,
    )
    write_page(html, Path(path), force=force)


def told_rows(climb: ClimbTrajectory) -> list[list[str]]:
    """What happened, in rows."""
    c = climb.columns
    rows = [["verdict reached after", f"{climb.stopped_at_s:.2f} s"], ["margin", f"{climb.margin:+.3f}"]]
    rows.append(["nose up to", f"{np.degrees(climb.pitch_up_rad.max()):.1f}°"])
    rows.append(["deepest sinkage", f"{1e3 * c['deepest_m'].max():.1f} mm"])
    rows.append(["largest drive force of a belt", f"{np.abs([c['drive_left_n'], c['drive_right_n']]).max():.0f} N"])
    return rows


def side_view(climb: ClimbTrajectory, robot: TrackedRobot, scenario: ClimbScenario) -> dict[str, Any]:
    """Outline of track and flipper at each moment, over the profile of the ground."""
    count = len(climb["time_s"])
    kept = np.unique(np.linspace(0, count - 1, min(_MOMENTS, count)).round().astype(int))
    path = _line("centre of mass", climb["x_m"], climb["z_m"], ORANGE, 1.5)
    data = [_ground(robot, scenario), path]
    first = len(data)
    for k in kept:
        x, z = _outline(robot, scenario, climb["x_m"][k], climb["z_m"][k], climb.pitch_up_rad[k])
        data.append(_line(f"{climb['time_s'][k]:.2f} s", x, z, BLUE, 2.5) | {"visible": bool(k == kept[-1])})
    steps = [
        {
            "label": f"{climb['time_s'][k]:.2f}",
            "method": "restyle",
            "args": [{"visible": [True] * first + [m == j for m in range(len(kept))]}],
        }
        for j, k in enumerate(kept)
    ]
    return {
        "data": data,
        "layout": {
            "height": 460,
            "showlegend": False,
            "margin": {"l": 60, "r": 14, "t": 20, "b": 90},
            "xaxis": {"title": {"text": "ahead (m)"}, "constrain": "domain"},
            "yaxis": {"title": {"text": "height (m)"}, "scaleanchor": "x"},
            "sliders": [{"active": len(kept) - 1, "currentvalue": {"prefix": "time (s): "}, "pad": {"t": 40}, "steps": steps}],
        },
    }


def over_time(climb: ClimbTrajectory) -> dict[str, Any]:
    """Four rows over time."""
    t, c = climb["time_s"], climb.columns
    rows: list[tuple[str, list[tuple[str, np.ndarray, str]]]] = [
        ("nose up (°)", [("pitch", np.degrees(climb.pitch_up_rad), BLUE)]),
        (
            "speed (m/s)",
            [("belts", 0.5 * (c["belt_left_mps"] + c["belt_right_mps"]), ORANGE), ("robot ahead", c["vx_mps"], BLUE)],
        ),
        (
            "load (N)",
            [
                ("hard ground", c["hard_load_left_n"] + c["hard_load_right_n"], INK),
                ("soil", c["soil_load_left_n"] + c["soil_load_right_n"], GREEN),
                ("belly", c["belly_load_n"], ORANGE),
            ],
        ),
        ("sinkage (mm)", [("now", 1e3 * np.maximum(c["sinkage_left_m"], c["sinkage_right_m"]), GREEN)]),
    ]
    data, layout = [], {"height": 640, "margin": {"l": 66, "r": 14, "t": 20, "b": 46}, "legend": {"orientation": "h"}}
    for k, (title, curves) in enumerate(rows):
        key = str(k + 1) if k else ""
        top = 1.0 - k * 0.25
        layout[f"yaxis{key}"] = {"title": {"text": title}, "domain": [top - 0.21, top]}
        data += [_line(name, t, values, colour, 1.5) | {"yaxis": f"y{key}"} for name, values, colour in curves]
    layout["xaxis"] = {"title": {"text": "time (s)"}, "anchor": "y4"}
    return {"data": data, "layout": layout}


def _line(name: str, x: np.ndarray, y: np.ndarray, colour: str, width: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": packed(x),
        "y": packed(y),
        "line": {"color": colour, "width": width},
    }


def _outline(robot: TrackedRobot, scenario: ClimbScenario, x: float, z: float, pitch: float) -> tuple[np.ndarray, np.ndarray]:
    """Track, and flipper, as one line in the ground's frame; NaN lifts the pen."""
    o, angle = robot.outline(), scenario.flipper_angle_rad
    rear, up = -o.mass_ahead_m, o.radius_m - o.mass_above_m
    half = np.linspace(0.0, np.pi, 25)
    body_x = [rear - o.radius_m * np.sin(half), rear + o.axle_distance_m + o.radius_m * np.sin(half[::-1]), rear + 0.0 * half[:1]]
    body_z = [up - o.radius_m * np.cos(half), up - o.radius_m * np.cos(half[::-1]), up - o.radius_m + 0.0 * half[:1]]
    if robot.flippers:
        tip = o.flipper_angle_rad if angle is None else angle
        turn = np.linspace(0.0, 2.0 * np.pi, 40)
        end_x = rear + o.axle_distance_m + o.flipper_length_m * np.cos(tip)
        end_z = up + o.flipper_length_m * np.sin(tip)
        body_x += [np.array([np.nan, rear + o.axle_distance_m, end_x, np.nan]), end_x + o.flipper_tip_radius_m * np.cos(turn)]
        body_z += [np.array([np.nan, up, end_z, np.nan]), end_z + o.flipper_tip_radius_m * np.sin(turn)]
    bx, bz = np.concatenate(body_x), np.concatenate(body_z)
    return x + np.cos(pitch) * bx - np.sin(pitch) * bz, z + np.sin(pitch) * bx + np.cos(pitch) * bz


def _ground(robot: TrackedRobot, scenario: ClimbScenario) -> dict[str, Any]:
    """Surface of the ground in front of the robot, edges drawn sharp but for curbs, whose radius is drawn."""
    v = climb_numbers(robot, scenario)
    first = 0.5 * v["axle_distance_m"] + v["sprocket_radius_m"] + v.get("cleat_height_m", 0.0) + v["distance_m"]
    corners, _, is_ditch = obstacle_corners(scenario, v, first)
    x, z, level = [-0.8], [0.0], 0.0
    for corner in corners:
        at, height, radius = float(corner.xi_m), float(corner.z_m), float(corner.radius_m)
        if is_ditch:
            low, goes_down = -float(v["height_m"]), len(x) == 1
            x += [at, at]
            z += [0.0, low] if goes_down else [low, 0.0]
            continue
        foot = at if scenario.obstacle.kind != "ramp" else at - (height - level) / np.tan(scenario.obstacle.slope_rad)
        turn = np.linspace(0.0, 0.5 * np.pi, 12)
        round_edge = scenario.obstacle.kind != "ramp"
        x += [foot, *(at + radius * (1.0 - np.cos(turn)) if round_edge else [at])]
        z += [level, *(height - radius * (1.0 - np.sin(turn)) if round_edge else [height])]
        level = height
    x.append(x[-1] + 1.5)
    z.append(z[-1])
    return _line("ground", np.array(x), np.array(z), GREY, 2.0) | {"fill": "tozeroy", "fillcolor": SHADE}
