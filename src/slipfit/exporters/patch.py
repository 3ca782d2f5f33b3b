"""A twin's slip put into somebody's own SDF or URDF: the wheels' friction and the WheelSlip plugin; all else stays."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from pathlib import Path
from textwrap import dedent
from typing import Any

from slipfit.errors import ExportError
from slipfit.exporters.bodies import Wheel, wheel_names, wheels_at_rest
from slipfit.exporters.dialects import Dialect
from slipfit.exporters.ledger import Entry, Ledger, gravity_entry, heading, ledger
from slipfit.exporters.origin import origin
from slipfit.exporters.own_model import Measures, OwnModel, SdfModel, UrdfModel
from slipfit.exporters.sdf import plugin, plugin_wheel, slip_entries
from slipfit.exporters.surface import Surface, surface
from slipfit.exporters.wheels_of_model import no_xacro
from slipfit.exporters.xml_spans import Document, Edit, Node, added, apply, demand, parse_document, read_document, replaced
from slipfit.exporters.xml_text import comment, indented
from slipfit.library.files import write_through
from slipfit.twin import SkidSteerTwin

#: Mass, radius: model and twin may differ by this share before the ledger speaks of it.
_ALIKE = 0.02

#: Cylinders beyond this have edges that act: (half of it / half track)^2 is a ten-thousandth of a small robot's spin.
_WIDE_M = 0.005

#: WheelSlip of Gazebo Classic, and its sibling of gazebo_ros_pkgs, which takes parameters of ROS too.
CLASSIC_FILES = ("libWheelSlipPlugin.so", "libgazebo_ros_wheel_slip.so")

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Patch:
    """A patched file. `changes` say what was done to this file; the ledger, which the file keeps, what it does not say."""

    target: str
    robot: str
    ground: str
    data: bytes
    ledger: Ledger
    changes: tuple[str, ...]

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write it; where a file is replaced, its permissions stay."""
        path = Path(path)
        try:
            path = path.resolve(strict=False) if path.is_symlink() else path
        except (OSError, RuntimeError):  # by Python's version
            raise ExportError(f"{path}: is a link that leads to itself; give the name of a file") from None

        def write(temporary: Path) -> None:
            temporary.write_bytes(self.data)
            if path.exists():
                temporary.chmod(path.stat().st_mode & 0o7777)

        write_through(path, write, force=force)

    def summary(self) -> str:
        """What was changed, and what the file does not say."""
        rows = [f"{self.robot} on {self.ground} for {self.target}"]
        rows += ["changed", *(f"  {line}" for line in self.changes)] if self.changes else ["nothing to change: patched already"]
        return "\n".join(
            rows + (["what the file does not say as the twin does", self.ledger.summary()] if self.ledger.entries else [])
        )

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        head = {"target": self.target, "robot": self.robot, "ground": self.ground}
        return {**head, "changes": list(self.changes), "ledger": self.ledger.to_document()}


def patch(
    twin: SkidSteerTwin, path: Path | str, dialect: Dialect, ground: str | None = None, wheels: Mapping[str, str] | None = None
) -> Patch:
    """The user's SDF or URDF with the twin's slip. `wheels` gives a link for each of the twin's wheels; else names tell."""
    return _patched(twin, read_document(Path(path)), dialect, ground, wheels)


def patch_bytes(
    twin: SkidSteerTwin, data: bytes, dialect: Dialect, ground: str | None = None, wheels: Mapping[str, str] | None = None
) -> Patch:
    """The same for a file that is in memory."""
    return _patched(twin, parse_document(data, "model"), dialect, ground, wheels)


