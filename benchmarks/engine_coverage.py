"""Do 90 % intervals of `calibrate` cover the truth on drives that a physics engine made? A truth that is not ours.

    python benchmarks/engine_coverage.py [drives]

Each drive has fresh constants (c_long log-uniform .002 to .01 1/N, ratio 4 to 25), sensors with noise and a seed of its
own, in ODE. The issue wants 80 to 97 % of 50 drives.
"""

import sys
import tempfile
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np

from slipfit.calibrate.run import calibrate
from slipfit.engines import Settings, find_engine, read_run
from slipfit.errors import SlipfitError
from slipfit.library import find_robot
from slipfit.simulate import Command
from slipfit.simulate.scenario import Encoders, Imu, PoseSensor, Sensors
from slipfit.twin import Twin
from slipfit.verify.manoeuvres import Manoeuvre, manoeuvre
from slipfit.verify.run import Course, Rig

SENSORS = Sensors(
    imu=Imu(rate_hz=100.0, accel_noise_mps2=0.05, accel_bias_mps2=0.02, gyro_noise_radps=0.002),
    encoders=Encoders(rate_hz=100.0, counts_per_turn=4096),
    pose=PoseSensor(rate_hz=20.0, position_noise_m=0.001, yaw_noise_rad=0.002),
)

#: Two speed steps and two spins with rests between: seconds, m/s, rad/s; ramps of 0.6 s.
LEGS = (
    (1.0, 0.0, 0.0), (1.5, 0.2, 0.0), (2.0, 1.0, 0.0), (1.0, 0.0, 0.0), (4.0, 0.0, 1.0), (1.0, 0.0, 0.0), (3.0, 0.0, -0.8),
    (1.0, 0.0, 0.0), (1.5, 0.3, 0.0), (2.0, 0.9, 0.0), (1.0, 0.0, 0.0),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drive:
    """Truth and 90 % interval of both constants; None where the fit gave none."""

    truth: dict[str, float]
    interval: dict[str, tuple[float, float] | None]

    def covers(self, name: str) -> bool:
        found = self.interval[name]
        return found is not None and found[0] <= self.truth[name] <= found[1]


def twin_of(c_long: float, c_lat: float) -> Twin:
    """A P3AT whose motors are strong enough for every pair."""
    robot = find_robot("p3at").to_mapping()
    robot["powertrain"] = {"kind": "speed_loop", "torque_limit_nm": 50.0}
    known = {"status": "converged", "source": "drawn"}
    parameters = {"c_long": {"value": c_long, **known}, "c_lat": {"value": c_lat, **known}}
    grounds = {"drawn": {"law": "wheel_slip", "parameters": parameters}}
    made = {"slipfit": "0.1.0", "made": "2026-01-01T00:00:00Z"}
    return Twin.from_mapping({"schema": Twin.kind(), "robot": robot, "grounds": grounds, "provenance": made}, where="drawn")


def drive(seed: int) -> Drive:
    """One drive in ODE and its calibration."""
    rng = np.random.default_rng(seed)
    c_long = float(np.exp(rng.uniform(log(0.002), log(0.01))))
    truth = {"c_long_per_n": c_long, "c_lat_per_n": c_long * float(np.exp(rng.uniform(log(4.0), log(25.0))))}
    course = Course(twin_of(*truth.values()))
    commands = [Command(for_s=t, v_mps=v, yaw_rate_radps=w, profile="linear", ramp_s=0.6) for t, v, w in LEGS]
    wanted: Manoeuvre = manoeuvre("calibration", course.robot, course.ground, commands)
    with tempfile.TemporaryDirectory() as folder:
        run = Rig(find_engine("ode"), course.export("ode", Path(folder)), course, Settings()).drive(wanted)
    fit = calibrate(read_run(run, SENSORS, seed=seed), robot="p3at")
    return Drive(truth, {name: fit.parameters[name].interval_90 for name in truth})


def main(count: int) -> None:
    done: list[Drive] = []
    for seed in range(count):
        try:
            done.append(drive(seed))
        except SlipfitError as error:
            print(f"drive {seed}: {error}", flush=True)
            continue
        told = "  ".join(
            f"{name} {done[-1].truth[name]:.5g} in {done[-1].interval[name]}: {'yes' if done[-1].covers(name) else 'NO'}"
            for name in done[-1].truth
        )
        print(f"drive {seed}: {told}", flush=True)
    for name in ("c_long_per_n", "c_lat_per_n"):
        covered = sum(d.covers(name) for d in done)
        print(f"{name}: {covered} of {count} covered, {100.0 * covered / count:.0f} % (wanted 80 to 97 %)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
