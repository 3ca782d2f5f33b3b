"""Alarms of being stuck, in simulated drives and in recordings: `python benchmarks/estimate_alarms.py`, ten minutes.

Simulated: wheels onto ice and into soft sand, tracks at a curb (`stuck_drives`), noise of sensors and grounds drawn anew each
time; the delay is from when the true slip passes 0.8 to the alarm. Recorded: DRIVE, BorealTC, and OptiOdom's differential robot.
What counts as evidence was chosen with the first list of recordings, without the second; how long it has to last was chosen from
the table of both. An alarm is confirmed where readings
themselves, without a filter, say that the robot did not move: its way by lidar over a second, its turn by gyro (by the pose
without one).
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from estimate_drive import SETTINGS
from estimate_floors import COLUMNS, FLOORS, husky_runs
from real import COLUMNS as DRIVE_COLUMNS
from real import DATA
from slipfit.contact.slip import slip_ratio
from slipfit.estimation import FilterSettings, SlipEstimate, estimate
from slipfit.estimation.immobilisation import TURNING_MPS, AlarmRule, alarms
from slipfit.library import Robot, find_robot
from slipfit.logs import DriveLog, read_log
from slipfit.logs.channels import IMU
from slipfit.logs.inspection import inspect_log
from slipfit.logs.poses import has_pose, poses_of
from slipfit.logs.rims import Rims, rims_of
from stuck_drives import GYRO_RADPS, POSE_M, POSE_RAD, STUCK, drives, stand_in

#: Recordings of DRIVE that the rule was chosen with, beside all of BorealTC; and those kept apart from it, except for the time
#: that an alarm has to last.
CHOSEN_WITH = (
    "test_husky", "warthog_wheels_asphalt", "warthog_wheels_gravel_2024_8_6_11h37s32",
    "warthog_wheels_sand_2024_9_25_14h13s47", "warthog_wheels_sand_2024_9_25_14h32s32",
)  # fmt: skip
HELD_OUT = ("test_warthog", "warthog_wheels_grass", "warthog_wheels_grass_2024_7_18_16h59s20")

#: Rules that are compared: how sure, and for how long (s).
RULES = tuple(AlarmRule(sure=sure, held_s=held) for sure in (0.5, 0.9, 0.99) for held in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0))

#: Seeds of the simulated drives; goals: delay (s) and false alarms per hour.
SEEDS, GOAL_S, GOAL_PER_HOUR = range(12), 2.0, 1.0

#: Of OptiOdom's differential robot.
TICKS_PER_TURN = 43.7 * 64

#: A second of readings that confirm an alarm may lie so long before and after it (s).
BEFORE_S, AFTER_S = 3.0, 1.0

SIMULATED = FilterSettings(pose_m=POSE_M, pose_rad=POSE_RAD, gyro_radps=GYRO_RADPS)


def optiodom(data: Path) -> Iterator[tuple[str, Robot, DriveLog]]:
    """Every run of OptiOdom's differential robot: wheels of 84 mm, 0.2 m apart, mocap at 20 Hz."""
    robot = stand_in(0.2, 0.042)
    for path in sorted((data / "optiodom_umbmark" / "diff").rglob("*run-*.csv.gz")):
        yield path.name.removesuffix(".csv.gz"), robot, read_log(path, columns=COLUMNS / "optiodom_diff.yaml")


def recorded(data: Path, *, held_out: bool) -> Iterator[tuple[str, Robot, Rims, DriveLog, SlipEstimate]]:
    """Recordings and what the filter, forwards, makes of them."""
    for name in HELD_OUT if held_out else CHOSEN_WITH:
        robot = find_robot("husky" if "husky" in name else "warthog")
        log = inspect_log(read_log(data / "drive_warthog_husky" / f"{name}.csv.gz", columns=DRIVE_COLUMNS), robot).corrected
        yield name, robot, rims_of(log, robot), log, estimate(robot, log, settings=SETTINGS, smooth=False)
    if held_out:
        settings = FilterSettings(pose_m=0.002, pose_rad=0.005)
        for name, robot, log in optiodom(data):
            found = estimate(robot, log, settings=settings, smooth=False, counts_per_turn=TICKS_PER_TURN)
            yield name, robot, rims_of(log, robot, counts_per_turn=TICKS_PER_TURN), log, found
        return
    for floor in FLOORS:
        for log in husky_runs(data / "borealtc_husky" / floor):
            robot = find_robot("husky")
            found = estimate(robot, log, settings=FilterSettings(accel_mps2=2.0), smooth=False)
            yield log.source, robot, rims_of(log, robot), log, found


