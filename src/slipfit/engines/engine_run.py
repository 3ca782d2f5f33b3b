"""How a robot moved in a physics engine: body and wheels at every step, and what its contacts did."""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from slipfit.engines.settings import Settings
from slipfit.errors import SimulationError
from slipfit.library import SkidSteerRobot
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.trajectory import Trajectory

#: Columns of a row as steppers fill it: the base link's origin, then each wheel.
BODY_COLUMNS = ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")
WHEEL_COLUMNS = ("angle", "speed", "contacts", "sinkage", "normal", "along", "across")


#: Stiff contacts let go for single steps when commands jump; a wheel that lifts is away for longer than this, all in all.
BOUNCE_S = 0.01

#: A base link is amid its wheels within this (m), as wheels of a robot's file are opposite to each other.
AMID_M = 1e-3


def row_width(wheels: int) -> int:
    """Numbers in a row."""
    return len(BODY_COLUMNS) + wheels * len(WHEEL_COLUMNS)


class Finding(Enum):
    """What can be wrong with a run by itself; the value is what the user reads."""

    DIVERGED = "The numbers stopped being finite: a smaller step, or softer contacts (kp near 1e5, kd near 100)."
    LIFTED = "A wheel left the ground: less torque, or a gentler command."
    TIPPED = "The robot tipped over."


