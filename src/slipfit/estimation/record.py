"""Slip over time as a record: ratios and slip angle with spreads, velocities, poses, and how consistent the filter was."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from slipfit.errors import LogError
from slipfit.estimation.immobilisation import HELD_S, SURE
from slipfit.library.files import write_text
from slipfit.logs import Channel, DriveLog
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.inspection.record import Finding, Severity

#: What a file of estimates says in its first line.
SCHEMA = "slipfit/slip_estimate/1"

#: Innovations over time are means of stretches of this length (s).
WINDOW_S = 2.0

#: A summary names so many alarms.
SHOWN_ALARMS = 8

#: Columns of `SlipEstimate.values`, by kind of robot.
SIDE_SLIPS = ("slip_left", "slip_right", "slip_angle_rad")
OMNI_SLIPS = ("slip_ahead", "slip_aside", "slip_turning")
VELOCITIES = ("vx_mps", "vy_mps", "yaw_rate_radps")
POSES = ("x_m", "y_m", "yaw_rad")
SLIP_VELOCITIES = ("slip_left_mps", "slip_right_mps", "slip_across_mps")
OMNI_SLIP_VELOCITIES = ("slip_ahead_mps", "slip_aside_mps", "slip_turning_radps")


@dataclass(frozen=True, slots=True)
class Consistency:
    """Mean normalised innovation squared of a sensor over the number of its readings, and where 95 % of means lie if the filter's
    covariances are right and errors are independent."""

    sensor: str
    readings: int
    mean: float
    band_95: tuple[float, float]
    refused: int
    relocated: int = 0
    over_time: tuple[tuple[float, float], ...] = ()  # (s, mean) of stretches of `WINDOW_S`

    @property
    def is_consistent(self) -> bool:
        return self.band_95[0] <= self.mean <= self.band_95[1]

    def __str__(self) -> str:
        said = (
            "as expected" if self.is_consistent else "the filter is too sure" if self.mean > 1.0 else "the filter is too unsure"
        )
        return f"{self.sensor}: mean {self.mean:.3g} of {self.readings} readings, {said}{self._remedy()}; {self.refused} refused"

    def _remedy(self) -> str:
        """Which option mends it: of the command line, or of `FilterSettings`."""
        if self.is_consistent:
            return ""
        if self.sensor == "pose":
            tighter = "smaller --pose-std-m and --pose-std-rad" if self.mean < 1.0 else "larger --pose-std-m, or --adapt"
            return f" (try {tighter})"
        setting = {"gyro": "gyro_radps", "accelerometer": "accel_mps2", "gnss": "gnss_m", "odometry": "velocity_mps"}[self.sensor]
        return f" (FilterSettings: {'smaller' if self.mean < 1.0 else 'larger'} {setting})"


#: A mean NEES beyond this does not come from a filter's settings: errors of ten times what it claims, all the time.
_OF_ANOTHER_DRIVE = 100.0


@dataclass(frozen=True, slots=True)
class StateConsistency:
    """Mean normalised estimation error squared over its number of states, of a drive whose truth is known (`estimate.truth`); its
    95 % band counts as many independent moments as errors that follow each other are worth."""

    state: str  # pose, or slip
    way: str  # forwards, or smoothed
    moments: int
    independent: float
    mean: float
    band_95: tuple[float, float]
    inside: float  # share of moments inside `moment_95`
    moment_95: tuple[float, float]
    over_time: tuple[tuple[float, float], ...] = ()  # (s, NEES) of each moment

    @property
    def sides(self) -> str:
        """On which side of their band moments lie that are outside: errors larger than claimed, or smaller."""
        larger = float(np.mean([nees > self.moment_95[1] for _, nees in self.over_time])) if self.over_time else 0.0
        smaller = max(0.0, 1.0 - self.inside - larger)
        return f"{100.0 * larger:.0f} % err by more, {100.0 * smaller:.0f} % by less"

    @property
    def least_inside(self) -> float:
        """Share of moments inside their band that 97.5 % of honest filters pass, of as many moments as are independent."""
        count = max(1, round(self.independent))
        return float(binom.ppf(0.025, count, 0.95)) / count

    @property
    def is_mean_right(self) -> bool:
        return self.band_95[0] <= self.mean <= self.band_95[1]

    @property
    def is_consistent(self) -> bool:
        """The mean, and the share of moments: large errors here and small ones there can have the right mean."""
        return self.is_mean_right and self.inside >= self.least_inside

    @property
    def verdict(self) -> str:
        if self.is_consistent:
            return "as expected"
        if not self.is_mean_right:
            return "too sure" if self.mean > 1.0 else "too unsure"
        return "too sure at some moments and too unsure at others"

    def __str__(self) -> str:
        said = self.verdict if self.is_consistent else f"the filter is {self.verdict}"
        if self.mean > _OF_ANOTHER_DRIVE:
            said = "so far off that this is hardly the truth of this drive: check its robot, its clock and its frame"
        return (
            f"{self.state} {self.way}: mean NEES {self.mean:.3g} (95 % of means: {self.band_95[0]:.2g} to {self.band_95[1]:.2g})"
            f", {100.0 * self.inside:.0f} % of {self.moments} moments inside their 95 % band, {self.sides} "
            f"({100.0 * self.least_inside:.0f} % or more inside are expected; moments are half a second apart, because "
            f"neighbours err alike), {said}"
        )

    def to_document(self) -> dict[str, Any]:
        return {
            "state": self.state, "way": self.way, "moments": self.moments, "independent": self.independent, "mean": self.mean,
            "band_95": list(self.band_95), "inside": self.inside, "moment_95": list(self.moment_95),
            "is_consistent": self.is_consistent, "over_time": [list(moment) for moment in self.over_time],
        }  # fmt: skip

    @classmethod
    def from_document(cls, data: Mapping[str, Any]) -> "StateConsistency":
        (low, high), (least, most) = data["band_95"], data["moment_95"]
        series = tuple((float(time_s), float(nees)) for time_s, nees in data["over_time"])
        return cls(
            data["state"], data["way"], data["moments"], data["independent"], data["mean"], (low, high), data["inside"],
            (least, most), series,
        )  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class SlipEstimate:
    """Slip of one drive. Ratios and slip angle are held where they mean nothing (`is_told` False): a stopped side, a pivot."""

    robot: str
    name: str  # of the log
    digest: str
    formulation: str
    start_ns: int
    time_s: np.ndarray  # (T,)
    slip: np.ndarray  # (T, 3): `SIDE_SLIPS` or `OMNI_SLIPS`
    slip_std: np.ndarray  # infinite before a slip is told for the first time
    is_told: np.ndarray  # (T, 3)
    slip_velocity: np.ndarray  # (T, 3)
    slip_velocity_std: np.ndarray
    velocity: np.ndarray  # (T, 3): vx, vy, yaw rate
    velocity_std: np.ndarray
    pose: np.ndarray  # (T, 3)
    pose_std: np.ndarray
    rims_mps: np.ndarray  # (T, 2) or (T, 3)
    stuck: np.ndarray  # (T,) probability of being stuck, by what came before, also where slip is smoothed
    warning_s: np.ndarray  # (T,) time until it is, by slip and its trend; infinite where none is in sight
    alarms_s: tuple[float, ...] = ()
    late_s: Mapping[str, float] = field(default_factory=dict)
    consistency: tuple[Consistency, ...] = ()
    findings: tuple[Finding, ...] = ()
    is_smoothed: bool = False
    errors: tuple[StateConsistency, ...] = ()  # against a truth, where one was given
    pose_used: str = ""  # which pose of the log was used, and why

    @property
    def is_omni(self) -> bool:
        return self.formulation == "omni"

    @property
    def slip_names(self) -> tuple[str, ...]:
        return OMNI_SLIPS if self.is_omni else SIDE_SLIPS

    def column(self, name: str) -> np.ndarray:
        """One of the slips by name, as slip_left."""
        if name not in self.slip_names:
            raise LogError(f"there is no slip '{name}'; this estimate has {', '.join(self.slip_names)}")
        return np.asarray(self.slip[:, self.slip_names.index(name)])

    def summary(self) -> str:
        """A screen of text."""
        way = "forwards and back (smoothed)" if self.is_smoothed else "forwards"
        rows = [
            f"slip of {self.robot}, {self.name}: {self.time_s[-1] - self.time_s[0]:.1f} s, {way}, {self.formulation}",
            f"  {'':<18}{'median':>9}{'5 %':>9}{'95 %':>9}{'spread':>9}{'told':>8}",
        ]
        for k, name in enumerate(self.slip_names):
            told = self.is_told[:, k]
            values, spread = self.slip[told, k], self.slip_std[told, k]
            if not told.any():
                rows.append(f"  {name:<18}{'-':>9}{'-':>9}{'-':>9}{'-':>9}{'0 %':>8}")
                continue
            middle, low, high = np.quantile(values, [0.5, 0.05, 0.95])
            share = f"{100.0 * told.mean():.0f} %"
            rows.append(f"  {name:<18}{middle:>9.3f}{low:>9.3f}{high:>9.3f}{np.median(spread):>9.3f}{share:>8}")
        rows += [
            f"  {sensor}: stamps {abs(late):.3f} s {'late' if late >= 0.0 else 'ahead'}, used"
            for sensor, late in self.late_s.items()
        ]
        rows += [f"  pose: {self.pose_used}"] if self.pose_used else []
        rows += [f"  innovations, {c}" for c in self.consistency]
        rows += [f"  errors, {e}" for e in self.errors]
        rows.append(f"  stuck: {self._stuck_words()}")
        rows += [f"  {finding}" for finding in self.findings]
        return "\n".join(rows)

    def _stuck_words(self) -> str:
        if not self.alarms_s:
            most = float(self.stuck.max())
            rule = f", for less than the {HELD_S:g} s above {SURE:g} that raise an alarm" if most > SURE else ""
            return f"no alarm; largest probability {f'{most:.2g}' if most > 1e-6 else 'below 1e-6'}{rule}"
        first, count = self.alarms_s[:SHOWN_ALARMS], len(self.alarms_s)
        more = f" and {count - len(first)} more" if count > len(first) else ""
        return f"{count} alarm{'s' if count > 1 else ''}, at {', '.join(f'{t:.1f} s' for t in first)}{more}"

    def to_document(self) -> dict[str, Any]:
        """For programs: medians and findings; series are in `to_log`."""
        found = {}
        for k, name in enumerate(self.slip_names):
            told = self.is_told[:, k]
            found[name] = {
                "median": float(np.median(self.slip[told, k])) if told.any() else None,
                "std": float(np.median(self.slip_std[told, k])) if told.any() else None,
                "told": float(told.mean()),
            }
        return {
            "robot": self.robot,
            "log": self.name,
            "sha256": self.digest,
            "formulation": self.formulation,
            "duration_s": float(self.time_s[-1] - self.time_s[0]),
            "is_smoothed": self.is_smoothed,
            "slip": found,
            "late_s": dict(self.late_s),
            "truth": self.pose_used,
            "consistency": [
                {
                    "sensor": c.sensor, "readings": c.readings, "mean": c.mean, "band_95": list(c.band_95), "refused": c.refused,
                    "relocated": c.relocated, "is_consistent": c.is_consistent, "over_time": [list(w) for w in c.over_time],
                }
                for c in self.consistency
            ],
            "errors": [e.to_document() for e in self.errors],
            "stuck": {"alarms_s": list(self.alarms_s), "largest_probability": float(self.stuck.max())},
            "findings": [f.to_document() for f in self.findings],
        }  # fmt: skip

    # --- series ---------------------------------------------------------------------------------------------------------

    def channels(self) -> dict[str, Channel]:
        """Series as channels of a log: what MCAP files and CSV tables hold."""
        stamps = self.start_ns + np.round(self.time_s * NANOSECONDS).astype(np.int64)
        stds = tuple(f"{name.removesuffix('_rad')}_std" + ("_rad" if name.endswith("_rad") else "") for name in self.slip_names)
        told = tuple(f"{name.removesuffix('_rad')}_is_told" for name in self.slip_names)
        moving = OMNI_SLIP_VELOCITIES if self.is_omni else SLIP_VELOCITIES
        warning = np.where(np.isfinite(self.warning_s), self.warning_s, -1.0)
        parts = {
            "slip_estimate": (
                (*self.slip_names, *stds, *told),
                np.column_stack([self.slip, _told_or_nan(self.slip_std), self.is_told.astype(float)]),
            ),
            "slip_velocity": (
                (*moving, *(f"{n.rsplit('_', 1)[0]}_std_{n.rsplit('_', 1)[1]}" for n in moving)),
                np.column_stack([self.slip_velocity, self.slip_velocity_std]),
            ),
            "odometry": ((*POSES, *VELOCITIES), np.column_stack([self.pose, self.velocity])),
            "odometry_std": (
                ("x_std_m", "y_std_m", "yaw_std_rad", "vx_std_mps", "vy_std_mps", "yaw_rate_std_radps"),
                np.column_stack([self.pose_std, self.velocity_std]),
            ),
            "immobilisation": (("probability", "warning_s"), np.column_stack([self.stuck, warning])),
        }
        return {name: Channel(name, stamps, values, columns) for name, (columns, values) in parts.items()}

    def to_log(self) -> DriveLog:
        """The series as a log: `to_log().save("slip.mcap")` writes topics, `to_log().save("folder")` one CSV file for each."""
        return DriveLog(self.channels(), about=f"slip of {self.robot}, estimated from {self.name}", source=self.name)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """All of it as JSON; `load` reads it back."""
        arrays = {
            name: getattr(self, name).tolist()
            for name in (
                "time_s", "slip", "slip_std", "is_told", "slip_velocity", "slip_velocity_std", "velocity", "velocity_std", "pose",
                "pose_std", "rims_mps", "stuck",
            )
        }  # fmt: skip
        arrays["warning_s"] = [float(w) if np.isfinite(w) else None for w in self.warning_s]
        arrays["slip_std"] = [[std if np.isfinite(std) else None for std in row] for row in arrays["slip_std"]]
        document = {"schema": SCHEMA, "start_ns": int(self.start_ns), **self.to_document(), "series": arrays}
        write_text(Path(path), json.dumps(document) + "\n", force=force)

    @classmethod
    def load(cls, path: str | Path) -> "SlipEstimate":
        """What `save` wrote."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise LogError(f"{path}: cannot be read ({error}); expected a file that `slipfit estimate -o` wrote") from None
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise LogError(f"{path}: no estimate of slip; expected schema {SCHEMA}, as `slipfit estimate -o` writes it")
        series = {name: np.asarray(values, dtype=float) for name, values in data["series"].items() if name != "warning_s"}
        series["is_told"] = series["is_told"].astype(bool)
        series["slip_std"] = np.nan_to_num(series["slip_std"], nan=np.inf, posinf=np.inf)
        warning = np.array([np.inf if w is None else w for w in data["series"]["warning_s"]])
        consistency = tuple(
            Consistency(
                c["sensor"],
                c["readings"],
                c["mean"],
                tuple(c["band_95"]),
                c["refused"],
                c["relocated"],
                tuple((float(t), float(mean)) for t, mean in c.get("over_time", ())),
            )
            for c in data["consistency"]
        )
        findings = tuple(
            Finding(
                Severity[f["severity"].upper()],
                f["channel"],
                f["kind"],
                f["found"],
                f["remedy"],
                f["value"],
                is_corrected=f.get("is_corrected", False),
            )
            for f in data["findings"]
        )
        return cls(
            robot=data["robot"], name=data["log"], digest=data["sha256"], formulation=data["formulation"],
            start_ns=data["start_ns"], warning_s=warning, alarms_s=tuple(data["stuck"]["alarms_s"]), late_s=data["late_s"],
            consistency=consistency, findings=findings, is_smoothed=data["is_smoothed"],
            pose_used=str(data.get("truth", "")),
            errors=tuple(StateConsistency.from_document(e) for e in data.get("errors", ())), **series,
        )  # fmt: skip


def _told_or_nan(stds: np.ndarray) -> np.ndarray:
    """Spreads for tables: NaN where nothing was told yet."""
    return np.where(np.isfinite(stds), stds, np.nan)
