"""What an SDF file says about a wheeled robot and its ground, as far as wheels, friction and inertia go.

Reads `<sdf>` with one `<model>`, or with a `<world>` that holds one moving model and static models with a plane. What is
drawn or sensed is left out without a word; what would move differently in an engine of ours is told in `notes`.
"""

import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

import numpy as np

from slipfit.engines.sdf_xml import Frame, called, number, numbers, pose_of, read_xml
from slipfit.errors import SimulationError

#: What SDF says where a file says nothing (sdformat 1.9: surface.sdf, gravity of the world).
DEFAULT_MU, DEFAULT_KP, DEFAULT_KD = 1.0, 1e12, 1.0
DEFAULT_GRAVITY_MPS2 = (0.0, 0.0, -9.8)

#: Friction model of Gazebo Classic where a file says nothing.
PYRAMID = "pyramid_model"

#: Shapes that engines of ours make contacts for.
SPHERE, CYLINDER, BOX, PLANE = "sphere", "cylinder", "box", "plane"


@dataclass(frozen=True, eq=False, slots=True)
class Surface:
    """Friction and stiffness of one collision. `fdir1` is None where the engine chooses the directions of friction."""

    mu: float = DEFAULT_MU
    mu2: float = DEFAULT_MU
    fdir1: np.ndarray | None = None
    fdir1_link: str = ""  # the link whose frame fdir1 is in; empty: the collision's own frame
    slip1_mps_per_n: float = 0.0
    slip2_mps_per_n: float = 0.0
    kp_n_per_m: float = DEFAULT_KP
    kd_ns_per_m: float = DEFAULT_KD


#: The ground that a model without a world stands on: grippier than any wheel, as in Gazebo's model ground_plane.
GROUND_SURFACE = Surface(mu=100.0, mu2=50.0)


@dataclass(frozen=True, eq=False, slots=True)
class Collision:
    """A shape on a link: radius of a sphere; radius and length (along z) of a cylinder; size of a box; normal of a plane."""

    name: str
    shape: str
    size: np.ndarray
    frame: Frame  # in the link's
    surface: Surface


@dataclass(frozen=True, eq=False, slots=True)
class Inertia:
    """Mass, centre of mass and tensor about it, both in the link's frame."""

    mass_kg: float
    centre_m: np.ndarray
    tensor_kgm2: np.ndarray


