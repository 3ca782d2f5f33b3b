"""A twin as parameters of ROS 2's diff_drive_controller: geometry, and the multipliers that stand for slip.

The controller knows no slip; a wider track in its place makes a skid-steer robot turn as told. In a steady spin on the spot

    wheel_separation_multiplier = omega_t / omega = 1 + (l^2 c_long / c_lat) / b^2        (`contact.wheel_slip.spin_yaw_rate`)

Symbols    b, l half track, and root mean square distance of the axles from their middle
Reference  [Trimble2022] eq. (3)
Valid for  slow spins and arcs below Coulomb's limit; a centre of mass beside the wheels' centre acts with the square of the speed
"""

import json

import numpy as np

from slipfit.calibrate.spin_test import SpinGeometry
from slipfit.contact.wheel_slip import spin_yaw_rate
from slipfit.errors import ExportError
from slipfit.export.bodies import wheel_names
from slipfit.export.ledger import Entry, Ledger, heading, ledger
from slipfit.export.origin import origin
from slipfit.export.record import Export, Settings
from slipfit.export.surface import wheel_slip_surface
from slipfit.library.files import nearest
from slipfit.library.parameter import Parameter
from slipfit.twin import FittedParameter, Twin
from slipfit.twin.fitted_ground import factors

TARGET = "ros2-control"
ABOUT = "parameters of ROS 2's diff_drive_controller"

_DRAWS = 4000
_SEED = 1
_NORMAL_90 = 1.645  # standard deviations on either side that hold 90 %


def export_ros2_control(twin: Twin, ground: str | None = None, settings: Settings | None = None) -> Export:
    """The YAML file; intervals stand as comments beside the numbers."""
    settings = settings or Settings()
    name = twin.ground_name(ground)
    contact = wheel_slip_surface(twin, name, TARGET)
    assert contact.c_long_per_n
    assert contact.c_lat_per_n
    robot, joints = twin.robot, _joints(twin, settings)
    multiplier = separation_multiplier(twin, contact.c_lat_per_n / contact.c_long_per_n)
    held = _interval(twin, name)
    book = _entries(twin, held) + Ledger(
        tuple(e for e in contact.ledger.entries if not e.what.startswith("mu "))
    )  # not in the file
    told = "the twin has no spread" if held is None else f"90 %: {held[0]:.4f} to {held[1]:.4f}"
    names = list(joints.values())
    rows = [
        *(f"# {line}".rstrip() for line in heading(origin(twin, name, ABOUT), book)),
        "controller_manager:",
        "  ros__parameters:",
        "    update_rate: 100  # Hz",
        "    joint_state_broadcaster:",
        "      type: joint_state_broadcaster/JointStateBroadcaster",
        "    diff_drive_controller:",
        "      type: diff_drive_controller/DiffDriveController",
        "",
        "diff_drive_controller:",
        "  ros__parameters:",
        f"    left_wheel_names: [{', '.join(_quoted(n) for n in names[::2])}]",
        f"    right_wheel_names: [{', '.join(_quoted(n) for n in names[1::2])}]",
        f"    wheel_separation: {robot.track_m!r}  # m{_source(robot.wheels.at_m.source)}",
        f"    wheel_radius: {robot.wheels.radius_m.value!r}  # m{_spread(robot.wheels.radius_m)}",
        f"    wheel_separation_multiplier: {round(multiplier, 6)!r}  # {told}",
        "    left_wheel_radius_multiplier: 1.0  # no slip ahead in a steady straight drive",
        "    right_wheel_radius_multiplier: 1.0",
    ]
    return Export(TARGET, robot.name, name, ".yaml", "\n".join(rows) + "\n", book)


def separation_multiplier(twin: Twin, c_lat_over_c_long: float | np.ndarray) -> float:
    """How much wider than the track the controller must take the robot, in a steady spin."""
    g = SpinGeometry.of(twin.robot)
    rate = spin_yaw_rate(1.0, c_lat_over_c_long, g.half_track_m, g.half_wheelbase_m)
    return 1.0 / rate  # type: ignore[no-any-return]


def _interval(twin: Twin, ground: str) -> tuple[float, float] | None:
    """90 % of the multiplier: from the ratio's own interval, which drives tell best, or from draws of both constants."""
    ratio = next((p for key, p in twin.grounds[ground].combinations.items() if _is_ratio(key)), None)
    ends = None if ratio is None else _ends(ratio)
    if ends is None:
        drawn = twin.draws(_DRAWS, _SEED, ground)
        values = twin.ground(ground).values()
        if not {"c_long_per_n", "c_lat_per_n"} & set(drawn):
            return None
        along, across = (drawn.get(key, np.full(_DRAWS, values[key])) for key in ("c_long_per_n", "c_lat_per_n"))
        ratios = across / np.maximum(along, 1e-12)
        ends = tuple(np.quantile(ratios, (0.05, 0.95)))
    low, high = max(ends[0], 1e-6), ends[1]
    return float(separation_multiplier(twin, high)), float(separation_multiplier(twin, low))


def _is_ratio(key: str) -> bool:
    return {name.removesuffix("_per_n"): power for name, power in factors(key).items()} == {"c_lat": 1, "c_long": -1}


def _ends(p: FittedParameter) -> tuple[float, float] | None:
    if p.interval_90 is not None:
        return p.interval_90
    return None if p.value is None or not p.std else (p.value - _NORMAL_90 * p.std, p.value + _NORMAL_90 * p.std)


def _joints(twin: Twin, settings: Settings) -> dict[str, str]:
    """Joint names by the twin's wheels, in its order."""
    names = wheel_names(twin.robot)
    given = settings.wheels or {}
    for wheel in given:
        if wheel not in names:
            raise ExportError(f"the twin has no wheel '{wheel}'; {nearest(wheel, names)}")
    return {name: given.get(name, f"{name}_wheel_joint") for name in names}


def _entries(twin: Twin, held: tuple[float, float] | None) -> Ledger:
    power = twin.powertrain
    gains = power is not None and any(side.setpoint_per_radps is not None for side in (power.left, power.right))
    x, y, _ = twin.robot.centre_of_mass_m.value
    return ledger(
        Entry(
            "slip",
            "the controller has none; a wider track stands for it, exact in slow spins on this ground, not in fast arcs",
            "calibrate and export anew for another floor or load",
        ),
        Entry("interval", "the twin gives no spread of its constants", "calibrate from a log") if held is None else None,
        Entry("centre of mass", f"{x:g}, {y:g} m beside the wheels' centre: in fast spins the robot drifts, which is left out")
        if x or y
        else None,
        Entry(
            "gains of the motors",
            "the twin's gains are left out: as radius multipliers they would falsify the odometry of encoders",
            "correct them in the driver",
        )
        if gains
        else None,
    )


def _quoted(name: str) -> str:
    return json.dumps(name)  # a JSON string is a YAML string


def _source(source: str) -> str:
    return f", {' '.join(source.split())}" if source else ""


def _spread(p: Parameter) -> str:
    return (f", +- {p.std:g}" if p.std else "") + _source(p.source)
