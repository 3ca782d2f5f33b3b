"""A twin as an SDF model for Gazebo: links, inertias, wheels with their slip, a drive; on request a world around it.

Wheel links stand with z along the axle, to the left: joints turn about `0 0 1`, and `<fdir1>0 0 1</fdir1>` ties the friction
directions to the wheel. `mu` and slip1 belong to fdir1, that is across the wheel; `mu2` and slip2 along it.
"""

import math

from slipfit.calibration.spin_test import SpinGeometry
from slipfit.exporters.bodies import Bodies, Wheel, bodies
from slipfit.exporters.dialects import Dialect
from slipfit.exporters.ledger import Entry, gravity_entry, heading, ledger
from slipfit.exporters.origin import origin
from slipfit.exporters.record import Export, Settings
from slipfit.exporters.surface import Surface, exact_compliances, fork_saturation_mu, surface
from slipfit.exporters.xml_text import comment, element, numbers
from slipfit.library import SkidSteerRobot
from slipfit.twin import SkidSteerTwin

#: Length of a thin wheel: two edge contacts this far apart change a spin by (half of it / half track)^2, 6e-6 for a P3AT.
THIN_WHEEL_M = 0.001

_AXLE = "0 0 1"  # in the frame of an exported wheel
_FREE_RAD = 1e16  # sdformat's "no limit"


def export_sdf(twin: SkidSteerTwin, dialect: Dialect, ground: str | None = None, settings: Settings | None = None) -> Export:
    """The whole model, or a world with it."""
    settings = settings or Settings()
    name = twin.ground_name(ground)
    contact = surface(twin, name, dialect.target)
    parts = bodies(twin.robot, contact.gravity_mps2)
    book = ledger(*slip_entries(twin.robot, contact, parts.wheels, dialect)) + contact.ledger + parts.ledger
    book += ledger(
        _name_entry(twin.robot),
        None if settings.world else gravity_entry(contact.gravity_mps2),
        *_model_entries(parts, dialect, settings),
    )
    model = _model(twin.robot, parts, contact, dialect, settings)
    inside = _world(model, contact, dialect, settings) if settings.world else model
    text = element("sdf", [comment(heading(origin(twin, name, dialect.about), book)), inside], version=dialect.sdf_version)
    declared = f'<?xml version="1.0"?>\n{text}\n'
    return Export(dialect.target, twin.robot.name, name, ".sdf", declared, book)


# --- what a patch of somebody's model needs too ----------------------------------------------------------------------


def friction_values(contact: Surface, axle: str = _AXLE) -> dict[str, str]:
    """Entries of <friction><ode>; fdir1 is the axle in the frame of the collision."""
    found = {"mu": repr(contact.mu_lat), "mu2": repr(contact.mu_long), "fdir1": axle}
    if contact.k_lat_mps_per_n is not None and contact.k_long_mps_per_n is not None:
        found |= {"slip1": repr(contact.k_lat_mps_per_n), "slip2": repr(contact.k_long_mps_per_n)}
    return found


def contact_values(settings: Settings | None = None) -> dict[str, str]:
    """Entries of <contact><ode>."""
    settings = settings or Settings()
    return {"kp": repr(settings.kp_n_per_m), "kd": repr(settings.kd_ns_per_m)}


def plugin_wheel(link: str, wheel: Wheel, contact: Surface, radius_m: float) -> str:
    """One wheel of the WheelSlip plugin: compliance / normal force is the twin's c to the last bit."""
    assert contact.c_long_per_n is not None
    assert contact.c_lat_per_n is not None
    force, along, across = exact_compliances(contact.c_long_per_n, contact.c_lat_per_n, wheel.load_n)
    values = {
        "slip_compliance_lateral": across,
        "slip_compliance_longitudinal": along,
        "wheel_normal_force": force,
        "wheel_radius": radius_m,
    }
    return element("wheel", [element(key, value) for key, value in values.items()], link_name=link)


def slip_entries(robot: SkidSteerRobot, contact: Surface, wheels: tuple[Wheel, ...], dialect: Dialect) -> list[Entry | None]:
    """What the slip of this target is not."""
    if not contact.slips_with_speed:
        return [None]
    least = min(wheel.load_n for wheel in wheels)
    forces = (
        "the load of each wheel at rest on level ground; only compliance / force = c acts, and c does not change with the load"
    )
    return [
        _saturation(robot, contact, least) if dialect.is_classic else _rigid_contacts(dialect),
        Entry("wheel_normal_force", forces, "for a payload: 'slipfit twin', then export again"),
    ]


