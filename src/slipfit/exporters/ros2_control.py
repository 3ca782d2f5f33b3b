"""A twin as parameters of ROS 2's diff_drive_controller: geometry, and the multipliers that stand for slip.

The controller knows no slip; a wider track in its place makes a skid-steer robot turn as told. In a steady spin on the spot

    wheel_separation_multiplier = omega_t / omega = 1 + (l^2 c_long / c_lat) / b^2        (`contact.wheel_slip.spin_yaw_rate`)

Wheels that would carry more than Coulomb's mu N slide, and the moments of what is left balance:

    sum_i b F_long = sum_i |x_i| F_lat,i,    F_long = (1 - q) / c_long,    F_lat,i = q |x_i| / (b c_lat),    q = omega / omega_t,

each force limited as the law does, by a pyramid or a cone.

Where a ground has kinematics, its effective track and gain are what drives told directly, and stand in place of the law's:

    wheel_separation_multiplier = effective track / track,    wheel radius multipliers = gain

Symbols    b, l half track, and root mean square distance of the axles from their middle · x_i a wheel's place ahead of it
Reference  [Trimble2022] eq. (3)
Valid for  slow spins and arcs; a centre of mass beside the wheels' centre acts with the square of the speed, and where wheels
           slide it shifts the centre of rotation, which is left out
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from slipfit.calibration.spin_test import SpinGeometry
from slipfit.contact.wheel_slip import spin_forces, spin_yaw_rate
from slipfit.errors import ExportError, ParameterError
from slipfit.exporters.bodies import wheel_names, wheels_at_rest
from slipfit.exporters.ledger import Entry, Ledger, heading, ledger
from slipfit.exporters.odometry import doubles, pose_variances, twist_variances
from slipfit.exporters.origin import origin
from slipfit.exporters.record import Export, Settings
from slipfit.exporters.surface import Surface, wheel_slip_surface
from slipfit.library.files import nearest
from slipfit.library.parameter import Parameter
from slipfit.twin import FittedKinematics, FittedParameter, OdometryNoise, SkidSteerTwin
from slipfit.twin.fitted_ground import factors

TARGET = "ros2-control"
ABOUT = "parameters of ROS 2's diff_drive_controller"

Numbers = float | np.ndarray

_DRAWS = 4000
_SEED = 1
_HALVINGS = 60  # to the last bit
_NORMAL_90 = 1.645  # standard deviations on either side that hold 90 %


@dataclass(frozen=True, slots=True)
class _Multipliers:
    """What the controller is told about one ground, with 90 % intervals where the twin has them."""

    separation: float
    held: tuple[float, float] | None
    radius: float
    radius_held: tuple[float, float] | None
    noise: OdometryNoise | None
    ledger: Ledger

    def rows(self) -> Iterator[str]:
        """Lines of the file, without their indentation."""
        yield f"wheel_separation_multiplier: {round(self.separation, 6)!r}  # {_told(self.held)}"
        straight = (
            "no slip ahead in a steady straight drive" if self.noise is None and self.radius == 1.0 else _told(self.radius_held)
        )
        yield f"left_wheel_radius_multiplier: {round(self.radius, 6)!r}  # {straight}"
        yield f"right_wheel_radius_multiplier: {round(self.radius, 6)!r}"
        pose, twist = (None, None) if self.noise is None else (pose_variances(self.noise), twist_variances(self.noise))
        if self.noise is not None and pose is not None and twist is not None:
            yield f"pose_covariance_diagonal: {doubles(pose)}  # after {self.noise.horizon_s:g} s"
            yield f"twist_covariance_diagonal: {doubles(twist)}"


def export_ros2_control(twin: SkidSteerTwin, ground: str | None = None, settings: Settings | None = None) -> Export:
    """The YAML file; intervals stand as comments beside the numbers, and other grounds of the twin below, commented out."""
    settings = settings or Settings()
    name = twin.ground_name(ground)
    robot, joints = twin.robot, _joints(twin, settings)
    found = _multipliers(twin, name)
    others = [other for other in twin.grounds if other != name]
    book = found.ledger + ledger(
        Entry(
            "ground",
            f"the numbers are those of {name}; {', '.join(others)} below, as comments",
            "uncomment those of the floor that you drive on",
        )
        if others
        else None
    )
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
        *([f"    # ground {name}"] if others else []),
        *(f"    {row}" for row in found.rows()),
        *(f"    # {row}" for other in others for row in _other_rows(twin, other)),
    ]
    return Export(TARGET, robot.name, name, ".yaml", "\n".join(rows) + "\n", book)


def _other_rows(twin: SkidSteerTwin, ground: str) -> Iterator[str]:
    """The same lines of another ground; one that the controller cannot be told says why."""
    yield f"ground {ground}"
    try:
        yield from _multipliers(twin, ground).rows()
    except (ExportError, ParameterError) as error:
        yield str(error).encode("ascii", "replace").decode("ascii")


def _multipliers(twin: SkidSteerTwin, ground: str) -> _Multipliers:
    """From what drives told directly, or from the law's constants."""
    kinematics = twin.grounds[ground].kinematics
    if kinematics is None:
        return _of_law(twin, ground)
    if kinematics.effective_track_m.value is None:
        raise ExportError(f"ground {ground}: the drive did not tell the effective track; spin and drive arcs, and compare anew")
    return _of_kinematics(twin, kinematics)


