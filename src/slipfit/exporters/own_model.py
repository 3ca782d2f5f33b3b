"""Somebody's own model, SDF or URDF: its wheels, and where their friction and the plugin go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from slipfit.exporters.frames import sdf_axle, urdf_axle
from slipfit.exporters.sdf import contact_values, friction_values
from slipfit.exporters.surface import Surface
from slipfit.exporters.wheels_of_model import ModelWheel, named_wheels, only_collision, turning
from slipfit.exporters.xml_spans import Document, Edit, Node, Wanted, demand
from slipfit.exporters.xml_text import element


@dataclass(frozen=True, slots=True)
class Measures:
    """What the model says of itself, as far as it does."""

    mass_kg: float
    radii_m: list[float]
    widths_m: list[float]


class OwnModel(Protocol):
    """What SDF and URDF say in different words."""

    @property
    def place(self) -> Node:
        """New blocks go to its end."""

    @property
    def wheels(self) -> dict[str, ModelWheel]:
        """By the twin's names."""

    def surface_edits(self, contact: Surface) -> tuple[list[Edit], list[str]]:
        """Edits of the wheels' friction, and blocks to be added at the end."""

    def plugin_places(self) -> list[Node]:
        """Elements that may hold the plugin."""

    def plugin_block(self, text: str) -> str:
        """A new plugin as it stands at the end."""

    def measures(self) -> Measures:
        """Mass, radii, widths."""


@dataclass(frozen=True, slots=True)
class SdfModel:
    """A <model> of an SDF file."""

    document: Document
    place: Node
    wheels: dict[str, ModelWheel]
    collisions: dict[str, Node]

    @classmethod
    def of(cls, document: Document, names: Sequence[str], given: Mapping[str, str] | None) -> "SdfModel":
        model = _model_with(document, given)
        children = {id(joint): joint.value("child") or "" for joint in model.named("joint")}
        wheels = named_wheels(document, model, turning(document, model, children), names, given)
        return cls(
            document, model, wheels, {n: only_collision(document, w, w.link.named("collision")) for n, w in wheels.items()}
        )

    def surface_edits(self, contact: Surface) -> tuple[list[Edit], list[str]]:
        version = self.document.root.attributes.get("version", "1.5")
        edits: list[Edit] = []
        for name, wheel in self.wheels.items():
            axle = sdf_axle(self.document, self.place, wheel, self.collisions[name], version)
            values = friction_values(contact, axle) | _slip_taken_out(self.collisions[name], contact)
            friction: Wanted = ("friction", [("ode", list(values.items()))])
            stiffness: Wanted = ("contact", [("ode", list(contact_values().items()))])
            edits += demand(self.document, self.collisions[name], [("surface", [friction, stiffness])])
        return edits, []

    def plugin_places(self) -> list[Node]:
        return [self.place]

    def plugin_block(self, text: str) -> str:
        return text

    def measures(self) -> Measures:
        shapes = [shape for collision in self.collisions.values() if (shape := collision.first("geometry"))]
        radii = [shape.value(kind, "radius") for shape in shapes for kind in ("cylinder", "sphere")]
        masses = [link.value("inertial", "mass") for link in self.place.named("link")]
        return Measures(sum(_numbers(masses)), _numbers(radii), _numbers([shape.value("cylinder", "length") for shape in shapes]))


def _slip_taken_out(collision: Node, contact: Surface) -> dict[str, str]:
    """The engine's own slip that the model has and a law without slip does not: set to zero."""
    ode = collision.first("surface", "friction", "ode")
    if ode is None or contact.law not in ("coulomb", "coulomb_pyramid"):
        return {}
    return {tag: "0" for tag in ("slip1", "slip2") if any(_numbers([node.text]) != [0.0] for node in ode.named(tag))}


def _model_with(document: Document, given: Mapping[str, str] | None) -> Node:
    """The model that has the named wheels; the only one with joints where none are named."""
    models = [node for node in document.root.walk() if node.tag == "model" and node.named("link") and node.named("joint")]
    if given is not None:
        models = [m for m in models if set(given.values()) <= {link.attributes.get("name") for link in m.named("link")}] or models
    if not models:
        sentence = "there is no <model> with links and joints; expected the robot's own SDF, an <include> is not followed"
        raise document.refusal(document.root, sentence)
    if len(models) > 1:
        found = ", ".join(m.attributes.get("name", "?") for m in models)
        raise document.refusal(
            models[1], f"several models could be the robot ({found}); patch its own file, or name its links with --wheels"
        )
    return models[0]


