"""Odometer, speed and turning constants from typed readings, left and right apart.

    counts per turn      n = counts / turns                        of marked turns
    metres per count     m = distance / counts, or pi d / n        of a tape, or of the tyre's diameter
    setpoint per speed   k = setpoint / omega,  omega = 2 pi counts / (n t)
    turning              yaw rate = (v_right - v_left) / W,  W = (T^2 + B^2) / T, or of spins W = (right - left) / angle

Symbols    d tyre diameter · t duration · T track · B wheelbase · W effective track, twice the document's (T^2 + B^2) / (2 T)
Reference  [Haas2009] sections 2.1, 2.2 and 3; its k is per revolution a minute, pi / 30 of ours, and its k2 twice ours
Valid for  wheels that roll without slip on the tape; W = (T^2 + B^2) / T for equal slip of four wheels about the middle
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipfit.calibration.odometry.readings import OdometryReadings
from slipfit.calibration.odometry.spreads import Estimate, mean_of
from slipfit.control.setpoints import geometric_track_m
from slipfit.errors import ParameterError
from slipfit.library import SkidSteerRobot
from slipfit.twin import FittedParameter, FittedPowertrain, Side

SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class OdometryConstants:
    """What readings or a log gave, and sentences about it."""

    powertrain: FittedPowertrain
    findings: tuple[str, ...]
    source: str

    def summary(self) -> str:
        """A screen of text."""
        rows = [f"odometer, speed and turning constants ({self.source})"]
        for name, p in self.powertrain.parameters():
            rows.append(f"  {name:<26} {p.text():<58} {p.status.sentence}" + (f"; {p.note}" if p.note else ""))
        return "\n".join([*rows, *(f"  {finding}" for finding in self.findings)])

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "source": self.source,
            "powertrain": self.powertrain.model_dump(exclude_none=True),
            "parameters": {name: p.model_dump() for name, p in self.powertrain.parameters()},
            "findings": list(self.findings),
        }


def constants_of(
    readings: OdometryReadings | Path | str, robot: SkidSteerRobot | None = None, *, known: FittedPowertrain | None = None
) -> OdometryConstants:
    """All constants that a table of readings tells; what it does not hold is taken from the robot where that has it.

    Parameters
    ----------
    known : constants found before, for a table without counts per turn
    """
    where = "readings" if isinstance(readings, OdometryReadings) else Path(readings).name
    table = readings if isinstance(readings, OdometryReadings) else OdometryReadings.load(readings)
    source = table.source or where
    marked = {side: _marked(table, side) for side in SIDES}
    turns = _counts_per_turn(table, marked, known)
    findings = _turn_findings(marked)
    metres = {side: _metres_per_count(table, robot, side, turns[side]) for side in SIDES}
    speeds = {side: _setpoint_per_radps(table, side, turns[side], where) for side in SIDES}
    findings += _side_findings(metres, speeds, has_tape=bool(table.straight_runs))
    track, note = _effective_track(table, robot, metres)
    sides = {
        side: Side(
            counts_per_turn=_fitted(marked[side], source),
            metres_per_count=_fitted(metres[side], source),
            setpoint_per_radps=_fitted(speeds[side], source),
        )
        for side in SIDES
    }
    powertrain = FittedPowertrain(
        setpoint_limits=table.setpoint_limits,
        counts_per_turn=_common_counts(table, marked, source),
        effective_track_m=None if track is None else track.fitted(source, note),
        **sides,
    )
    return OdometryConstants(powertrain, tuple(findings), source)


def equal_slip_track_m(track_m: float, wheelbase_m: float) -> float:
    """W = (T^2 + B^2) / T: with it a skid-steer robot turns by (v_right - v_left) / W if its four wheels slip alike.

    Reference  [Haas2009] section 3, V_Tr = 2 V_L T / (T^2 + B^2), with V_L = (v_right - v_left) / 2
    """
    return (track_m**2 + wheelbase_m**2) / track_m


# --- one constant each -----------------------------------------------------------------------------------------------


def _fitted(estimate: Estimate | None, source: str) -> FittedParameter | None:
    return None if estimate is None else estimate.fitted(source)


def _marked(table: OdometryReadings, side: str) -> Estimate | None:
    """Counts of one turn of a side. The mark's error shrinks with the number of turns between."""
    rows = [row for row in table.marked_turns if row.side == side]
    if not rows:
        return None
    values = [row.counts / row.turns for row in rows]
    e = table.errors
    stds = [math.hypot(e.mark_turns * row.counts / row.turns, e.counts) / row.turns for row in rows]
    return mean_of(values, stds)


def _counts_per_turn(
    table: OdometryReadings, marked: dict[str, Estimate | None], known: FittedPowertrain | None
) -> dict[str, Estimate | None]:
    """Of each side: its own marks, else the table's number, else the other side's marks, else what was known before."""
    told = Estimate(table.counts_per_turn, 0.0) if table.counts_per_turn else marked["left"] or marked["right"]
    before = {side: _known_counts(known, side) for side in SIDES}
    return {side: marked[side] or told or before[side] for side in SIDES}


