"""Do recordings tell surfaces apart, and are changes found where they are joined? `python benchmarks/estimate_surfaces.py`.

Eight minutes; DRIVE's Warthog and BorealTC's Husky. First, how far apart two surfaces are in what `slipfit.estimation.surfaces`
looks at: turning, way ahead, roughness and currents, as the difference over its own standard deviation, squared (chi-squared with
1, 1, 2, 2 and 1 degrees of freedom if nothing differs), the spread from how much blocks of 12 s scatter and err alike; beside it
the same for both halves of each recording. Then every join in both orders, at several rates of false changes: changes found
within a minute of where recordings meet, missed, and extra; and each recording alone, where every change is extra.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import fields
from itertools import permutations
from pathlib import Path

import numpy as np
from scipy.stats import chi2

from estimate_floors import COLUMNS, of_drive, recording
from real import DATA
from slipfit.estimation import FilterSettings, estimate
from slipfit.estimation.block_scatter import between, scatters, weighed
from slipfit.estimation.blocks import Blocks
from slipfit.estimation.change_points import FALSE_PER_HOUR
from slipfit.estimation.surfaces import BLOCK_S, answers, partition
from slipfit.library import find_robot
from slipfit.logs import DriveLog, join_logs, read_log

Answers = Mapping[str, Blocks]

#: Recordings of the Warthog; two are of the same sand.
WARTHOG = ("asphalt", "gravel", "sand 1", "sand 2")

#: The Husky's longest runs with an IMU, by floor.
HUSKY = {"husky asphalt": "ASPHALT/imu_01", "husky flooring": "FLOORING/imu_00", "husky ice": "ICE/imu_00"}

#: Other runs of the Husky, of two minutes or more and with turns. Their currents were seen when the slip angle of `currents` was
#: chosen; changes were looked for in them only when the search was finished.
OTHER = {f"flooring {k}": f"FLOORING/imu_0{k}" for k in (3, 5, 7, 9)} | {f"ice {k}": f"ICE/imu_{k:02}" for k in (8, 10)}

QUANTITIES = ("turning", "ahead", "roughness", "straight current", "turning current")

#: False changes per hour at which joins are looked at; the first is what `surfaces` comes with.
RATES = (FALSE_PER_HOUR, 1.0)

#: A change is found where it is reported within this (s), the least length of a surface.
NEAR_S = 60.0


def surface_of(name: str) -> str:
    """`sand 1` and `sand 2` are the same."""
    return name.rstrip("0123456789 ")


def of_warthog(name: str) -> Answers:
    log = recording(name)
    return answers(of_drive(log, name), log, find_robot("warthog"))


def husky_run(data: Path, name: str) -> DriveLog:
    imu = data / "borealtc_husky" / f"{name}.csv.gz"
    number = re.findall(r"\d+", imu.name)[0]
    wheels = read_log(imu.parent / f"pro_{number}.csv", columns=COLUMNS / "borealtc_pro.yaml")
    return join_logs(wheels, read_log(imu, columns=COLUMNS / "borealtc_imu.yaml"))


def of_husky(data: Path, name: str) -> Answers:
    log, robot = husky_run(data, name), find_robot("husky")
    return answers(estimate(robot, log, settings=FilterSettings(accel_mps2=2.0), smooth=False), log, robot)


def cut(given: Answers, begin: int, end: int) -> Answers:
    return {name: Blocks(*(getattr(b, f.name)[begin:end] for f in fields(b))) for name, b in given.items()}


def joined(*given: Answers) -> Answers:
    shared = [name for name in given[0] if all(name in g for g in given)]
    return {name: Blocks(*(np.concatenate([getattr(g[name], f.name) for g in given]) for f in fields(Blocks))) for name in shared}


def length(given: Answers) -> int:
    return len(given["turning"])


def apart(one: Answers, other: Answers) -> dict[str, tuple[float, int]]:
    """Squared distance of each quantity in units of its spread, and its degrees of freedom."""
    both = joined(one, other)
    middle, found = length(one), {}
    noise = scatters(both, [0, middle, length(both)])
    for name, blocks in both.items():
        now = weighed(between(blocks), noise[name].eta)
        constants, spreads = [], []
        for part in (slice(0, middle), slice(middle, None)):
            inverse = np.linalg.pinv(now.gram[part].sum(axis=0), rcond=1e-9, hermitian=True)
            constants.append(inverse @ now.moment[part].sum(axis=0))
            spreads.append(inverse * noise[name].variance * noise[name].colour)
        if all(spread.any() for spread in spreads):
            off = constants[0] - constants[1]
            found[name] = (float(off @ np.linalg.pinv(sum(spreads), hermitian=True) @ off), len(off))
    return found


def said(found: dict[str, tuple[float, int]]) -> str:
    total, freedom = (sum(column) for column in zip(*found.values(), strict=True))
    parts = "".join(f"{found[name][0]:>18.1f}" if name in found else f"{'-':>18}" for name in QUANTITIES)
    return f"{parts}{float(chi2.sf(total, freedom)):>12.1e}"


def changes_s(given: Answers, false_per_hour: float) -> list[float]:
    return [first * BLOCK_S for first in partition(given, false_per_hour=false_per_hour)[1:-1]]


def counted(meet_s: float | None, found: list[float]) -> tuple[int, int, int]:
    """Found, missed, extra."""
    near = [t for t in found if meet_s is not None and abs(t - meet_s) <= NEAR_S]
    return (1, 0, len(found) - 1) if near else (0, int(meet_s is not None), len(found))


def look_for_changes(families: dict[str, dict[str, Answers]], rate: float) -> None:
    totals: dict[str, np.ndarray] = {}
    print(f"\n{f'at most {rate:g} false changes per hour':<40}{'meet (s)':>9}  changes found (s)")
    for robot, family in families.items():
        cases = [((name,), given, None) for name, given in family.items()]
        for one, other in permutations(family, 2):
            is_same = surface_of(one) == surface_of(other)
            meet = None if is_same else length(family[one]) * BLOCK_S
            cases.append(((one, other), joined(family[one], family[other]), meet))
        for names, given, meet in cases:
            found = changes_s(given, rate)
            at = "-" if meet is None else f"{meet:.0f}"
            print(f"{', '.join(names):<40}{at:>9}  {', '.join(f'{t:.0f}' for t in found) or 'none'}")
            key = f"{robot}, {'the same surface' if meet is None else 'different surfaces joined'}"
            totals[key] = totals.get(key, np.zeros(4, int)) + np.array([1, *counted(meet, found)])
    for about, (count, found_, missed, extra) in totals.items():
        print(f"{about}: {count}; {found_} found, {missed} missed, {extra} extra")


def main() -> int:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    families = {
        "warthog": {name: of_warthog(name) for name in WARTHOG},
        "husky": {name: of_husky(data, run) for name, run in HUSKY.items()},
        "husky, other runs": {name: of_husky(data, run) for name, run in OTHER.items()},
    }
    print(f"{'':<34}{''.join(f'{name:>18}' for name in QUANTITIES)}{'by chance':>12}")
    for family in families.values():
        for name, given in family.items():
            middle = length(given) // 2
            print(f"{name + ', halves':<34}{said(apart(cut(given, 0, middle), cut(given, middle, length(given))))}")
        names = list(family)
        for k, one in enumerate(names):
            for other in names[k + 1 :]:
                print(f"{one + ' | ' + other:<34}{said(apart(family[one], family[other]))}")
    for rate in RATES:
        look_for_changes(families, rate)
    return 0


if __name__ == "__main__":
    sys.exit(main())