def _patched(
    twin: SkidSteerTwin, document: Document, dialect: Dialect, ground: str | None, wheels: Mapping[str, str] | None
) -> Patch:
    name = twin.ground_name(ground)
    contact = surface(twin, name, dialect.target)
    no_xacro(document)
    if document.root.tag not in ("sdf", "robot"):
        raise document.refusal(document.root, f"found <{document.root.tag}>; expected <sdf> of an SDF model or <robot> of a URDF")
    sort = SdfModel if document.root.tag == "sdf" else UrdfModel
    model: OwnModel = sort.of(document, wheel_names(twin.robot), wheels)
    at_rest = wheels_at_rest(twin.robot, contact.gravity_mps2)
    book = ledger(*slip_entries(twin.robot, contact, at_rest, dialect)) + contact.ledger + _remarks(twin, model.measures())
    book += ledger() if contact.slips_with_speed else _leftover(model, contact)
    lost = _lost(document, model, dialect) if contact.slips_with_speed else ledger()  # once: not of the file as it is then
    book += ledger(gravity_entry(contact.gravity_mps2, _world_gravity_mps2(document)))
    edits, blocks = model.surface_edits(contact)
    if contact.slips_with_speed:
        told = comment(heading(origin(twin, name, dialect.about), book))
        block = _Block(dialect, told, contact, at_rest, twin.robot.wheels.radius_m.value)
        more, new = _plugin_edits(document, model, block)
        edits, blocks = edits + more, blocks + new
    if blocks:
        edits.append(
            added(document, model.place, "\n".join(blocks), f"{len(blocks)} block(s) added at the end of <{model.place.tag}>")
        )
    changes = tuple(edit.said for edit in sorted(edits, key=lambda e: e.start))
    return Patch(dialect.target, twin.robot.name, name, apply(document, edits), lost + book, changes)


# --- the plugin ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Block:
    """The WheelSlip block to be written."""

    dialect: Dialect
    told: str
    contact: Surface
    wheels: tuple[Wheel, ...]
    radius_m: float

    def text(self, links: Sequence[str], kept: Sequence[str]) -> str:
        return plugin(self.dialect.wheel_slip, [self.told, *self.wheel_texts(links), *kept])

    def wheel_texts(self, links: Sequence[str]) -> list[str]:
        pairs = zip(links, self.wheels, strict=True)
        return [plugin_wheel(link, wheel, self.contact, self.radius_m) for link, wheel in pairs]


def is_wheel_slip(node: Node) -> bool:
    """Whether a plugin is WheelSlip, by any generation's names."""
    file, name = node.attributes.get("filename", ""), node.attributes.get("name", "")
    short = file.rsplit("/", 1)[-1].lower().replace("-", "").replace("_", "")
    return node.tag == "plugin" and ("wheelslip" in short or name.endswith("systems::WheelSlip")) and "lookup" not in short


def _plugin_edits(document: Document, model: OwnModel, block: _Block) -> tuple[list[Edit], list[str]]:
    """Edits of the block that is there, or a new one."""
    links = [wheel.name for wheel in model.wheels.values()]
    there = [node for place in model.plugin_places() for node in place.children if is_wheel_slip(node)]
    if len(there) > 1:
        raise document.refusal(
            there[1], f"found a second WheelSlip plugin, the first is in line {there[0].line}; keep one of them"
        )
    if not there:
        return [], [model.plugin_block(block.text(links, []))]
    if _acts_in(there[0], block.dialect):
        return _edited_plugin(document, there[0], block, links), []
    others = [w for w in there[0].named("wheel") if w.attributes.get("link_name") not in links]
    kept = [_flush(document.data[w.start : w.end].decode(document.encoding).replace("\r\n", "\n")) for w in others]
    edit = replaced(document, there[0], block.text(links, kept), "WheelSlip plugin replaced")
    return ([edit] if edit else []), []


def _acts_in(node: Node, dialect: Dialect) -> bool:
    """Whether this generation of Gazebo loads the plugin: in Classic by its file (that of gazebo_ros too), under any name."""
    names = (node.attributes.get("filename", ""), node.attributes.get("name", ""))
    return names[0].rsplit("/", 1)[-1] in CLASSIC_FILES if dialect.is_classic else names == dialect.wheel_slip


def _edited_plugin(document: Document, node: Node, block: _Block, links: Sequence[str]) -> list[Edit]:
    """Numbers of the wheels and our comment; all else that the plugin holds stays."""
    texts = dict(zip(links, block.wheel_texts(links), strict=True))
    content = document.data[node.inner_start : node.inner_end]
    if not content.strip():
        return [added(document, node, "\n".join([block.told, *texts.values()]), "wheels added to the WheelSlip plugin")]
    edits = _comment_edits(document, node, block.told)
    missing = []
    for link, text in texts.items():
        there = [wheel for wheel in node.named("wheel") if wheel.attributes.get("link_name") == link]
        values = [(child.tag, child.text) for child in parse_document(text.encode(), "wheel").root.children]
        edits += [edit for wheel in there for edit in demand(document, wheel, values)]
        if not there:
            missing.append(text)
    if missing:
        edits.append(added(document, node, "\n".join(missing), f"{len(missing)} wheel(s) added to the WheelSlip plugin"))
    return edits


