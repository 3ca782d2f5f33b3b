"""A twin as a MuJoCo model (MJCF): wheel_slip by contacts whose friction is regularised and damped.

A friction row with regularisation R and damping b slides with compliance R / b, and R goes with 1 / friction^2. So

    friction_long / friction_lat = sqrt(c_lat / c_long),    b = R_lat / (n c_lat |w|),    R_lat = (1 - d) / d · W / impratio

give wheel_slip at the rim speed w. The file has b for one speed; `mjcf_updater`, which is written beside it, sets b before each
step and makes it exact.

with the impedance d at which b is 1 / step, the shortest lag that is stable.

Symbols    n contacts of a wheel, 2 for a capsule · d impedance · W inverse weight of the wheel's body (MuJoCo's body_invweight0)
Reference  MuJoCo documentation, "Computation", for R, b, d and W; the recipe is ours, docs/howto/export
Valid for  rim speeds at which omega << b <= 1 / step
"""

import math
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from slipfit.exporters.bodies import Bodies, Wheel, bodies
from slipfit.exporters.ledger import Entry, Ledger, heading, ledger
from slipfit.exporters.origin import origin
from slipfit.exporters.record import Export, Settings
from slipfit.exporters.surface import Surface, wheel_slip_surface
from slipfit.exporters.xml_text import comment, element, number, numbers
from slipfit.library import SkidSteerRobot
from slipfit.twin import SkidSteerTwin

TARGET = "mjcf"
ABOUT = "MuJoCo model (MJCF) with a Python updater"

#: Slip follows forces with a lag of 1 / b, and contacts that are too hard let go when commands jump. With these a P3AT, a Husky
#: and a Jackal stay within 0.3 % and 0.8 degrees of the twin over 20 s; at an impratio of 0.005 with an impedance of 0.9 the lag
#: makes c_long 16 % too large.
IMPEDANCE = 0.5
IMPRATIO = 0.0005
MOST_IMPEDANCE = 0.9999  # MuJoCo's own bound
CAPSULE_HALF_LENGTH_M = 0.0005  # a sphere has no axle, its friction directions would not be the wheel's
CONTACTS = 2  # both ends of the capsule
#: Gain of the servos, over inertia about the axle / step: an explicit integrator is stable below 2. An implicit one would allow
#: more, but the solver of contacts does not know that such a servo gives way: slip then runs ahead by gain steps, and wheels
#: chatter. A soft servo sags; a rotor (armature) of this share of the robot's m R^2 / n makes it stiffer, the updater lifts it.
SERVO_GAIN = 0.9
LEAST_INERTIA_SHARE = 0.5


def export_mjcf(twin: SkidSteerTwin, ground: str | None = None, settings: Settings | None = None) -> Export:
    """The model, and the updater beside it."""
    settings = settings or Settings()
    name = twin.ground_name(ground)
    contact = wheel_slip_surface(twin, name, TARGET)
    parts = bodies(twin.robot, contact.gravity_mps2)
    servo = Servo.of(twin.robot, parts, settings.step_s)
    book = _entries(twin, parts, contact, servo, settings) + contact.ledger + parts.ledger
    content = [
        comment(heading(origin(twin, name, ABOUT), book)),
        element("compiler", angle="radian", autolimits="true"),
        element(
            "option",
            timestep=settings.step_s,
            gravity=numbers((0.0, 0.0, -contact.gravity_mps2)),
            integrator="Euler",
            cone="elliptic",
            impratio=IMPRATIO,
        ),
        _constants(contact, settings),
        element("worldbody", [_floor(), _light(), _base(twin, parts, servo)]),
        element("contact", [_pair(wheel, k, parts, contact, servo, settings) for k, wheel in enumerate(parts.wheels)]),
        element("actuator", [_servo(wheel, servo) for wheel in parts.wheels]),
    ]
    text = element("mujoco", content, model=twin.robot.name) + "\n"
    return Export(TARGET, twin.robot.name, name, ".xml", text, book, beside={"_updater.py": updater_text()})


def updater_text() -> str:
    """The stand-alone updater: the text of `mjcf_updater`, which imports nothing of slipfit."""
    return files("slipfit.exporters").joinpath("mjcf_updater.py").read_text(encoding="utf-8")


