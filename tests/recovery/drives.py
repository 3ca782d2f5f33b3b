"""Drives with known slip constants that recovery tests share: straight speed steps both ways, then spins both ways."""

from robots import ground_with
from slipfit.library import Robot, find_robot
from slipfit.simulation import Scenario, Trajectory, simulate

#: Readings as exact as a float allows: counts this fine do not show.
CLEAN_IMU = {"imu": {"rate_hz": 100, "accel_noise_mps2": 0.0, "accel_bias_mps2": 0.0, "gyro_noise_radps": 0.0},
             "encoders": {"rate_hz": 100, "counts_per_turn": 10**7}}  # fmt: skip
CLEAN = CLEAN_IMU | {"pose": {"rate_hz": 20, "position_noise_m": 0.0, "yaw_noise_rad": 0.0}}

#: An IMU of .05 m/s², encoders of 4096 counts, poses of 1 mm.
GOOD_IMU = {"imu": {"rate_hz": 100, "accel_noise_mps2": 0.05, "accel_bias_mps2": 0.02, "gyro_noise_radps": 0.002},
            "encoders": {"rate_hz": 100, "counts_per_turn": 4096}}  # fmt: skip
GOOD = GOOD_IMU | {"pose": {"rate_hz": 20, "position_noise_m": 0.001, "yaw_noise_rad": 0.002}}


#: .8 m/s in a quarter of a second, 3.2 m/s²: what 2 N m a wheel give a P3AT. Stronger motors would lift its wheels.
RAMP = {"profile": "linear", "ramp_s": 0.25}


def steps(slow_mps: float = 0.2, fast_mps: float = 1.0, pairs: int = 1) -> list[dict[str, object]]:
    """Slow, fast, slow, stop: forward, then backward, so many times."""
    commands: list[dict[str, object]] = []
    for sign in (1.0, -1.0) * pairs:
        commands += [
            {"for_s": 1.0, "v_mps": sign * slow_mps, **RAMP},
            {"for_s": 1.5, "v_mps": sign * fast_mps, **RAMP},
            {"for_s": 1.5, "v_mps": sign * slow_mps, **RAMP},
            {"for_s": 0.8, "v_mps": 0.0, **RAMP},
        ]
    return commands


def spins(rate_radps: float = 1.0, for_s: float = 5.0) -> list[dict[str, object]]:
    """On the spot, both ways, each with a stop after it."""
    commands: list[dict[str, object]] = []
    for sign in (1.0, -1.0):
        commands += [
            {"for_s": for_s, "yaw_rate_radps": sign * rate_radps, "profile": "quintic"},
            {"for_s": 1.0, "v_mps": 0.0, "profile": "linear"},
        ]
    return commands


def arcs(speed_mps: float = 0.6, rate_radps: float = 0.8, for_s: float = 5.0) -> list[dict[str, object]]:
    """Curves both ways on which no wheel turns backward, each with a stop after it."""
    commands: list[dict[str, object]] = []
    for sign in (1.0, -1.0):
        commands += [
            {"for_s": for_s, "v_mps": speed_mps, "yaw_rate_radps": sign * rate_radps, "profile": "quintic"},
            {"for_s": 1.5, "v_mps": 0.0, "profile": "quintic"},
        ]
    return commands


#: 23 s: a rest, speed steps both ways, spins both ways.
STEPS_AND_SPINS = [{"for_s": 1.5, "v_mps": 0.0}, *steps(), *spins()]

STEPS_AND_ARCS = [{"for_s": 1.5, "v_mps": 0.0}, *steps(), *arcs()]

#: 42 s: three times the steps, as noise asks for.
MANY_STEPS = [{"for_s": 1.5, "v_mps": 0.0}, *steps(pairs=3), *spins()]


def drive(
    robot: Robot | str = "p3at",
    c_long: float = 0.005,
    ratio: float = 10.0,
    *,
    mu: float = 1e3,
    sensors: dict[str, dict[str, float]] = CLEAN,
    commands: list[dict[str, object]] = STEPS_AND_SPINS,
    seed: int = 0,
) -> Trajectory:
    """One drive on a wheel_slip ground, by default without Coulomb's limit."""
    chosen = find_robot(robot) if isinstance(robot, str) else robot
    data = {"schema": Scenario.kind(), "commands": commands, "sensors": sensors, "seed": seed}
    ground = ground_with("wheel_slip", c_long_per_n=c_long, c_lat_per_n=ratio * c_long, mu=mu)
    return simulate(chosen, Scenario.from_mapping(data, where="recovery drive"), ground=ground)