def _of_kinematics(twin: SkidSteerTwin, found: FittedKinematics) -> _Multipliers:
    """Of the track in the robot's file, whichever track the drives were compared with."""
    separation, gain = found.effective_track_m.scaled(1.0 / twin.robot.track_m), found.gain
    assert separation.value is not None
    held, noise = _ends(separation), found.odometry_noise
    book = ledger(
        Entry(
            "slip",
            "the controller has none; effective track and gain stand for it, the best over the drive, not exact in each curve",
            "calibrate and export anew for another floor or load",
        ),
        Entry(
            "model of the drive",
            f"the drive asked for '{found.rung}', which tells more than the controller can be told",
            "the covariances hold what is left",
        )
        if found.rung not in ("ideal", "track and gain")
        else None,
        Entry("interval", "the twin gives no spread of its track", "calibrate from a log") if held is None else None,
        Entry("wheel radius", "the drive does not tell the gain", "log poses, and drive straight")
        if gain.value is None
        else None,
        Entry("covariances", "the drive does not tell the place's errors", "log poses")
        if noise is None or pose_variances(noise) is None
        else None,
    )
    radius = 1.0 if gain.value is None else gain.value
    return _Multipliers(separation.value, held, radius, None if gain.value is None else _ends(gain), noise, book)


def _of_law(twin: SkidSteerTwin, name: str) -> _Multipliers:
    """A steady spin with the law's constants."""
    contact = wheel_slip_surface(twin, name, TARGET)
    assert contact.c_long_per_n
    assert contact.c_lat_per_n
    multiplier = separation_multiplier(twin, contact.c_lat_per_n / contact.c_long_per_n)
    sliding = _sliding(twin, contact, multiplier)
    if sliding is None:
        held = _interval(twin, name)
    else:
        multiplier = float(sliding_multiplier(twin, contact, contact.c_long_per_n, contact.c_lat_per_n, contact.mu_long))
        held = _sliding_interval(twin, name, contact)
    # mu is not in the file, and has a say only where wheels slide; how a pyramid differs from a cone is engines' affair.
    kept = [e for e in contact.ledger.entries if e.what != "friction cone" and (sliding or not e.what.startswith("mu "))]
    return _Multipliers(multiplier, held, 1.0, None, None, ledger(sliding) + _entries(twin, held) + Ledger(tuple(kept)))


def _told(held: tuple[float, float] | None) -> str:
    return "the twin has no spread" if held is None else f"90 %: {held[0]:.4f} to {held[1]:.4f}"


def separation_multiplier(twin: SkidSteerTwin, c_lat_over_c_long: float | np.ndarray) -> float:
    """How much wider than the track the controller must take the robot, in a steady spin."""
    g = SpinGeometry.of(twin.robot)
    rate = spin_yaw_rate(1.0, c_lat_over_c_long, g.half_track_m, g.half_wheelbase_m)
    return 1.0 / rate  # type: ignore[no-any-return]


def sliding_multiplier(twin: SkidSteerTwin, contact: Surface, c_long: Numbers, c_lat: Numbers, mu: Numbers) -> Numbers:
    """The same for wheels that slide, by halving: the moment that turns the robot falls with its yaw rate."""
    g, at = SpinGeometry.of(twin.robot), np.array(twin.robot.wheels.at_m.value)
    arms = np.abs(at[:, 0] - at[:, 0].mean())
    most = np.multiply.outer(mu, [wheel.load_n for wheel in wheels_at_rest(twin.robot, contact.gravity_mps2)])
    along, across = np.asarray(c_long)[..., None], np.asarray(c_lat)[..., None]
    low, high = np.zeros(np.shape(c_long)), np.ones(np.shape(c_long))
    for _ in range(_HALVINGS):
        q = 0.5 * (low + high)
        f_long, f_lat = (1.0 - q[..., None]) / along, q[..., None] * arms / (g.half_track_m * across)
        if contact.law == "wheel_slip_cone":
            share = np.minimum(1.0, most / np.maximum(np.hypot(f_long, f_lat), 1e-30))
            f_long, f_lat = share * f_long, share * f_lat
        else:
            f_long, f_lat = np.minimum(f_long, most), np.minimum(f_lat, most)
        turns = (g.half_track_m * f_long - arms * f_lat).sum(axis=-1) > 0.0
        low, high = np.where(turns, q, low), np.where(turns, high, q)
    return 2.0 / (low + high)