@dataclass(frozen=True, slots=True)
class UrdfModel:
    """The <robot> of a URDF."""

    document: Document
    place: Node
    wheels: dict[str, ModelWheel]
    collisions: dict[str, Node]
    fixed: dict[str, tuple[Node, ...]]  # joints between a wheel's link and the one that has its collision

    @classmethod
    def of(cls, document: Document, names: Sequence[str], given: Mapping[str, str] | None) -> "UrdfModel":
        robot = document.root
        children = {id(joint): _link_of(joint, "child") for joint in robot.named("joint")}
        wheels = named_wheels(document, robot, turning(document, robot, children), names, given)
        lumped = {name: _lumped(document, robot, wheel.link) for name, wheel in wheels.items()}
        collisions = {n: only_collision(document, w, [node for node, _ in lumped[n]]) for n, w in wheels.items()}
        return cls(document, robot, wheels, collisions, {name: found[0][1] for name, found in lumped.items()})

    def surface_edits(self, contact: Surface) -> tuple[list[Edit], list[str]]:
        """Tags refer to the link that has the collision in this file: Gazebo carries them along when it lumps links."""
        if contact.k_lat_mps_per_n is not None:
            raise self.document.refusal(
                self.place,
                "the law viscous_slip needs slip1 and slip2 of SDF, for which URDF has no tags; make SDF of it "
                "('gz sdf -p robot.urdf > robot.sdf') and patch that",
            )
        edits: list[Edit] = []
        blocks: list[str] = []
        for name, wheel in self.wheels.items():
            axle = urdf_axle(self.document, wheel, self.collisions[name], self.fixed[name])
            values = friction_values(contact, axle) | contact_values()
            values = {"mu1": values.pop("mu"), **values}
            owner = _link_of(self.fixed[name][-1], "child") if self.fixed[name] else wheel.name
            there = [g for g in self.place.named("gazebo") if g.attributes.get("reference") == owner]
            if not there:
                blocks.append(element("gazebo", [element(k, v) for k, v in values.items()], reference=owner))
                continue
            absent = {tag for tag in values if not any(g.named(tag) for g in there)}
            for k, tags in enumerate(there):
                wanted: list[Wanted] = [(t, v) for t, v in values.items() if tags.named(t) or (k == 0 and t in absent)]
                edits += demand(self.document, tags, wanted)
        return edits, blocks

    def plugin_places(self) -> list[Node]:
        return [g for g in self.place.named("gazebo") if "reference" not in g.attributes]

    def plugin_block(self, text: str) -> str:
        return element("gazebo", [text])

    def measures(self) -> Measures:
        found = [link.first("inertial", "mass") for link in self.place.named("link")]
        shapes = [shape for collision in self.collisions.values() if (shape := collision.first("geometry"))]
        round_ones = [node for shape in shapes for node in shape.children if node.tag in ("cylinder", "sphere")]
        lengths = [node.attributes.get("length") for node in round_ones if node.tag == "cylinder"]
        masses = [mass.attributes.get("value") for mass in found if mass]
        return Measures(
            sum(_numbers(masses)), _numbers([node.attributes.get("radius") for node in round_ones]), _numbers(lengths)
        )


def _lumped(document: Document, robot: Node, link: Node) -> list[tuple[Node, tuple[Node, ...]]]:
    """Collisions of a link and of what is fixed to it, each with the fixed joints in between: Gazebo makes one link of them."""
    links = {entry.attributes.get("name", ""): entry for entry in robot.named("link")}
    fixed = [joint for joint in robot.named("joint") if joint.attributes.get("type") == "fixed"]
    found: list[tuple[Node, tuple[Node, ...]]] = []
    seen, waiting = set[str](), [(link.attributes.get("name", ""), tuple[Node, ...]())]
    while waiting:
        name, above = waiting.pop()
        if name in seen or name not in links:
            continue
        seen.add(name)
        collisions = links[name].named("collision")
        if collisions:
            _check_lumped(document, robot, above)
        found += [(collision, above) for collision in collisions]
        waiting += [(_link_of(joint, "child"), (*above, joint)) for joint in fixed if _link_of(joint, "parent") == name]
    return found


def _check_lumped(document: Document, robot: Node, joints: Sequence[Node]) -> None:
    """A joint that stays leaves the wheel's link without a collision, and WheelSlip does nothing on such a link."""
    names = [joint.attributes.get("name", "") for joint in joints]
    for tags in robot.named("gazebo"):
        for tag in ("preserveFixedJoint", "disableFixedJointLumping"):
            stays = any(
                (node.text.strip() or node.attributes.get("value", "")).lower() in ("1", "true") for node in tags.named(tag)
            )
            if stays and tags.attributes.get("reference", "") in names:
                raise document.refusal(
                    tags,
                    f"<{tag}> keeps a collision of a wheel on a link of its own, where WheelSlip does not act; take it out, or "
                    "give the wheel's link the collision",
                )


def _link_of(joint: Node, end: str) -> str:
    node = joint.first(end)
    return node.attributes.get("link", "") if node else ""


def _numbers(texts: Sequence[str | None]) -> list[float]:
    """Those that are numbers."""
    found = []
    for text in texts:
        try:
            found.append(float(text or ""))
        except ValueError:
            continue
    return found