def inverse_weight(parts: Bodies, wheel: int, rotor_kgm2: float) -> float:
    """Of a wheel over impratio, W / impratio, so that R_lat of its contacts is (1 - d) / d times it:

        W = trace(A) / 3,    A = 1/m 1 - [p] I^-1 [p],    [p] the cross product with p

    Symbols    p the wheel's centre from the common centre of mass · I inertia of the robot about it, wheels free to turn
    """
    masses = np.array([parts.base_mass_kg, *[parts.wheel_mass_kg] * len(parts.wheels)])
    places = np.array([parts.base_centre_m, *[(w.x_m, w.y_m, parts.radius_m) for w in parts.wheels]])
    centre = masses @ places / masses.sum()
    inertia = np.array(parts.base_inertia_kgm2)
    for mass, place in zip(masses, places - centre, strict=True):
        inertia += mass * (place @ place * np.eye(3) - np.outer(place, place))
    tilt = parts.wheel_tilt_inertia_kgm2
    # A free wheel does not turn with the base's pitch; one with a rotor does, a little.
    spin = parts.wheel_spin_inertia_kgm2
    inertia += len(parts.wheels) * np.diag([tilt, spin * rotor_kgm2 / (spin + rotor_kgm2), tilt])
    cross = np.cross(np.eye(3), places[1 + wheel] - centre)
    moved = np.eye(3) / masses.sum() + cross @ np.linalg.solve(inertia, cross.T)
    return float(np.trace(moved) / 3.0 / IMPRATIO)


def softness(weight: float, compliance: float, step_s: float) -> tuple[float, float]:
    """Impedance d and damping b at which a contact slides with a compliance R / b: b is 1 / step where R can be small enough for
    it, and less below the least impedance."""
    d = min(max(weight / (weight + compliance / step_s), IMPEDANCE), MOST_IMPEDANCE)
    regular = (1.0 - d) / d * weight
    return d, regular / max(compliance, regular * step_s)


@dataclass(frozen=True, slots=True)
class Servo:
    """A motor that follows a speed.

    The rotor takes torque when speeds change; the limit is raised so that robots speed up as the twin's at its limit,

        tau' / tau = (m + n (J + rotor) / R^2) / (m + n J / R^2)
    """

    rotor_kgm2: float
    gain_nms: float
    limit_nm: float

    @classmethod
    def of(cls, robot: SkidSteerRobot, parts: Bodies, step_s: float) -> "Servo":
        own, n, r2 = parts.wheel_spin_inertia_kgm2, len(parts.wheels), parts.radius_m**2
        mass = robot.mass_kg.value
        about_axle = max(own, LEAST_INERTIA_SHARE * mass * r2 / n)
        more = (mass + n * about_axle / r2) / (mass + n * own / r2)
        return cls(about_axle - own, SERVO_GAIN * about_axle / step_s, parts.torque_limit_nm * more)


def _frictions(contact: Surface) -> tuple[float, float]:
    """Across and along the wheel, in the ratio that the compliances ask for, none below the twin's mu."""
    assert contact.c_long_per_n
    assert contact.c_lat_per_n
    ratio = math.sqrt(contact.c_lat_per_n / contact.c_long_per_n)
    across = contact.mu_lat * max(1.0, 1.0 / ratio)
    return across, across * ratio


def _entries(twin: SkidSteerTwin, parts: Bodies, contact: Surface, servo: Servo, settings: Settings) -> Ledger:
    assert contact.c_lat_per_n
    rim_mps = settings.at_speed_mps
    across, along = _frictions(contact)
    side = math.sin(math.radians(10.0)) * twin.robot.mass_kg.value * contact.gravity_mps2 / len(parts.wheels)
    slower = servo.limit_nm / servo.gain_nms
    lag = (
        f"soft: without the updater, which makes up for it, a wheel at its torque limit of {servo.limit_nm:.4g} N m turns "
        f"{slower:.2g} rad/s slower than told"
    )
    rotor = (
        f"each wheel has a rotor (armature) of {servo.rotor_kgm2:.4g} kg m2, which lets its servo be stiffer; the torque "
        f"limit is raised from {parts.torque_limit_nm:.4g} N m to feed it, so that robots speed up as the twin's; at a "
        "standstill it pushes harder"
    )
    creep_mps = contact.c_lat_per_n * rim_mps * side
    return ledger(
        Entry(
            "slip without the updater",
            f"the ratio of the constants holds, their size at a rim speed of {rim_mps:g} m/s only: elsewhere slip is as "
            f"large as at that speed, and a robot parked on a side slope of 10 degrees creeps at {creep_mps:.2g} m/s",
            "step with SlipUpdater of the file beside this one",
        ),
        Entry(
            "friction limit",
            f"{across:.4g} across and {along:.4g} along the wheel, an ellipse: the ratio is bound to sqrt(c_lat / c_long); "
            f"the twin has mu = {contact.mu_long:.4g} in both",
            "do not trust a wheel that slides along itself",
        ),
        Entry("servos", lag, "take the measured wheel speed as the target when comparing"),
        Entry("rotors", rotor) if servo.rotor_kgm2 > 0.0 else None,
        Entry("wheels", f"capsules of {2e3 * CAPSULE_HALF_LENGTH_M:g} mm, which touch the floor only; the body touches nothing"),
    )


