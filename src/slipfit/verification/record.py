"""The result of a verification: how far an engine's robot moves from the twin, and why."""

from dataclasses import dataclass
from typing import Any

from slipfit.verification.artefacts import Artefact
from slipfit.verification.measures import Apart, Paths, Rest

#: What counts as close where nothing else is wanted: share of the way and degrees, by engine; MuJoCo's contacts are softer.
WANTED = {"ode": (0.01, 1.0), "gz-physics": (0.01, 1.0), "mujoco": (0.02, 2.0)}

#: Constants of the tests of [Trimble2022] count as right within these shares. MuJoCo's friction
#: answers to the acceleration of slip as well, by 1 % of a speed step.
RATIO_SHARE = 0.02
C_LONG_SHARE = {"ode": 0.02, "gz-physics": 0.02, "mujoco": 0.03}


@dataclass(frozen=True, slots=True)
class Reading:
    """A constant as an engine's run tells it, beside the twin's."""

    found: float
    twin: float

    @property
    def share(self) -> float:
        """How far off, of the twin's."""
        return self.found / self.twin - 1.0

    def text(self) -> str:
        """9.9992 (-0.01 %), twin 10."""
        return f"{self.found:.5g} ({100.0 * self.share:+.2f} %), twin {self.twin:.5g}"

    def to_document(self) -> dict[str, float]:
        return {"found": self.found, "twin": self.twin, "share": self.share}


@dataclass(frozen=True, eq=False, slots=True)
class Verification:
    """One twin in one engine."""

    engine: str  # its name, as asked for
    version: str
    robot: str
    ground: str
    model: str  # the file that was run
    settings: dict[str, float]
    free: Apart
    ratio: Reading | None  # eq. 3, of the engine's spin and of the twin's own; None: the twin's is not steady
    c_long: Reading
    rest: Rest
    artefacts: tuple[Artefact, ...]
    wanted_share: float
    wanted_deg: float
    paths: Paths  # of the free drive
    yaw_rate: tuple[tuple[float, ...], tuple[float, ...]]  # of the spin: heading (rad) and yaw rate (rad/s), thinned
    took_s: float
    notes: tuple[str, ...] = ()

    @property
    def is_close(self) -> bool:
        """Whether the free drive stays as near as wanted."""
        return self.free.share <= self.wanted_share and self.free.heading_deg <= self.wanted_deg

    @property
    def is_good(self) -> bool:
        """Close, constants right, and no artefact."""
        ratio = self.ratio is None or abs(self.ratio.share) <= RATIO_SHARE
        return self.is_close and ratio and abs(self.c_long.share) <= C_LONG_SHARE[self.engine] and not self.artefacts

    def line(self) -> str:
        """One line."""
        verdict = "agrees with the twin" if self.is_good else "differs from the twin"
        spin = f"{self.ratio.found:.4g} (twin {self.ratio.twin:.4g})" if self.ratio else "not read"
        c_long = f"{self.c_long.found:.4g} (twin {self.c_long.twin:.4g})"
        return f"{self.version}: {verdict}; free drive {self.free.text()}, eq. 3 {spin}, c_long {c_long}"

    def summary(self) -> str:
        """A screen of text."""
        used = ", ".join(f"{name} {value:g}" for name, value in self.settings.items())
        spin = self.ratio.text() if self.ratio else "not read: the twin has no steady spin"
        wanted = f"wanted {100.0 * self.wanted_share:g} % and {self.wanted_deg:g}°"
        rows = [
            f"{self.robot} on {self.ground} in {self.version}: {'agrees with' if self.is_good else 'differs from'} the twin",
            f"  free drive   apart by at most {self.free.text()} ({wanted})",
            f"  spin         c_lat / c_long {spin}",
            f"  speed step   c_long {self.c_long.text()} 1/N",
            f"  at rest      drift {1e3 * self.rest.drift_mps:.2g} mm/s, sinkage {1e3 * self.rest.sinkage_m:.2g} mm, "
            f"{self.rest.contacts:.2g} contacts per wheel, loads {', '.join(f'{n:.1f}' for n in self.rest.loads_n)} N",
            f"  settings     {used}",
        ]
        rows += [f"  {artefact.text()}" for artefact in self.artefacts] or ["  no artefacts found"]
        return "\n".join([*rows, *(f"  note: {note}" for note in self.notes)])

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "engine": self.engine,
            "version": self.version,
            "robot": self.robot,
            "ground": self.ground,
            "model": self.model,
            "settings": self.settings,
            "agrees": self.is_good,
            "wanted": {"share": self.wanted_share, "heading_deg": self.wanted_deg},
            "free_drive": self.free.to_document(),
            "spin": {"c_lat_over_c_long": self.ratio and self.ratio.to_document()},
            "speed_step": {"c_long_per_n": self.c_long.to_document()},
            "rest": self.rest.to_document(),
            "artefacts": [artefact.to_document() for artefact in self.artefacts],
            "took_s": self.took_s,
            "notes": list(self.notes),
        }
