"""Floors that a robot's own sensors tell: `python benchmarks/estimate_floors.py [folder of recordings]`, two minutes.

BorealTC: what a Husky's sides draw in turns on the spot on ice, asphalt and flooring, and the lateral friction that follows, with
dry asphalt of the library (a sliding wheel's 0.75) as reference; alarms of being stuck per hour. DRIVE: recordings joined one
after another, and where the surface is found to change.
"""

import re
import sys
from pathlib import Path

import numpy as np

from estimate_drive import SETTINGS, SURFACES
from real import COLUMNS as DRIVE_COLUMNS
from real import DATA
from slipfit.estimation import FilterSettings, SlipEstimate, estimate
from slipfit.estimation.friction import TurningCurrent, friction_beside, turning_current
from slipfit.estimation.surfaces import Surface, surfaces
from slipfit.library import find_robot
from slipfit.logs import DriveLog, inspect_log, join_logs, read_log
from slipfit.logs.join import one_after_another

COLUMNS = DRIVE_COLUMNS.parent
FLOORS = ("ASPHALT", "FLOORING", "ICE")

#: Friction of a wheel that slides on dry asphalt (`library/grounds/dry_asphalt.yaml`); its spread is assumed.
ASPHALT, ASPHALT_STD = 0.75, 0.05

#: Orders in which recordings of the Warthog are joined.
JOINED = (("asphalt", "sand 1"), ("sand 2", "gravel"), ("asphalt", "gravel", "sand 1"), ("asphalt", "gravel"))


def currents(data: Path) -> dict[str, TurningCurrent]:
    """Of each floor, all runs."""
    radius = find_robot("husky").wheels.radius_m.value
    found = {}
    for floor in FLOORS:
        paths = sorted((data / "borealtc_husky" / floor).glob("pro_*.csv"))
        logs = [read_log(path, columns=COLUMNS / "borealtc_pro.yaml") for path in paths]
        found[floor] = turning_current(floor.lower(), logs, radius_m=radius)
    return found


def husky_runs(folder: Path) -> list[DriveLog]:
    """Runs of a floor that have an IMU."""
    found = []
    for imu in sorted(folder.glob("imu_*.csv.gz")):
        number = re.findall(r"\d+", imu.name)[0]
        wheels = read_log(folder / f"pro_{number}.csv", columns=COLUMNS / "borealtc_pro.yaml")
        found.append(join_logs(wheels, read_log(imu, columns=COLUMNS / "borealtc_imu.yaml")))
    return found


def alarms(data: Path) -> tuple[int, float]:
    """Alarms in all recordings of both data sets, and their hours."""
    count, hours = 0, 0.0
    for floor in FLOORS:
        for log in husky_runs(data / "borealtc_husky" / floor):
            found = estimate(find_robot("husky"), log, settings=FilterSettings(accel_mps2=2.0), smooth=False)
            count, hours = count + len(found.alarms_s), hours + float(found.time_s[-1]) / 3600.0
    for surface in SURFACES:
        found = of_drive(recording(surface), surface)
        count, hours = count + len(found.alarms_s), hours + float(found.time_s[-1]) / 3600.0
    return count, hours


def recording(surface: str) -> DriveLog:
    log = read_log(DATA / "drive_warthog_husky" / f"{SURFACES[surface]}.csv.gz", columns=DRIVE_COLUMNS)
    return inspect_log(log, find_robot(robot_of(surface))).corrected


def robot_of(surface: str) -> str:
    return "husky" if surface == "husky" else "warthog"


def of_drive(log: DriveLog, surface: str) -> SlipEstimate:
    return estimate(find_robot(robot_of(surface)), log, settings=SETTINGS, smooth=False)


def changes(order: tuple[str, ...]) -> tuple[list[float], tuple[Surface, ...]]:
    """Where recordings meet (s), and the surfaces that are found."""
    logs = [recording(surface) for surface in order]
    joined = one_after_another(*logs)
    found = of_drive(joined, order[0])
    return np.cumsum([log.duration_s for log in logs])[:-1].tolist(), surfaces(found, joined, find_robot("warthog")).stretches


def main() -> int:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    found = currents(data)
    for c in found.values():
        mu, std = friction_beside(found["ASPHALT"], c, ASPHALT, ASPHALT_STD)
        low, high = mu - 1.645 * std, mu + 1.645 * std
        print(
            f"{c.floor:<10} turning {c.turning_a:.2f} ± {c.turning_std_a:.2f} A, straight {c.straight_a:.2f} ± "
            f"{c.straight_std_a:.2f} A, lateral friction {mu:.2f}, 90 % in {low:.2f} to {high:.2f}"
        )
    ratios = {floor: found["ICE"].turning_a / found[floor].turning_a for floor in ("ASPHALT", "FLOORING")}
    print(f"ice over asphalt {ratios['ASPHALT']:.2f}, over flooring {ratios['FLOORING']:.2f} (goal: below 0.5)")
    count, hours = alarms(data)
    print(f"{count} alarms in {hours:.2f} h of recordings (goal: at most one per hour)")
    for order in JOINED:
        meet, pieces = changes(order)
        said = ", ".join(f"{s.from_s:.0f} s" for s in pieces[1:]) or "none"
        print(f"{' then '.join(order)}: meet at {', '.join(f'{t:.0f} s' for t in meet)}; changes found at {said}")
    return 0 if max(ratios.values()) < 0.5 and count <= max(hours, 1.0) else 1


if __name__ == "__main__":
    sys.exit(main())