# --- elements --------------------------------------------------------------------------------------------------------


def _constants(contact: Surface, settings: Settings) -> str:
    told = {
        "slipfit_c_long_per_n": contact.c_long_per_n or 0.0,
        "slipfit_c_lat_per_n": contact.c_lat_per_n or 0.0,
        "slipfit_at_speed_mps": settings.at_speed_mps,
        "slipfit_least_impedance": IMPEDANCE,
        "slipfit_step_s": settings.step_s,
    }
    return element("custom", [element("numeric", name=key, data=value) for key, value in told.items()])


def _floor() -> str:
    return element("geom", name="floor", type="plane", size="0 0 1", contype="0", conaffinity="0")


def _light() -> str:
    return element("light", pos="0 0 5", dir="0 0 -1", directional="true")


def _base(twin: SkidSteerTwin, parts: Bodies, servo: Servo) -> str:
    r, (x, y, z), m = parts.radius_m, parts.base_centre_m, parts.base_inertia_kgm2
    full = numbers((m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2]))
    robot = twin.robot
    half = numbers((0.5 * robot.wheelbase_m + r, 0.5 * max(robot.track_m - parts.width_m, 0.5 * robot.track_m), 0.75 * r))
    place = numbers((0.0, 0.0, 0.25 * r))
    shape = element(
        "geom", name="base", type="box", size=half, pos=place, contype="0", conaffinity="0", mass="0", rgba="0.7 0.2 0.2 1"
    )
    inertial = element("inertial", pos=numbers((x, y, z - r)), mass=parts.base_mass_kg, fullinertia=full)
    wheels = [_wheel(wheel, parts, servo) for wheel in parts.wheels]
    return element(
        "body", [element("freejoint", name="base"), inertial, shape, *wheels], name="base_link", pos=numbers((0.0, 0.0, r))
    )


def _wheel(wheel: Wheel, parts: Bodies, servo: Servo) -> str:
    tilt, spin = parts.wheel_tilt_inertia_kgm2, parts.wheel_spin_inertia_kgm2
    size = numbers((parts.radius_m, CAPSULE_HALF_LENGTH_M))
    return element(
        "body",
        [
            element("joint", name=f"{wheel.name}_wheel_joint", axis="0 0 1", armature=servo.rotor_kgm2),
            element("inertial", pos="0 0 0", mass=parts.wheel_mass_kg, diaginertia=numbers((tilt, tilt, spin))),
            element("geom", name=f"{wheel.name}_wheel", type="capsule", size=size, contype="0", conaffinity="0", mass="0"),
        ],
        name=f"{wheel.name}_wheel",
        pos=numbers((wheel.x_m, wheel.y_m, 0.0)),
        zaxis="0 1 0",
    )


def _pair(wheel: Wheel, k: int, parts: Bodies, contact: Surface, servo: Servo, settings: Settings) -> str:
    across, along = _frictions(contact)
    compliance = CONTACTS * (contact.c_lat_per_n or 1.0) * settings.at_speed_mps
    d, b = softness(inverse_weight(parts, k, servo.rotor_kgm2), compliance, settings.step_s)
    return element(
        "pair",
        name=f"slip_{wheel.name}",
        geom1="floor",
        geom2=f"{wheel.name}_wheel",
        condim="3",
        friction=f"{number(across)} {number(along)} 0 0 0",
        solref=f"{number(4.0 * settings.step_s)} 1",
        solimp=f"{number(d)} {number(d)} 0.001 0.5 2",
        solreffriction=f"-1 {number(-b * d)}",
    )


def _servo(wheel: Wheel, servo: Servo) -> str:
    return element(
        "velocity",
        name=wheel.name,
        joint=f"{wheel.name}_wheel_joint",
        kv=servo.gain_nms,
        forcerange=numbers((-servo.limit_nm, servo.limit_nm)),
    )
