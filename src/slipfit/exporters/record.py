"""What an export is: files as text, the ledger, and how they are asked for and written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from slipfit.errors import ExportError
from slipfit.exporters.ledger import Ledger
from slipfit.exporters.surface import KD_NSPM, KP_NPM
from slipfit.library.files import check_target, module_name, write_text
from slipfit.library.parameter import out_of_range


@dataclass(frozen=True, slots=True)
class Settings:
    """Choices of an export; each target takes what it knows."""

    wheel_shape: Literal["sphere", "thin"] = "sphere"  # SDF: collision of a wheel
    world: bool = False  # SDF: a world with ground around the model
    at_speed_mps: float = 0.5  # MJCF: rim speed at which the file without updater has the twin's constants
    wheels: Mapping[str, str] | None = None  # ros2-control: joint names by the twin's wheels; else front_left_wheel_joint, ...
    step_s: float = 0.001  # SDF: of the world; MJCF: of the model
    iterations: int = 50  # SDF: of Classic's solver; with 10 a P3AT's spin test reads 7.5 instead of 10 at 10 ms
    kp_n_per_m: float = KP_NPM  # SDF: stiffness of a wheel's contact
    kd_ns_per_m: float = KD_NSPM

    def __post_init__(self) -> None:
        if self.wheel_shape not in ("sphere", "thin"):
            raise ExportError(f"the wheel shape is '{self.wheel_shape}'; expected sphere or thin")
        ranges = {
            "at_speed_mps": (self.at_speed_mps, 0.01, 100.0),
            "step_s": (self.step_s, 1e-5, 0.1),
            "iterations": (self.iterations, 1, 100_000),
            "kp_n_per_m": (self.kp_n_per_m, 1.0, 1e15),
            "kd_ns_per_m": (self.kd_ns_per_m, 0.0, 1e15),
        }
        for name, (value, lower, upper) in ranges.items():
            if problem := out_of_range(name, value, lower, upper):
                raise ExportError(problem)


def _beside(stem: str, ending: str) -> str:
    """The name of a file beside another; of Python files one that `import` takes: my-robot.xml has my_robot_updater.py."""
    return (module_name(stem) if ending.endswith(".py") else stem) + ending


@dataclass(frozen=True, slots=True)
class Export:
    """A twin as text for a target. `beside` are further files, by the ending that their names get."""

    target: str
    robot: str
    ground: str
    ending: str  # of the file's name, as .sdf
    text: str
    ledger: Ledger
    beside: dict[str, str] = field(default_factory=dict)

    @property
    def usual_name(self) -> str:
        """p3at_gz.sdf: robot, target, ending."""
        return f"{self.robot}_{self.target}".replace("-", "_") + self.ending

    def files(self, path: Path | str) -> dict[Path, str]:
        """All texts, by where they go when the first is written to `path`."""
        path = Path(path)
        return {path: self.text} | {path.with_name(_beside(path.stem, ending)): text for ending, text in self.beside.items()}

    def save(self, path: Path | str | None = None, *, force: bool = False) -> list[Path]:
        """Write the file, and what belongs beside it; by its usual name in this folder where none is given."""
        texts = self.files(self.usual_name if path is None else path)
        for target in texts:
            check_target(target, force=force)
        for target, text in texts.items():
            write_text(target, text, force=force)
        return list(texts)

    def summary(self) -> str:
        """What was written, and what it does not say."""
        rows = [f"{self.robot} on {self.ground} for {self.target}"]
        return "\n".join(
            rows + (["what the file does not say as the twin does", self.ledger.summary()] if self.ledger.entries else [])
        )

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        return {"target": self.target, "robot": self.robot, "ground": self.ground, "ledger": self.ledger.to_document()}