def _sliding(twin: SkidSteerTwin, contact: Surface, multiplier: float) -> Entry | None:
    """Whether a spin asks more of a wheel than Coulomb's limit holds. The farthest axle and the least load come first."""
    assert contact.c_long_per_n
    assert contact.c_lat_per_n
    g, at = SpinGeometry.of(twin.robot), np.array(twin.robot.wheels.at_m.value)
    farthest = float(np.abs(at[:, 0] - at[:, 0].mean()).max())
    f_long, f_lat = spin_forces(1.0, 1.0 / multiplier, contact.c_long_per_n, contact.c_lat_per_n, g.half_track_m, farthest)
    asked = np.hypot(f_long, f_lat) if contact.law == "wheel_slip_cone" else max(f_long, f_lat)
    holds = contact.mu_long * min(wheel.load_n for wheel in wheels_at_rest(twin.robot, contact.gravity_mps2))
    if asked <= holds:
        return None
    return Entry(
        "Coulomb's limit",
        f"a spin would ask {asked:.3g} N of a wheel, mu N = {holds:.3g} N: wheels slide, and the multiplier is that of a spin on "
        f"the spot in which they do (of slip alone: {multiplier:.4f})",
        "check mu with 'slipfit friction'",
    )


def _sliding_interval(twin: SkidSteerTwin, ground: str, contact: Surface) -> tuple[float, float] | None:
    """90 % of the multiplier of sliding wheels, from draws of all constants."""
    drawn, values = twin.draws(_DRAWS, _SEED, ground), twin.ground(ground).values()
    keys = ("c_long_per_n", "c_lat_per_n", "mu")
    if not set(keys) & set(drawn):
        return None
    c_long, c_lat, mu = (np.maximum(drawn.get(key, np.full(_DRAWS, values.get(key, contact.mu_long))), 1e-12) for key in keys)
    low, high = np.quantile(sliding_multiplier(twin, contact, c_long, c_lat, mu), (0.05, 0.95))
    return float(low), float(high)


def _interval(twin: SkidSteerTwin, ground: str) -> tuple[float, float] | None:
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


def _joints(twin: SkidSteerTwin, settings: Settings) -> dict[str, str]:
    """Joint names by the twin's wheels, in its order."""
    names = wheel_names(twin.robot)
    given = settings.wheels or {}
    for wheel in given:
        if wheel not in names:
            raise ExportError(f"the twin has no wheel '{wheel}'; {nearest(wheel, names)}")
    return {name: given.get(name, f"{name}_wheel_joint") for name in names}


def _entries(twin: SkidSteerTwin, held: tuple[float, float] | None) -> Ledger:
    power = twin.powertrain
    gains = power is not None and any(side.setpoint_per_radps is not None for side in (power.left, power.right))
    g = SpinGeometry.of(twin.robot)
    return ledger(
        Entry(
            "slip",
            "the controller has none; a wider track stands for it, exact in slow spins on this ground, not in fast arcs",
            "calibrate and export anew for another floor or load",
        ),
        Entry("interval", "the twin gives no spread of its constants", "calibrate from a log") if held is None else None,
        Entry(
            "centre of mass",
            f"{_mm(g.offset_x_m)}, {_mm(g.offset_y_m)} m beside the wheels' centre: in fast spins the robot drifts, which is "
            "left out",
        )
        if _mm(g.offset_x_m) or _mm(g.offset_y_m)
        else None,
        Entry(
            "gains of the motors",
            "the twin's gains are left out: as radius multipliers they would falsify the odometry of encoders",
            "correct them in the driver",
        )
        if gains
        else None,
    )


def _mm(length_m: float) -> float:
    """Without what rounding leaves."""
    return round(length_m, 6) + 0.0


def _quoted(name: str) -> str:
    return json.dumps(name)  # a JSON string is a YAML string


def _source(source: str) -> str:
    return f", {' '.join(source.split())}" if source else ""


def _spread(p: Parameter) -> str:
    return (f", +- {p.std:g}" if p.std else "") + _source(p.source)
