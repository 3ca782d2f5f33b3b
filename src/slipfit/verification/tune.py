"""The cheapest settings that keep an engine's robot as near to the twin as wanted.

Cost is steps per second times iterations. Settings are tried from the cheapest up: first a spin, which unfit ones fail at once,
then the free drive. kp costs nothing: of those that will do, the one that ends nearest is taken.
"""

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from slipfit.engines import Settings, find_engine
from slipfit.errors import SimulationError
from slipfit.exporters import Settings as ExportSettings
from slipfit.verification.artefacts import LEVEL_DRIFT_MPS, LOAD_SHARE
from slipfit.verification.manoeuvres import free_drive, short_spin
from slipfit.verification.measures import Apart, is_whole, paths, rest, spin_reading
from slipfit.verification.run import SOFT_SERVOS, Course, Rig

STEPS_S = (0.01, 0.005, 0.004, 0.002, 0.001, 0.0005, 0.0002)
ITERATIONS = (5, 10, 20, 50, 100, 200)

#: kp (N/m) with kd (N s/m): stiff enough not to rock, soft enough that loads are determined.
STIFFNESSES = ((1e5, 100.0), (3e5, 300.0), (1e6, 1e3), (3e6, 3e3))

#: Which settings act (see docs/howto/engines): of ODE all; DART solves directly; MuJoCo converges in a few iterations.
_HAS_ITERATIONS = {"ode": True, "gz-physics": False, "mujoco": False}
_HAS_STIFFNESS = {"ode": True, "gz-physics": False, "mujoco": False}

#: The spin's ratio may be this many times further off than the free drive: it is sensitive, eq. 3 divides by a difference.
SPIN_FACTOR = 2.0


@dataclass(frozen=True, slots=True)
class Trial:
    """Settings, their cost, and how near the twin they keep the robot; None where they failed before the free drive."""

    step_s: float
    iterations: int | None
    kp_n_per_m: float | None
    kd_ns_per_m: float | None
    ratio: float
    free: Apart | None
    is_steady: bool = True  # loads at rest are those of statics, and nothing drifts

    @property
    def cost_hz(self) -> float:
        """Steps per second times iterations."""
        return (self.iterations or 1) / self.step_s

    def text(self) -> str:
        parts = [f"step {1e3 * self.step_s:g} ms"]
        parts += [f"{self.iterations} iterations"] if self.iterations else []
        parts += [f"kp {self.kp_n_per_m:g} N/m, kd {self.kd_ns_per_m:g} N s/m"] if self.kp_n_per_m else []
        return ", ".join(parts)

    def to_document(self) -> dict[str, Any]:
        return {
            "step_s": self.step_s,
            "iterations": self.iterations,
            "kp_n_per_m": self.kp_n_per_m,
            "kd_ns_per_m": self.kd_ns_per_m,
            "cost_hz": self.cost_hz,
            "c_lat_over_c_long": self.ratio,
            "is_steady": self.is_steady,
            "free_drive": self.free and self.free.to_document(),
        }


@dataclass(frozen=True, slots=True)
class Tuning:
    """The search: all trials in order of cost, the last one met what was wanted."""

    engine: str
    robot: str
    wanted_share: float
    wanted_deg: float
    trials: tuple[Trial, ...]

    @property
    def best(self) -> Trial:
        return self.trials[-1]

    def export_settings(self) -> ExportSettings:
        """For an export that has these settings in its files."""
        best, usual = self.best, ExportSettings()
        return replace(
            usual,
            step_s=best.step_s,
            iterations=best.iterations or usual.iterations,
            kp_n_per_m=best.kp_n_per_m or usual.kp_n_per_m,
            kd_ns_per_m=usual.kd_ns_per_m if best.kd_ns_per_m is None else best.kd_ns_per_m,
        )

    def summary(self) -> str:
        best = self.best
        assert best.free is not None
        rows = [
            f"{self.robot} in {self.engine}: cheapest settings within {100.0 * self.wanted_share:g} % and {self.wanted_deg:g}°",
            f"  {best.text()}",
            f"  free drive   apart by at most {best.free.text()}",
            f"  spin         c_lat / c_long {best.ratio:.5g}",
            f"  cost         {best.cost_hz:.4g} steps times iterations for a second; {len(self.trials)} settings tried",
        ]
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "robot": self.robot,
            "wanted": {"share": self.wanted_share, "heading_deg": self.wanted_deg},
            "best": self.best.to_document(),
            "trials": [trial.to_document() for trial in self.trials],
        }


