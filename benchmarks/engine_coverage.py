"""Do 90 % intervals of `calibrate` cover the truth on drives that a physics engine made? A truth that is not ours.

    python benchmarks/engine_coverage.py [drives]

Each drive has fresh constants (c_long log-uniform .002 to .01 1/N, ratio 4 to 25), a robot and sensors of its own, in ODE:
whatever the fit supposes to be known only within a spread (mass, inertia, centre of mass, scales, clocks, where the IMU sits) is
drawn from this spread, else the intervals would be wider than the errors that were made. 80 to 97 % of 50 drives are wanted.
"""

import sys
import tempfile
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from recovery.many_drives import one_of_many
from slipfit.calibration.run import calibrate
from slipfit.engines import Settings, find_engine, read_run
from slipfit.errors import SlipfitError
from slipfit.library import Robot
from slipfit.logs import DriveLog
from slipfit.simulation import Command
from slipfit.simulation.scenario import Encoders, Imu, PoseSensor, Sensors
from slipfit.twin import Twin
from slipfit.verification.manoeuvres import Manoeuvre, manoeuvre
from slipfit.verification.run import Course, Rig

#: Spreads that the fit supposes (calibrate/unknowns.py): of scales; of clocks it allows more than robots show.
SCALE_STD = {"accel_x_mps2": 0.03, "accel_y_mps2": 0.03, "gyro_z_radps": 0.02, "x_m": 0.01, "y_m": 0.01}
CLOCK_STD_S, LEVER_STD_M = 0.02, 0.1

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


def sensors_of(rng: np.random.Generator) -> Sensors:
    """Noise as robots have it; clocks and places that nobody measured."""
    lever_x, lever_y = LEVER_STD_M * rng.standard_normal(2)
    imu_late, pose_late = np.abs(CLOCK_STD_S * rng.standard_normal(2))
    return Sensors(
        imu=Imu(
            accel_noise_mps2=0.05, accel_bias_mps2=0.02, gyro_noise_radps=0.002, lever_arm_m=(lever_x, lever_y), delay_s=imu_late
        ),
        encoders=Encoders(rate_hz=100.0, counts_per_turn=4096),
        pose=PoseSensor(rate_hz=20.0, position_noise_m=0.001, yaw_noise_rad=0.002, delay_s=pose_late),
    )


def scaled(log: DriveLog, rng: np.random.Generator) -> DriveLog:
    """The same readings of sensors whose scales are off: one factor for both axes of one sensor."""
    factors = {kind: float(rng.standard_normal()) for kind in ("accel", "gyro", "pose")}
    kinds = {"accel_x_mps2": "accel", "accel_y_mps2": "accel", "gyro_z_radps": "gyro", "x_m": "pose", "y_m": "pose"}
    channels = {}
    for name, channel in log.channels.items():
        gains = [1.0 + SCALE_STD[c] * factors[kinds[c]] if c in kinds else 1.0 for c in channel.columns]
        channels[name] = replace(channel, values=channel.values * np.array(gains))
    return replace(log, channels=channels)


def twin_of(robot: Robot, c_long: float, c_lat: float) -> Twin:
    """The robot with motors that are strong enough for every pair."""
    mapping = robot.to_mapping()
    mapping["powertrain"] = {"kind": "speed_loop", "torque_limit_nm": 50.0}
    known = {"status": "converged", "source": "drawn"}
    parameters = {n: {"value": value, **known} for n, value in (("c_long", c_long), ("c_lat", c_lat), ("mu", 10.0))}
    grounds = {"drawn": {"law": "wheel_slip", "parameters": parameters}}
    made = {"slipfit": "0.1.0", "made": "2026-01-01T00:00:00Z"}
    return Twin.from_mapping({"schema": Twin.kind(), "robot": mapping, "grounds": grounds, "provenance": made}, where="drawn")


def drive(seed: int) -> Drive:
    """One drive in ODE and its calibration."""
    rng = np.random.default_rng(seed)
    c_long = float(np.exp(rng.uniform(log(0.002), log(0.01))))
    truth = {"c_long_per_n": c_long, "c_lat_per_n": c_long * float(np.exp(rng.uniform(log(4.0), log(25.0))))}
    course = Course(twin_of(one_of_many(seed), *truth.values()))
    commands = [Command(for_s=t, v_mps=v, yaw_rate_radps=w, profile="linear", ramp_s=0.6) for t, v, w in LEGS]
    wanted: Manoeuvre = manoeuvre("calibration", course.robot, course.ground, commands)
    with tempfile.TemporaryDirectory() as folder:
        run = Rig(find_engine("ode"), course.export("ode", Path(folder)), course, Settings()).drive(wanted)
    fit = calibrate(scaled(read_run(run, sensors_of(rng), robot=course.robot, seed=seed), rng), robot="p3at")
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