def _saturation(robot: SkidSteerRobot, contact: Surface, least_load_n: float) -> Entry | None:
    c_long, c_lat = contact.c_long_per_n, contact.c_lat_per_n
    if not (c_long and c_lat):
        return None
    limit = fork_saturation_mu(c_long, c_lat, SpinGeometry.of(robot), least_load_n)
    state = "below" if contact.mu_long < limit else "above"
    return Entry(
        "friction cone of Gazebo Classic",
        f"its ODE limits each axis to mu N |v_i| / |v|, so with unequal compliances a spin on the spot saturates below mu* = "
        f"|v| / (|w| N min(c)) = {limit:.3g}; mu = {contact.mu_long:.3g} is {state} it; the pyramid, Classic's default, "
        "does not saturate",
        "keep <friction_model>pyramid_model</friction_model> in the world's solver",
    )


def _rigid_contacts(dialect: Dialect) -> Entry:
    return Entry(
        "kp and kd",
        f"they are for engines with soft contacts; {dialect.target}'s default engine (DART) takes contacts as rigid",
    )


# --- the model -------------------------------------------------------------------------------------------------------


def _model_entries(parts: Bodies, dialect: Dialect, settings: Settings) -> list[Entry | None]:
    shape = f"spheres of the wheel's radius, which reach {parts.radius_m:.3g} m to the side"
    if settings.wheel_shape == "thin":
        shape = f"cylinders of {1e3 * THIN_WHEEL_M:g} mm"
    wide = (
        f"the twin has one contact point per wheel; wheels of {1e3 * parts.width_m:g} mm would stand on two edges and turn worse"
    )
    drive = None
    if dialect.is_classic and len(parts.wheels) != 4:
        why = f"Classic's skid-steer plugin has four wheels, the robot {len(parts.wheels)}: there is no drive plugin in the file"
        drive = Entry("drive", why, "add libgazebo_ros_diff_drive.so with its num_wheel_pairs")
    return [
        drive,
        Entry("wheels", f"the collisions are {shape}: {wide}", "for obstacles beside the wheels give collisions to other links"),
        Entry("body", "a plain box between the wheels stands for the shape, which the twin does not know"),
        Entry("motors", f"joints follow the drive plugin up to {parts.torque_limit_nm:.4g} N m; lag and delay are not modelled"),
    ]


def _model(robot: SkidSteerRobot, parts: Bodies, contact: Surface, dialect: Dialect, settings: Settings) -> str:
    content = [_base(robot, parts)]
    for wheel in parts.wheels:
        content += [_wheel_link(wheel, parts, contact, settings), _joint(wheel, parts)]
    if contact.slips_with_speed:
        slips = [plugin_wheel(_link(wheel), wheel, contact, parts.radius_m) for wheel in parts.wheels]
        content.append(plugin(dialect.wheel_slip, slips))
    content.append(_drive(robot, parts, dialect))
    return element("model", content, name=_model_name(robot))


def _model_name(robot: SkidSteerRobot) -> str:
    """SDF keeps 'world' and names in double underscores for itself."""
    name = robot.name
    return f"robot_{name}" if name == "world" or (name.startswith("__") and name.endswith("__")) else name


def _name_entry(robot: SkidSteerRobot) -> Entry | None:
    name = _model_name(robot)
    return None if name == robot.name else Entry("name", f"the model is called {name}: SDF keeps '{robot.name}' for itself")


def plugin(names: tuple[str, str], content: list[str]) -> str:
    """A plugin block."""
    return element("plugin", content, filename=names[0], name=names[1])


def _link(wheel: Wheel) -> str:
    return f"{wheel.name}_wheel"


def _pose(x: float, y: float, z: float, roll: float = 0.0) -> str:
    return element("pose", numbers((x, y, z, roll, 0.0, 0.0)))


def _inertia(matrix: tuple[tuple[float, ...], ...]) -> str:
    pairs = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    return element("inertia", [element(key, matrix[i][j]) for key, (i, j) in pairs.items()])


def _base(robot: SkidSteerRobot, parts: Bodies) -> str:
    """The frame of base_link lies between the axles; its box fills the room between the wheels, above half a radius."""
    r, (x, y, z) = parts.radius_m, parts.base_centre_m
    size = numbers((robot.wheelbase_m + 2.0 * r, max(robot.track_m - parts.width_m, 0.5 * robot.track_m), 1.5 * r))
    box = element("geometry", [element("box", [element("size", size)])])
    lift = _pose(0.0, 0.0, 0.25 * r)
    inertial = [_pose(x, y, z - r), element("mass", parts.base_mass_kg), _inertia(parts.base_inertia_kgm2)]
    shape = [element(kind, [lift, box], name=f"base_{kind}") for kind in ("collision", "visual")]
    return element("link", [_pose(0.0, 0.0, r), element("inertial", inertial), *shape], name="base_link")


