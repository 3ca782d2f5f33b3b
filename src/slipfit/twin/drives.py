"""The kinds of twins, and how a function asks for the one that it works with."""

from pathlib import Path
from typing import TypeVar

from slipfit.errors import ParameterError
from slipfit.twin.omni import OmniTwin
from slipfit.twin.record import Twin
from slipfit.twin.skid_steer import SkidSteerTwin
from slipfit.twin.tracked import TrackedTwin

#: Twins by what their robot's `drive` says. A new drive is one line here.
TWINS: dict[str, type[Twin]] = {
    "skid_steer": SkidSteerTwin,
    "tracked": TrackedTwin,
    "omni": OmniTwin,
}

Kind = TypeVar("Kind", bound=Twin)


def skid_steer_twin(given: Twin | str | Path, use: str = "this") -> SkidSteerTwin:
    """The twin, or the one in a file; a twin of another drive is refused for what `use` names."""
    return _of_kind(SkidSteerTwin, given, use)


def tracked_twin(given: Twin | str | Path, use: str = "this") -> TrackedTwin:
    """A tracked robot's twin, likewise."""
    return _of_kind(TrackedTwin, given, use)


def _of_kind(kind: type[Kind], given: Twin | str | Path, use: str) -> Kind:
    twin = Twin.load(given) if isinstance(given, str | Path) else given
    if isinstance(twin, kind):
        return twin
    if type(twin) not in TWINS.values():
        raise ParameterError(f"twin is of type {type(twin).__name__}; expected a Twin, or the path of its file")
    where = given if isinstance(given, str | Path) else f"the twin of {twin.robot.name}"
    raise ParameterError(f"{where}: {kind.refusal(type(twin), use)}")