def tune(
    course: Course,
    engine: str,
    *,
    within_share: float = 0.01,
    within_deg: float = 1.0,
    progress: Callable[[str], None] = lambda _: None,
) -> Tuning:
    """Search from the cheapest settings up; an error where none of them will do."""
    runner = find_engine(engine)
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory(prefix="slipfit-tune-") as folder:
        for step_s, iterations in _by_cost(engine):
            # The file has the step: MuJoCo's contacts and servos are made for it.
            path = course.export(engine, Path(folder), ExportSettings(step_s=step_s))
            here = []
            for kp, kd in STIFFNESSES if _HAS_STIFFNESS[engine] else ((None, None),):
                settings = Settings(step_s=step_s, iterations=iterations, kp_n_per_m=kp, kd_ns_per_m=kd)
                here.append(_try(Rig(runner, path, course, settings), engine, within_share))
                progress(f"{engine}: {here[-1].text()}: {_told(here[-1])}")
            met = [t for t in here if t.free and t.free.share <= within_share and t.free.heading_deg <= within_deg]
            if met:
                best = min(met, key=lambda t: _over(t, within_share, within_deg))
                trials += [t for t in here if t is not best] + [best]
                return Tuning(engine, course.robot.name, within_share, within_deg, tuple(trials))
            trials += here
    raise SimulationError(
        f"{course.robot.name} in {engine}: no settings down to {1e3 * STEPS_S[-1]:g} ms stay within {100.0 * within_share:g} % "
        f"and {within_deg:g}°; ask for less, or look for artefacts with slipfit verify"
    )


def _over(trial: Trial, within_share: float, within_deg: float) -> float:
    """How much of what is wanted is used up."""
    return max(trial.free.share / within_share, trial.free.heading_deg / within_deg) if trial.free else math.inf


def _by_cost(engine: str) -> Iterator[tuple[float, int | None]]:
    counts: tuple[int | None, ...] = ITERATIONS if _HAS_ITERATIONS[engine] else (None,)
    # Of equal cost the larger step first: fewer calls around the solver.
    yield from sorted(((h, n) for h in STEPS_S for n in counts), key=lambda pair: (round((pair[1] or 1) / pair[0]), -pair[0]))


def _try(rig: Rig, engine: str, within_share: float) -> Trial:
    course, s = rig.course, rig.settings
    assert s.step_s is not None
    spun = rig.drive(course[short_spin])
    ratio = spin_reading(spun, course.robot, course.c_long) if is_whole(spun) else math.nan
    trial = Trial(s.step_s, s.iterations, s.kp_n_per_m, s.kd_ns_per_m, ratio, None)
    own = course.spin_ratio(short_spin)
    if not (is_whole(spun) if own is None else abs(ratio / own - 1.0) <= SPIN_FACTOR * within_share):
        return trial
    still = rest(spun, course[short_spin])
    if still.worst_load_share > LOAD_SHARE or still.drift_mps > LEVEL_DRIFT_MPS:
        return replace(trial, is_steady=False)
    drive = course[free_drive]
    run = rig.drive(drive)
    if not is_whole(run):
        return trial
    both = paths(drive, run, course.robot, course.ground, reached=engine in SOFT_SERVOS)
    return replace(trial, free=Apart.of(both))


def _told(trial: Trial) -> str:
    unfit = f"spin reads {trial.ratio:.4g}" if trial.is_steady else "loads or place not steady at rest"
    return trial.free.text() if trial.free else unfit
