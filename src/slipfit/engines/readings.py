"""What sensors on the robot would have said while it drove in an engine: those of our own simulator, on a motion in space.

Poses are of the robot's origin, from which its wheels' places count; the IMU sits there (plus its lever arm) at the height of
the base link's origin, and feels pitch and bounce.
"""

import numpy as np

from slipfit.engines.engine_run import EngineRun, Finding
from slipfit.errors import SimulationError
from slipfit.library import SkidSteerRobot
from slipfit.logs import DriveLog
from slipfit.simulation.scenario import Encoders, Imu, PoseSensor, Sensors
from slipfit.simulation.sensors import encoder_channel, imu_channel, pose_channel, random_streams, sampled, stamps_ns_of
from slipfit.simulation.trajectory import Trajectory

#: Sensors without noise, and lines on the encoders too fine to matter.
CLEAN = Sensors(imu=Imu(), encoders=Encoders(counts_per_turn=1_000_000_000), pose=PoseSensor(rate_hz=100.0))


def read_run(run: EngineRun, sensors: Sensors = CLEAN, *, robot: SkidSteerRobot | None = None, seed: int = 0) -> DriveLog:
    """Encoders, IMU and pose of a run, as a drive log; noise as the sensors have it.

    `robot` is the one that was driven. It may be left out where the model's base link is amid its wheels, as in exports of
    robots whose wheels' places count from there.
    """
    if Finding.DIVERGED in run.findings:
        raise SimulationError(f"{run.model} in {run.engine}: {Finding.DIVERGED.value}")
    if not sensors.names:
        raise SimulationError("no sensor is named; expected imu, encoders or pose")
    motion, draw = run.trajectory(robot), random_streams(seed)
    channels = []
    if sensors.imu:
        stamps = stamps_ns_of(motion, sensors.imu.rate_hz)
        channels.append(
            imu_channel(stamps, *_felt(run, motion, sensors.imu, stamps, run.origin_m(robot)), sensors.imu, draw["imu"])
        )
    if sensors.encoders:
        channels.append(encoder_channel(motion, sensors.encoders, draw["encoders"]))
    if sensors.pose:
        channels.append(pose_channel(motion, sensors.pose, draw["pose"]))
    return DriveLog({c.name: c for c in channels}, about=f"{run.model} driven in {run.engine}", notes=run.notes)


def _felt(
    run: EngineRun, motion: Trajectory, imu: Imu, stamps_ns: np.ndarray, origin_m: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """True specific force and turning rate at the stamps, in the base link's axes."""
    at_m = origin_m + np.array([*imu.lever_arm_m, 0.0])
    rates = np.einsum("tij,ti->tj", run.rotation, run.angular_velocity_radps)
    # A force is a mean over the step that ends at its record: it belongs to the step's middle.
    felt = sampled(motion, stamps_ns, imu.delay_s - 0.5 * run.step_s, *run.specific_force(at_m).T)
    turned = sampled(motion, stamps_ns, imu.delay_s, *rates.T)
    return np.column_stack(felt), np.column_stack(turned)
