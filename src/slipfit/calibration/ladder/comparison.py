"""Which model does a drive ask for? Each rung is fitted and scored on blocks of time that it has not seen."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.calibration.ladder.contact_rungs import ContactRung
from slipfit.calibration.ladder.fit import BLOCK_S, TOLD_SHARE, FittedRung, fit_rung, measured
from slipfit.calibration.ladder.rungs import RegressedRung, Rung, Values, drifting_icr, equal_slip, icr, ideal, track_and_gain
from slipfit.calibration.ladder.windows import Windows, blocks_of, windows_of
from slipfit.calibration.spread import quantile
from slipfit.errors import LogError
from slipfit.library import SkidSteerRobot, skid_steer_robot
from slipfit.library.deviation import finite_median
from slipfit.library.files import write_json
from slipfit.logs import DriveLog
from slipfit.logs.channels import POSE
from slipfit.logs.inspection import Inspection, inspect_log
from slipfit.logs.provenance import with_truth
from slipfit.logs.rims import Rims, rims_of
from slipfit.logs.wheel_motion import TurnCounts

#: Every so many blocks of time one is left out in turn.
FOLDS = 4

#: Evaluations of a fit that starts where the fit to all blocks ended; more where there are few blocks, and one left out matters.
REFIT_EVALUATIONS, EVALUATIONS_OF_FEW, FEW_BLOCKS = 4, 30, 8

#: Errors below these count as these: nobody asks for more (m, rad).
SMALLEST_M, SMALLEST_RAD = 0.005, 0.002

#: A pose is given up where less than this share of its windows is believed, and a gyro is there.
LEAST_BELIEVED = 0.5

#: How far a gyro's bias may be off where the robot never stands still (rad/s).
BIAS_STD_WITHOUT_REST_RADPS = 0.02

#: Gains beyond these are no slip.
LEAST_GAIN, MOST_GAIN = 0.6, 1.05

#: Fewest windows that a ladder is built on.
FEWEST_WINDOWS = 12


def rungs_of(robot: SkidSteerRobot) -> list[Rung]:
    """All rungs without a regression, simplest first."""
    laws = [ContactRung(robot, "wheel_slip"), ContactRung(robot, "magic_formula")]
    return [ideal(robot), equal_slip(robot), track_and_gain(robot), icr(robot), drifting_icr(robot), *laws]


def regressions_of(robot: SkidSteerRobot) -> list[RegressedRung]:
    """Rungs with a regression on top of another one."""
    return [RegressedRung(icr(robot)), RegressedRung(ContactRung(robot, "wheel_slip"))]


@dataclass(frozen=True, eq=False, slots=True)
class Drive:
    """One drive, made ready: the wheels' speeds, and the windows that a model is asked about."""

    name: str
    digest: str
    rims: Rims
    windows: Windows
    inspection: Inspection
    notes: tuple[str, ...] = ()