def _wheel_link(wheel: Wheel, parts: Bodies, contact: Surface, settings: Settings) -> str:
    r, tilt, spin = parts.radius_m, parts.wheel_tilt_inertia_kgm2, parts.wheel_spin_inertia_kgm2
    inertia = ((tilt, 0.0, 0.0), (0.0, tilt, 0.0), (0.0, 0.0, spin))
    cylinder = element("cylinder", [element("radius", r), element("length", THIN_WHEEL_M)])
    shape = element("sphere", [element("radius", r)]) if settings.wheel_shape == "sphere" else cylinder
    tyre = element("cylinder", [element("radius", r), element("length", parts.width_m)])
    friction = element("ode", [element(key, value) for key, value in friction_values(contact).items()])
    stiffness = element("ode", [element(key, value) for key, value in contact_values(settings).items()])
    surfaces = element("surface", [element("friction", [friction]), element("contact", [stiffness])])
    return element(
        "link",
        [
            _pose(wheel.x_m, wheel.y_m, r, roll=-math.pi / 2.0),
            element("inertial", [element("mass", parts.wheel_mass_kg), _inertia(inertia)]),
            element("collision", [element("geometry", [shape]), surfaces], name=f"{wheel.name}_collision"),
            element("visual", [element("geometry", [tyre])], name=f"{wheel.name}_visual"),
        ],
        name=_link(wheel),
    )


def _joint(wheel: Wheel, parts: Bodies) -> str:
    limits = {"lower": -_FREE_RAD, "upper": _FREE_RAD, "effort": parts.torque_limit_nm}
    limit = element("limit", [element(key, value) for key, value in limits.items()])
    axis = element("axis", [element("xyz", _AXLE), limit])
    ends = [element("parent", "base_link"), element("child", _link(wheel))]
    return element("joint", [*ends, axis], name=f"{_link(wheel)}_joint", type="revolute")


def _drive(robot: SkidSteerRobot, parts: Bodies, dialect: Dialect) -> str:
    joints = {wheel.name: f"{_link(wheel)}_joint" for wheel in parts.wheels}
    if dialect.is_classic:
        if len(joints) != 4:
            return ""
        ends = {"left_front": "front_left", "right_front": "front_right", "left_rear": "rear_left", "right_rear": "rear_right"}
        told = [element(tag, joints[name]) for tag, name in ends.items()]
        return plugin(dialect.drive, [*told, element("max_force", parts.torque_limit_nm)])
    sides = [element("left_joint" if wheel.is_left else "right_joint", joints[wheel.name]) for wheel in parts.wheels]
    return plugin(dialect.drive, [*sides, element("wheel_separation", robot.track_m), element("wheel_radius", parts.radius_m)])


# --- the world -------------------------------------------------------------------------------------------------------


def _world(model: str, contact: Surface, dialect: Dialect, settings: Settings) -> str:
    step = [element("max_step_size", settings.step_s), element("real_time_factor", 1.0)]
    if dialect.is_classic:
        solver = [
            element("type", "quick"),
            element("iters", str(settings.iterations)),
            element("friction_model", "pyramid_model"),
        ]
        step += [element("real_time_update_rate", 1.0 / settings.step_s), element("ode", [element("solver", solver)])]
    return element(
        "world",
        [
            element("physics", step, name="slipfit", type="ode"),
            element("gravity", numbers((0.0, 0.0, -contact.gravity_mps2))),
            *(element("plugin", filename=file, name=name) for file, name in dialect.systems),
            _sun(),
            _floor(contact),
            model,
        ],
        name="slipfit",
    )


def _sun() -> str:
    return element("light", [_pose(0.0, 0.0, 10.0), element("direction", "-0.5 0.1 -0.9")], name="sun", type="directional")


def _floor(contact: Surface) -> str:
    """Friction like the wheels' (engines take the smaller), no slip of its own (engines take the sum), contacts that are hard."""
    plane = element("geometry", [element("plane", [element("normal", "0 0 1"), element("size", "100 100")])])
    mu = max(contact.mu_long, contact.mu_lat)
    friction = element("friction", [element("ode", [element("mu", mu), element("mu2", mu)])])
    collision = element("collision", [plane, element("surface", [friction])], name="floor_collision")
    link = element("link", [collision, element("visual", [plane], name="floor_visual")], name="floor_link")
    return element("model", [element("static", "true"), link], name="floor")
