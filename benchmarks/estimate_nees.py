"""Is the slip filter right about itself? Errors over what it claims (NEES): `python benchmarks/estimate_nees.py`, a minute.

Three robots on grounds of three laws, commands that jump, ramps, and quintic ramps, drawn with fixed seeds; poses at 20 Hz, with
an IMU and without. The filter is told how much its sensors scatter, and nothing of the ground. Moments lie 0.05 s apart, all of a
drive: jumps count for as long as they last. A mean of 1 is right, more is too sure; rms errors of the body's velocity as slip
velocities stand beside it, because a filter that doubts everything is never too sure.
"""

import sys
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from slipfit.estimation.filter import FilterRun, run_filter
from slipfit.estimation.motion import Motion, motion_of
from slipfit.estimation.readings import Readings, readings_of
from slipfit.estimation.scatter import widened
from slipfit.estimation.settings import FilterSettings
from slipfit.estimation.truth import Truth
from slipfit.library import find_robot
from slipfit.simulation import Scenario, simulate
from slipfit.vehicles.slip_filter import N, Q

ROBOTS, GROUNDS, PROFILES = ("p3at", "husky", "jackal"), ("lab_floor", "gravel", "lubricated"), ("step", "linear", "quintic")

#: As the simulated sensors scatter; how slip moves is as slipfit has it.
POSE_M, POSE_RAD, GYRO_RADPS, ACCEL_MPS2 = 0.005, 0.005, 0.01, 0.1
SETTINGS = FilterSettings(pose_m=POSE_M, pose_rad=POSE_RAD, gyro_radps=GYRO_RADPS, accel_mps2=ACCEL_MPS2)
SENSORS = {"pose and IMU": ("pose", "gyro", "accelerometer"), "pose alone": ("pose",)}


@dataclass(frozen=True, eq=False)
class Judged:
    """Errors of a run: normalised ones of each moment, and rms of slip velocities (m/s)."""

    nees: np.ndarray
    rms_mps: float

    @property
    def mean(self) -> float:
        return float(self.nees.mean())

    @property
    def worst(self) -> float:
        """What one moment of a hundred exceeds; 3.78 where the covariance is right, the 99 % point of chi-square over three."""
        return float(np.quantile(self.nees, 0.99))


@cache
def simulated(robot: str, ground: str, profile: str) -> tuple[Truth, object]:
    """A drive of twelve commands that last 1 to 3 s, a fifth of them stops and a fifth turns on the spot: truth and log."""
    draw = np.random.default_rng([ROBOTS.index(robot), GROUNDS.index(ground), PROFILES.index(profile)])
    commands = []
    for _ in range(12):
        kind, ramp_s = draw.uniform(), draw.uniform(0.3, 1.0)
        v, turn = draw.uniform(-0.3, 0.8), draw.uniform(-1.0, 1.0)
        v, turn = (0.0, 0.0) if kind < 0.2 else (0.0, turn) if kind < 0.4 else (v, 0.6 * turn)
        more = {} if profile == "step" else {"ramp_s": round(ramp_s, 2)}
        told = {"v_mps": round(v, 2), "yaw_rate_radps": round(turn, 2)}
        commands.append({"for_s": round(draw.uniform(1.0, 3.0), 2), "profile": profile, **told, **more})
    sensors = {
        "encoders": {"rate_hz": 100.0, "counts_per_turn": 4096},
        "imu": {"rate_hz": 100.0, "gyro_noise_radps": GYRO_RADPS, "accel_noise_mps2": ACCEL_MPS2},
        "pose": {"rate_hz": 20.0, "position_noise_m": POSE_M, "yaw_noise_rad": POSE_RAD},
    }
    scenario = Scenario.from_mapping(
        {"schema": Scenario.kind(), "commands": commands, "sensors": sensors, "ground": {"surface": ground}}, where="drive"
    )
    trajectory = simulate(robot, scenario)
    return Truth.of_trajectory(trajectory), trajectory.readings


def judged(truth: Truth, readings: Readings, motion: Motion, run: FilterRun, *, smoothed: bool) -> Judged:
    """All moments of the report, but the first second, in which the filter starts."""
    record, covs = (run.smoothed, run.smoothed_cov) if smoothed else (run.forward, run.forward_cov)
    assert record is not None
    assert covs is not None
    rows = np.flatnonzero(run.events.is_report & (run.events.time_s > 1.0))
    stamped = run.events.time_s[rows] + readings.start_ns / 1e9
    assert truth.velocity is not None
    velocity = np.column_stack([np.interp(stamped, truth.time_s, column) for column in truth.velocity.T])
    apart = np.linalg.solve(motion.model.into_twist, (velocity - record[rows, 2 * N : 2 * N + 3]).T).T  # type: ignore[union-attr]
    cov = covs[rows, Q : Q + 3, Q : Q + 3]
    nees = np.einsum("ki,ki->k", apart, np.linalg.solve(cov, apart[:, :, None])[:, :, 0]) / 3.0
    return Judged(nees, float(np.sqrt(np.mean(apart**2))))


def measure(robot: str, ground: str, profile: str, sensors: str, settings: FilterSettings = SETTINGS) -> dict[str, Judged]:
    """One drive, forwards and smoothed."""
    truth, log = simulated(robot, ground, profile)
    body = find_robot(robot)
    motion = motion_of(body)
    readings = readings_of(log, body, motion, settings, use=SENSORS[sensors])  # type: ignore[arg-type]
    readings, _ = widened(readings, ("gyro", "accelerometer"))
    run = run_filter(readings, motion, settings, smooth=True, keep=True)
    return {way: judged(truth, readings, motion, run, smoothed=way == "smoothed") for way in ("forwards", "smoothed")}


def main() -> int:
    ways = ("forwards", "smoothed")
    print(f"{'mean NEES, its 99 % point, rms m/s':<44}" + "".join(f"{way:>26}" for way in ways))
    total: dict[tuple[str, str], list[Judged]] = {}
    for robot, ground, profile, sensors in product(ROBOTS, GROUNDS, PROFILES, SENSORS):
        found = measure(robot, ground, profile, sensors)
        cells = "".join(f"{f'{found[w].mean:.2f} {found[w].worst:.1f} {found[w].rms_mps:.4f}':>26}" for w in ways)
        print(f"{f'{robot}, {ground}, {profile}, {sensors}':<44}{cells}", flush=True)
        for way in ways:
            total.setdefault((f"all {profile}, {sensors}", way), []).append(found[way])
    for name in dict.fromkeys(name for name, _ in total):
        cells = ""
        for way in ways:
            of = total[name, way]
            nees = np.concatenate([one.nees for one in of])
            rms = float(np.sqrt(np.mean([one.rms_mps**2 for one in of])))
            cells += f"{f'{nees.mean():.2f} {np.quantile(nees, 0.99):.1f} {rms:.4f}':>26}"
        print(f"{name:<44}{cells}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