def _comment_edits(document: Document, node: Node, told: str) -> list[Edit]:
    """Our comment, first in the plugin: put there, or brought up to date."""
    first = node.children[0].start if node.children else node.inner_end
    inner = document.indent_of(node.children[0]) if node.children else ""
    inner = inner or document.indent_of(node) + "  "
    text = document.encoded(indented(told, inner).lstrip(" \t"))
    there = next((c for c in _COMMENT.finditer(document.data, node.inner_start, first) if b", by slipfit " in c.group()), None)
    if there is None:
        start = document.encoded(f"\n{inner}") + text
        return [Edit(node.inner_start, node.inner_start, start, f"line {node.line}: comment added to the WheelSlip plugin")]
    if there.group() == text:
        return []
    return [Edit(there.start(), there.end(), text, f"line {node.line}: comment of the WheelSlip plugin brought up to date")]


def _lost(document: Document, model: OwnModel, dialect: Dialect) -> Ledger:
    """What a plugin of another generation said beside wheels: none of it means anything to this one's."""
    there = [node for place in model.plugin_places() for node in place.children if is_wheel_slip(node)]
    if len(there) != 1 or _acts_in(there[0], dialect):
        return ledger()
    node = there[0]
    said = [f"<{child.tag}>" for child in node.children if child.tag != "wheel"]
    comments = len(_COMMENT.findall(document.data, node.inner_start, node.inner_end))
    said += [f"{comments} comment(s)"] if comments else []
    found = f"{node.attributes.get('filename', '')} ({node.attributes.get('name', '')})"
    why = f"{found} is not the one of {dialect.target} and was replaced" + (f"; gone with it: {', '.join(said)}" if said else "")
    return ledger(Entry("your WheelSlip plugin", _ascii(why), "compare with the file as it was"))


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii")


def _leftover(model: OwnModel, contact: Surface) -> Ledger:
    """A plugin that is there although the twin's law has nothing for it to do."""
    if not any(is_wheel_slip(node) for place in model.plugin_places() for node in place.children):
        return ledger()
    why = f"stays in the model although the twin's law {contact.law} has no slip that grows with speed"
    return ledger(Entry("WheelSlip plugin", why, "take it out"))


def _flush(text: str) -> str:
    """An element's lines without the indentation that all but the first have in common."""
    first, *rest = text.split("\n")
    return "\n".join([first, *dedent("\n".join(rest)).split("\n")]) if rest else first


# --- where model and twin differ --------------------------------------------------------------------------------------


def _world_gravity_mps2(document: Document) -> float | None:
    """Of the file's first world, where it has one that says so; zero there is no gravity to compare with."""
    world = next((node for node in document.root.walk() if node.tag == "world" and node.first("gravity")), None)
    text = world.value("gravity") if world else None
    try:
        return hypot(*map(float, (text or "").split())) or None
    except ValueError:
        return None


def _remarks(twin: SkidSteerTwin, model: Measures) -> Ledger:
    """Nothing of this is changed, but all of it moves the robot."""
    mass, radius = twin.robot.mass_kg.value, twin.robot.wheels.radius_m.value
    others = [r for r in model.radii_m if abs(r / radius - 1.0) > _ALIKE]
    wide = max(model.widths_m, default=0.0)
    entries: list[Entry] = []
    if model.mass_kg and abs(model.mass_kg / mass - 1.0) > _ALIKE:
        why = f"the model weighs {model.mass_kg:.4g} kg, the twin {mass:.4g} kg"
        entries.append(Entry("mass", why, "make them equal: slip follows the mass"))
    if others:
        why = f"the model's wheels have {others[0]:.4g} m, the twin's {radius:.4g} m"
        entries.append(Entry("wheel radius", why, "correct the one that is wrong"))
    if wide > _WIDE_M:
        why = f"cylinders of {1e3 * wide:.3g} mm stand on two edges and turn worse than the twin, or on one with a little camber"
        entries.append(Entry("wide wheels", why, "give the wheels spheres or cylinders of 1 mm as collisions"))
    return ledger(*entries)