@dataclass(frozen=True, eq=False, slots=True)
class Link:
    name: str
    frame: Frame  # in the model's
    inertia: Inertia
    collisions: tuple[Collision, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Joint:
    """A joint; anchor and axis are in the model's frame as the file places it."""

    name: str
    kind: str  # revolute (continuous too) or fixed
    parent: str
    child: str
    anchor_m: np.ndarray
    axis: np.ndarray
    effort_nm: float = inf


@dataclass(frozen=True, slots=True)
class WheelSlip:
    """One `<wheel>` of a WheelSlip plugin."""

    link: str
    compliance_lateral: float
    compliance_longitudinal: float
    normal_force_n: float
    radius_m: float


@dataclass(frozen=True, eq=False, slots=True)
class Wheel:
    """A driven wheel. Its joint turns forward when its speed times `forward` is positive."""

    link: Link
    joint: Joint
    forward: float
    at_m: np.ndarray  # its centre, in the base link's frame
    slip: WheelSlip | None

    @property
    def collision(self) -> Collision:
        return self.link.collisions[0]

    @property
    def radius_m(self) -> float:
        return float(self.collision.size[0])

    @property
    def half_width_m(self) -> float:
        """Of a cylinder; a sphere touches in a point."""
        return float(self.collision.size[1]) / 2.0 if self.collision.shape == CYLINDER else 0.0


@dataclass(frozen=True, eq=False, slots=True)
class SdfModel:
    """A robot in its world."""

    where: str
    name: str
    frame: Frame  # in the world
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    wheel_slips: tuple[WheelSlip, ...]
    ground: Surface
    gravity_mps2: tuple[float, float, float]
    step_s: float | None  # None: the file does not say
    iterations: int | None
    is_in_world: bool  # else gravity and ground are not the file's
    friction_model: str  # of Gazebo Classic's solver
    element: ET.Element  # the <model> as it stands in the file
    version: str
    notes: tuple[str, ...]

    def link(self, name: str) -> Link:
        for link in self.links:
            if link.name == name:
                return link
        raise SimulationError(f"{self.where}: there is no link '{name}'; the model has {', '.join(k.name for k in self.links)}")

    @property
    def wheels(self) -> tuple[Wheel, ...]:
        """Driven wheels, front left, front right, and so on to the rear right."""
        return _wheels(self)

    @property
    def base(self) -> Link:
        """The link that carries the wheels."""
        return self.link(self.wheels[0].joint.parent)

    @property
    def mass_kg(self) -> float:
        return sum(link.inertia.mass_kg for link in self.links)

    def summary(self) -> str:
        """A few lines for people."""
        wheels = self.wheels
        shapes = " and ".join(sorted({wheel.collision.shape for wheel in wheels}))
        rows = [f"{self.name}: {len(self.links)} links, {self.mass_kg:g} kg, {len(wheels)} wheels ({shapes}) on {self.base.name}"]
        return "\n".join([*rows, *(f"  note: {note}" for note in self.notes)])


def read_sdf(path: Path | str) -> SdfModel:
    """Read an SDF file; what is not understood is an error if the robot could not move as it says, else a note."""
    return sdf_from_element(read_xml(Path(path)), str(path))


def sdf_from_element(root: ET.Element, where: str) -> SdfModel:
    """The model in a parsed file."""
    if root.tag != "sdf":
        raise SimulationError(f"{where}: the root element is <{root.tag[:40]}>; expected <sdf>")
    notes: list[str] = []
    world = root.find("world")
    ground, moving = GROUND_SURFACE, root.findall("model")
    if world is None:
        notes.append("no <world>: the robot stands on a plane of ours with mu 100, under SDF's own gravity of 9.8 m/s²")
    else:
        moving, planes = _models_of(world, where, notes)
        ground = _ground(planes, where, notes)
    if len(moving) != 1:
        names = ", ".join(str(model.get("name")) for model in moving) or "none"
        raise SimulationError(f"{where}: models that can move: {names}; expected exactly one")
    physics = world.find("physics") if world is not None else None
    if _friction_model(physics) != PYRAMID:
        notes.append(
            "friction_model is not pyramid_model: that exists in Gazebo Classic's fork of ODE only, engines here use the pyramid"
        )
    return _model(moving[0], where, notes, root.get("version", "1.6"), world, physics, ground)


def _friction_model(physics: ET.Element | None) -> str:
    found = physics.findtext("ode/solver/friction_model", "") if physics is not None else ""
    return found.strip() or PYRAMID


def _models_of(world: ET.Element, where: str, notes: list[str]) -> tuple[list[ET.Element], list[ET.Element]]:
    """Moving models, and static ones."""
    for include in world.findall("include"):
        uri = (include.findtext("uri") or "").strip()
        if uri.rsplit("/", 1)[-1].lower().replace(" ", "_") not in ("ground_plane", "sun"):
            notes.append(f"<include> of '{uri}' is left out")
    static = [model for model in world.findall("model") if model.findtext("static", "false").strip() in ("true", "1")]
    return [model for model in world.findall("model") if model not in static], static


def _ground(static: list[ET.Element], where: str, notes: list[str]) -> Surface:
    """Surface of the plane among static models."""
    found = []
    for model in static:
        planes = [c for c in model.iter("collision") if c.find("geometry/plane") is not None]
        if not planes:
            notes.append(f"static model '{model.get('name')}' is left out: it has no plane")
        for plane in planes:
            frame = pose_of(model, where) @ pose_of(plane, where)
            normal = frame.rotation @ _vector(plane, "geometry/plane/normal", (0.0, 0.0, 1.0), where)
            if abs(frame.position_m[2]) > 1e-6 or normal[2] < (1.0 - 1e-9) * float(np.linalg.norm(normal)):
                raise SimulationError(f"{where}: the plane of '{model.get('name')}' is not z = 0; tilt gravity instead")
            found.append(_surface(plane, where))
    if not found:
        notes.append("the world has no plane of its own: the robot stands on one of ours with mu 100")
    return found[0] if found else GROUND_SURFACE


def _vector(element: ET.Element, path: str, default: tuple[float, ...], where: str) -> np.ndarray:
    found = element.find(path)
    return np.array(default) if found is None else numbers(found.text, len(default), f"{where}: <{path}> of {called(element)}")


def _surface(collision: ET.Element, where: str) -> Surface:
    where = f"{where}: {called(collision)}"
    friction, contact = collision.find("surface/friction/ode"), collision.find("surface/contact/ode")
    fdir1 = friction.find("fdir1") if friction is not None else None
    direction, link = None, ""
    if fdir1 is not None:
        direction = numbers(fdir1.text, 3, f"{where}: <fdir1>")
        link = fdir1.get("gz:expressed_in") or fdir1.get("ignition:expressed_in") or ""
        length = float(np.linalg.norm(direction))
        direction = direction / length if length > 0.0 else None  # zero means that there is none
    mu = number(friction, "mu", DEFAULT_MU, where)
    return Surface(
        mu=mu,
        mu2=number(friction, "mu2", DEFAULT_MU, where),
        fdir1=direction,
        fdir1_link=link,
        slip1_mps_per_n=number(friction, "slip1", 0.0, where),
        slip2_mps_per_n=number(friction, "slip2", 0.0, where),
        kp_n_per_m=number(contact, "kp", DEFAULT_KP, where),
        kd_ns_per_m=number(contact, "kd", DEFAULT_KD, where),
    )


def _collision(element: ET.Element, where: str, notes: list[str]) -> Collision | None:
    geometry, name = element.find("geometry"), element.get("name", "")
    shapes = [] if geometry is None else [child for child in geometry if child.tag != "empty"]
    at = f"{where}: {called(element)}"
    if len(shapes) != 1 or shapes[0].tag not in (SPHERE, CYLINDER, BOX):
        notes.append(f"collision '{name}' is left out: {shapes[0].tag if shapes else 'no shape'} is not sphere, cylinder or box")
        return None
    shape = shapes[0]
    if shape.tag == BOX:
        size = _vector(shape, "size", (1.0, 1.0, 1.0), at)
    else:
        sizes = [number(shape, "radius", 1.0, at)] + ([number(shape, "length", 1.0, at)] if shape.tag == CYLINDER else [])
        size = np.array(sizes)
    if (size <= 0.0).any():
        raise SimulationError(f"{at}: size {size.tolist()} m; expected more than zero")
    return Collision(name, shape.tag, size, pose_of(element, where), _surface(element, where))


def _inertia(link: ET.Element, where: str) -> Inertia:
    inertial = link.find("inertial")
    if inertial is None:
        return Inertia(1.0, np.zeros(3), np.eye(3))  # what SDF says where nothing is said
    at = f"{where}: <inertial> of {called(link)}"
    mass = number(inertial, "mass", 1.0, at)
    frame = pose_of(inertial, where)
    xx, yy, zz = (number(inertial, f"inertia/i{a}{a}", 1.0, at) for a in "xyz")
    xy, xz, yz = (number(inertial, f"inertia/i{a}", 0.0, at) for a in ("xy", "xz", "yz"))
    tensor = frame.rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ frame.rotation.T
    if mass <= 0.0 or np.linalg.eigvalsh(tensor)[0] <= 0.0:
        raise SimulationError(f"{at}: mass {mass:g} kg and tensor of {xx:g}, {yy:g}, {zz:g} kg m²; expected a positive body")
    return Inertia(mass, frame.position_m, tensor)


class _Frames:
    """Where links, joints and named frames of a model are; each may be given relative to another."""

    def __init__(self, model: ET.Element, where: str) -> None:
        self.where = where
        kinds = [child for child in model if child.tag in ("link", "joint", "frame")]
        self.elements = {str(child.get("name")): child for child in kinds}
        if len(self.elements) < len(kinds):
            raise SimulationError(f"{where}: {called(model)} has two links, joints or frames of one name")

    def of(self, name: str, behind: tuple[str, ...] = ()) -> Frame:
        """In the model's frame."""
        if name in ("", "__model__"):
            return Frame(np.zeros(3), np.eye(3))
        if name not in self.elements:
            raise SimulationError(f"{self.where}: frame '{name}' is named but not there; it has {', '.join(self.elements)}")
        if name in behind:
            raise SimulationError(f"{self.where}: frames {' → '.join((*behind, name))} are relative to each other in a circle")
        element = self.elements[name]
        pose = element.find("pose")
        given = (pose.get("relative_to") or pose.get("frame") or "") if pose is not None else ""
        fallback = {"joint": (element.findtext("child") or "").strip(), "frame": element.get("attached_to") or ""}
        return self.of(given or fallback.get(element.tag, ""), (*behind, name)) @ pose_of(element, self.where)


def _joint(element: ET.Element, frames: _Frames, version: str, where: str, notes: list[str]) -> Joint:
    at = f"{where}: {called(element)}"
    kind = {"continuous": "revolute"}.get(element.get("type", ""), element.get("type", ""))
    if kind not in ("revolute", "fixed"):
        raise SimulationError(f"{at} is of type '{kind}'; engines here know revolute, continuous and fixed joints")
    parent, child = ((element.findtext(end) or "").strip() for end in ("parent", "child"))
    if "world" in (parent, child):
        raise SimulationError(f"{at} ties the model to the world; a robot that drives stands free")
    for end in (parent, child):
        if end not in frames.elements or frames.elements[end].tag != "link":
            raise SimulationError(f"{at} joins link '{end}', which is not there")
    frame = frames.of(str(element.get("name")))
    axis, effort = np.array([0.0, 0.0, 1.0]), inf
    described = element.find("axis")
    if kind == "revolute" and described is not None:
        xyz = described.find("xyz")
        axis = _vector(described, "xyz", (0.0, 0.0, 1.0), at)
        expressed = (xyz.get("expressed_in") or "") if xyz is not None else ""
        in_model = described.findtext("use_parent_model_frame", "false").strip() in ("true", "1") or _older_than_1_5(version)
        turn = frames.of(expressed).rotation if expressed else np.eye(3) if in_model else frame.rotation
        length = float(np.linalg.norm(axis))
        if length < 1e-9:
            raise SimulationError(f"{at}: <xyz> of its axis has length zero; expected a direction")
        axis = turn @ axis / length
        limit = number(described, "limit/effort", -1.0, at)
        effort = limit if limit >= 0.0 else inf
        for part in ("damping", "friction", "spring_stiffness"):
            if number(described, f"dynamics/{part}", 0.0, at) != 0.0:
                notes.append(f"<{part}> of joint '{element.get('name')}' acts in gz-physics only")
    return Joint(str(element.get("name")), kind, parent, child, frame.position_m, axis, effort)


def _older_than_1_5(version: str) -> bool:
    try:
        return tuple(int(part) for part in version.split(".")[:2]) < (1, 5)
    except ValueError:
        return False


def _wheel_slips(model: ET.Element, where: str, notes: list[str]) -> tuple[WheelSlip, ...]:
    found = []
    for plugin in model.findall("plugin"):
        if "wheel-slip" not in plugin.get("filename", "") and "WheelSlip" not in plugin.get("filename", "") + plugin.get(
            "name", ""
        ):
            notes.append(f"plugin '{plugin.get('filename')}' does not run here")
            continue
        for wheel in plugin.findall("wheel"):
            link = wheel.get("link_name", "")
            at = f'{where}: <wheel link_name="{link}"> of the WheelSlip plugin'
            entry = WheelSlip(
                link,
                number(wheel, "slip_compliance_lateral", 0.0, at),
                number(wheel, "slip_compliance_longitudinal", 0.0, at),
                number(wheel, "wheel_normal_force", 0.0, at),
                number(wheel, "wheel_radius", 0.0, at),
            )
            if entry.normal_force_n <= 0.0:
                raise SimulationError(f"{at}: <wheel_normal_force> is {entry.normal_force_n:g} N; expected more than zero")
            if min(entry.compliance_lateral, entry.compliance_longitudinal) < 0.0:
                raise SimulationError(f"{at}: a compliance is negative; expected zero or more")
            found.append(entry)
    return tuple(found)


def _model(
    model: ET.Element,
    where: str,
    notes: list[str],
    version: str,
    world: ET.Element | None,
    physics: ET.Element | None,
    ground: Surface,
) -> SdfModel:
    if model.find("model") is not None or model.find("include") is not None:
        raise SimulationError(f"{where}: {called(model)} nests or includes another model; expected one with links of its own")
    frames = _Frames(model, where)
    links = []
    for element in model.findall("link"):
        collisions = [_collision(child, where, notes) for child in element.findall("collision")]
        frame = frames.of(str(element.get("name")))
        links.append(Link(str(element.get("name")), frame, _inertia(element, where), tuple(c for c in collisions if c)))
    joints = tuple(_joint(element, frames, version, where, notes) for element in model.findall("joint"))
    gravity = _vector(world, "gravity", DEFAULT_GRAVITY_MPS2, where) if world is not None else np.array(DEFAULT_GRAVITY_MPS2)
    step_s, iterations = (number(physics, path, 0.0, where) for path in ("max_step_size", "ode/solver/iters"))
    found = SdfModel(
        where=where,
        name=model.get("name", "robot"),
        frame=pose_of(model, where),
        links=tuple(links),
        joints=joints,
        wheel_slips=_wheel_slips(model, where, notes),
        ground=ground,
        gravity_mps2=(float(gravity[0]), float(gravity[1]), float(gravity[2])),
        step_s=step_s or None,
        iterations=int(iterations) or None,
        is_in_world=world is not None,
        friction_model=_friction_model(physics),
        element=model,
        version=version,
        notes=(),
    )
    _ = found.wheels  # a model without wheels is refused here, not in an engine
    return replace(found, notes=tuple(notes))


def _wheels(model: SdfModel) -> tuple[Wheel, ...]:
    slips = {entry.link: entry for entry in model.wheel_slips}
    driven = []
    for name in slips or [joint.child for joint in model.joints if joint.kind == "revolute"]:
        link = model.link(name)
        joints = [joint for joint in model.joints if joint.child == name]
        if len(joints) != 1 or joints[0].kind != "revolute":
            raise SimulationError(
                f"{model.where}: wheel link '{name}' has {len(joints)} joints to a parent; expected one that turns"
            )
        round_shapes = [collision for collision in link.collisions if collision.shape in (SPHERE, CYLINDER)]
        if len(link.collisions) != 1 or len(round_shapes) != 1:
            shapes = ", ".join(collision.shape for collision in link.collisions) or "none"
            if not slips:
                continue  # a joint that turns something else
            raise SimulationError(f"{model.where}: wheel link '{name}' has collisions: {shapes}; expected one sphere or cylinder")
        driven.append((link, joints[0]))
    parents = sorted({joint.parent for _, joint in driven})
    if len(parents) != 1:
        found = ", ".join(parents) or "none"
        raise SimulationError(f"{model.where}: links that carry wheels: {found}; expected one, named in joints to wheels")
    base = model.link(parents[0])
    wheels = []
    for link, joint in driven:
        at = base.frame.inverse() @ link.frame @ link.collisions[0].frame
        along_y = float((base.frame.rotation.T @ joint.axis)[1])
        if abs(along_y) < 0.5:
            raise SimulationError(
                f"{model.where}: joint '{joint.name}' turns about {joint.axis.round(3).tolist()}; expected an axle across"
            )
        wheels.append(Wheel(link, joint, 1.0 if along_y > 0.0 else -1.0, at.position_m, slips.get(link.name)))
    left = sorted((w for w in wheels if w.at_m[1] > 0.0), key=lambda w: -float(w.at_m[0]))
    right = sorted((w for w in wheels if w.at_m[1] <= 0.0), key=lambda w: -float(w.at_m[0]))
    if len(left) != len(right):
        raise SimulationError(f"{model.where}: {len(left)} wheels on the left and {len(right)} on the right; expected pairs")
    return tuple(wheel for pair in zip(left, right, strict=True) for wheel in pair)
