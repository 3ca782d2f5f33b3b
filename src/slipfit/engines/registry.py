"""The engines there are, which of them can run here, and how to get the others."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from slipfit.engines.engine_run import EngineRun
from slipfit.engines.gz_physics import GzPhysics
from slipfit.engines.mujoco_engine import MuJoCo
from slipfit.engines.ode import Ode
from slipfit.engines.settings import Settings, WheelCommands
from slipfit.errors import SimulationError
from slipfit.library.files import nearest


class Engine(Protocol):
    """A physics engine that drives an exported model."""

    name: str
    reads: str  # ending of the files it loads

    def problem(self) -> str:
        """Why it cannot run here and what to do about it; empty when it can."""

    def version(self) -> str:
        """Name and version, as reports tell it."""

    def run(self, path: Path | str, commands: WheelCommands, settings: Settings | None = None) -> EngineRun:
        """Load the model, let it come to rest, follow the commands and record every step."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether an engine can run here; `problem` says what to do if not."""

    name: str
    problem: str

    @property
    def is_installed(self) -> bool:
        return not self.problem


ENGINES: tuple[Engine, ...] = (Ode(), MuJoCo(), GzPhysics())


def engine_names() -> list[str]:
    return [engine.name for engine in ENGINES]


def available() -> tuple[Availability, ...]:
    """Every engine with what is missing, if anything is."""
    return tuple(Availability(engine.name, engine.problem()) for engine in ENGINES)


def find_engine(name: str) -> Engine:
    """An engine that can run here; otherwise a sentence that says how to get it."""
    for engine in ENGINES:
        if engine.name == name:
            if sentence := engine.problem():
                raise SimulationError(sentence)
            return engine
    raise SimulationError(f"there is no engine '{name}'; {nearest(name, set(engine_names()))}")
