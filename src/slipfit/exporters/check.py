"""Our own look at an SDF file's WheelSlip block: sdformat's check accepts anything inside a plugin."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.errors import ExportError
from slipfit.exporters.dialects import DIALECTS
from slipfit.exporters.frames import sdf_axle
from slipfit.exporters.patch import CLASSIC_FILES, is_wheel_slip
from slipfit.exporters.wheels_of_model import ModelWheel
from slipfit.exporters.xml_spans import Document, Node, parse_document, read_document
from slipfit.library.files import nearest

_ENTRIES = ("slip_compliance_lateral", "slip_compliance_longitudinal", "wheel_normal_force", "wheel_radius")

#: Sine of an angle that rounded poses do not make.
_BESIDE_AXLE = 0.01


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in the file that makes the wheels slip otherwise than meant, or not at all."""

    line: int
    what: str
    remedy: str

    def text(self) -> str:
        return f"line {self.line}: {self.what}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Check:
    """All findings of one file."""

    path: str
    plugins: int
    findings: tuple[Finding, ...]

    @property
    def is_good(self) -> bool:
        return not self.findings

    def summary(self) -> str:
        """One line for each finding."""
        if self.is_good:
            return f"{self.path}: WheelSlip is in order"
        return "\n".join([f"{self.path}: {len(self.findings)} finding(s)", *(f"  {f.text()}" for f in self.findings)])

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        found = [{"line": f.line, "what": f.what, "remedy": f.remedy} for f in self.findings]
        return {"path": self.path, "is_good": self.is_good, "plugins": self.plugins, "findings": found}


def check_file(path: Path | str) -> Check:
    """Look over an SDF file."""
    return _check(read_document(Path(path)))


def check_text(text: str, where: str = "model") -> Check:
    """The same for text."""
    return _check(parse_document(text.encode(), where))


def _check(document: Document) -> Check:
    if document.root.tag != "sdf":
        raise ExportError(f"{document.where}: found <{document.root.tag}>; expected <sdf>, this check is for SDF files")
    plugins = [node for node in document.root.walk() if is_wheel_slip(node)]
    findings = [finding for plugin in plugins for finding in _plugin(document, plugin)]
    if not plugins:
        findings.append(
            Finding(document.root.line, "there is no WheelSlip plugin", "patch the file with --into, or export it anew")
        )
    return Check(document.where, len(plugins), tuple(findings))


def _plugin(document: Document, plugin: Node) -> Iterator[Finding]:
    names = (plugin.attributes.get("filename", ""), plugin.attributes.get("name", ""))
    is_classic = names[0].startswith("lib")
    known = {d.wheel_slip[0]: d.wheel_slip for d in DIALECTS.values()}
    if names[0] in CLASSIC_FILES:
        pass  # under any name
    elif names[0] not in known:
        yield Finding(plugin.line, f"the plugin's file is '{names[0]}'", nearest(names[0], known))
    elif names != known[names[0]]:
        yield Finding(plugin.line, f"the plugin's name is '{names[1]}'", f"expected '{known[names[0]][1]}'")
    if plugin.parent is None or plugin.parent.tag != "model":
        yield Finding(plugin.line, "the plugin is not inside a <model>", "move it there")
        return
    wheels = plugin.named("wheel")
    if not wheels:
        yield Finding(plugin.line, "the plugin has no <wheel>", "give one for each wheel link")
    for other in plugin.children:
        if other.tag != "wheel" and not (other.tag == "ros" and names[0] == CLASSIC_FILES[1]):
            yield Finding(other.line, f"unknown element <{other.tag}> in the plugin", "expected <wheel link_name=...> only")
    seen: set[str] = set()
    for wheel in wheels:
        link = wheel.attributes.get("link_name", "")
        if link in seen:
            yield Finding(wheel.line, f"the link '{link}' stands in the plugin twice", "keep one of them")
        seen.add(link)
        yield from _entries(wheel, is_classic)
        yield from _link(document, wheel, link, plugin.parent)


