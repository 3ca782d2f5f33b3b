"""Circles, half and quarter circles as a check of odometry, speed and turning constants: errors along and across the path.

    heading(t) = omega t,    x = R sin(heading),    y = R (1 - cos(heading)),    R = v / omega

At each multiple of pi/2 that the path reaches, the pose is compared with the circle's: along its tangent (ahead positive) and
across (outward positive), as % of the distance driven until there.

Reference  [Haas2009] section 4: radii 1 and 2 m, error "on the order of 2 % of distance traveled along the path and less across"
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from slipfit.calibration.odometry.travel import Run
from slipfit.control.setpoints import Scale, effective_track, track_findings
from slipfit.errors import LogError, ParameterError
from slipfit.simulation import Scenario, simulate
from slipfit.twin import SkidSteerTwin
from slipfit.vehicles.kinematic import IdealDrive, drive_one

#: Translation (m/s) and rotation (rad/s) of the document's circles of 1 and 2 m.
DOCUMENT_CIRCLES = ((0.1, 0.1), (0.15, 0.15), (0.2, 0.2), (0.3, 0.3), (0.2, 0.1), (0.3, 0.15))

#: Quarter, half and full circle.
DOCUMENT_TURNS_RAD = (0.5 * math.pi, math.pi, 2.0 * math.pi)

_QUARTER = 0.5 * math.pi


@dataclass(frozen=True, slots=True)
class Crossing:
    """One comparison, at a multiple of pi/2."""

    turn_rad: float
    time_s: float
    way_m: float  # driven until here, as commanded
    along_m: float
    across_m: float
    heading_rad: float  # error

    @property
    def along_percent(self) -> float:
        return 100.0 * self.along_m / self.way_m

    @property
    def across_percent(self) -> float:
        return 100.0 * self.across_m / self.way_m


@dataclass(frozen=True, slots=True)
class PathCheck:
    """A path beside the circle that was commanded."""

    name: str
    v_mps: float
    yaw_rate_radps: float
    crossings: tuple[Crossing, ...]
    findings: tuple[str, ...] = ()

    @property
    def worst_percent(self) -> float:
        """The largest error along or across, as % of the distance until there."""
        return max(max(abs(c.along_percent), abs(c.across_percent)) for c in self.crossings)

    def summary(self) -> str:
        """A table."""
        radius = self.v_mps / self.yaw_rate_radps
        side = "left" if self.yaw_rate_radps > 0.0 else "right"
        rows = [
            f"{self.name}: circle of {abs(radius):.3g} m to the {side} at {self.v_mps:g} m/s, worst {self.worst_percent:.2f} %"
        ]
        rows.append(f"  {'turned':>8}{'after':>9}{'along':>22}{'across':>22}{'heading':>10}")
        for c in self.crossings:
            along, across = (
                f"{1e3 * m:.1f} mm ({p:+.2f} %)" for m, p in ((c.along_m, c.along_percent), (c.across_m, c.across_percent))
            )
            turned = f"{round(c.turn_rad / _QUARTER)} π/2"
            rows.append(
                f"  {turned:>8}{f'{c.time_s:.1f} s':>9}{along:>22}{across:>22}{f'{math.degrees(c.heading_rad):+.2f}°':>10}"
            )
        return "\n".join([*rows, *(f"  {finding}" for finding in self.findings)])

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        rows = [{name: getattr(c, name) for name in c.__slots__} for c in self.crossings]
        return {
            "name": self.name,
            "v_mps": self.v_mps,
            "yaw_rate_radps": self.yaw_rate_radps,
            "crossings": rows,
            "findings": list(self.findings),
        }


def check_circle(
    time_s: np.ndarray, poses: np.ndarray, v_mps: float, yaw_rate_radps: float, *, name: str = "path", start_s: float = 0.0
) -> PathCheck:
    """Compare poses (T, 3: x, y, heading) with the circle that was commanded from `start_s` on, in the start's own frame."""
    _check_told(name, v_mps, yaw_rate_radps)
    if not (math.isfinite(start_s) and start_s >= 0.0):
        raise ParameterError(f"{name}: the circle begins at {start_s:g} s; expected a time in the recording, from 0 on")
    headings = np.unwrap(poses[:, 2])
    start = np.array([np.interp(start_s, time_s, column) for column in (poses[:, 0], poses[:, 1], headings)])
    quarter_s = _QUARTER / abs(yaw_rate_radps)
    # Durations of paths are rounded to steps; the last crossing belongs to them all the same.
    count = int((time_s[-1] - start_s) / quarter_s * (1.0 + 1e-6) + 1e-6)
    if count < 1:
        raise LogError(
            f"{name}: ends after {time_s[-1] - start_s:.2f} s; a quarter at {yaw_rate_radps:g} rad/s takes {quarter_s:.2f} s"
        )
    return PathCheck(
        name, v_mps, yaw_rate_radps, tuple(_crossings(time_s, poses, headings, start, v_mps, yaw_rate_radps, start_s, count))
    )