@dataclass(frozen=True, eq=False)
class EngineRun:
    """First axis time, from rest to the end of the commands, every step; second wheel, front left first.

    Position, quaternion and velocities are of the base link's origin in the world's axes. Contacts are those of the step that
    ends at the record: forces on the wheel along its heading and across (to the left), sinkage the deepest overlap.
    """

    engine: str  # name and version
    model: str
    settings: Settings  # as used; None is what the engine does not know
    time_s: np.ndarray
    position_m: np.ndarray  # (T, 3)
    quat_wxyz: np.ndarray  # (T, 4)
    velocity_mps: np.ndarray  # (T, 3)
    angular_velocity_radps: np.ndarray  # (T, 3)
    wheel_angle_rad: np.ndarray  # (T, W), positive forward
    wheel_speed_radps: np.ndarray
    contacts: np.ndarray  # (T, W), number of contact points
    sinkage_m: np.ndarray
    normal_n: np.ndarray
    force_along_n: np.ndarray
    force_across_n: np.ndarray
    wheels_at_m: np.ndarray  # (W, 3), centres in the base link's frame
    wheel_radius_m: np.ndarray  # (W,)
    centre_of_mass_m: np.ndarray  # (3,), of the whole robot in the base link's frame, as the file places its links
    notes: tuple[str, ...] = ()

    @classmethod
    def from_rows(cls, rows: np.ndarray, *, step_s: float, **about: object) -> "EngineRun":
        """From rows as steppers fill them; `about` are the other fields."""
        body, width = len(BODY_COLUMNS), len(WHEEL_COLUMNS)
        wheels = (rows.shape[1] - body) // width
        part = {name: rows[:, body + k :: width][:, :wheels] for k, name in enumerate(WHEEL_COLUMNS)}
        return cls(
            time_s=np.arange(len(rows)) * step_s,
            position_m=rows[:, 0:3],
            quat_wxyz=rows[:, 3:7],
            velocity_mps=rows[:, 7:10],
            angular_velocity_radps=rows[:, 10:13],
            wheel_angle_rad=part["angle"] - part["angle"][0],
            wheel_speed_radps=part["speed"],
            contacts=np.nan_to_num(part["contacts"]).astype(int),
            sinkage_m=part["sinkage"],
            normal_n=part["normal"],
            force_along_n=part["along"],
            force_across_n=part["across"],
            **about,  # type: ignore[arg-type]
        )

    @property
    def step_s(self) -> float:
        return float(self.time_s[1] - self.time_s[0])

    @property
    def rotation(self) -> np.ndarray:
        """Axes of the base link in the world, (T, 3, 3)."""
        return rotations(self.quat_wxyz)

    @property
    def heading_rad(self) -> np.ndarray:
        """Heading without jumps."""
        turn = self.rotation
        return np.asarray(np.unwrap(np.arctan2(turn[:, 1, 0], turn[:, 0, 0])))

    @property
    def yaw_rate_radps(self) -> np.ndarray:
        """About the world's vertical."""
        return np.asarray(self.angular_velocity_radps[:, 2])

    @property
    def pitch_rad(self) -> np.ndarray:
        """Nose down positive, as rotations about y count."""
        return np.asarray(-np.arcsin(np.clip(self.rotation[:, 2, 0], -1.0, 1.0)))

    def point(self, at_m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity, in the world, of a point fixed in the base link: (T, 3) each."""
        arm = self.rotation @ at_m
        return self.position_m + arm, self.velocity_mps + np.cross(self.angular_velocity_radps, arm)

    def specific_force(self, at_m: np.ndarray) -> np.ndarray:
        """What an accelerometer there feels along the base link's axes, mean over the step that ends at the record, (T, 3).

        f = R^T (dv/dt - g). The first record has no step before it and repeats the second.
        """
        assert self.settings.gravity_mps2 is not None
        _, velocity = self.point(at_m)
        accel = np.diff(velocity, axis=0) / self.step_s
        felt = np.einsum("tij,ti->tj", self.rotation[1:], accel - np.asarray(self.settings.gravity_mps2))
        return np.vstack([felt[:1], felt])

    @property
    def wheels_centre_m(self) -> np.ndarray:
        """Amid the wheels, at the height of the link's origin."""
        return np.array([*self.wheels_at_m[:, :2].mean(axis=0), 0.0])

    def origin_m(self, robot: SkidSteerRobot | None = None) -> np.ndarray:
        """The point of the base link that is the robot's origin, from which its wheels' places count: both know their wheels.

        A base link may be anywhere on the robot. Without a robot it has to be amid its wheels, or nobody knows.
        """
        centre = self.wheels_centre_m
        if robot is None:
            if np.abs(centre).max() <= AMID_M:
                return centre
            raise SimulationError(
                f"{self.model}: its wheels' centre is at x = {centre[0]:.4g}, y = {centre[1]:.4g} m of its base link; where the "
                f"robot's origin is, its file says: give the robot that was driven (robot=...)"
            )
        if len(robot.wheels.at_m.value) != len(self.wheels_at_m):
            raise SimulationError(
                f"{self.model} has {len(self.wheels_at_m)} wheels, the robot {robot.name} {len(robot.wheels.at_m.value)}; "
                f"give the robot that was driven"
            )
        return np.asarray(centre - np.array([*np.mean(robot.wheels.at_m.value, axis=0), 0.0]))

    @property
    def airborne_s(self) -> np.ndarray:
        """How long each wheel had no contact, in one piece or in several, (W,)."""
        return np.asarray((self.contacts == 0).sum(axis=0) * self.step_s)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What went wrong, if anything did."""
        if not (np.isfinite(self.position_m).all() and np.isfinite(self.quat_wxyz).all()):
            return (Finding.DIVERGED,)
        tipped = bool((self.rotation[:, 2, 2] < 0.5).any())
        lifted = bool((self.airborne_s > BOUNCE_S).any())
        return tuple(f for f, found in ((Finding.TIPPED, tipped), (Finding.LIFTED, lifted)) if found)

    def trajectory(self, robot: SkidSteerRobot | None = None, ground: str = "") -> Trajectory:
        """The motion in the plane, as our simulator records it: of the robot's origin (`origin_m`); specific force at the
        centre of mass."""
        place, velocity = self.point(self.origin_m(robot))
        heading = self.heading_rad
        ahead, left = np.cos(heading), np.sin(heading)
        felt = self.specific_force(self.centre_of_mass_m)
        turn = np.diff(self.yaw_rate_radps) / self.step_s
        gravity = np.asarray(self.settings.gravity_mps2)
        columns = {
            "time_s": self.time_s,
            "x_m": place[:, 0],
            "y_m": place[:, 1],
            "heading_rad": heading,
            "vx_mps": ahead * velocity[:, 0] + left * velocity[:, 1],
            "vy_mps": ahead * velocity[:, 1] - left * velocity[:, 0],
            "yaw_rate_radps": self.yaw_rate_radps,
            "fx_mps2": felt[:, 0],
            "fy_mps2": felt[:, 1],
            "yaw_accel_radps2": np.append(turn[:1], turn),
            "wheel_speed_radps": self.wheel_speed_radps,
            "wheel_angle_rad": self.wheel_angle_rad,
            "load_n": self.normal_n,
            "force_x_n": self.force_along_n,
            "force_y_n": self.force_across_n,
            "effort": np.full_like(self.normal_n, np.nan),  # engines do not tell it
            "lowest_load_n": self.normal_n,
        }
        return Trajectory(
            columns,
            robot=self.model,
            ground=ground,
            outcome=Outcome.DIVERGED if Finding.DIVERGED in self.findings else Outcome.FINISHED,
            slope_rad=float(np.arctan2(np.hypot(gravity[0], gravity[1]), -gravity[2])),
        )

    def steady(self, last_s: float) -> slice:
        """Records of the last so many seconds, for means of a steady motion."""
        return slice(int(np.searchsorted(self.time_s, self.time_s[-1] - last_s)), None)

    def summary(self) -> str:
        """A few lines for people."""
        used = self.settings
        last = self.steady(0.1 * float(self.time_s[-1]))
        rows = [
            f"{self.model} in {self.engine}, {self.time_s[-1]:g} s in steps of {1e3 * self.step_s:g} ms",
            f"  heading {self.heading_rad[-1] - self.heading_rad[0]:+.3f} rad, moved "
            f"{np.linalg.norm(self.position_m[-1, :2] - self.position_m[0, :2]):.3f} m",
            f"  contacts per wheel {self.contacts[last].mean(axis=0).round(2).tolist()}, "
            f"sinkage {1e3 * float(np.nanmean(self.sinkage_m[last])):.3g} mm, "
            f"loads {np.nanmean(self.normal_n[last], axis=0).round(1).tolist()} N",
        ]
        if used.kp_n_per_m is not None:
            rows.append(f"  kp {used.kp_n_per_m:g} N/m, kd {used.kd_ns_per_m:g} N s/m, {used.iterations} iterations")
        return "\n".join([*rows, *(f"  {finding.value}" for finding in self.findings), *(f"  note: {n}" for n in self.notes)])


def rotations(quat_wxyz: np.ndarray) -> np.ndarray:
    """Rotation matrices of unit quaternions, (T, 3, 3)."""
    w, x, y, z = quat_wxyz.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)
