"""A twin's slip put into somebody's own SDF or URDF: the wheels' friction and the WheelSlip plugin; all else stays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from slipfit.export.bodies import Wheel, wheel_names, wheels_at_rest
from slipfit.export.dialects import Dialect
from slipfit.export.ledger import Entry, Ledger, heading, ledger
from slipfit.export.origin import origin
from slipfit.export.own_model import Measures, OwnModel, SdfModel, UrdfModel
from slipfit.export.sdf import plugin, plugin_wheel, slip_entries
from slipfit.export.surface import Surface, surface
from slipfit.export.wheels_of_model import no_xacro
from slipfit.export.xml_spans import Document, Edit, Node, added, apply, parse_document, read_document, replaced
from slipfit.export.xml_text import comment
from slipfit.library.files import write_through
from slipfit.twin import Twin

#: Mass, radius: model and twin may differ by this share before the ledger speaks of it.
_ALIKE = 0.02

#: Cylinders beyond this have edges that act: (half of it / half track)^2 is a ten-thousandth of a small robot's spin.
_WIDE_M = 0.005


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
        path = path.resolve() if path.is_symlink() else path

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
    twin: Twin, path: Path | str, dialect: Dialect, ground: str | None = None, wheels: Mapping[str, str] | None = None
) -> Patch:
    """The user's SDF or URDF with the twin's slip. `wheels` gives a link for each of the twin's wheels; else names tell."""
    return _patched(twin, read_document(Path(path)), dialect, ground, wheels)


def patch_bytes(
    twin: Twin, data: bytes, dialect: Dialect, ground: str | None = None, wheels: Mapping[str, str] | None = None
) -> Patch:
    """The same for a file that is in memory."""
    return _patched(twin, parse_document(data, "model"), dialect, ground, wheels)


def _patched(twin: Twin, document: Document, dialect: Dialect, ground: str | None, wheels: Mapping[str, str] | None) -> Patch:
    name = twin.ground_name(ground)
    contact = surface(twin, name, dialect.target)
    no_xacro(document)
    if document.root.tag not in ("sdf", "robot"):
        raise document.refusal(document.root, f"found <{document.root.tag}>; expected <sdf> of an SDF model or <robot> of a URDF")
    sort = SdfModel if document.root.tag == "sdf" else UrdfModel
    model: OwnModel = sort.of(document, wheel_names(twin.robot), wheels)
    at_rest = wheels_at_rest(twin.robot, contact.gravity_mps2)
    book = ledger(*slip_entries(twin.robot, contact, at_rest, dialect)) + contact.ledger + _remarks(twin, model.measures())
    if not contact.slips_with_speed:
        book += _leftover(model, contact)
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
    return Patch(dialect.target, twin.robot.name, name, apply(document, edits), book, changes)


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
        pairs = zip(links, self.wheels, strict=True)
        own = [plugin_wheel(link, wheel, self.contact, self.radius_m) for link, wheel in pairs]
        return plugin(self.dialect.wheel_slip, [self.told, *own, *kept])


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
    others = [w for w in there[0].named("wheel") if w.attributes.get("link_name") not in links]
    kept = [_flush(document.data[w.start : w.end].decode(document.encoding).replace("\r\n", "\n")) for w in others]
    edit = replaced(document, there[0], block.text(links, kept), "WheelSlip plugin replaced")
    return ([edit] if edit else []), []


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


def _remarks(twin: Twin, model: Measures) -> Ledger:
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
