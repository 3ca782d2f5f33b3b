"""How often 90 % intervals hold the truth on ordinary ROS bags: `python benchmarks/bag_coverage.py [bags [seed]]`.

Encoders, IMU and wheel odometry, no independent pose: planned and hand-driven drives of a P3AT and a Husky, stamps with jitter,
wheels that slide in spins where c_lat is small (tests/ordinary_bags). Every robot is drawn from the standard deviations of its
file, which is all that the calibration gets. Half a minute for each bag, two at a time. Exit code 1 where a value is wrong
without a warning, or where more values are far off than chance allows (docs/theory/calibration, "Ordinary bags").
"""

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from scipy.stats import binom, norm

from ordinary_bags import Case, calibration_cases, write
from slipfit.calibration import calibrate
from slipfit.errors import SlipfitError
from slipfit.logs import read_log

CONSTANTS = ("c_long_per_n", "c_lat_per_n", "c_lat/c_long")

#: A half width of a 90 % interval is 1.645 standard deviations. Beyond the first number of them exact intervals leave 0.1 % of
#: values: some are there by chance. Beyond the second they leave one in a million: such a value is wrong, and without a warning
#: that must not happen.
FAR, WRONG = 2.0, 3.0

#: More far values than chance makes with this probability are too many.
BY_CHANCE = 0.99


@dataclass(frozen=True)
class Reported:
    """What a calibration reports of one constant."""

    kind: str  # value, bound, none
    holds: bool  # the interval or bound contains the truth
    off: float = 0.0  # error over the interval's half width
    relative: float = 0.0  # error over the truth


@dataclass(frozen=True)
class Row:
    """One bag."""

    case: Case
    reported: dict[str, Reported]
    notes: tuple[str, ...]
    error: str = ""


def row(case: Case) -> Row:
    """Write, read and calibrate one bag."""
    with TemporaryDirectory() as folder:
        path = write(case, Path(folder))
        try:
            fit = calibrate(read_log(path), robot=case.robot)
        except SlipfitError as error:
            return Row(case, {name: Reported("none", True) for name in CONSTANTS}, (), str(error))
    c_long, c_lat = case.ground.c_long_per_n, case.ground.c_lat_per_n
    reported = {}
    for name, truth in zip(CONSTANTS, (c_long, c_lat, c_lat / c_long), strict=True):
        p = {**fit.parameters, **fit.combinations}.get(name)
        if p is None or (p.value is None and p.at_most is None and p.at_least is None):
            reported[name] = Reported("none", True)
        elif p.value is None:
            reported[name] = Reported("bound", (p.at_least or 0.0) <= truth <= (p.at_most or float("inf")))
        else:
            low, high = p.interval_90
            reported[name] = Reported(
                "value", low <= truth <= high, 2.0 * (p.value - truth) / (high - low), p.value / truth - 1.0
            )
    return Row(case, reported, fit.notes)


def table(rows: Iterable[Row]) -> str:
    """Counts for each constant."""
    rows = list(rows)
    lines = [
        f"{len(rows)} bags, {sum(bool(r.notes) for r in rows)} with a warning, {sum(bool(r.error) for r in rows)} rejected",
        f"{'':<14}{'value':>7}{'bound':>7}{'none':>7}{'inside':>8}{'share':>8}   without a warning: beyond {FAR:g} and "
        f"{WRONG:g} half widths, wrong bounds",
    ]
    for name in CONSTANTS:
        found = [r.reported[name] for r in rows]
        kinds = Counter(f.kind for f in found)
        inside = sum(f.holds for f in found if f.kind != "none")
        silent = [r.reported[name] for r in rows if not r.notes]
        far, wrong = (sum(abs(f.off) > limit for f in silent) for limit in (FAR, WRONG))
        bounds = sum(f.kind == "bound" and not f.holds for f in silent)
        share = inside / max(1, kinds["value"] + kinds["bound"])
        counts = "".join(f"{kinds[kind]:>7}" for kind in ("value", "bound", "none"))
        lines.append(f"{name:<14}{counts}{inside:>8}{share:>8.3f}   {far}, {wrong}, {bounds}")
    return "\n".join(lines)


def verdict(rows: Iterable[Row]) -> tuple[bool, str]:
    """Whether all is as exact intervals would have it, with the numbers."""
    silent = [f for r in rows if not r.notes for f in r.reported.values()]
    values = [abs(f.off) for f in silent if f.kind == "value"]
    far, wrong = (sum(off > limit for off in values) for limit in (FAR, WRONG))
    bounds = sum(f.kind == "bound" and not f.holds for f in silent)
    chance = 2.0 * norm.sf(FAR * norm.isf(0.05))
    most = int(binom.ppf(BY_CHANCE, len(values), chance))
    said = (
        f"{len(values)} values without a warning: {far} beyond {FAR:g} half widths (chance {chance * len(values):.2g}, allowed "
        f"{most}), {wrong} beyond {WRONG:g} (allowed 0); {bounds} wrong bounds (a 90 % bound may be)"
    )
    return far <= most and wrong == 0, said


def line(r: Row) -> str:
    """One bag in one line."""
    found = [
        f"{name} {f.relative:+.3f} ({f.off:+.1f})" if f.kind == "value" else f"{name} {f.kind}" for name, f in r.reported.items()
    ]
    return f"{r.case.name}: {r.case.about}: {', '.join(found)}{'; ' if r.error or r.notes else ''}{r.error}{' | '.join(r.notes)}"


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    rows = []
    with Pool(2) as pool:
        for found in pool.imap(row, calibration_cases(count, seed=seed), chunksize=1):
            rows.append(found)
            print(line(found), flush=True)
    print(table(rows))
    is_right, said = verdict(rows)
    print(said)
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())
