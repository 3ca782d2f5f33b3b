"""Names of channels and their columns, said here once. SI and radians, REP 103 axes; a column's name ends in its unit.

Wheels are numbered from 0 in the order of the robot's file: front-left, front-right, rear-left, rear-right. A robot that
tells only its sides has `left` and `right` instead.
"""

from collections.abc import Sequence

ENCODERS, COMMANDS, IMU, POSE, ODOMETRY = "encoders", "commands", "imu", "pose", "odometry"
GNSS, MOTORS, BATTERY, DRAWBAR, SEGMENTS = "gnss", "motors", "battery", "drawbar", "segments"

#: What each channel tells; other channels may have any name.
ABOUT = {
    ENCODERS: "angle, speed or ticks of each wheel or side",
    COMMANDS: "what the robot was told: body velocity, or speeds of wheels or sides",
    IMU: "specific force and turning rate, in the IMU's axes; its orientation where it gives one",
    POSE: "where the robot was, by something better than its wheels",
    ODOMETRY: "where the robot believed to be, and its body velocity",
    GNSS: "latitude, longitude, altitude; metres east and north of the first fix",
    MOTORS: "current and voltage of each motor or side",
    BATTERY: "voltage and current of the supply",
    DRAWBAR: "force on the drawbar, positive when the robot pulls forward",
    SEGMENTS: "number of the piece of the recording; the pose starts anew with each",
}

IMU_COLUMNS = ("accel_x_mps2", "accel_y_mps2", "accel_z_mps2", "gyro_x_radps", "gyro_y_radps", "gyro_z_radps")
ORIENTATION_COLUMNS = ("orientation_x", "orientation_y", "orientation_z", "orientation_w")
POSE_COLUMNS = ("x_m", "y_m", "yaw_rad")
ODOMETRY_COLUMNS = (*POSE_COLUMNS, "vx_mps", "vy_mps", "yaw_rate_radps")
GNSS_COLUMNS = ("latitude_rad", "longitude_rad", "altitude_m", "x_m", "y_m")
COMMAND_COLUMNS = ("v_mps", "yaw_rate_radps")
OMNI_COMMAND_COLUMNS = ("v_mps", "vy_mps", "yaw_rate_radps")
BATTERY_COLUMNS = ("voltage_v", "current_a")
DRAWBAR_COLUMNS = ("force_n",)
SEGMENT_COLUMNS = ("index",)

SIDES = ("left", "right")

#: Endings of column names and the units they stand for, as pint writes them.
UNITS = {
    "m": "m",
    "rad": "rad",
    "s": "s",
    "mps": "m/s",
    "radps": "rad/s",
    "mps2": "m/s**2",
    "a": "A",
    "v": "V",
    "n": "N",
    "nm": "N*m",
    "ticks": "count",
}

_WHEEL = {"angle": "wheel_angle_{}_rad", "speed": "wheel_speed_{}_radps", "ticks": "wheel_{}_ticks"}
_SIDE = {"angle": "{}_angle_rad", "speed": "{}_speed_radps", "ticks": "{}_ticks"}
_MOTOR = {"current": "{}_current_a", "voltage": "{}_voltage_v"}


def wheel_columns(quantity: str, count: int) -> tuple[str, ...]:
    """Columns of all wheels: `angle`, `speed` or `ticks`."""
    return tuple(_WHEEL[quantity].format(k) for k in range(count))


def side_column(quantity: str, side: str) -> str:
    """Column of one side: `angle`, `speed` or `ticks`."""
    return _SIDE[quantity].format(side)


def rotation_columns(quantities: Sequence[str], wheels: int) -> tuple[str, ...]:
    """Columns of a channel that tells one or more quantities of all wheels, or of both sides when `wheels` is 0."""
    if wheels:
        return tuple(name for quantity in quantities for name in wheel_columns(quantity, wheels))
    return tuple(side_column(quantity, side) for quantity in quantities for side in SIDES)


def motor_column(quantity: str, motor: int | str) -> str:
    """Column of one motor, by the number of its wheel or by its side: `current` or `voltage`."""
    return _MOTOR[quantity].format(motor if isinstance(motor, str) else f"wheel_{motor}")


def unit_of_column(name: str) -> str:
    """Unit at the end of a column's name, as pint writes it; empty where there is none."""
    return UNITS.get(name.rsplit("_", 1)[-1], "") if "_" in name else ""
