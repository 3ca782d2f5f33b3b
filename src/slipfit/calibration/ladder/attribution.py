"""Is it slip, the controller, or the odometry? The error of a drive in four parts that add up.

Over each window, what an ideal differential drive does with the commands differs from what the log's sensors say by

    ideal(commands) - sensors = [ideal(commands) - ideal(wheels)]            powertrain: wheels do not do as told
                              + [ideal(wheels) - rung(wheels)]              kinematics or slip: the body does not follow them
                              + [rung(wheels) - rung(wheels, clocks)]
                              + [corrected sensors - sensors]               sensors: clocks, sign, scale, bias
                              + [rung(wheels, clocks) - corrected sensors]  what remains

each a vector: ahead, to the left (m, in the frame of the window's start) and turned (rad). Without commands the first part is
missing and the wheels are where the drive begins: those of the log as it was, so that

    encoders = ideal(wheels as logged) - ideal(wheels)

counts among the sensors. An ideal drive on commands does not read the encoders; their faults are then told beside the sum.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.calibration.ladder.command_loop import CommandLoop, fit_command_loop, pieces_of, predicted_rims
from slipfit.calibration.ladder.comparison import Drive, Ladder
from slipfit.calibration.ladder.fit import FittedRung, measured, predicted_motion
from slipfit.calibration.ladder.rungs import Rung, Values, ideal
from slipfit.calibration.ladder.windows import Windows, windows_of
from slipfit.library import SkidSteerRobot
from slipfit.library.deviation import finite_median
from slipfit.library.files import write_json
from slipfit.logs import DriveLog
from slipfit.logs.channels import ENCODERS, IMU
from slipfit.logs.inspection.stamps import put_in_order, rows_of
from slipfit.logs.rims import Rims, rims_of
from slipfit.logs.wheel_motion import TurnCounts

POWERTRAIN, SLIP, SENSORS, REST = "powertrain", "kinematics or slip", "sensors", "rest"

CLOCKS = ("imu_late_s", "pose_late_s")

#: What a part is, in words.
ABOUT = {
    POWERTRAIN: "wheels do not do as they are told",
    SLIP: "the body does not follow its wheels",
    SENSORS: "clocks, signs, scales and biases, if nobody corrected them",
    REST: "what the best model leaves",
}


@dataclass(frozen=True, eq=False)
class Attribution:
    """The parts of every trusted window, (n, 3) each: ahead, to the left (m), turned (rad); NaN where nothing tells."""

    name: str
    robot: str
    rung: str
    horizon_s: float
    time_s: np.ndarray  # (n,) starts of the windows
    parts: dict[str, np.ndarray]
    loop: CommandLoop | None  # of the powertrain, where the log has commands
    unpredicted: np.ndarray | None  # (n, 3) of the powertrain's part, what the loop does not predict
    clocks_s: dict[str, float]
    corrected: tuple[str, ...]
    notes: tuple[str, ...] = ()  # what was left out
    encoders: np.ndarray | None = None  # (n, 3) what faults of the encoders make of an ideal drive on them; None without any

    @property
    def total(self) -> np.ndarray:
        return np.asarray(sum(self.parts.values()))

    def place_m(self, part: str) -> np.ndarray:
        return np.asarray(np.hypot(*self.parts[part][:, :2].T))

    def heading_rad(self, part: str) -> np.ndarray:
        return np.asarray(np.abs(self.parts[part][:, 2]))

    @property
    def largest(self) -> dict[str, str]:
        """The part with the largest median, of place and of heading."""
        found = {}
        for kind, size in (("place", self.place_m), ("heading", self.heading_rad)):
            medians = {part: finite_median(size(part)) for part in self.parts}
            if not np.isnan(list(medians.values())).all():
                found[kind] = max(medians, key=lambda part: -1.0 if np.isnan(medians[part]) else medians[part])
        return found

    def summary(self) -> str:
        """A table and a verdict."""
        head = "ideal drive on commands" if POWERTRAIN in self.parts else "ideal drive on measured wheels"
        rows = [
            f"{self.robot}, {self.name}: {len(self.time_s)} windows of {self.horizon_s:g} s, error of an {head}",
            f"  {'part':<22}{'place, median':>15}{'heading, median':>18}",
        ]
        rows += [_line(part, self.place_m(part), self.heading_rad(part)) + f"   {ABOUT[part]}" for part in self.parts]
        total = self.total
        together = _line("together", np.hypot(*total[:, :2].T), np.abs(total[:, 2]))
        rows.append(f"{together}   each window's parts add up; their medians do not")
        if self.encoders is not None:
            where = "not in the sum: commands are not read from encoders" if POWERTRAIN in self.parts else "of the sensors' part"
            rows.append(_line("encoders", np.hypot(*self.encoders[:, :2].T), np.abs(self.encoders[:, 2])) + f"   {where}")
        if self.unpredicted is not None:
            left = self.unpredicted
            rows.append(_line("loop leaves", np.hypot(*left[:, :2].T), np.abs(left[:, 2])) + "   of the powertrain's part")
        if self.loop is not None:
            rows += ["  the loop from commands to wheels:", *(f"  {line}" for line in self.loop.summary().splitlines())]
        rows += [f"  mostly {part} ({kind}): {ABOUT[part]}" for kind, part in self.largest.items()]
        rows += [f"  {name} {late:+.3f} s" for name, late in self.clocks_s.items()]
        rows += [f"  corrected: {line}" for line in self.corrected]
        rows += [f"  note: {line}" for line in self.notes]
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        def of(values: np.ndarray) -> dict[str, float | None]:
            place, heading = finite_median(np.hypot(*values[:, :2].T)), finite_median(np.abs(values[:, 2]))
            return {
                "place_median_m": None if np.isnan(place) else place,
                "heading_median_rad": None if np.isnan(heading) else heading,
            }

        return {
            "log": self.name,
            "robot": self.robot,
            "rung": self.rung,
            "horizon_s": self.horizon_s,
            "windows": len(self.time_s),
            "parts": {part: {"about": ABOUT[part], **of(values)} for part, values in self.parts.items()},
            "together": of(self.total),
            "unpredicted_powertrain": None if self.unpredicted is None else of(self.unpredicted),
            "encoders": None if self.encoders is None else of(self.encoders),
            "command_loop": None if self.loop is None else self.loop.to_document(),
            "largest": self.largest,
            "clocks_s": self.clocks_s,
            "corrected": list(self.corrected),
            "notes": list(self.notes),
        }

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """As JSON."""
        write_json(Path(path), self.to_document(), force=force)


def _line(name: str, place_m: np.ndarray, heading_rad: np.ndarray) -> str:
    place, heading = finite_median(place_m), finite_median(heading_rad)
    told = "-" if np.isnan(place) else f"{place:.3f} m"
    return f"  {name:<22}{told:>15}{'-' if np.isnan(heading) else f'{heading:.4f} rad':>18}"


def attribute(ladder: Ladder, log: DriveLog, *, counts_per_turn: TurnCounts | None = None) -> Attribution:
    """The parts of a drive's error, with the best rung of its ladder. `log` is the one that the ladder was made of."""
    return attribution_of(
        ladder.drive, ladder.best.fit, log, ladder.robot, ladder.horizon_s, counts_per_turn=counts_per_turn
    )  # fmt: skip