def _entries(wheel: Node, is_classic: bool) -> Iterator[Finding]:
    for node in wheel.children:
        if node.tag not in _ENTRIES:
            yield Finding(node.line, f"unknown element <{node.tag}>", nearest(node.tag, _ENTRIES))
        elif not math.isfinite(value := _number(node.text)):
            yield Finding(node.line, f"{node.tag} is '{node.text.strip()}'", "expected a number")
        elif node.tag.startswith("slip") and value < 0.0:
            yield Finding(node.line, f"{node.tag} is {value:g}", "expected zero or more")
        elif not node.tag.startswith("slip") and value <= 0.0:
            yield Finding(node.line, f"{node.tag} is {value:g}", "expected above zero")
    for tag in _ENTRIES:
        count = len(wheel.named(tag))
        if count == 0 and not (is_classic and tag == "wheel_radius"):
            yield Finding(wheel.line, f"{tag} is missing", "without it the wheel does not slip as meant: give it")
        elif count > 1:
            yield Finding(wheel.line, f"{tag} stands there {count} times", "keep one of them")


def _link(document: Document, wheel: Node, name: str, model: Node) -> Iterator[Finding]:
    """The link that the plugin names: one collision, one joint, fdir1."""
    links = {link.attributes.get("name", ""): link for link in model.named("link")}
    if not name:
        yield Finding(wheel.line, "<wheel> has no link_name", "name the wheel's link")
        return
    if name not in links:
        yield Finding(
            wheel.line, f"there is no link '{name}' in the model", nearest(name, links) if links else "name one of its links"
        )
        return
    link, joints = links[name], [j for j in model.named("joint") if j.value("child") == name]
    if len(joints) != 1:
        yield Finding(link.line, f"the link '{name}' has {len(joints)} joints above it", "WheelSlip needs exactly one")
    collisions = link.named("collision")
    if len(collisions) != 1:
        yield Finding(link.line, f"the link '{name}' has {len(collisions)} collisions", "WheelSlip needs exactly one")
    for collision in collisions:
        fdir1 = collision.first("surface", "friction", "ode", "fdir1")
        if fdir1 is None:
            remedy = "give the axle in the collision's frame; without it the slip directions stay fixed in the world"
            yield Finding(collision.line, f"the collision of '{name}' has no fdir1", remedy)
        elif len(joints) == 1:
            yield from _fdir1(document, model, ModelWheel(link, joints[0], name), collision, fdir1)


def _fdir1(document: Document, model: Node, wheel: ModelWheel, collision: Node, fdir1: Node) -> Iterator[Finding]:
    """Three numbers that lie along the axle; which way is all the same."""
    found = [_number(part) for part in fdir1.text.split()]
    length = math.hypot(*found)
    if len(found) != 3 or not math.isfinite(length) or length < 1e-9:
        remedy = "give the axle in the collision's frame, as 0 0 1"
        yield Finding(fdir1.line, f"fdir1 of '{wheel.name}' is '{fdir1.text.strip()}'", remedy)
        return
    if any(key.endswith("expressed_in") for key in fdir1.attributes):
        return  # in the frame of something else, of which SDF has many
    try:
        text = sdf_axle(document, model, wheel, collision, document.root.attributes.get("version", "1.5"))
    except ExportError as error:
        yield Finding(fdir1.line, f"fdir1 of '{wheel.name}' cannot be compared with the axle ({error})", "look at it yourself")
        return
    axle = [float(part) for part in text.split()]
    across = math.hypot(*np.cross(axle, found)) / length
    if across > _BESIDE_AXLE:
        degrees = math.degrees(math.asin(min(1.0, across)))
        what = f"fdir1 of '{wheel.name}' is '{fdir1.text.strip()}', {degrees:.3g} degrees beside the axle"
        yield Finding(fdir1.line, what, f"give the axle in the collision's frame, {text}")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
