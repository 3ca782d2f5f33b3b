"""What the library holds: robots, grounds and references, found by name or read from a user's file."""

import functools
import re
from pathlib import Path

from slipfit.errors import ParameterError
from slipfit.library.files import nearest
from slipfit.library.ground import Ground
from slipfit.library.robot import Robot

_FOLDER = Path(__file__).parent


def robot_names() -> list[str]:
    return _names("robots")


def ground_names() -> list[str]:
    return _names("grounds")


def find_robot(name: str | Path) -> Robot:
    """A robot of the library by name, or one of the user's by the path of its file, whatever its drive."""
    return Robot.load(_place("robots", name))


def find_ground(name: str | Path) -> Ground:
    """A ground of the library by name, or one of the user's by the path of its file."""
    return Ground.load(_place("grounds", name))


def _names(kind: str) -> list[str]:
    return sorted(path.stem for path in (_FOLDER / kind).glob("*.yaml"))


def _place(kind: str, name: str | Path) -> Path:
    """The file of a name of the library; a path stays what it is."""
    if isinstance(name, Path) or name.endswith((".yaml", ".yml")) or "/" in name:
        return Path(name)
    if name not in _names(kind):
        raise ParameterError(
            f"there is no {kind[:-1]} '{name}' in the library; {nearest(name.lower(), _names(kind))} "
            f"(`slipfit {kind}` shows them all; a file of your own ends in .yaml)"
        )
    return _FOLDER / kind / f"{name}.yaml"


@functools.cache
def references() -> dict[str, str]:
    """Every work that the library and the source rely on: key and its entry in references.bib."""
    text = (_FOLDER / "references.bib").read_text(encoding="utf-8")
    entries = re.split(r"(?m)^@", text)[1:]
    return {entry.split("{", 1)[1].split(",", 1)[0].strip(): "@" + entry.strip() for entry in entries}


def citation(key: str) -> str:
    """A work in one line: authors, title, year; the key itself for sources that are no works ('assumed')."""
    entry = references().get(key)
    if entry is None:
        return key
    fields = {
        name.lower(): " ".join(value.split()) for name, value in re.findall(r"(?s)(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}", entry)
    }
    parts = [fields.get("author", fields.get("organization", "")), fields.get("title", ""), fields.get("year", "")]
    return ", ".join(part.replace("{", "").replace("}", "") for part in parts if part)
