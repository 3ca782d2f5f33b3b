"""A rover's drive over time, and where its energy went."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.library.robot import SpeedLoop
from slipfit.report.board import BLUE, GREEN, GREY, INK, ORANGE, SHADE, Board
from slipfit.report.decimate import MOST_POINTS, envelope, unused_spans
from slipfit.report.drive_figures import WHEEL_COLOURS
from slipfit.report.rover_scene import believable_records
from slipfit.simulation.energy import Energy
from slipfit.simulation.quantities import plane_to_world
from slipfit.simulation.torque_model import TorqueModelRun
from slipfit.simulation.trajectory import Trajectory
from slipfit.vehicles.books import STORE_COLUMNS

#: Points of all lines together: 0.3 MB of the page.
_ALL_POINTS = 30_000

#: Reddish purple of Okabe and Ito, beside those of the page.
_PURPLE = "#cc79a7"
#: And a brown for soil.
_BROWN = "#8c5a2b"

#: Lines of the cumulated energy: what is added up in each, and its colour.
_SUMS = {
    "from the supply": (("supplied_j",), INK),
    "resistances": (("in_resistance_j", "in_battery_j"), ORANGE),
    "shafts": (("in_shaft_j",), GREY),
    "sliding": (("in_sliding_j",), BLUE),
    "soil": (("in_soil_j",), _BROWN),
    "tyres, rolling, air": (("in_tyres_j", "in_rolling_j", "in_air_j"), SHADE),
    "height": (("height_j",), GREEN),
    "motion and other stores": (("body_j", "wheels_j", "magnetic_j", "twist_j", "tyres_j"), _PURPLE),
}

#: A sum that never reaches this share of the largest is left out.
_VISIBLE = 1e-3

_ROW_PX = 130

#: Words beside the longest bar take this share of the axis.
_ROOM_FOR_WORDS = 0.12


@dataclass(frozen=True, eq=False)
class _Row:
    """Lines of one pair of axes: name, colour, values (T,), width."""

    title: str
    unit: str
    lines: list[tuple[str, str, np.ndarray, float]] = field(default_factory=list)


def roll_and_pitch_rad(trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Against the horizontal, also on a tilted plane; pitch is positive with the nose down.

        sin(pitch) = -z . x_body,    tan(roll) = z . y_body / z . z_body

    On soil the body leans against the plane, too, where its wheels sink unequally.

    Symbols    z the direction against gravity
    """
    t = trajectory
    if t.shape != "plane":
        return t.roll_rad, t.pitch_rad
    up = plane_to_world(t.slope_rad, t.uphill_rad)[2]
    x, y, z = np.moveaxis(t.body_axes() @ up, -1, 0)
    return np.arctan2(y, z), -np.arcsin(np.clip(x, -1.0, 1.0))