def _known_counts(known: FittedPowertrain | None, side: str) -> Estimate | None:
    own = getattr(known, side).counts_per_turn if known else None
    found = own if own is not None and own.value is not None else known.counts_per_turn if known else None
    return Estimate(found.value, found.std or 0.0) if found is not None and found.value is not None else None


def _common_counts(table: OdometryReadings, marked: dict[str, Estimate | None], source: str) -> FittedParameter | None:
    """One number for both sides, only where not both have marks of their own."""
    if marked["left"] and marked["right"]:
        return None
    if table.counts_per_turn:
        return Estimate(table.counts_per_turn, 0.0).fitted(source)
    one = next((side for side in SIDES if marked[side]), None)
    found = marked[one] if one else None
    return None if found is None else found.fitted(source, f"of the {one} side, taken for both")


def _metres_per_count(table: OdometryReadings, robot: SkidSteerRobot | None, side: str, turn: Estimate | None) -> Estimate | None:
    if table.straight_runs:
        values, stds = [], []
        for run in table.straight_runs:
            counts = getattr(run, f"{side}_counts")
            values.append(run.distance_m / counts)
            stds.append(math.hypot(table.errors.tape_m / run.distance_m, table.errors.counts / counts) * values[-1])
        return mean_of(values, stds)
    radius = robot.wheels.radius_m if robot else None
    diameter = table.tyre_diameter_m or (2.0 * radius.value if radius else None)
    if turn is None or diameter is None:
        return None
    spread = table.errors.diameter_m if table.tyre_diameter_m or radius is None or not radius.std else 2.0 * radius.std
    share = math.hypot(turn.std / turn.value, spread / diameter)
    value = math.pi * diameter / turn.value
    return Estimate(value, share * value)


def _setpoint_per_radps(table: OdometryReadings, side: str, turn: Estimate | None, where: str) -> Estimate | None:
    if not table.timed_counts:
        return None
    if turn is None:
        raise ParameterError(
            f"{where}: timed_counts without counts per turn; expected marked_turns, or counts_per_turn as a number, in the table "
            f"or by --counts-per-turn or --twin"
        )
    values, stds = [], []
    for row in table.timed_counts:
        counts = abs(getattr(row, f"{side}_counts"))
        values.append(abs(row.setpoint) / wheel_speed_radps(counts, turn.value, row.duration_s))
        stds.append(math.hypot(table.errors.stopwatch_s / row.duration_s, table.errors.counts / counts) * values[-1])
    return mean_of(values, stds, shared=turn.std / turn.value)


def wheel_speed_radps(counts: float, counts_per_turn: float, duration_s: float) -> float:
    """Mean speed of a wheel from its counter and a stopwatch; 30 / pi of it are revolutions a minute."""
    return 2.0 * math.pi * counts / (counts_per_turn * duration_s)


def _effective_track(
    table: OdometryReadings, robot: SkidSteerRobot | None, metres: dict[str, Estimate | None]
) -> tuple[Estimate | None, str]:
    left, right = metres["left"], metres["right"]
    if table.spins and left is not None and right is not None:
        values = [(s.right_counts * right.value - s.left_counts * left.value) / s.turned_rad for s in table.spins]
        stds = [table.errors.spin_rad / abs(s.turned_rad) * v for s, v in zip(table.spins, values, strict=True)]
        shared = math.hypot(left.std / left.value, right.std / right.value) / 2.0
        return mean_of(
            values, stds, shared=shared
        ), f"by {len(values)} spin{'s' * (len(values) > 1)}, on the floor they were made on"
    if table.track_m and table.wheelbase_m:
        track, value = table.track_m, equal_slip_track_m(table.track_m, table.wheelbase_m)
    elif robot is not None:
        track, value = robot.track_m, geometric_track_m(robot)
    else:
        return None, ""
    # Equal slip is a guess about the floor: where wheels slip only sideways, the robot turns by the track itself, W = T.
    return Estimate(value, (value - track) / math.sqrt(12.0)), "(T² + B²)/T of the geometry; a log with turns tells it better"


# --- in words --------------------------------------------------------------------------------------------------------


def _turn_findings(turns: dict[str, Estimate | None]) -> list[str]:
    left, right = turns["left"], turns["right"]
    if left is None or right is None or not left.differs_from(right):
        return []
    return [f"counts per turn differ: left {left.value:.6g}, right {right.value:.6g}; each side keeps its own"]


def _side_findings(metres: dict[str, Estimate | None], speeds: dict[str, Estimate | None], *, has_tape: bool) -> list[str]:
    found = []
    kinds = ((metres, "radius", "metres per count"), (speeds, "gain", "setpoint per speed"))
    for estimates, correction, name in kinds:
        left, right = estimates["left"], estimates["right"]
        if left is None or right is None or (estimates is metres and not has_tape):
            continue
        share = 100.0 * (right.value / left.value - 1.0)
        std = 100.0 * math.hypot(left.std / left.value, right.std / right.value)
        clear = "" if left.differs_from(right) else ", within their spread"
        found.append(f"right over left in {name}: {share:+.2f} ± {std:.2f} %{clear}: kept as a {correction} of each side")
    return found
