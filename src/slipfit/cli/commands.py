"""The commands of `slipfit`, each in a module that is imported when the command is called: a drive loads none of the others."""

from importlib import import_module
from importlib.util import find_spec
from inspect import cleandoc
from types import CodeType
from typing import Any, NamedTuple

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup


class Entry(NamedTuple):
    """A command, or a group of commands: its name, and where it lives in this package."""

    name: str
    home: str  # module.attribute
    panel: str
    about: str = ""  # of groups; commands are described by their docstrings

    @property
    def module(self) -> str:
        return f"{__package__}.{self.home.partition('.')[0]}"

    @property
    def attribute(self) -> str:
        return self.home.partition(".")[2]


#: The panels of `slipfit --help`, in the order in which most users need them.
_TWIN, _SIMULATE, _LOGS, _CONTROLLERS, _TESTS, _LIBRARY = (
    "From a drive to a twin",
    "Simulate, and where a robot can go",
    "What a log tells",
    "Motor controllers and odometry",
    "Tests of contacts and single kinds of robot",
    "Library and files",
)

#: In the order of lists; within its panel a command stands before groups.
ENTRIES = (
    Entry("demo", "demo.demo", _TWIN),
    Entry("plan", "plan.plan", _TWIN),
    Entry("inspect", "inspect.inspect", _TWIN),
    Entry("calibrate", "calibrate.calibrate", _TWIN),
    Entry("validate", "validate.validate", _TWIN),
    Entry("twin", "twin.twin", _TWIN),
    Entry("export", "export.export", _TWIN),
    Entry("verify", "verify.verify", _TWIN),
    Entry("simulate", "simulate.simulate", _SIMULATE),
    Entry("study", "study.study", _SIMULATE),
    Entry("estimate", "estimate.estimate", _LOGS),
    Entry("compare", "compare.compare", _LOGS),
    Entry("attribute", "attribute.attribute", _LOGS),
    Entry("floors", "floors.floors", _LOGS),
    Entry("drive", "drive.drive", _CONTROLLERS),
    Entry("odometry", "odometry.odometry", _CONTROLLERS),
    Entry("umbmark", "odometry.umbmark", _CONTROLLERS),
    Entry("circle", "odometry.circle", _CONTROLLERS),
    Entry("tracks", "tracks.tracks", _TESTS),
    Entry("laws", "catalogue.laws", _LIBRARY),
    Entry("schema", "schema.schema", _LIBRARY),
    Entry("friction", "friction.app", _TESTS, "Friction coefficients by tilting, pulling, stalling or braking."),
    Entry("tyre", "tyre.app", _TESTS, "Friction curves from measured wheel forces."),
    Entry("soil", "soil.app", _TESTS, "Soils: the library's, and from plate, shear, wheel and cone tests."),
    Entry(
        "omni",
        "omni.app",
        _TESTS,
        "Omni and mecanum robots: limits and moves without slip; slip by direction, friction and motors from logs.",
    ),
    Entry("robots", "catalogue.robots", _LIBRARY, "Robots of the library, with the source of every number."),
    Entry("grounds", "catalogue.grounds", _LIBRARY, "Grounds of the library, with the source of every number."),
    Entry("scenarios", "catalogue.scenarios", _LIBRARY, "Scenarios of the library: drives to simulate, and to start from."),
    Entry("terrain", "terrain.app", _LIBRARY, "Height maps: size, slopes, roughness and pictures."),
)


class CommandsOnDemand(TyperGroup):
    """All commands by name and help; one that is called, completed or asked for its own help is loaded."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._entries = {entry.name: entry for entry in ENTRIES}
        self._loaded: dict[str, Any] = {}
        for entry in ENTRIES:
            self.add_command(TyperCommand(name=entry.name, rich_help_panel=entry.panel))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command as lists show it, without its parameters."""
        command = self.commands.get(cmd_name)
        if command is not None and command.help is None:
            entry = self._entries[cmd_name]
            command.help = entry.about or _docstring(entry)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, with what it takes."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and self.load(found.name or ""), rest

    def load(self, name: str) -> Any:
        """A command with its parameters, a group with its commands."""
        if name not in self._loaded:
            entry = self._entries[name]
            found = getattr(import_module(entry.module), entry.attribute)
            alone = typer.Typer()
            if entry.about:
                alone.add_typer(found, name=name, help=entry.about, rich_help_panel=entry.panel)
            else:
                alone.command(name, rich_help_panel=entry.panel)(found)
            self._loaded[name] = typer.main.get_group(alone).commands[name]
        return self._loaded[name]


def _docstring(entry: Entry) -> str:
    """A command's docstring from the byte code of its module, which is read and not run: that would load the module's own
    imports and describe every option, for one line of `slipfit --help`."""
    spec = find_spec(entry.module)
    code = spec.loader.get_code(entry.module) if spec and spec.loader else None  # type: ignore[attr-defined]  # as importlib's are
    functions = [c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == entry.attribute] if code else []
    docstring = functions[0].co_consts[0] if functions else None
    return cleandoc(docstring) if isinstance(docstring, str) else ""