def drive_of(log: DriveLog, robot: SkidSteerRobot, *, horizon_s: float = 2.0, counts_per_turn: TurnCounts | None = None) -> Drive:
    """Inspected, corrected, cut into windows; a log that cannot be used is an error that says why."""
    inspection = inspect_log(log, robot)
    name = log.source or log.about or "drive"
    if inspection.fatal:
        stop = inspection.fatal
        raise LogError(f"{name}: {stop.channel + ': ' if stop.channel else ''}{stop.found}; {stop.remedy}")
    corrected = inspection.corrected
    rims = rims_of(corrected, robot, counts_per_turn=counts_per_turn)
    windows = windows_of(corrected, rims, horizon_s=horizon_s)
    notes, has_gyro, has_pose = _disbelieved(windows), np.isfinite(windows.gyro_rad).any(), np.isfinite(windows.moved).any()
    if POSE in inspection.log and not has_pose:
        notes = [*notes, "the pose is not used: its x, y or yaw is never told; the gyro alone tells the track"]
    if windows.is_gyro_given_up:
        notes = [*notes, "the gyro is not used: it is silent for most of the drive; the pose alone tells turns"]
    if len(windows) and not has_gyro and not has_pose:
        raise LogError(f"{name}: neither gyro nor pose tell how the body turned; expected gyro_z of an IMU, or x, y and yaw")
    heard = windows.whole & ~windows.is_silent
    stuck = int((heard & windows.is_stuck).sum())
    if stuck > LEAST_BELIEVED * heard.sum():
        raise LogError(
            f"{name}: wheels spin, the robot hardly moves in {stuck} of {int(heard.sum())} windows; expected a robot that "
            f"drives: free it, or look after the pose"
        )
    if windows.believed.sum() < LEAST_BELIEVED * heard.sum() and has_gyro and has_pose:
        notes = [*notes, "the pose is not used: most of it contradicts gyro or wheels; the gyro alone tells the track"]
        channels = {channel: c for channel, c in corrected.channels.items() if channel != POSE}
        windows = windows_of(replace(corrected, channels=channels), rims, horizon_s=horizon_s)
    found = int(windows.believed.sum())
    if found < LEAST_BELIEVED * heard.sum() and not has_gyro:
        raise LogError(
            f"{name}: {int(heard.sum()) - found} of {int(heard.sum())} windows contradict the wheels, and no gyro says who is "
            f"right; expected a pose that follows the robot: {'; '.join(notes)}"
        )
    if found < FEWEST_WINDOWS:
        said = "".join(f"; {note}" for note in notes)
        raise LogError(
            f"{name}: {found} windows of {horizon_s:g} s; expected {FEWEST_WINDOWS} or more: drive longer, or ask for a shorter "
            f"horizon{said}"
        )
    if not inspection.of_kind("bias of gyro_z"):
        windows = replace(windows, gyro_bias_std_radps=BIAS_STD_WITHOUT_REST_RADPS)
    return Drive(name, log.digest, rims, windows, inspection, tuple(notes))


def _disbelieved(windows: Windows) -> list[str]:
    """How many windows are not used, and why."""
    count, silent = int(windows.whole.sum()), int((windows.whole & windows.is_silent).sum())
    stuck = int((windows.whole & windows.is_stuck).sum())
    lost, notes = count - silent - stuck - int(windows.believed.sum()), []
    if silent:
        more = f", and {len(windows.silences) - 3} times more" if len(windows.silences) > 3 else ""
        notes.append(f"{silent} of {count} windows are not used: {', '.join(windows.silences[:3])}{more}")
    if stuck:
        notes.append(f"{stuck} of {count} windows are not used: wheels spin, the robot hardly moves")
    if lost:
        why = "the pose turns otherwise than the gyro, or goes farther than the wheels rolled"
        notes.append(f"{lost} of {count} windows are not used: {why}")
    if windows.short:
        notes.append(f"{windows.short} segments are not used: shorter than the horizon")
    return notes


@dataclass(frozen=True, eq=False, slots=True)
class Scored:
    """A rung, its numbers from all blocks, and its errors over windows of blocks that it has not seen."""

    fit: FittedRung
    place_m: np.ndarray  # of every whole window; NaN without a pose
    heading_rad: np.ndarray

    @property
    def name(self) -> str:
        return self.fit.rung.name

    @property
    def median_m(self) -> float:
        return finite_median(self.place_m)

    @property
    def median_rad(self) -> float:
        return finite_median(self.heading_rad)

    @property
    def log_errors(self) -> np.ndarray:
        """Mean logarithm of both errors, of every window: equal shares of either count alike."""
        parts = [np.log(np.maximum(e, least)) for e, least in ((self.place_m, SMALLEST_M), (self.heading_rad, SMALLEST_RAD))]
        return np.asarray(np.nanmean(np.vstack([p for p in parts if np.isfinite(p).any()]), axis=0))


