"""A twin as parameters of robot_localization's EKF: how fast odometry drifts, and the covariances that its messages should carry.

    P(t + dt) = F P F^T + dt Q,    Q = process_noise_covariance

Odometry errs for seconds in the same direction, which a filter's white noise does not know. So the drift goes into Q of the pose
(variances per second that are right after the horizon), the velocities' own variance into the messages, and Q of the velocities
follows how the robot changes speed: the filter's velocity lags by about sqrt(R dt / Q), little, instead of smoothing odometry.

Symbols    P, F covariance and its propagation · R variance of a velocity in a message, dt apart
Reference  robot_localization, filter_base and ekf; sizes: docs/howto/export
"""

import numpy as np

from slipfit.errors import ExportError
from slipfit.exporters.ledger import Entry, Ledger, heading, ledger
from slipfit.exporters.odometry import double, doubles, noise_of, pose_variances, twist_variances
from slipfit.exporters.origin import origin
from slipfit.exporters.record import Export, Settings
from slipfit.twin import OdometryNoise, SkidSteerTwin

TARGET = "robot-localization"
ABOUT = "process noise and odometry covariances for robot_localization"

#: The state's names, in its order.
STATE = ("x", "y", "z", "roll", "pitch", "yaw", "vx", "vy", "vz", "vroll", "vpitch", "vyaw", "ax", "ay", "az")

#: The package's own process noise, for what a planar drive does not tell.
DEFAULTS = (0.05, 0.05, 0.06, 0.03, 0.03, 0.06, 0.025, 0.025, 0.04, 0.01, 0.01, 0.02, 0.01, 0.01, 0.015)

#: What is taken from odometry's messages.
_FUSED = ("vx", "vy", "vyaw")


def export_robot_localization(twin: SkidSteerTwin, ground: str | None = None, settings: Settings | None = None) -> Export:
    """The YAML file; the messages' covariances stand in it as comments, for they cannot be set there."""
    name = twin.ground_name(ground)
    noise = noise_of(twin, name, TARGET)
    pose, twist, drift = pose_variances(noise), twist_variances(noise), process_noise(noise)
    if pose is None or twist is None or drift is None:
        raise ExportError(
            f"ground {name}: odometry_noise has no drift of the place, which {TARGET} is written from; compare models on a drive "
            f"with poses"
        )
    book = _entries(noise)
    matrix = np.diag([drift.get(key, usual) for key, usual in zip(STATE, DEFAULTS, strict=True)])
    rows = [
        *(f"# {line}".rstrip() for line in heading(origin(twin, name, ABOUT), book)),
        "ekf_filter_node:",
        "  ros__parameters:",
        "    two_d_mode: true",
        "    odom0: diff_drive_controller/odom",
        "    # The diagonals that its messages should carry, x y z roll pitch yaw and their rates:",
        f"    #   pose.covariance   {doubles(pose)}",
        f"    #   twist.covariance  {doubles(twist)}",
        f"    odom0_config: [{', '.join('true' if key in _FUSED else 'false' for key in STATE)}]",
        "    odom0_differential: false",
        f"    # Variances per second of {', '.join(STATE)}; told by the drive: {', '.join(drift)}",
        "    process_noise_covariance: [",
        ",\n".join("      " + ", ".join(double(entry) for entry in row) for row in matrix) + "]",
    ]
    return Export(TARGET, twin.robot.name, name, ".yaml", "\n".join(rows) + "\n", book)


def process_noise(noise: OdometryNoise) -> dict[str, float] | None:
    """Variances per second, by the state's names; x and y are the world's, so both have the mean of ahead and left."""
    if noise.ahead_m2_per_s is None or noise.left_m2_per_s is None or noise.heading_rad2_per_s is None:
        return None
    place = 0.5 * (noise.ahead_m2_per_s + noise.left_m2_per_s)
    found = {"x": place, "y": place, "yaw": noise.heading_rad2_per_s}
    changes = {"vx": noise.speed_change_m2_per_s3, "vyaw": noise.yaw_rate_change_rad2_per_s3}
    return found | {key: change for key, change in changes.items() if change}


def _entries(noise: OdometryNoise) -> Ledger:
    return ledger(
        Entry(
            "covariances of odom0",
            "the filter takes them from the messages, not from this file",
            "set them in the driver; diff_drive_controller has them from export --to ros2-control",
        ),
        Entry(
            "process noise of the yaw",
            "it is that of wheel odometry alone",
            "with a gyro in the filter (imu0) lower it to the gyro's drift",
        ),
        Entry(
            "a robot at rest",
            "it drifts in the filter as when it drives: the numbers are means over the drive",
            "pause the filter, or fuse something that sees rest",
        ),
        Entry("z, roll, pitch, accelerations", "not told by a planar drive: the package's own numbers"),
        Entry(
            "horizon",
            f"the drift is right after {noise.horizon_s:g} s; errors that last grow faster than a filter's from then on",
            "compare models with the horizon that you go without other sensors",
        ),
    )
