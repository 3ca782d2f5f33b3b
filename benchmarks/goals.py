"""How benchmark scripts report what they measured: figures, with or without a goal. `judge.py` collects and judges them.

A script ends with `return report(figures)`. Started by hand it then prints a table and exits 1 if a goal is missed. Started by
`judge.py`, it writes one JSON line per figure to the file that the environment variable names, and the runner prints the table of
all scripts, because only the runner knows whether the machine was quiet.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

#: Names the file that figures are written to.
FILE_VARIABLE = "SLIPFIT_BENCH_FIGURES"

MET, MISSED, NOT_JUDGED = "met", "MISSED", "not judged"


class Figure(NamedTuple):
    """One measured number. `goal` is its text ("<= 1.1"), empty for a figure that is only reported; `is_timed` says that a busy
    machine changes the number (times and ratios of times do, errors of a model do not)."""

    name: str
    measured: str
    goal: str
    is_met: bool
    is_timed: bool

    def verdict(self, is_busy: bool = False) -> str:
        if not self.goal:
            return ""
        if self.is_timed and is_busy:
            return NOT_JUDGED
        return MET if self.is_met else MISSED


def at_most(name: str, value: float, limit: float, form: str = ".2f", *, is_timed: bool = True) -> Figure:
    """A goal that is met by values up to the limit; NaN misses it."""
    return Figure(name, f"{value:{form}}", f"<= {limit:,g}", bool(value <= limit), is_timed)


def at_least(name: str, value: float, limit: float, form: str = ".2f", *, is_timed: bool = True) -> Figure:
    """A goal that is met by values from the limit on; NaN misses it."""
    return Figure(name, f"{value:{form}}", f">= {limit:,g}", bool(value >= limit), is_timed)


def without_goal(name: str, value: float, form: str = ".2f") -> Figure:
    """A number that is worth keeping and has no goal."""
    return Figure(name, f"{value:{form}}", "", True, True)


def rows(figures: Iterable[Figure], is_busy: bool = False) -> list[str]:
    """One line per figure: name, goal, measured, verdict."""
    return [f"{f.name:<58} {f.goal:>11} {f.measured:>10}   {f.verdict(is_busy)}".rstrip() for f in figures]


def report(figures: Iterable[Figure]) -> int:
    """Hand figures to the runner, or print them; the exit code of a script: 1 if a goal is missed."""
    figures = list(figures)
    path = os.environ.get(FILE_VARIABLE)
    if path is None:
        print("\n".join(["", f"{'':<58} {'goal':>11} {'measured':>10}", *rows(figures)]))
    else:
        Path(path).write_text("".join(json.dumps(f._asdict()) + "\n" for f in figures), encoding="utf-8")
    return 0 if all(f.is_met for f in figures) else 1


def read_figures(path: Path) -> list[Figure]:
    """What a script reported; nothing if it did not come to its end."""
    return [Figure(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