@dataclass(frozen=True, eq=False)
class Ladder:
    """All rungs on one drive."""

    robot: SkidSteerRobot
    drive: Drive
    horizon_s: float
    rungs: tuple[Scored, ...]
    best: Scored
    chosen: Scored  # the simplest that is as good as the best
    block: np.ndarray  # of every whole window

    def __getitem__(self, name: str) -> Scored:
        for scored in self.rungs:
            if scored.name == name:
                return scored
        raise KeyError(name)

    def summary(self) -> str:
        """A table, simplest first, and the verdict."""
        rows = [
            f"{self.robot.name}, {self.drive.name}: {len(self.block)} windows of {self.horizon_s:g} s, "
            f"errors on blocks of {BLOCK_S:g} s that a model has not seen",
            f"  {'model':<28}{'numbers':>8}{'place, median':>16}{'heading, median':>18}",
        ]
        for s in self.rungs:
            mark = " <- chosen" if s is self.chosen else " <- best" if s is self.best else ""
            place = "-" if np.isnan(s.median_m) else f"{s.median_m:.3f} m"
            heading = "-" if np.isnan(s.median_rad) else f"{s.median_rad:.4f} rad"
            rows.append(f"  {s.name:<28}{len(s.fit.rung.unknowns):>8}{place:>16}{heading:>18}{mark}")
        rows.append(f"  the simplest that is as good as the best is {self.chosen.name}:")
        rows += [f"    {line}" for line in numbers(self.chosen.fit)]
        if isinstance(self.chosen.fit.rung, RegressedRung) and self.chosen.fit.rung.base.name == "wheel_slip":
            rows.append("    (the law's constants hold together with the regression only; a twin gets those of wheel_slip alone)")
        rows.append(f"  {self._multiplier()}")
        rows.append(f"  truth: {self.drive.inspection.log.truth_line()}")
        rows += [f"  corrected: {line}" for line in self.drive.inspection.corrections]
        rows += [f"  note: {line}" for line in (*self.drive.notes, *self.cautions)]
        return "\n".join(rows)

    def _multiplier(self) -> str:
        track, nominal = self["track and gain"].fit, self.robot.track_m
        ratio, std = track_per_gain(track)
        if not std < TOLD_SHARE * ratio:
            return "wheel_separation_multiplier: not told by this drive; it takes turns and straight parts"
        low, high = ((ratio + side * quantile(track.blocks) * std) / nominal for side in (-1.0, 1.0))
        alone = f"wheel_separation_multiplier {ratio / nominal:.3f} (90 %: {low:.3f} to {high:.3f}) of a track of {nominal:g} m"
        if not (track.tells("effective_track_m") and track.tells("gain")):
            return f"{alone}, with wheel radii as they are: this drive does not tell them; it takes a pose, and ways"
        found, low, high = (m / nominal for m in (track.value("effective_track_m"), *track.interval_90("effective_track_m")))
        gain, least, most = track.value("gain"), *track.interval_90("gain")
        return (
            f"for odometry: wheel_separation_multiplier {found:.3f} (90 %: {low:.3f} to {high:.3f}) together with left and right "
            f"wheel_radius_multiplier {gain:.3f} ({least:.3f} to {most:.3f});\n  or, wheel radii as they are: {alone}"
        )

    @property
    def cautions(self) -> list[str]:
        """What a gain says that slip cannot explain."""
        fit = self["track and gain"].fit
        if not fit.tells("gain"):
            return []
        gain, (low, high), name = fit.value("gain"), fit.interval_90("gain"), self.robot.name
        if low > MOST_GAIN:
            return [f"a gain of {gain:.3f} is no slip: wheels are larger than those of {name}, or the pose's scale is"]
        if high < LEAST_GAIN:
            return [f"a gain of {gain:.3f} is hardly slip: is this a log of {name}, with its wheels and units?"]
        return []

    def to_document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "robot": self.robot.name,
            "log": self.drive.name,
            "sha256": self.drive.digest,
            "horizon_s": self.horizon_s,
            "windows": len(self.block),
            "best": self.best.name,
            "chosen": self.chosen.name,
            "truth": self.drive.inspection.log.truth_document(),
            "corrected": list(self.drive.inspection.corrections),
            "notes": [*self.drive.notes, *self.cautions],
            "rungs": [
                {
                    "name": s.name,
                    "about": s.fit.rung.about,
                    "place_median_m": None if np.isnan(s.median_m) else s.median_m,
                    "heading_median_rad": None if np.isnan(s.median_rad) else s.median_rad,
                    "numbers": {
                        n: {
                            "value": s.fit.value(n),
                            "std": s.fit.std(n),
                            "interval_90": list(s.fit.interval_90(n)),
                            "is_told": s.fit.tells(n),
                        }
                        for n in s.fit.names
                    },
                }
                for s in self.rungs
            ],
        }

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """As JSON."""
        write_json(Path(path), self.to_document(), force=force)


def track_per_gain(fit: FittedRung) -> tuple[float, float]:
    """Effective track over gain (m) and its spread: all that turning alone tells, r = gain (w_right - w_left) / track."""
    track, gain = fit.value("effective_track_m"), fit.value("gain")
    slopes = np.zeros(len(fit.values))
    slopes[fit.names.index("effective_track_m")], slopes[fit.names.index("gain")] = 1.0 / gain, -track / gain**2
    return track / gain, float(np.sqrt(slopes @ fit.covariance @ slopes))


