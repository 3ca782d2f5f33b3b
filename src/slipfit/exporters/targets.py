"""All targets by name. A new exporter is one module and one line here: the command, its help and its tests follow."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from slipfit.errors import ExportError
from slipfit.exporters import mjcf, nav2_amcl, robot_localization, roboteq, ros2_control
from slipfit.exporters.dialects import DIALECTS, Dialect
from slipfit.exporters.record import Export, Settings
from slipfit.exporters.sdf import export_sdf
from slipfit.library.files import nearest
from slipfit.twin import SkidSteerTwin, skid_steer_twin


@dataclass(frozen=True, slots=True)
class Target:
    """A simulator or controller: what is written for it, by which function, and whether a model can be patched for it."""

    name: str
    about: str
    endings: tuple[str, ...]  # of file names
    write: Callable[[SkidSteerTwin, str | None, Settings], Export]
    patches: Dialect | None = None  # names for --into


def _sdf(dialect: Dialect) -> Target:
    def write(twin: SkidSteerTwin, ground: str | None, settings: Settings) -> Export:
        return export_sdf(twin, dialect, ground, settings)

    return Target(dialect.target, dialect.about, (".sdf", ".world"), write, dialect)


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        *(_sdf(dialect) for dialect in DIALECTS.values()),
        Target(mjcf.TARGET, mjcf.ABOUT, (".xml", ".mjcf"), mjcf.export_mjcf),
        Target(ros2_control.TARGET, ros2_control.ABOUT, (".yaml", ".yml"), ros2_control.export_ros2_control),
        Target(nav2_amcl.TARGET, nav2_amcl.ABOUT, (".yaml", ".yml"), nav2_amcl.export_nav2_amcl),
        Target(
            robot_localization.TARGET, robot_localization.ABOUT, (".yaml", ".yml"), robot_localization.export_robot_localization
        ),
        Target(roboteq.TARGET, roboteq.ABOUT, (".yaml", ".yml"), roboteq.export_roboteq),
    )
}


def find_target(name: str) -> Target:
    """By its name; a misspelt one gets the nearest."""
    if name not in TARGETS:
        raise ExportError(f"there is no target '{name}'; {nearest(name, TARGETS)}")
    return TARGETS[name]


def export(twin: SkidSteerTwin | str | Path, to: str, *, ground: str | None = None, settings: Settings | None = None) -> Export:
    """A twin, or its file, as text for a target: `export(twin, "gz").save("p3at.sdf")`. The result's ledger says what the text
    does not."""
    return find_target(to).write(skid_steer_twin(twin), ground, settings or Settings())