def attribution_of(
    drive: Drive,
    fit: FittedRung,
    log: DriveLog,
    robot: SkidSteerRobot,
    horizon_s: float,
    *,
    counts_per_turn: TurnCounts | None = None,
) -> Attribution:
    windows, rims = drive.windows, drive.rims
    values = fit.as_values()
    clocks = {name: late for name, late in values.items() if name in CLOCKS}
    wheels = _moved(ideal(robot), {}, rims, windows)
    plain = _moved(fit.rung, values | dict.fromkeys(clocks, 0.0), rims, windows)
    best, told = _moved(fit.rung, values, rims, windows), measured(windows)
    ordered = put_in_order(log, robot).log
    sensors = (plain - best) + (told - _uncorrected(ordered, rims, windows, horizon_s, told))
    parts = {SLIP: wheels - plain, SENSORS: sensors, REST: best - told}
    pieces = pieces_of(drive.inspection.corrected, robot, rims, windows)
    loop, unpredicted, encoders = None, None, None
    as_logged = _as_logged(ordered, drive.inspection.corrected, robot, counts_per_turn)
    if as_logged is not None:
        encoders = _moved(ideal(robot), {}, as_logged, windows) - wheels
    if pieces is None and encoders is not None:
        parts[SENSORS] = parts[SENSORS] + encoders
    if pieces is not None:
        loop = fit_command_loop(pieces, ~windows.is_silent[windows.whole])
        parts = {POWERTRAIN: _moved(ideal(robot), {}, pieces.told[0], windows) - wheels, **parts}
        unpredicted = _moved(ideal(robot), {}, predicted_rims(loop, pieces, rims), windows) - wheels
    chosen = windows.believed
    findings = tuple(
        f"{f.channel}: {f.found}" if f.channel else f.found for f in drive.inspection.findings if f.is_corrected
    )  # fmt: skip
    return Attribution(
        drive.name, robot.name, fit.rung.name, horizon_s, windows.from_s[chosen], {n: p[chosen] for n, p in parts.items()},
        loop, None if unpredicted is None else unpredicted[chosen], clocks, findings,
        drive.notes, None if encoders is None else encoders[chosen],
    )  # fmt: skip


def _moved(rung: Rung, values: Values, rims: Rims, windows: Windows) -> np.ndarray:
    return predicted_motion(rung.twists(rims, [values])[0], windows, values)


def _uncorrected(log: DriveLog, rims: Rims, windows: Windows, horizon_s: float, corrected: np.ndarray) -> np.ndarray:
    """What the sensors of the log as it was say of the same windows; where it lacks one, what the corrected log says."""
    if not np.isfinite(windows.gyro_rad).any():  # given up, or none: turns are those of the pose in both
        log = replace(log, channels={name: channel for name, channel in log.channels.items() if name != IMU})
    raw = windows_of(log, rims, horizon_s=horizon_s)
    if not len(raw):
        return corrected
    rows = {key: k for k, key in enumerate(zip(np.round(raw.from_s, 3), raw.share, strict=True))}
    at = np.array([rows.get(key, -1) for key in zip(np.round(windows.from_s, 3), windows.share, strict=True)])
    said = measured(raw)[at]
    return np.where((at >= 0)[:, None] & np.isfinite(said), said, corrected)


def _as_logged(log: DriveLog, corrected: DriveLog, robot: SkidSteerRobot, counts_per_turn: TurnCounts | None) -> Rims | None:
    """The wheels as the log had them, in the rows that the inspection kept; None where it changed no number of them."""
    mended, raw = corrected[ENCODERS], log[ENCODERS]
    kept = np.isin(raw.stamps_ns, mended.stamps_ns)
    if not set(mended.columns) <= set(raw.columns) or kept.sum() != len(mended.stamps_ns):
        return None
    raw = rows_of(raw, kept)
    if all(np.array_equal(raw.column(name), mended.column(name)) for name in mended.columns):
        return None
    return rims_of(log.having(raw), robot, counts_per_turn=counts_per_turn)