def rover_over_time(trajectory: Trajectory, robot: SkidSteerRobot, beside: TorqueModelRun | None = None) -> dict[str, Any]:
    """Rows that share their time axis; `beside` is the torque model's run of the same scenario."""
    t = trajectory
    rows = list(_rows(t, robot))
    lifted = t.lowest_load_n <= 0.0
    most = min(MOST_POINTS, _ALL_POINTS // sum(len(row.lines) for row in rows))
    board = Board(len(rows) + int(lifted.any()), row_px=_ROW_PX, share="time")
    for k, row in enumerate(rows):
        is_last = k == len(rows) - 1 and not lifted.any()
        board.axes(k, title=row.title, y=row.unit, x="time [s]" if is_last else "")
        if k == 0 and beside is not None:
            until = believable_records(beside, t)
            drawn = envelope(beside.time_s[:until], beside.vx_mps[:until], most)
            board.line(0, 0, "torque model, ahead", *drawn, color=SHADE, width=4.0, legend=True)
        for name, colour, values, width in row.lines:
            is_told = row.title.startswith("slip ratio")  # each wheel once in the legend
            board.line(k, 0, name, *envelope(t.time_s, values, most), color=colour, width=width, legend=is_told)
    if lifted.any():
        _draw_lifted(board, len(rows), t, lifted)
    return board.figure()


def _rows(t: Trajectory, robot: SkidSteerRobot) -> Iterator[_Row]:
    ahead = [("ahead", BLUE, t.vx_mps, 1.4), ("to the left", GREEN, t.vy_mps, 1.4)]
    yield _Row("velocity of the robot's origin: ahead (blue), to the left (green)", "m/s", ahead)
    ground = _wheels(t, t.rim_mps - t.slip_x_mps, 4.0, SHADE)
    yield _Row("speed of each rim, and of the ground under it (wide and pale)", "m/s", [*ground, *_wheels(t, t.rim_mps)])
    yield _Row("slip ratio of each wheel, positive when it outruns the ground", "-", _wheels(t, t.slip))
    yield _Row("slip angle of each wheel", "°", _wheels(t, np.degrees(t.slip_angle_rad)))
    yield _Row("load of each wheel", "N", _wheels(t, t.load_n))
    if t.is_on_soil:
        yield _Row("sinkage of each wheel below the untouched surface", "mm", _wheels(t, 1e3 * t.sinkage_m))
    is_loop = isinstance(robot.powertrain, SpeedLoop)
    told = "wheel speeds that were asked for" if is_loop else "voltage of each motor"
    yield _Row(told, "rad/s" if is_loop else "V", _distinct(_wheels(t, t.told)))
    yield _Row("torque of each wheel" if is_loop else "current of each motor", "N m" if is_loop else "A", _wheels(t, t.effort))
    if t.waypoints_m:
        beside = "distance from the leg that is driven, positive to its left"
        yield _Row(beside, "m", [("cross-track", BLUE, t.cross_track_m, 1.4)])
    margin = np.degrees(t.tip_over_margin_rad)
    yield _Row("margin to tipping over", "°", [("tip-over margin", ORANGE, margin, 1.4)])
    roll, pitch = (np.degrees(angle) for angle in roll_and_pitch_rad(t))
    tilts = [("roll", GREEN, roll, 1.4), ("pitch", BLUE, pitch, 1.4)]
    yield _Row("roll (green) and pitch (blue, positive with the nose down) against the horizontal", "°", tilts)


def _wheels(
    t: Trajectory, values: np.ndarray, width: float = 1.4, colour: str | None = None
) -> list[tuple[str, str, np.ndarray, float]]:
    colours = [colour or WHEEL_COLOURS[w % len(WHEEL_COLOURS)] for w in range(values.shape[1])]
    prefix = "ground under " if colour else ""
    return [(prefix + name, colours[w], values[:, w], width) for w, name in enumerate(t.wheel_names)]


def _distinct(lines: list[tuple[str, str, np.ndarray, float]]) -> list[tuple[str, str, np.ndarray, float]]:
    """Without those that lie under another one: the wheels of a side are told the same."""
    return [line for k, line in enumerate(lines) if not any(np.array_equal(line[2], other[2]) for other in lines[:k])]


def _draw_lifted(board: Board, row: int, t: Trajectory, lifted: np.ndarray) -> None:
    """A bar for every stretch in which a wheel is in the air."""
    names = t.wheel_names
    places = {"tickvals": list(range(len(names))), "ticktext": names, "range": [len(names) - 0.5, -0.5], "showgrid": False}
    board.axes(row, title="off the ground", x="time [s]", yaxis=places)
    for w, name in enumerate(names):
        spans = unused_spans(t.time_s, 1.0 - lifted[:, w])
        x = np.array([[begin, end, np.nan] for begin, end in spans]).ravel()
        y = np.array([[w, w, np.nan] for _ in spans]).ravel()
        board.line(row, 0, name, x, y, color=WHEEL_COLOURS[w % len(WHEEL_COLOURS)], width=7.0)


# --- energy -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fall:
    """One bar of the energy's way down: from what was left before to what is left after it."""

    word: str
    joules: float  # taken out; negative where a store gave back
    begin_j: float
    end_j: float
    colour: str


def falls(energy: Energy) -> list[Fall]:
    """From the supply over heat (orange) and stores (green) to what the books do not explain (grey)."""
    heat = {word for word, _ in replace(energy, **dict.fromkeys(STORE_COLUMNS, 0.0)).rows()}
    bars = [Fall("from the supply", energy.supplied_j, 0.0, energy.supplied_j, BLUE)]
    left = energy.supplied_j
    for word, joules in energy.rows():
        bars.append(Fall(word, joules, left, left - joules, ORANGE if word in heat else GREEN))
        left -= joules
    return [*bars, Fall("not explained", energy.remainder_j, energy.remainder_j, 0.0, GREY)]


def joules_told(joules: float) -> str:
    """Three digits, and whole numbers as they are: 1254 J, 67.8 J, 0.264 J."""
    return f"{joules:.0f} J" if abs(joules) >= 100.0 else f"{joules:.3g} J"


def energy_parts(energy: Energy) -> dict[str, Any]:
    """The way of the energy, one bar below the other."""
    bars = falls(energy)
    board = Board(1, row_px=26 * len(bars))
    words = {"type": "category", "autorange": "reversed", "automargin": True, "showgrid": False}
    ends = [end for bar in bars for end in (0.0, bar.begin_j, bar.end_j)]
    reach = [min(ends), max(ends) + _ROOM_FOR_WORDS * (max(ends) - min(ends))]
    across = {"range": reach} if reach[1] > reach[0] else {}
    board.axes(0, title="from the supply to heat (orange) and stores (green)", x="J", xaxis=across, yaxis=words)
    figure = board.figure(hovermode="closest", showlegend=False, bargap=0.25)
    figure["data"].append(
        {
            "type": "bar",
            "orientation": "h",
            "y": [bar.word for bar in bars],
            "base": [min(bar.begin_j, bar.end_j) for bar in bars],
            "x": [abs(bar.end_j - bar.begin_j) for bar in bars],
            "marker": {"color": [bar.colour for bar in bars]},
            "text": [joules_told(bar.joules) for bar in bars],
            "textposition": "outside",
            "cliponaxis": False,
            "hovertemplate": "%{y}: %{text}<extra></extra>",
        }
    )
    return figure


def energy_over_time(trajectory: Trajectory) -> dict[str, Any]:
    """What was supplied, lost and stored since the start."""
    t = trajectory
    books = {name: column - column[0] for name, column in t.energy_log.items()}
    sums = {name: (sum(books[column] for column in columns), colour) for name, (columns, colour) in _SUMS.items()}
    largest = max(float(np.nanmax(np.abs(values))) for values, _ in sums.values())
    board = Board(1, row_px=260)
    board.axes(0, title="since the start", y="J", x="time [s]")
    for name, (values, colour) in sums.items():
        if np.nanmax(np.abs(values)) > _VISIBLE * largest:
            board.line(0, 0, name, *envelope(t.time_s, values, _ALL_POINTS // 30), color=colour, width=1.8, legend=True)
    return board.figure()
