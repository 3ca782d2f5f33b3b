"""How a rover moved: in space, with slip, loads, route and energy."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from slipfit.contact.slip import SPEED_FLOOR_MPS, slip_ratio
from slipfit.simulation.energy import Energy, energy_between
from slipfit.simulation.trajectory import BODY_FIELDS, WHEEL_FIELDS, RunStatus, Trajectory
from slipfit.vehicles.books import FLOW_COLUMNS, STORE_COLUMNS

_SPACE_FIELDS = (
    "z_m", "roll_rad", "pitch_rad", "vz_mps", "roll_rate_radps", "pitch_rate_radps", "fz_mps2", "tip_over_margin_rad", "waypoint",
    "cross_track_m",
)  # fmt: skip
#: Wheels spin when their rims go faster than this, m/s, at a larger slip than that: the robot makes a tenth of their way.
SPINS_FROM_MPS, SPINS_FROM_SLIP = 0.05, 0.9

_SLIP_FIELDS = ("rim_mps", "slip_x_mps", "slip_y_mps", "told", "sinkage_m")


#: Books that leave more than this unexplained are told of.
UNBALANCED = 0.01

#: A lean counts as one when it lasted this long.
TIP_WINDOW_S = 0.1


@dataclass(frozen=True, eq=False, kw_only=True)
class RoverTrajectory(Trajectory):
    """Motion of the robot's origin in the ground's frame (a plane's own, or a terrain's with z up), and of each wheel.

    Wheel forces are along the wheel's rolling direction and across it. slip_x, slip_y are velocities of the rim over the ground;
    told is what the motor got (V), or the wheel speed asked for (rad/s).
    """

    z_m: np.ndarray
    roll_rad: np.ndarray
    pitch_rad: np.ndarray  # positive with the nose down
    vz_mps: np.ndarray
    roll_rate_radps: np.ndarray
    pitch_rate_radps: np.ndarray
    fz_mps2: np.ndarray
    tip_over_margin_rad: np.ndarray
    waypoint: np.ndarray  # number of the one steered for, from 0
    cross_track_m: np.ndarray  # from the leg to it, positive to its left
    rim_mps: np.ndarray
    slip_x_mps: np.ndarray
    slip_y_mps: np.ndarray
    told: np.ndarray
    sinkage_m: np.ndarray  # of each wheel below the untouched surface; zero on hard ground
    flows: dict[str, np.ndarray]  # by FLOW_COLUMNS, J since the start
    stores: dict[str, np.ndarray]  # by STORE_COLUMNS, J
    arrived_at_s: float = float("nan")
    stopped_at_s: float = float("nan")  # when it tipped over, left the map, slid away, or its numbers stopped being finite
    waypoints_m: tuple[tuple[float, float], ...] = ()
    uphill_rad: float = 0.0
    shape: str = "plane"
    gravity_mps2: float = 9.81

    body_fields: ClassVar[tuple[str, ...]] = BODY_FIELDS + _SPACE_FIELDS
    wheel_fields: ClassVar[tuple[str, ...]] = WHEEL_FIELDS + _SLIP_FIELDS

    @cached_property
    def slip(self) -> np.ndarray:
        """Longitudinal slip ratio of each wheel (docs/conventions), (T, W): positive when the wheel outruns the ground."""
        return np.asarray(np.vectorize(slip_ratio, otypes=[float])(self.rim_mps - self.slip_x_mps, self.rim_mps))

    @cached_property
    def slip_angle_rad(self) -> np.ndarray:
        """Angle between where a wheel rolls and where it goes, (T, W); zero at rest."""
        along = np.maximum(np.abs(self.rim_mps - self.slip_x_mps), SPEED_FLOOR_MPS)
        return np.asarray(np.arctan2(-self.slip_y_mps, along))

    @property
    def is_on_soil(self) -> bool:
        """Whether wheels sank."""
        return bool((self.sinkage_m > 0.0).any())

    @property
    def distance_m(self) -> float:
        """Length of the path in space."""
        return float(np.sqrt(np.diff(self.x_m) ** 2 + np.diff(self.y_m) ** 2 + np.diff(self.z_m) ** 2).sum())

    @property
    def energy(self) -> Energy:
        """Books from the start to the last record."""
        return energy_between(self.flows, self.stores, -1)

    @cached_property
    def beside_path_m(self) -> np.ndarray:
        """Distance from the nearest of the legs, (T,); NaN without a route. Unlike `cross_track_m` it does not count the way from
        one leg to the next around a corner."""
        if not self.waypoints_m:
            return np.full(len(self.time_s), np.nan)
        return distance_from_path(np.column_stack([self.x_m, self.y_m]), [(self.x_m[0], self.y_m[0]), *self.waypoints_m])

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Notes of the run; one where its wheels spun to the end; and one where its books do not balance, which says not to trust
        it."""
        share, since_s, notes = self.energy.remainder_share, self.spins_from_s, self.notes
        if np.isfinite(since_s):
            notes = (*notes, f"from {since_s:.2f} s to the end all wheels spun, and the robot went nowhere")
        if not abs(share) > UNBALANCED:
            return notes
        doubt = (
            f"{100.0 * share:.2g} % of the energy is not explained: the step is too long for these commands, gains or tyres, or "
            f"the ground is too sharp for these wheels; repeat with a quarter of step_s, and doubt a drive that changes"
        )
        return (*notes, doubt)

    @property
    def spins_from_s(self) -> float:
        """Since when, to the end, every wheel has spun that turns; NaN where they did not, or for less than a second."""
        turns = np.abs(self.rim_mps) > SPINS_FROM_MPS
        spins = turns.any(axis=1) & (~turns | (self.slip > SPINS_FROM_SLIP)).all(axis=1)
        first = len(spins) - int(np.argmin(spins[::-1])) if not spins.all() else 0
        has_lasted = first < len(spins) and self.time_s[-1] - self.time_s[first] >= 1.0
        return float(self.time_s[first]) if has_lasted else float("nan")

    @property
    def largest_cross_track_m(self) -> float:
        """Largest distance from the path until the robot arrived; NaN without a route."""
        on_the_way = self.time_s <= self.arrived_at_s if np.isfinite(self.arrived_at_s) else self.time_s >= 0.0
        return float(self.beside_path_m[on_the_way].max())

    @property
    def smallest_tip_over_margin_rad(self) -> float:
        """How near the robot came to tipping over, counted only if it lasted: jolts of single records do not turn a robot over.
        NaN if it was never on its wheels."""
        margin = self.tip_over_margin_rad[np.isfinite(self.tip_over_margin_rad)]
        if not len(margin):
            return float("nan")
        step_s = float(self.time_s[1] - self.time_s[0]) if len(self.time_s) > 1 else TIP_WINDOW_S
        lasting = min(len(margin), max(1, round(TIP_WINDOW_S / step_s)))
        return float(np.lib.stride_tricks.sliding_window_view(margin, lasting).max(axis=1).min())

    def world_xyz_m(self) -> np.ndarray:
        """Places with z against gravity, (T, 3): a plane's own frame is turned by its slope."""
        places = np.column_stack([self.x_m, self.y_m, self.z_m])
        return places if self.shape != "plane" else places @ plane_to_world(self.slope_rad, self.uphill_rad).T

    def _more_thinned(self, kept: np.ndarray) -> dict[str, Any]:
        return {key: {name: column[kept] for name, column in getattr(self, key).items()} for key in ("flows", "stores")}

    def _rows(self) -> list[str]:
        lines = super()._rows()
        if self.has_failed_at_once:
            return lines
        if self.waypoints_m:
            lines.append(f"  route    {self._route_told()}, at most {self.largest_cross_track_m:.3f} m beside the path")
        tilt = np.degrees([np.abs(self.roll_rad).max(), np.abs(self.pitch_rad).max(), self.smallest_tip_over_margin_rad])
        if self.shape == "terrain":
            lines.append(f"  tilt     roll up to {tilt[0]:.1f}°, pitch up to {tilt[1]:.1f}°")
        lines.append(f"  tip-over {tilt[2]:.1f}° left at the least")
        slip, angle = np.quantile(np.abs(self.slip), (0.5, 0.95)), np.degrees(np.quantile(np.abs(self.slip_angle_rad), 0.95))
        lines.append(f"  slip     median {slip[0]:.3f}, 95 % of the time below {slip[1]:.3f}; slip angle below {angle:.1f}°")
        if self.is_on_soil:
            middle, deepest = 1e3 * np.median(self.sinkage_m), 1e3 * self.sinkage_m.max()
            lines.append(f"  sinkage  median {middle:.1f} mm, at most {deepest:.1f} mm")
        lines.append(self.energy.summary())
        return lines

    def _status_rows(self) -> list[str]:
        when = f" It happened at {self.stopped_at_s:.3f} s." if np.isfinite(self.stopped_at_s) else ""
        return [row + when for row in super()._status_rows()]

    def _route_told(self) -> str:
        if self.status is RunStatus.ARRIVED:
            return f"all {len(self.waypoints_m)} waypoints reached after {self.arrived_at_s:.2f} s"
        return f"{int(self.waypoint[-1])} of {len(self.waypoints_m)} waypoints reached"

    # --- files -------------------------------------------------------------------------------------------------------

    def columns(self) -> dict[str, np.ndarray]:
        return super().columns() | self.flows | self.stores

    def quaternions_xyzw(self) -> np.ndarray:
        """Attitude, body to ground, (T, 4)."""
        half = [0.5 * angle for angle in (self.roll_rad, self.pitch_rad, self.heading_rad)]
        (cr, cp, cy), (sr, sp, sy) = [np.cos(a) for a in half], [np.sin(a) for a in half]
        return np.column_stack(
            [sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy]
        )

    def body_axes(self) -> np.ndarray:
        """The body's axes x, y, z in the ground's frame, (T, 3, 3): one row for each axis."""
        (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a), np.sin(a)) for a in (self.roll_rad, self.pitch_rad, self.heading_rad))
        x = np.column_stack([cp * cy, cp * sy, -sp])
        y = np.column_stack([sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, sr * cp])
        z = np.column_stack([cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp])
        return np.stack([x, y, z], axis=1)

    def _tum_rows(self) -> np.ndarray:
        return np.column_stack([self.time_s, self.x_m, self.y_m, self.z_m, self.quaternions_xyzw()])

    def _about(self) -> dict[str, str]:
        more = {name: repr(getattr(self, name)) for name in _NUMBERS}
        return super()._about() | more | {"waypoints_m": json.dumps(self.waypoints_m), "shape": self.shape}

    @classmethod
    def _told(cls, about: dict[str, str]) -> dict[str, Any]:
        numbers = {name: float(about[name]) for name in _NUMBERS if name in about}
        waypoints = tuple((float(x), float(y)) for x, y in json.loads(about.get("waypoints_m", "[]")))
        return super()._told(about) | numbers | {"waypoints_m": waypoints, "shape": about.get("shape", "plane")}

    @classmethod
    def _more_columns(cls, table: dict[str, np.ndarray]) -> dict[str, Any]:
        return {
            "flows": {name: np.asarray(table[name], dtype=float) for name in FLOW_COLUMNS},
            "stores": {name: np.asarray(table[name], dtype=float) for name in STORE_COLUMNS},
        }


def distance_from_path(places_m: np.ndarray, corners_m: Sequence[tuple[float, float]]) -> np.ndarray:
    """Distance of places (T, 2) from the nearest leg of a path, (T,)."""
    legs = pairwise(np.asarray(corners_m, dtype=float))
    return np.asarray(np.min([_from_leg(places_m, start, end) for start, end in legs], axis=0))


def _from_leg(places: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distance of places (T, 2) from the piece of line between two points."""
    along = (places - start) @ (end - start) / max(float((end - start) @ (end - start)), 1e-18)
    nearest = start + np.clip(along, 0.0, 1.0)[:, None] * (end - start)
    return np.asarray(np.hypot(*(places - nearest).T))


_NUMBERS = ("arrived_at_s", "stopped_at_s", "uphill_rad", "gravity_mps2")


def plane_to_world(slope_rad: float, uphill_rad: float) -> np.ndarray:
    """Rotation from a plane's own axes to those with z against gravity: about the contour line, so that `uphill` rises."""
    axis = np.array([np.sin(uphill_rad), -np.cos(uphill_rad), 0.0])
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + np.sin(slope_rad) * cross + (1.0 - np.cos(slope_rad)) * cross @ cross)
