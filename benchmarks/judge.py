"""Run benchmark scripts and judge their goals: `python benchmarks/judge.py bench`, or another suite. `make bench*` calls this.

Each script runs in its own process, all of them even if one misses a goal or fails. Then a table has every figure and goal.

Exit codes:
0  all goals are met
1  a goal is missed, or a script failed
2  the command line is wrong
3  no goal is missed, but some were not judged, because others used the machine

On a busy machine figures are printed, and goals on times and speeds are not judged. Goals on the accuracy of results are.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from goals import FILE_VARIABLE, MET, MISSED, NOT_JUDGED, Figure, read_figures, rows
from load import Load, Watch

HERE = Path(__file__).parent
ALL_MET, SOME_MISSED, SOME_NOT_JUDGED = 0, 1, 3

#: Scripts of each suite, with their arguments.
SUITES = {
    "bench": ("run.py", "start_up.py", "read_log.py", "calibrate_time.py"),
    "rover": ("rover_speed.py",),
    "soil": ("soil_speed.py",),
    "track": ("track_speed.py",),
    "omni": ("omni_speed.py", "omni_sweep.py", "omni_real.py"),
    "study": ("study_speed.py many dask", "study_scale.py coverage"),
    "real": ("real.py", "real_commands.py", "real_borealtc.py", "real_robustness.py"),
}

README_MARKERS = ("<!-- figures of {suite}: written by judge.py -->", "<!-- end of figures of {suite} -->")


class Outcome(NamedTuple):
    """What became of one script."""

    call: str
    exit_code: int
    figures: list[Figure]
    load: Load

    @property
    def has_failed(self) -> bool:
        """A script exits 1 where it reports a missed goal; any other exit code but 0, and 1 without a report, is a failure."""
        is_missed = any(not figure.is_met for figure in self.figures)
        return self.exit_code not in ((0, 1) if is_missed else (0,))

    def verdicts(self) -> list[str]:
        return [figure.verdict(self.load.is_busy) for figure in self.figures if figure.goal]

    def lines(self) -> list[str]:
        failed = [f"  FAILED with exit code {self.exit_code}"] if self.has_failed else []
        return [f"{self.call}   ({self.load})", *(f"  {row}" for row in rows(self.figures, self.load.is_busy)), *failed]


def run_script(call: str, folder: Path, watch: Watch) -> Outcome:
    """One script in its own process, with the load around it."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "figures"
        file.touch()
        script, *arguments = call.split()
        command = [sys.executable, str(folder / script), *arguments]
        environment = os.environ | {FILE_VARIABLE: str(file)}
        code, load = watch.around(lambda: subprocess.run(command, env=environment, check=False).returncode)
        return Outcome(call, code, read_figures(file), load)


def run_all(calls: Sequence[str], folder: Path = HERE, *, watch: Watch, wait_s: float = 0.0) -> list[Outcome]:
    """All scripts, one after the other, whatever becomes of them."""
    outcomes = []
    for call in calls:
        watch.wait_for_quiet(wait_s)
        print(f"--- {call}", flush=True)
        outcomes.append(run_script(call, folder, watch))
        print(f"({outcomes[-1].load})\n", flush=True)
    return outcomes


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """Table of goals, and what it comes to."""
    verdicts = [verdict for outcome in outcomes for verdict in outcome.verdicts()]
    lines = [machine(), "", f"{'':<60} {'goal':>11} {'measured':>10}"]
    for outcome in outcomes:
        lines += outcome.lines()
    counts = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in (MET, MISSED, NOT_JUDGED) if kind in verdicts)
    lines += ["", f"goals: {counts or 'none'}"]
    failed = [outcome.call for outcome in outcomes if outcome.has_failed]
    if failed:
        lines.append(f"failed: {', '.join(failed)}")
    for outcome in outcomes:
        if NOT_JUDGED in outcome.verdicts():
            lines.append(f"{outcome.call}: not judged: the machine was busy ({outcome.load}); run again when it is quiet")
    return lines


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """See the module."""
    verdicts = [verdict for outcome in outcomes for verdict in outcome.verdicts()]
    if MISSED in verdicts or any(outcome.has_failed for outcome in outcomes):
        return SOME_MISSED
    return SOME_NOT_JUDGED if NOT_JUDGED in verdicts else ALL_MET


def machine() -> str:
    """Generic: the processor, the number of cores, the vector instructions that matter."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    entries = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
    found = {key.strip(): value.strip() for key, value in entries.items()}
    vectors = [name for name in ("avx2", "avx512f") if name in found.get("flags", "").split()]
    return f"{found.get('model name', 'unknown processor')}, {os.cpu_count()} cores, {' '.join(vectors) or 'no AVX2'}"


def write_readme(suite: str, lines: Sequence[str], path: Path = HERE / "README.md") -> None:
    """Replace what stands between the markers of a suite."""
    begin, end = (marker.format(suite=suite) for marker in README_MARKERS)
    before, rest = path.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    path.write_text("\n".join([before + begin, "```", *lines, "```", end + after]), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", 1)[0], epilog="exit codes: 0 all goals met, 1 a goal missed or a script failed, "
        "3 none missed, but some not judged because the machine was busy",
    )  # fmt: skip
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument(
        "--wait", type=float, default=0.0, metavar="S", help="wait up to so long for a quiet machine, each script"
    )
    parser.add_argument("--write-readme", action="store_true", help="put the table into benchmarks/README.md")
    arguments = parser.parse_args()
    outcomes = run_all(SUITES[arguments.suite], watch=Watch(), wait_s=arguments.wait)
    lines = summary(outcomes)
    print("\n".join(lines))
    if arguments.write_readme:
        write_readme(arguments.suite, lines)
    return exit_code(outcomes)


if __name__ == "__main__":
    sys.exit(main())