def _check_told(name: str, v_mps: float, yaw_rate_radps: float) -> None:
    if not (math.isfinite(v_mps) and math.isfinite(yaw_rate_radps) and v_mps and yaw_rate_radps):
        raise ParameterError(f"{name}: {v_mps:g} m/s and {yaw_rate_radps:g} rad/s are no circle; expected both apart from zero")


def _crossings(
    time_s: np.ndarray, poses: np.ndarray, headings: np.ndarray, start: np.ndarray, v: float, w: float, start_s: float, count: int
) -> Iterator[Crossing]:
    radius, side = v / w, math.copysign(1.0, w)
    c, s = math.cos(start[2]), math.sin(start[2])
    for k in range(1, count + 1):
        turn = side * k * _QUARTER
        at = start_s + turn / w
        x, y, heading = (float(np.interp(at, time_s, column)) for column in (poses[:, 0], poses[:, 1], headings))
        dx, dy = x - start[0], y - start[1]
        ahead, left = c * dx + s * dy, c * dy - s * dx
        miss_x, miss_y = ahead - radius * math.sin(turn), left - radius * (1.0 - math.cos(turn))
        tangent = (math.cos(turn), math.sin(turn))
        along = math.copysign(1.0, v) * (miss_x * tangent[0] + miss_y * tangent[1])
        across = side * math.copysign(1.0, v) * (miss_x * tangent[1] - miss_y * tangent[0])  # away from the centre
        yield Crossing(turn, at - start_s, abs(v) * (at - start_s), along, across, heading - float(start[2]) - turn)


def check_run(run: Run, v_mps: float, yaw_rate_radps: float, *, start_s: float = 0.0) -> PathCheck:
    """The true poses of a recorded run beside the circle that was commanded."""
    return check_circle(run.time_s, run.poses, v_mps, yaw_rate_radps, name=run.name, start_s=start_s)


def drive_circle(
    rims_mps: tuple[float, float], effective_track_m: float, duration_s: float, steps: int = 720
) -> tuple[np.ndarray, np.ndarray]:
    """Times and poses of a robot whose sides roll at constant rim speeds: the kinematic simulation of a circle."""
    step_s = duration_s / steps
    poses = drive_one(IdealDrive(effective_track_m), np.tile(np.asarray(rims_mps, dtype=float), (steps, 1)), step_s)
    return np.arange(steps + 1) * step_s, poses


def simulate_circle(twin: SkidSteerTwin, v_mps: float, yaw_rate_radps: float, turn_rad: float) -> PathCheck:
    """The circle that a twin drives on its ground when its own constants turn v and omega into wheel speeds.

    A driver that knows each side's rolling radius makes the rims run as wanted, whatever the radii are; they show only where a
    side's dead band or saturation cuts in.
    """
    _check_told("circle", v_mps, yaw_rate_radps)
    if not 0.0 < turn_rad < math.inf:
        raise ParameterError(f"circle: a turn of {math.degrees(turn_rad):g}° is no path; expected above zero")
    wide, _ = effective_track(twin)
    rims = (v_mps - 0.5 * wide * yaw_rate_radps, v_mps + 0.5 * wide * yaw_rate_radps)
    wheels = [rim / twin.robot.wheels.radius_m.value for rim in rims]  # of the vehicle's one radius, see `through_loops`
    duration_s = turn_rad / abs(yaw_rate_radps)
    scenario = Scenario.model_validate({"commands": [{"for_s": duration_s, "wheels_radps": wheels}], "record_s": 0.01})
    path = simulate(twin, scenario)
    poses = np.column_stack([path.x_m, path.y_m, path.heading_rad])
    checked = check_circle(path.time_s, poses, v_mps, yaw_rate_radps, name=f"{path.robot} on {path.ground}")
    return replace(checked, findings=(*_limits(twin, v_mps, yaw_rate_radps), *track_findings(twin, path.ground)))


def _limits(twin: SkidSteerTwin, v_mps: float, yaw_rate_radps: float) -> tuple[str, ...]:
    """A sentence where the circle is beyond what the twin's controller can be told."""
    try:
        problem = Scale.of(twin).problem(v_mps, yaw_rate_radps)
    except ParameterError:  # a twin without setpoints has no such limits
        return ()
    return (f"beyond the robot's limits, another circle was driven: {problem}",) if problem else ()
