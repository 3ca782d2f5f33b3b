"""The demo's story: plan a drive, drive it with a simulated robot, calibrate, compare with the truth, validate."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slipfit.calibration.fit import Fit
from slipfit.calibration.plan import plan, usual_sensors
from slipfit.calibration.planned_drive import Plan
from slipfit.calibration.protocol import ProtocolResult, run_protocol
from slipfit.calibration.run import calibrate
from slipfit.calibration.validation import Validation, validate
from slipfit.library import Ground, SkidSteerRobot, find_ground, skid_steer_robot
from slipfit.logs import DriveLog
from slipfit.simulation import Command, Scenario, simulate
from slipfit.simulation.showcase import COMMANDS
from slipfit.twin import SkidSteerTwin

#: A tracker of 5 mm at 20 Hz, as [Trimble2022] assumes, and what small robots carry.
SENSORS = usual_sensors(imu_noise_mps2=0.05, imu_bias_mps2=0.02, counts_per_turn=4096, pose_noise_m=0.005, pose_rate_hz=20.0)

#: The published test's own drive, with the same tracker: ten speed steps of .2 to 1.0 m/s and back, each speed held.
STEPS = [
    Command(for_s=1.0, v_mps=0.0),
    *(Command(for_s=1.5, v_mps=v, profile="quintic") for _ in range(10) for v in (0.2, 1.0)),
    Command(for_s=1.5, v_mps=0.0, profile="quintic"),
]

_SHORT = {"c_long_per_n": "c_long", "c_lat_per_n": "c_lat"}


@dataclass(frozen=True, eq=False)
class Story:
    """Everything that the demo shows and writes."""

    robot: SkidSteerRobot
    truth: Ground
    plan: Plan
    drive: DriveLog
    second: DriveLog
    fit: Fit
    twin: SkidSteerTwin
    protocol: ProtocolResult
    validation: Validation

    def summary(self) -> str:
        """The story in lines."""
        rows = [
            f"1. planned: {self.plan.duration_s:.0f} s of speed steps and turns on {self.plan.floor} of floor",
            f"2. driven:  a simulated {self.robot.name} on {self.truth.name}, with noisy IMU, encoders and a 5 mm tracker",
            "3. calibrated, and compared with the truth that only the simulator knows:",
        ]
        for name, known in self.truth.values().items():
            p = self.fit.parameters[name]
            if p.value is not None and p.interval_90 is not None:
                inside = "inside" if p.interval_90[0] <= known <= p.interval_90[1] else "outside"
                off = 100.0 * (p.value / known - 1.0)
                found = f"{_SHORT.get(name, name):<8}{p.value:.5f} ± {p.std:.5f}"
                rows.append(f"     {found}   truth {known:g}, {off:+.1f} %, {inside} the 90 % interval")
            elif p.at_least is not None:
                rows.append(f"     {name:<8}at least {p.at_least:.2f}   truth {known:g}; no wheel slid, so more is not known")
        rows.append(f"     the published protocol [Trimble2022], 20 Hz differences of positions: {self._by_differences()}")
        rows.append("4. validated on a drive that the fit has not seen:")
        rows += [f"     {line}" for line in self.validation.summary().splitlines()]
        return "\n".join(rows)

    def _by_differences(self) -> str:
        pooled = self.protocol.c_long_per_n
        if pooled is None:
            return "no root, c_long not found"
        known = self.truth.values()["c_long_per_n"]
        found = f"c_long {pooled.mean:.5f}, {100.0 * (pooled.mean / known - 1.0):+.0f} %"
        if pooled.relative_repeatability is None:
            return found
        return f"{found}, from {pooled.runs} speed steps of its own that scatter by {100.0 * pooled.relative_repeatability:.0f} %"

    def to_document(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "truth": self.truth.values(),
            "plan": self.plan.to_document(),
            "calibration": self.fit.to_document(),
            "by_published_protocol": self.protocol.to_document(),
            "validation": self.validation.to_document(),
        }


def tell_story(progress: Callable[[str], None] = lambda _: None) -> Story:
    """Run it all, in memory."""
    robot, truth = skid_steer_robot("p3at"), find_ground("lab_floor")
    progress("planning a drive")
    drive_plan = plan(robot, sensors=SENSORS, precision=0.03)
    progress("driving a simulated robot")
    drive = _driven(robot, truth, drive_plan.to_scenario(seed=1), "run.mcap")
    second = _driven(robot, truth, Scenario(commands=COMMANDS, sensors=SENSORS, seed=2), "second.mcap")
    steps = _driven(robot, truth, Scenario(commands=STEPS, sensors=SENSORS, seed=3), "steps.mcap")
    progress("calibrating")
    fit = calibrate(drive, robot=robot, ground=truth.name)
    progress("validating on another drive")
    twin = fit.to_twin()
    return Story(
        robot=robot,
        truth=truth,
        plan=drive_plan,
        drive=drive,
        second=second,
        fit=fit,
        twin=twin,
        protocol=run_protocol(steps, robot, method="central"),
        validation=validate(twin, second),
    )


def _driven(robot: SkidSteerRobot, ground: Ground, scenario: Scenario, name: str) -> DriveLog:
    readings = simulate(robot, scenario, ground=ground).readings
    return DriveLog(readings.channels, about=readings.about, source=name)
