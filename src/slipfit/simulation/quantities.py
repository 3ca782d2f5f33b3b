"""Quantities that follow from the columns of a run; each works where its columns are recorded."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from slipfit.contact.slip import SPEED_FLOOR_MPS, slip_ratio
from slipfit.simulation.energy import Energy, energy_between
from slipfit.simulation.record import ENERGY_COLUMNS, Record

#: A grip counts as used when it lasted this long.
GRIP_WINDOW_S = 0.05

#: A wheel bears when it carries more than this share of what all wheels carry on average.
_BEARS_SHARE = 0.05

#: Wheels spin when their rims go faster than this, m/s, at a larger slip than that: the robot makes a tenth of their distance.
SPINS_FROM_MPS, SPINS_FROM_SLIP = 0.05, 0.9

#: An energy balance that leaves more than this unexplained is reported.
UNBALANCED = 0.01

#: A lean counts as one when it lasted this long.
TIP_WINDOW_S = 0.1


class Quantities(Record):
    """A record with the quantities that follow from it."""

    # --- motion ------------------------------------------------------------------------------------------------------

    @property
    def heading_rad(self) -> np.ndarray:
        """Heading, without wrapping, (T,): recorded, or of the recorded quaternion."""
        if "heading_rad" in self.columns or "qw" not in self.columns:
            return self["heading_rad"]
        w, x, y, z = (self[name] for name in ("qw", "qx", "qy", "qz"))
        return np.unwrap(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))

    @property
    def pitch_up_rad(self) -> np.ndarray:
        """Elevation of the nose, (T,)."""
        if "qw" not in self.columns:
            return -self["pitch_rad"]
        w, x, y, z = (self[name] for name in ("qw", "qx", "qy", "qz"))
        return np.asarray(np.arcsin(np.clip(2.0 * (x * z - w * y), -1.0, 1.0)))

    @property
    def distance_m(self) -> float:
        """Length of the path, in space where heights were recorded."""
        if "z_m" not in self.columns:
            return float(np.hypot(np.diff(self.x_m), np.diff(self.y_m)).sum())
        return float(np.sqrt(np.diff(self.x_m) ** 2 + np.diff(self.y_m) ** 2 + np.diff(self["z_m"]) ** 2).sum())

    @property
    def has_failed_at_once(self) -> bool:
        """Whether it ended where it started: one record has no slip, distance or energy to speak of."""
        return len(self.time_s) < 2

    def world_xyz_m(self) -> np.ndarray:
        """Positions with z against gravity, (T, 3): a plane's own frame is turned by its slope."""
        places = np.column_stack([self.x_m, self.y_m, self["z_m"]])
        return places if self.shape != "plane" else places @ plane_to_world(self.slope_rad, self.uphill_rad).T

    def quaternions_xyzw(self) -> np.ndarray:
        """Attitude, body to ground, (T, 4)."""
        if "qw" in self.columns:
            return np.column_stack([self[name] for name in ("qx", "qy", "qz", "qw")])
        level = np.zeros(len(self.time_s))
        roll, pitch = (self.columns.get(name, level) for name in ("roll_rad", "pitch_rad"))
        half = [0.5 * angle for angle in (roll, pitch, self.heading_rad)]
        (cr, cp, cy), (sr, sp, sy) = [np.cos(a) for a in half], [np.sin(a) for a in half]
        return np.column_stack(
            [sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy]
        )

    def body_axes(self) -> np.ndarray:
        """The body's axes x, y, z in the ground's frame, (T, 3, 3): one row for each axis."""
        angles = (self["roll_rad"], self["pitch_rad"], self.heading_rad)
        (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a), np.sin(a)) for a in angles)
        x = np.column_stack([cp * cy, cp * sy, -sp])
        y = np.column_stack([sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, sr * cp])
        z = np.column_stack([cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp])
        return np.stack([x, y, z], axis=1)

    # --- contacts ----------------------------------------------------------------------------------------------------

    @cached_property
    def slip(self) -> np.ndarray:
        """Longitudinal slip ratio (docs/conventions), positive when rim or belt outruns the ground: of each wheel, (T, W), or of
        the two belts together against the motion of the centre of mass, (T,)."""
        if self.has_tracks:
            belts = 0.5 * (self["belt_left_mps"] + self["belt_right_mps"])
            return np.asarray(np.vectorize(slip_ratio, otypes=[float])(self["vx_mps"], belts))
        rim = self["rim_mps"]
        return np.asarray(np.vectorize(slip_ratio, otypes=[float])(rim - self["slip_x_mps"], rim))

    @cached_property
    def slip_angle_rad(self) -> np.ndarray:
        """Angle between where a wheel rolls and where it goes, (T, W); zero at rest."""
        along = np.maximum(np.abs(self["rim_mps"] - self["slip_x_mps"]), SPEED_FLOOR_MPS)
        return np.asarray(np.arctan2(-self["slip_y_mps"], along))

    @property
    def is_on_soil(self) -> bool:
        """Whether wheels or belts sank."""
        depth = self["deepest_m"] if self.has_tracks else self["sinkage_m"]
        return bool((depth > 0.0).any())

    @property
    def lifted_wheels(self) -> dict[int, float]:
        """Wheels that left the ground, also between two records, with the time of the record that shows it first."""
        lifted = self["lowest_load_n"] <= 0.0
        return {w: float(self.time_s[np.argmax(lifted[:, w])]) for w in range(lifted.shape[1]) if lifted[:, w].any()}

    @property
    def largest_grip_used(self) -> float:
        """Largest |F| / N of a wheel, counted only if it lasted: single steps in which a contact changes over do not count, nor
        does a wheel that hardly bears (soil that is cohesive or pushed aside acts on it without a load)."""
        load_n = self["load_n"]
        bears = load_n > _BEARS_SHARE * load_n.mean(axis=1, keepdims=True)
        grip = np.hypot(self["force_x_n"], self["force_y_n"]) / np.where(bears, load_n, np.inf)
        if not bears.any() or len(self.time_s) < 2:
            return float("nan")
        lasting = max(1, round(GRIP_WINDOW_S / float(self.time_s[1] - self.time_s[0])))
        windows = np.lib.stride_tricks.sliding_window_view(grip, min(lasting, len(grip)), axis=0)
        return float(windows.min(axis=-1).max())

    @property
    def at_effort_limit_s(self) -> float:
        """How long some wheel gave all it had: then the robot did not follow its commands."""
        at_limit = (np.abs(self["effort"]) >= self.effort_limit * (1.0 - 1e-9)).any(axis=1)
        return float(at_limit[1:] @ np.diff(self.time_s))

    @property
    def spins_from_s(self) -> float:
        """Since when, to the end, every wheel has spun that turns; NaN where they did not, or for less than a second."""
        turns = np.abs(self["rim_mps"]) > SPINS_FROM_MPS
        spins = turns.any(axis=1) & (~turns | (self.slip > SPINS_FROM_SLIP)).all(axis=1)
        first = len(spins) - int(np.argmin(spins[::-1])) if not spins.all() else 0
        has_lasted = first < len(spins) and self.time_s[-1] - self.time_s[first] >= 1.0
        return float(self.time_s[first]) if has_lasted else float("nan")

    @property
    def smallest_tip_over_margin_rad(self) -> float:
        """How near the robot came to tipping over, counted only if it lasted: jolts of single records do not turn a robot over.
        NaN if it was never on its wheels."""
        margin = self["tip_over_margin_rad"]
        margin = margin[np.isfinite(margin)]
        if not len(margin):
            return float("nan")
        step_s = float(self.time_s[1] - self.time_s[0]) if len(self.time_s) > 1 else TIP_WINDOW_S
        lasting = min(len(margin), max(1, round(TIP_WINDOW_S / step_s)))
        return float(np.lib.stride_tricks.sliding_window_view(margin, lasting).max(axis=1).min())

    # --- energy and route --------------------------------------------------------------------------------------------

    @property
    def energy_log(self) -> dict[str, np.ndarray]:
        """Energy by name, J, (T,): what flowed since the start, and what is stored."""
        return {name: self[name] for name in ENERGY_COLUMNS}

    @property
    def energy(self) -> Energy:
        """Energy balance from the start to the last record."""
        return energy_between(self.energy_log, -1)

    @cached_property
    def beside_path_m(self) -> np.ndarray:
        """Distance from the nearest of the legs, (T,); NaN without a route. Unlike `cross_track_m` it does not count the way from
        one leg to the next around a corner."""
        if not self.waypoints_m:
            return np.full(len(self.time_s), np.nan)
        return distance_from_path(np.column_stack([self.x_m, self.y_m]), [(self.x_m[0], self.y_m[0]), *self.waypoints_m])

    @property
    def largest_cross_track_m(self) -> float:
        """Largest distance from the path until the robot arrived; NaN without a route."""
        on_the_way = self.time_s <= self.arrived_at_s if np.isfinite(self.arrived_at_s) else self.time_s >= 0.0
        return float(self.beside_path_m[on_the_way].max())

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Notes of the run. With an energy balance also one where its wheels spun to the end, and one where the balance does not
        add up, which says not to trust it."""
        if not self.has_energy_balance:
            return self.notes
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


def distance_from_path(places_m: np.ndarray, corners_m: Sequence[tuple[float, float]]) -> np.ndarray:
    """Distance of places (T, 2) from the nearest leg of a path, (T,)."""
    legs = pairwise(np.asarray(corners_m, dtype=float))
    return np.asarray(np.min([_from_leg(places_m, start, end) for start, end in legs], axis=0))


def _from_leg(places: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distance of places (T, 2) from the piece of line between two points."""
    along = (places - start) @ (end - start) / max(float((end - start) @ (end - start)), 1e-18)
    nearest = start + np.clip(along, 0.0, 1.0)[:, None] * (end - start)
    return np.asarray(np.hypot(*(places - nearest).T))


def plane_to_world(slope_rad: float, uphill_rad: float) -> np.ndarray:
    """Rotation from a plane's own axes to those with z against gravity: about the contour line, so that `uphill` rises."""
    axis = np.array([np.sin(uphill_rad), -np.cos(uphill_rad), 0.0])
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + np.sin(slope_rad) * cross + (1.0 - np.cos(slope_rad)) * cross @ cross)
