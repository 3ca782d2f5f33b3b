"""XML as robot descriptions use it: read without document types or entities, numbers checked, poses as rotations and places."""

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

import numpy as np

from slipfit.errors import SimulationError

#: A robot description is text of some kilobytes; more than this is something else.
LARGEST_FILE_BYTES = 20_000_000


@dataclass(frozen=True, eq=False, slots=True)
class Frame:
    """Where a frame is and how it is turned, in the frame it is given in: p_outer = rotation @ p_inner + position."""

    position_m: np.ndarray
    rotation: np.ndarray

    def __matmul__(self, inner: "Frame") -> "Frame":
        """A frame given in this one, in the frame that this one is given in."""
        return Frame(self.rotation @ inner.position_m + self.position_m, self.rotation @ inner.rotation)

    def inverse(self) -> "Frame":
        return Frame(-self.rotation.T @ self.position_m, self.rotation.T)


def no_pose() -> Frame:
    """The frame itself."""
    return Frame(np.zeros(3), np.eye(3))


def rotation_rpy(roll_rad: float, pitch_rad: float, yaw_rad: float) -> np.ndarray:
    """R_z(yaw) R_y(pitch) R_x(roll), the rotation that SDF and URDF mean by three angles."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll_rad, pitch_rad, yaw_rad) for f in (math.cos, math.sin))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def parse_xml(text: str, where: str) -> ET.Element:
    """The root element. Prefixes need no namespace (`gz:expressed_in`); a document type, which could hold a bomb, is refused."""
    builder = ET.TreeBuilder()
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise SimulationError(f"{where}: has a document type declaration (<!DOCTYPE …>); a model needs none, remove it")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        raise SimulationError(f"{where}: not valid XML at line {error.lineno}: {expat.ErrorString(error.code)}") from None
    return builder.close()


def read_xml(path: Path) -> ET.Element:
    """The root element of a file."""
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise SimulationError(f"{path}: {path.stat().st_size / 1e6:.0f} MB; expected a robot description of at most 20 MB")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SimulationError(f"{path}: there is no such file; check the path") from None
    except (OSError, ValueError) as error:
        raise SimulationError(f"{path}: cannot be read as text ({error}); expected an XML file") from None
    return parse_xml(text, str(path))


def called(element: ET.Element) -> str:
    """How sentences speak of an element: <link name="base_link">."""
    name = element.get("name")
    return f'<{element.tag} name="{name}">' if name else f"<{element.tag}>"


def numbers(text: str | None, count: int, where: str) -> np.ndarray:
    """Exactly `count` finite numbers."""
    words = (text or "").split()
    try:
        found = np.array([float(word) for word in words])
    except ValueError:
        found = np.array([math.nan])
    if len(found) != count or not np.isfinite(found).all():
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        raise SimulationError(f"{where} is '{(text or '').strip()[:60]}'; expected {expected}")
    return found


def number(element: ET.Element | None, path: str, default: float, where: str) -> float:
    """A number below an element, or what holds when it is not there."""
    found = element.find(path) if element is not None else None
    if found is None:
        return default
    return float(numbers(found.text, 1, f"{where}: <{path.rsplit('/', 1)[-1]}>")[0])


def pose_of(element: ET.Element, where: str) -> Frame:
    """The frame that an element's <pose> tells, in the frame that it is relative to."""
    pose = element.find("pose")
    if pose is None or not (pose.text or "").strip():
        return no_pose()
    where = f"{where}: <pose> of {called(element)}"
    if pose.get("rotation_format", "euler_rpy") == "quat_xyzw":
        found = numbers(pose.text, 7, where)
        return Frame(found[:3], rotation_quaternion(*np.roll(found[3:], 1), where=where))
    found = numbers(pose.text, 6, where)
    angles = np.radians(found[3:]) if pose.get("degrees", "false") in ("true", "1") else found[3:]
    return Frame(found[:3], rotation_rpy(*angles))


def rotation_quaternion(w: float, x: float, y: float, z: float, *, where: str = "quaternion") -> np.ndarray:
    """Rotation of a quaternion of any length but zero."""
    length = math.sqrt(w * w + x * x + y * y + z * z)
    if length < 1e-9:
        raise SimulationError(f"{where} has a quaternion of length zero; expected a rotation")
    w, x, y, z = (part / length for part in (w, x, y, z))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
