"""Where axles point: rotations of links, joints, frames and collisions in an SDF model, and of collisions in URDF."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from slipfit.exporters.wheels_of_model import ModelWheel
from slipfit.exporters.xml_spans import Document, Node


def floats(document: Document, node: Node, text: str, count: int) -> list[float]:
    """Numbers of an element."""
    try:
        found = [float(part) for part in text.split()]
    except ValueError:
        found = []
    if len(found) != count or not all(map(math.isfinite, found)):
        raise document.refusal(node, f"<{node.tag}> holds '{text.strip()[:60]}'; expected {count} numbers")
    return found


def sdf_axle(document: Document, model: Node, wheel: ModelWheel, collision: Node, version: str) -> str:
    """The axle in the collision's frame, as fdir1 wants it."""
    axis = wheel.joint.first("axis")
    xyz = axis.first("xyz") if axis else None
    if axis is None or xyz is None:
        raise document.refusal(
            wheel.joint, f"the joint of the wheel '{wheel.name}' has no <axis><xyz>; expected the axle's direction"
        )
    direction = _direction(document, xyz, xyz.text)
    frame = xyz.attributes.get("expressed_in", "") or wheel.joint.attributes.get("name", "")
    in_model = axis.value("use_parent_model_frame") in ("1", "true") or _older_than_1_5(version)
    turn = Rotation.identity() if in_model else _in_model(document, model, frame, xyz, 0)
    link = _in_model(document, model, wheel.name, wheel.link, 0)
    return _fdir1((link * _pose_rotation(document, collision)).inv().apply(turn.apply(direction)))


def urdf_axle(document: Document, wheel: ModelWheel, collision: Node, fixed: Sequence[Node] = ()) -> str:
    """The same for URDF: the joint's axis is given in the link's frame. `fixed` are the joints from the wheel's link down to the
    one that has the collision."""
    axis = wheel.joint.first("axis")
    text = axis.attributes.get("xyz", "1 0 0") if axis else "1 0 0"
    direction = _direction(document, axis or wheel.joint, text)
    turn = Rotation.identity()
    for node in (*fixed, collision):
        if place := node.first("origin"):
            turn = turn * Rotation.from_euler("xyz", floats(document, place, place.attributes.get("rpy", "0 0 0"), 3))
    return _fdir1(turn.inv().apply(direction))


def _direction(document: Document, node: Node, text: str) -> list[float]:
    """A unit vector."""
    found = floats(document, node, text, 3)
    length = math.hypot(*found)
    if not 1e-9 < length < 1e9:
        raise document.refusal(node, f"the axle has the length {length:g}; expected a direction")
    return [x / length for x in found]


def _fdir1(direction: np.ndarray) -> str:
    """As text. Angles in files are rounded (1.5707): what is left beside an axis is their rounding."""
    entries = [round(float(x), 9) for x in direction]
    entries = [float(round(x)) if abs(x - round(x)) < 1e-3 else x for x in entries]
    return " ".join(f"{x + 0.0:g}" if x == round(x) else repr(x) for x in entries)


def _older_than_1_5(version: str) -> bool:
    try:
        major, minor = (int(part) for part in version.split(".")[:2])
    except ValueError:
        return False
    return (major, minor) < (1, 5)


def _in_model(document: Document, model: Node, name: str, asked: Node, depth: int) -> Rotation:
    """Rotation of a link, joint or frame in the model."""
    if name in ("", "__model__"):
        return Rotation.identity()
    node = next((n for n in model.children if n.tag in ("link", "joint", "frame") and n.attributes.get("name") == name), None)
    if node is None:
        raise document.refusal(
            asked, f"refers to a frame '{name}' that the model does not have; expected a link, joint or frame of it"
        )
    if depth > 50:
        raise document.refusal(node, f"the frame '{name}' is defined by itself; expected a chain that ends at the model")
    pose = node.first("pose")
    beneath = pose.attributes.get("relative_to") if pose else None
    if beneath is None:
        beneath = (
            node.value("child") if node.tag == "joint" else node.attributes.get("attached_to", "") if node.tag == "frame" else ""
        )
    return _in_model(document, model, beneath or "", node, depth + 1) * _pose_rotation(document, node)


def _pose_rotation(document: Document, node: Node) -> Rotation:
    """The rotation of an element's own <pose>."""
    pose = node.first("pose")
    if pose is None or not pose.text.strip():
        return Rotation.identity()
    if node.tag == "collision" and pose.attributes.get("relative_to"):
        raise document.refusal(pose, "the collision's pose is relative to another frame; give it relative to its link")
    if pose.attributes.get("rotation_format") == "quat_xyzw":
        quaternion = floats(document, pose, pose.text, 7)[3:]
        if not any(quaternion):
            raise document.refusal(pose, "the quaternion is zero; expected a rotation")
        return Rotation.from_quat(quaternion)
    degrees = pose.attributes.get("degrees") in ("1", "true")
    return Rotation.from_euler("xyz", floats(document, pose, pose.text, 6)[3:], degrees=degrees)
