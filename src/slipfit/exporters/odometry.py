"""What a twin tells of its odometry's errors, in the words of ROS: covariances of nav_msgs/Odometry, numbers as YAML has them."""

from slipfit.errors import ExportError
from slipfit.twin import OdometryNoise, SkidSteerTwin

#: Variance of what a planar robot's odometry does not tell: height, roll, pitch.
NOT_TOLD = 1e6


def noise_of(twin: SkidSteerTwin, ground: str, target: str) -> OdometryNoise:
    """Of a ground; one that no drive with wheels and poses told is an error."""
    kinematics = twin.grounds[ground].kinematics
    if kinematics is None or kinematics.odometry_noise is None:
        raise ExportError(
            f"ground {ground} has no kinematics with odometry_noise, which {target} is written from; compare models on a drive "
            f"of this ground, and add them to the twin"
        )
    return kinematics.odometry_noise


def pose_variances(noise: OdometryNoise) -> list[float] | None:
    """Diagonal x, y, z, roll, pitch, yaw after the horizon; x and y are the world's, so both have the mean of ahead and left."""
    if noise.ahead_m is None or noise.left_m is None or noise.heading_rad is None:
        return None
    place = 0.5 * (noise.ahead_m**2 + noise.left_m**2)
    return [place, place, NOT_TOLD, NOT_TOLD, NOT_TOLD, noise.heading_rad**2]


def twist_variances(noise: OdometryNoise) -> list[float] | None:
    """The same of the velocities: errors last for longer than a window, so each is its window's error over the horizon."""
    if noise.ahead_m is None or noise.left_m is None or noise.heading_rad is None:
        return None
    ahead, left, yaw = ((std / noise.horizon_s) ** 2 for std in (noise.ahead_m, noise.left_m, noise.heading_rad))
    return [ahead, left, NOT_TOLD, NOT_TOLD, NOT_TOLD, yaw]


def double(value: float, digits: int = 4) -> str:
    """A number that YAML and ROS read as a double: with a point, also before an exponent."""
    text = f"{value:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + e + exponent


def doubles(values: list[float]) -> str:
    """A list of such numbers."""
    return f"[{', '.join(double(value) for value in values)}]"