def numbers(fit: FittedRung) -> list[str]:
    """Lines with every number of a rung, its spread, and what it is."""
    lines = []
    for u in fit.unknowns:
        low, high = fit.interval_90(u.name)
        name, show = (u.name[4:], np.exp) if u.name.startswith("log ") else (u.name, float)
        about = u.about.removeprefix("logarithm of ") if name == u.name else ""
        if not fit.tells(u.name):
            lines.append(f"{name:<22}{'-':>11}   not told by this drive   {about}".rstrip())
            continue
        lines.append(
            f"{name:<22}{show(fit.value(u.name)):>11.4g}   90 % in {show(low):.4g} to {show(high):.4g}   {about}".rstrip()
        )
    return lines


def compare(
    log: DriveLog,
    *,
    robot: SkidSteerRobot | str | Path,
    horizon_s: float = 2.0,
    counts_per_turn: TurnCounts | None = None,
    truth: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Ladder:
    """Fit and score every rung on one drive.

    Parameters
    ----------
    horizon_s : a model is asked where the robot is after this long
    truth : the pose that serves as truth, as in `read_log`
    """
    log = with_truth(log, truth)
    chosen_robot = skid_steer_robot(robot, "compare")
    progress(f"inspecting {log.source or 'the drive'}")
    return ladder_of(
        drive_of(log, chosen_robot, horizon_s=horizon_s, counts_per_turn=counts_per_turn), chosen_robot, horizon_s, progress
    )


def ladder_of(drive: Drive, robot: SkidSteerRobot, horizon_s: float, progress: Callable[[str], None] = lambda _: None) -> Ladder:
    block = blocks_of(drive.windows, BLOCK_S)[drive.windows.believed]
    if len(np.unique(block)) < 2:
        raise LogError(
            f"{drive.name}: all windows lie within {BLOCK_S:g} s; models are judged on time that they have not seen: drive longer"
        )
    first, then, done = rungs_of(robot), regressions_of(robot), itertools.count(1)
    progress(f"fitting {len(first) + len(then)} models")

    def fitted(rung: Rung, begin: Values | None = None) -> Scored:
        found = scored(rung, drive, begin=begin)
        progress(f"fitted {next(done)} of {len(first) + len(then)} models")
        return found

    with ThreadPoolExecutor(2) as pool:
        plain = list(pool.map(fitted, first))
        ends = {s.name: s.fit.as_values() for s in plain}
        more = list(pool.map(lambda rung: fitted(rung, ends[rung.base.name]), then))
    rungs = tuple(plain + more)
    best = min(rungs, key=lambda s: float(np.mean(s.log_errors)))
    chosen = next(s for s in rungs if s is best or is_as_good(s, best, block))
    return Ladder(robot, drive, horizon_s, rungs, best, chosen, block)


def scored(rung: Rung, drive: Drive, *, begin: Values | None = None) -> Scored:
    """The fit to all blocks, and errors of fits that left every fourth block out."""
    windows = drive.windows
    whole = fit_rung(rung, drive.rims, windows, begin=begin)
    evaluations = EVALUATIONS_OF_FEW if whole.blocks < FEW_BLOCKS else REFIT_EVALUATIONS
    fold = blocks_of(windows, BLOCK_S) % FOLDS
    told, asked = measured(windows), windows.believed
    place, heading = np.full(len(windows), np.nan), np.full(len(windows), np.nan)
    for k in range(FOLDS):
        left_out = asked & (fold == k)
        if not left_out.any():
            continue
        without = fit_rung(rung, drive.rims, windows, fold != k, start=whole, evaluations=evaluations)
        apart = without.predict(drive.rims, windows) - told
        place[left_out] = np.hypot(apart[left_out, 0], apart[left_out, 1])
        heading[left_out] = np.abs(apart[left_out, 2])
    return Scored(whole, place[asked], heading[asked])


def is_as_good(one: Scored, best: Scored, block: np.ndarray) -> bool:
    """Whether the mean difference of the errors' logarithms is within its own standard error, blocks counted as one voice."""
    difference = one.log_errors - best.log_errors
    means = np.array([difference[block == b].mean() for b in np.unique(block)])
    return bool(means.mean() <= means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else False
