"""Drives as people and programs command them, and the motion that the simulated robot makes of them."""

from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np

from ordinary_bags.cases import Case, Drive, Slip
from robots import changed, wheel_slip
from slipfit.library import Robot, find_robot
from slipfit.simulation import Scenario, simulate

#: Period of /cmd_vel, and of the controller's speed limiter (s).
COMMAND_S = 0.05

STEP_S = 0.001

#: Wheel torque of the simulated robots (N m): enough to spin on any ground of the cases, as the real robots' gearboxes do.
TORQUE_NM = {"p3at": 15.0, "husky": 60.0}


@dataclass(frozen=True, eq=False)
class Motion:
    """True motion of the base frame, at every step."""

    time_s: np.ndarray
    x_m: np.ndarray
    y_m: np.ndarray
    heading_rad: np.ndarray
    vx_mps: np.ndarray
    vy_mps: np.ndarray
    yaw_rate_radps: np.ndarray
    yaw_accel_radps2: np.ndarray
    fx_mps2: np.ndarray  # specific force at the center of mass, body axes
    fy_mps2: np.ndarray
    wheel_angle_rad: np.ndarray  # front left, front right, rear left, rear right
    center_of_mass_m: tuple[float, float]
    wheel_at_m: np.ndarray
    radius_m: float
    track_m: float
    command_time_s: np.ndarray
    command: np.ndarray  # v, yaw rate on /cmd_vel
    limited: np.ndarray  # v, yaw rate after the controller's limiter

    @property
    def duration_s(self) -> float:
        return float(self.time_s[-1])

    def at(self, when_s: np.ndarray, *names: str) -> list[np.ndarray]:
        """Columns at these times; before the start and after the end the robot stands."""
        return [np.interp(when_s, self.time_s, getattr(self, name)) for name in names]

    def pose_at(self, when_s: np.ndarray) -> np.ndarray:
        return np.column_stack(self.at(when_s, "x_m", "y_m", "heading_rad"))

    def wheels_at(self, when_s: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(when_s, self.time_s, angle) for angle in self.wheel_angle_rad.T])


def ticks(case: Case, node: str, rate_hz: float) -> np.ndarray:
    """When a node's timer fires (s); the timers of different nodes started at different moments."""
    phase = np.random.default_rng([case.seed, 10, crc32(node.encode())]).uniform()
    return np.arange(phase / rate_hz, case.drive.duration_s, 1.0 / rate_hz)


@lru_cache(maxsize=8)
def motion(case: Case) -> Motion:
    """Simulate the drive of a case."""
    robot = true_robot(case)
    draw = np.random.default_rng([case.seed, 1])
    command = _commands(case, draw, robot)
    limited = _limited(command, case.drive)
    # The controller turns body velocities into wheel speeds with its own radius and track.
    v = limited[:, 0] / case.controller.radius_factor
    rate = limited[:, 1] * case.controller.track_factor / case.controller.radius_factor
    ramps = [
        {"for_s": COMMAND_S, "v_mps": float(a), "yaw_rate_radps": float(b), "profile": "linear", "ramp_s": COMMAND_S}
        for a, b in zip(v, rate, strict=True)
    ]
    start = {"heading_rad": float(draw.uniform(-3.1, 3.1))}
    scenario = Scenario(commands=ramps, step_s=STEP_S, record_s=STEP_S, start=start)
    ground = wheel_slip(case.ground.c_long_per_n, case.ground.c_lat_per_n, case.ground.mu)
    run = simulate(robot, scenario, ground=ground)
    half_s = 0.5 * STEP_S  # accelerations are means over the step before their record
    centered = {
        name: np.interp(run.time_s + half_s, run.time_s, getattr(run, name))
        for name in ("fx_mps2", "fy_mps2", "yaw_accel_radps2")
    }
    direct = ("time_s", "x_m", "y_m", "heading_rad", "vx_mps", "vy_mps", "yaw_rate_radps", "wheel_angle_rad")
    return Motion(
        **{name: getattr(run, name) for name in direct},
        **centered,
        center_of_mass_m=tuple(robot.centre_of_mass_m.value[:2]),
        wheel_at_m=np.array(robot.wheels.at_m.value),
        radius_m=robot.wheels.radius_m.value,
        track_m=robot.track_m,
        command_time_s=np.arange(len(command)) * COMMAND_S,
        command=command,
        limited=limited,
    )


def true_robot(case: Case) -> Robot:
    """The robot that drives: the library's with strong motors, and with the case's own body if it has one."""
    changes: dict[str, object] = {"powertrain__torque_limit_nm": TORQUE_NM[case.robot]}
    if case.body:
        height_m = find_robot(case.robot).centre_of_mass_m.value[2]
        changes |= {
            "mass_kg": case.body.mass_kg,
            "yaw_inertia_kgm2": case.body.yaw_inertia_kgm2,
            "centre_of_mass_m": [*case.body.center_of_mass_m, height_m],
        }
    return changed(case.robot, **changes)


def turning_efficiency(robot: Robot, ground: Slip) -> float:
    """Yaw rate over that of wheels without slip, in a spin below the friction limit: b² / (b² + a² c_long / c_lat) with half the
    track b and half the wheelbase a, from the balance of yaw moments of the wheel_slip law."""
    a, b = robot.wheels.at_m.value[0]
    return b**2 / (b**2 + a**2 * ground.c_long_per_n / ground.c_lat_per_n)


