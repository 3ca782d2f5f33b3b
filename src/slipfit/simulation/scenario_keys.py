"""Keys of a scenario that a robot cannot use: reported with the reason, and with those that it can."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel

from slipfit.errors import SimulationError
from slipfit.simulation.scenario import Scenario

#: Reasons by key; a key stands for all that is below it.
Unused = Mapping[str, str]


class UnusedKeyError(SimulationError):
    """A scenario has a key that the robot cannot use."""


def check_keys(scenario: Scenario, robot: str, unused: Unused) -> None:
    """The first key of a scenario that differs from its default and that this robot has no use for becomes a sentence."""
    for key in _written(scenario.model_dump(by_alias=True, exclude_defaults=True, exclude_none=True)):
        plain = re.sub(r"\[\d+\]", "", key)
        found = next((name for name in unused if plain == name or plain.startswith(f"{name}.")), None)
        if found:
            raise UnusedKeyError(f"{_cut(key, found)}: {robot} {unused[found]}; {_instead(found, unused)}")


def _cut(key: str, name: str) -> str:
    """The written key down to the level of a name, with its index."""
    parts = key.split(".")
    return ".".join(parts[: name.count(".") + 1])


def _written(data: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Paths of all entries, as in commands[0].v_mps."""
    for key, entry in data.items():
        path = f"{above}{key}"
        if isinstance(entry, Mapping):
            yield from _written(entry, f"{path}.") if entry else ()
        elif isinstance(entry, list) and entry and isinstance(entry[0], Mapping):
            for k, part in enumerate(entry):
                yield from _written(part, f"{path}[{k}].")
        else:
            yield path


def _instead(name: str, unused: Unused) -> str:
    """The nearest keys beside it that can be used; all of them where none is near."""
    *folders, leaf = name.split(".")
    model: type[BaseModel] = Scenario
    for folder in folders:
        model = _model(model.model_fields[folder].annotation)
    above = "".join(f"{folder}." for folder in folders)
    names = [field.alias or key for key, field in model.model_fields.items()]
    known = [key for key in names if f"{above}{key}" not in unused and key not in ("schema", "about")]
    near = get_close_matches(leaf, known, n=3, cutoff=0.55) or known
    return f"it takes {', '.join(above + key for key in near)}"


def _model(annotation: Any) -> type[BaseModel]:
    """The record that an annotation names, perhaps in a list or beside None."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(_model(part) for part in annotation.__args__ if part is not type(None))