def slip_of_readings(log: DriveLog, robot: Robot, rims: Rims, found: SlipEstimate, to_s: float) -> float:
    """Slip of the side that slips less over the second before `to_s`, by readings alone; NaN where they do not tell."""
    if not has_pose(log):
        return float("nan")
    poses, late = poses_of(log, rims), found.late_s.get("pose", 0.0)
    at = np.flatnonzero((poses.taken_s - late >= to_s - 1.0) & (poses.taken_s - late <= to_s))
    if len(at) < 3 or len(set(poses.segment[at])) > 1:
        return float("nan")
    first, last = int(at[0]), int(at[-1])
    begin, end = poses.taken_s[first] - late, poses.taken_s[last] - late
    turned = float(poses.yaw_rad[last] - poses.yaw_rad[first])
    if IMU in log and "gyro_z_radps" in log[IMU].columns:
        stamps = rims.seconds(log[IMU].stamps_ns) - found.late_s.get("gyro", 0.0)
        rate = log[IMU].column("gyro_z_radps")[(stamps >= begin) & (stamps <= end)]
        turned = float(np.nanmean(rate)) * (end - begin)
    heading = float(poses.yaw_rad[first]) + 0.5 * turned
    dx, dy = poses.x_m[last] - poses.x_m[first], poses.y_m[last] - poses.y_m[first]
    ahead = float(dx * np.cos(heading) + dy * np.sin(heading)) / (end - begin)
    rate = 0.5 * robot.track_m * turned / (end - begin)
    inside = (rims.time_s >= begin) & (rims.time_s <= end)
    sides = [float(rims.left_mps[inside].mean()), float(rims.right_mps[inside].mean())]
    pairs = zip(sides, (ahead - rate, ahead + rate), strict=True)
    return min((slip_ratio(u, w) * np.sign(w) for w, u in pairs if abs(w) > TURNING_MPS), default=float("nan"))


def is_confirmed(log: DriveLog, robot: Robot, rims: Rims, found: SlipEstimate, alarm_s: float) -> bool:
    """Whether some second about an alarm says by readings alone that the robot slipped by more than the limit."""
    ends = np.arange(alarm_s - BEFORE_S + 1.0, alarm_s + AFTER_S + 1e-9, 0.1)
    return any(slip_of_readings(log, robot, rims, found, float(t)) > STUCK for t in ends)


def delays(rules: tuple[AlarmRule, ...], seeds: range = SEEDS) -> tuple[dict[str, list[list[float]]], int]:
    """Delay (s) of each rule in each simulated drive, infinite where no alarm came, by kind of drive; and alarms before their
    time, of the default rule."""
    found: dict[str, list[list[float]]] = {}
    early = 0
    for seed in seeds:
        for drive in drives(seed):
            e = estimate(drive.robot, drive.log, settings=SIMULATED, smooth=False)
            raised = [alarms(e.time_s, e.stuck, rule) for rule in rules]
            early += sum(t < drive.onset_s for t in e.alarms_s)
            after = [[t - drive.onset_s for t in times if t >= drive.onset_s] for times in raised]
            found.setdefault(drive.name, []).append([min(a, default=float("inf")) for a in after])
    return found, early


def false_alarms(data: Path, rules: tuple[AlarmRule, ...], *, held_out: bool) -> tuple[float, np.ndarray, np.ndarray]:
    """Hours, and for each rule confirmed and false alarms."""
    hours, confirmed, false = 0.0, np.zeros(len(rules), dtype=int), np.zeros(len(rules), dtype=int)
    for name, robot, rims, log, e in recorded(data, held_out=held_out):
        hours += float(e.time_s[-1] - e.time_s[0]) / 3600.0
        known: dict[float, bool] = {}
        for k, rule in enumerate(rules):
            for t in alarms(e.time_s, e.stuck, rule):
                if t not in known:
                    known[t] = is_confirmed(log, robot, rims, e, t)
                    if rule == AlarmRule():
                        print(f"  {name}: {t:.1f} s, {'confirmed by readings' if known[t] else 'false'}", flush=True)
                confirmed[k] += known[t]
                false[k] += not known[t]
    return hours, confirmed, false


def main() -> int:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    rules = (AlarmRule(), *(r for r in RULES if r != AlarmRule()))
    late, early = delays(rules)
    for kind, rows in late.items():
        said = np.array(rows)[:, 0]
        print(f"{kind:<16} alarm after {np.median(said):.2f} s, at most {said.max():.2f} s, {len(said)} drives")
    every = np.array([row for rows in late.values() for row in rows])
    print(f"simulated: {(every[:, 0] <= GOAL_S).sum()} of {len(every)} within {GOAL_S:g} s; {early} before slip was {STUCK:g}")
    counts = {}
    for about, held_out in (("chosen with", False), ("kept apart", True)):
        hours, confirmed, false = false_alarms(data, rules, held_out=held_out)
        counts[about] = (hours, confirmed, false)
        print(f"recordings {about}: {hours:.2f} h, {confirmed[0]} alarms confirmed by readings, {false[0]} false", flush=True)
    hours, false = sum(c[0] for c in counts.values()), np.sum([c[2] for c in counts.values()], axis=0)
    print(f"{'sure':>6}{'held (s)':>10}{'median delay':>14}{'largest':>9}{'within 2 s':>12}{'false per hour':>16}")
    for k in sorted(range(len(rules)), key=lambda k: (rules[k].sure, rules[k].held_s)):
        d = every[:, k]
        within = 100.0 * (d <= GOAL_S).mean()
        print(
            f"{rules[k].sure:>6g}{rules[k].held_s:>10g}{np.median(d):>12.2f} s{d.max():>7.2f} s{within:>10.0f} %"
            f"{false[k] / hours:>16.2f}"
        )
    return 0 if false[0] <= GOAL_PER_HOUR * hours and (every[:, 0] <= GOAL_S).all() else 1


if __name__ == "__main__":
    sys.exit(main())