def _commands(case: Case, draw: np.random.Generator, robot: Robot) -> np.ndarray:
    """v and yaw rate of /cmd_vel, one row per period. The robot stands for some seconds at the start and at the end."""
    drive = case.drive
    count = round(drive.duration_s / COMMAND_S)
    if drive.style == "parked":
        return np.zeros((count, 2))
    rest = round(draw.uniform(2.0, 4.0) / COMMAND_S)
    inner = count - 2 * rest
    if drive.style == "planned":
        body = _planned(drive, inner)
    elif drive.style == "patrol":
        body = _patrol(drive, inner, draw, turning_efficiency(robot, case.ground) * case.controller.track_factor)
    else:
        body = _teleop(drive, inner, draw)
    return np.vstack([np.zeros((rest, 2)), body, np.zeros((rest, 2))])


def _held(parts: list[tuple[float, float, float]], count: int) -> np.ndarray:
    """Rows of (seconds, v, yaw rate), cut or filled with rest."""
    rows = np.vstack([np.tile([v, rate], (max(1, round(for_s / COMMAND_S)), 1)) for for_s, v, rate in parts])[:count]
    return np.vstack([rows, np.zeros((count - len(rows), 2))])


def _planned(drive: Drive, count: int) -> np.ndarray:
    """Speed steps forward and backward, spins both ways, arcs both ways; repeated, the spins faster each time."""
    v, rate, parts, total_s = drive.speed_mps, drive.yaw_rate_radps, [], 0.0
    for round_ in range(20):
        for sign in (1.0, -1.0):
            parts += [(1.5, 0.3 * sign * v, 0.0), (2.0, sign * v, 0.0), (1.5, 0.3 * sign * v, 0.0), (1.0, 0.0, 0.0)]
        for sign in (1.0, -1.0):
            parts += [(4.0, 0.0, sign * rate * (0.6 + 0.4 * min(round_, 1))), (1.0, 0.0, 0.0)]
        for sign in (1.0, -1.0):
            parts += [(4.0, 0.7 * v, 0.5 * sign * rate), (1.2, 0.0, 0.0)]
        total_s = sum(part[0] for part in parts)
        if total_s > count * COMMAND_S:
            break
    return _held(parts, count)


def _teleop(drive: Drive, count: int, draw: np.random.Generator) -> np.ndarray:
    """A person with a gamepad: targets held for a few seconds, smoothed by the thumb, with curves, spins, reverse and pauses."""
    parts: list[tuple[float, float, float]] = []
    while sum(part[0] for part in parts) < count * COMMAND_S:
        for_s, mood = draw.uniform(1.0, 4.0), draw.uniform()
        v, rate = drive.speed_mps * draw.uniform(0.4, 1.0), drive.yaw_rate_radps * draw.uniform(-1.0, 1.0)
        if mood < 0.15:
            parts.append((draw.uniform(1.0, 3.0), 0.0, 0.0))
        elif mood < 0.30:
            parts.append((for_s, 0.0, np.copysign(max(abs(rate), 0.4 * drive.yaw_rate_radps), rate)))
        elif mood < 0.40:
            parts.append((0.6 * for_s, -0.6 * v, 0.5 * rate))
        elif mood < 0.60:
            parts.append((for_s, v, 0.05 * rate))
        else:
            parts.append((for_s, v, 0.7 * rate))
    targets = _held(parts, count)
    wobble = _low_pass(draw.standard_normal((count, 2)), 0.5) * [0.4 * drive.speed_mps, 0.8 * drive.yaw_rate_radps]
    moving = np.abs(targets).sum(axis=1, keepdims=True) > 0.0
    rows = _low_pass(targets + wobble * moving, 0.2)
    rows[np.abs(rows) < [[0.02 * drive.speed_mps, 0.02 * drive.yaw_rate_radps]]] = 0.0  # dead zone of the stick
    return rows


def _patrol(drive: Drive, count: int, draw: np.random.Generator, efficiency: float) -> np.ndarray:
    """Around a rectangle or polygon with stops at its corners, where the robot turns on the spot, as a route follower would."""
    corners = int(draw.integers(3, 6))
    side = draw.choice([-1.0, 1.0])
    legs_m = draw.uniform(2.0, 5.0, 2) * drive.speed_mps / 0.7
    parts: list[tuple[float, float, float]] = []
    leg = 0
    while sum(part[0] for part in parts) < count * COMMAND_S:
        length = legs_m[leg % 2]
        for piece in draw.dirichlet([6.0, 6.0, 6.0]):  # the route follower corrects its heading on the way
            parts.append((piece * length / drive.speed_mps, drive.speed_mps, float(draw.normal(0.0, 0.04))))
        parts.append((draw.uniform(1.0, 3.0), 0.0, 0.0))
        rate = side * drive.yaw_rate_radps
        parts.append((2.0 * np.pi / corners / (drive.yaw_rate_radps * efficiency), 0.0, rate))
        parts.append((draw.uniform(0.5, 1.0), 0.0, 0.0))
        leg += 1
    return _held(parts, count)


def _low_pass(values: np.ndarray, time_constant_s: float) -> np.ndarray:
    out, share, last = np.empty_like(values), COMMAND_S / (time_constant_s + COMMAND_S), np.zeros(values.shape[1])
    for k, row in enumerate(values):
        last = last + share * (row - last)
        out[k] = last
    return out


def _limited(command: np.ndarray, drive: Drive) -> np.ndarray:
    """The speed limiter of a base controller: acceleration and yaw acceleration."""
    most = np.array([drive.acceleration_mps2, drive.yaw_acceleration_radps2]) * COMMAND_S
    out, last = np.empty_like(command), np.zeros(2)
    for k, row in enumerate(command):
        last = last + np.clip(row - last, -most, most)
        out[k] = last
    return out
