"""How well a twin predicts drives that it has not seen, beside models that know no slip or only geometry.

The measured wheel speeds drive three models: the twin, the ideal differential drive, and equal slip at all wheels (T^2 + B^2).
A window starts where the robot was seen; each model goes on from there by wheels alone. Where it ends is compared with where the
robot was seen then. Without a pose, yaw rates are compared with the gyro and accelerations with the accelerometer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.calibration.replay import STEP_S, replay
from slipfit.calibration.stamp_jitter import without_jitter
from slipfit.calibration.wheel_speeds import speeds_at
from slipfit.errors import LogError, ParameterError
from slipfit.library import Ground, SkidSteerRobot
from slipfit.logs import DriveLog
from slipfit.logs.channels import IMU, POSE, SEGMENTS
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.inspection import Inspection, inspect_log
from slipfit.logs.read import loaded
from slipfit.logs.wheel_motion import wheel_angles
from slipfit.twin import SkidSteerTwin, skid_steer_twin
from slipfit.vehicles.kinematic import EqualSlip, IdealDrive, drive_one
from slipfit.vehicles.skid_steer import BODY_COLUMNS

MODELS = ("twin", "ideal", "equal_slip")
ABOUT = {"twin": "the twin", "ideal": "no slip", "equal_slip": "equal slip, T²+B²"}

HORIZONS_S = (1.0, 2.0, 5.0, 10.0)
DISTANCES_M = (1.0, 2.0, 5.0, 10.0)

#: A window in which no wheel rolls this far says nothing (m); percentages need this much way of the robot's middle (m).
LEAST_WHEEL_WAY_M, LEAST_WAY_M = 0.1, 0.25

#: A window may miss its length by so many periods of the pose, or this share: recordings are cut a sample short.
PERIODS, LENGTH_SHARE = 1.5, 0.02

#: A pose that jumped: it moved this much farther than any wheel rolled, or turned this much otherwise than the gyro says.
FARTHER, FARTHER_M, TURN_SHARE, TURN_RAD = 1.2, 0.5, 0.25, 0.3

#: Readings of an IMU and models are averaged over this long before they are compared (s).
MEAN_S = 0.2

#: Longest drive that is replayed (s).
LONGEST_S = 3600.0

#: Errors below these do not count as better or worse (m, rad; rad/s, m/s^2 without a pose).
SMALLEST = 1e-6

_AT = {name: k for k, name in enumerate(BODY_COLUMNS)}


@dataclass(frozen=True, eq=False, slots=True)
class Errors:
    """Errors of one model at the ends of all windows of one length."""

    translation_m: np.ndarray
    heading_rad: np.ndarray
    way_m: np.ndarray  # how far the robot's middle went by its wheels, NaN where that is too little to divide by

    def to_document(self) -> dict[str, Any]:
        """Medians and 90 % quantiles; None where no window has way enough."""
        return {name: dict(zip(("median", "q90"), pair, strict=True)) for name, pair in self.quantiles().items()}

    def quantiles(self) -> dict[str, tuple[float, float]]:
        """Median and 90 % quantile of the end's error: m, % of the way, degrees, degrees per metre."""
        degrees = np.degrees(self.heading_rad)
        kinds = {
            "translation_m": self.translation_m,
            "translation_percent": 100.0 * self.translation_m / self.way_m,
            "heading_deg": degrees,
            "heading_deg_per_m": degrees / self.way_m,
        }
        return {name: _median_and_q90(values) for name, values in kinds.items()}


def _median_and_q90(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(np.median(finite)), float(np.quantile(finite, 0.9))) if len(finite) else (float("nan"), float("nan"))


@dataclass(frozen=True, eq=False, slots=True)
class Horizon:
    """Windows of one length: seconds, or metres of way."""

    length: float
    unit: str  # s, m
    windows: int
    errors: Mapping[str, Errors]  # by model

    def __str__(self) -> str:
        return f"{self.length:g} {self.unit}"


@dataclass(frozen=True, slots=True)
class Rates:
    """Without a pose: root mean square of what the IMU says minus what a model does."""

    yaw_rate_radps: Mapping[str, float]  # by model
    acceleration_mps2: Mapping[str, float]
    seconds: float


@dataclass(frozen=True, eq=False, slots=True)
class Validation:
    """A twin against drives: errors by model and length of window, and who wins."""

    twin: str
    ground: str
    logs: tuple[str, ...]
    seen: tuple[str, ...]  # logs that the twin was fitted on
    corrected: tuple[str, ...]
    horizons: tuple[Horizon, ...]  # empty without a pose
    rates: Rates | None  # None with a pose
    left_out: int  # windows with a pose that jumped
    notes: tuple[str, ...]
    truth: tuple[str, ...] = ()  # which pose of each log served as truth, and why

    @property
    def scores(self) -> dict[str, float]:
        """Error of each model over that of the no-slip model: geometric mean over lengths, places and headings alike."""
        if self.rates is not None:
            pairs = [self.rates.yaw_rate_radps, self.rates.acceleration_mps2]
        else:
            in_seconds = [h for h in self.horizons if h.unit == "s"]
            pairs = [
                {m: float(np.median(getattr(h.errors[m], kind))) for m in MODELS}
                for h in in_seconds or self.horizons
                for kind in ("translation_m", "heading_rad")
            ]
        logs = {m: [log(max(p[m], SMALLEST) / max(p["ideal"], SMALLEST)) for p in pairs] for m in MODELS}
        return {m: exp(sum(entries) / len(entries)) for m, entries in logs.items()}

    @property
    def winner(self) -> str:
        """The model with the smallest score."""
        scores = self.scores
        return min(MODELS, key=lambda model: scores[model])

    @property
    def beats_no_slip(self) -> bool:
        """Whether the twin predicts better than the ideal differential drive."""
        return self.scores["twin"] < 1.0

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "twin": self.twin,
            "ground": self.ground,
            "logs": list(self.logs),
            "seen_by_the_fit": list(self.seen),
            "corrected": list(self.corrected),
            "horizons": [
                {
                    "length": h.length,
                    "unit": h.unit,
                    "windows": h.windows,
                    "models": {m: h.errors[m].to_document() for m in MODELS},
                }
                for h in self.horizons
            ],
            "rates": None
            if self.rates is None
            else {
                "yaw_rate_radps": dict(self.rates.yaw_rate_radps),
                "acceleration_mps2": dict(self.rates.acceleration_mps2),
                "seconds": self.rates.seconds,
            },
            "left_out": self.left_out,
            "scores": self.scores,
            "winner": self.winner,
            "beats_no_slip": self.beats_no_slip,
            "truth": list(self.truth),
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """A screen of text."""
        rows = [f"{self.twin} on {self.ground}, against {', '.join(self.logs)}"]
        rows += [f"  {name} is no test: the twin was fitted on it" for name in self.seen]
        if self.corrected:
            rows.append(f"  corrected first: {'; '.join(self.corrected)}")
        rows += [f"  truth: {line}" for line in self.truth]
        rows += list(_rate_rows(self.rates) if self.rates else _horizon_rows(self.horizons))
        rows += [f"  {note}" for note in self.notes]
        scores = ", ".join(f"{ABOUT[m]} {score:.2f}" for m, score in self.scores.items())
        verdict = "beats" if self.beats_no_slip else "does not beat"
        rows.append(f"  errors over those without slip: {scores}; best is {ABOUT[self.winner]}")
        behind = f", but {ABOUT['equal_slip']}, which needs no data, predicts better" if self.winner == "equal_slip" else ""
        return "\n".join([*rows, f"  the twin {verdict} the no-slip model{behind}"])


def _horizon_rows(horizons: Sequence[Horizon]) -> Iterator[str]:
    yield f"  {'after':<8}{'windows':>8}  {'model':<19}{'place, median':>22}{'90 %':>10}{'heading, median':>18}{'90 %':>9}"
    for h in horizons:
        for k, model in enumerate(MODELS):
            q = h.errors[model].quantiles()
            place, share, heading = q["translation_m"], q["translation_percent"], q["heading_deg"]
            lead = f"  {h!s:<8}{h.windows:>8}" if k == 0 else " " * 18
            of_way = f" ({share[0]:.2g} %)" if np.isfinite(share[0]) else ""
            yield (
                f"{lead}  {ABOUT[model]:<19}{f'{place[0]:.4f} m{of_way}':>22}{f'{place[1]:.4f}':>10}"
                f"{f'{heading[0]:.2f}°':>18}{f'{heading[1]:.2f}':>9}"
            )


def _rate_rows(rates: Rates) -> Iterator[str]:
    yield "  no pose: distances cannot be judged; root mean square against the IMU"
    yield f"  {'model':<20}{'yaw rate, rad/s':>18}{'acceleration, m/s²':>22}"
    for model in MODELS:
        yield f"  {ABOUT[model]:<20}{rates.yaw_rate_radps[model]:>18.5f}{rates.acceleration_mps2[model]:>22.5f}"


def validate(
    twin: SkidSteerTwin | str | Path,
    *logs: DriveLog | str | Path,
    ground: str | None = None,
    horizons_s: Sequence[float] = HORIZONS_S,
    distances_m: Sequence[float] = DISTANCES_M,
    counts_per_turn: float | None = None,
    truth: str | None = None,
) -> Validation:
    """Predict recorded drives from their wheel speeds, with the twin and with models that know less.

    Parameters
    ----------
    twin : a record or the path of a twin file
    logs : recordings with encoders and a pose; or an IMU alone, which judges turning and accelerating but no distance
    ground : of a twin with several grounds, the one that the logs were driven on
    horizons_s, distances_m : lengths of windows; those that no log reaches are left out
    truth : the pose that serves as truth, as in `read_log`

    Examples
    --------
    >>> print(validate("p3at.twin.yaml", "second_run.mcap").summary())  # doctest: +SKIP
    """
    if not logs:
        raise LogError("validate: no log given; expected one or more recordings of a drive")
    if not horizons_s or any(not 0.0 < h < 1e6 for h in (*horizons_s, *distances_m)):
        raise ParameterError(f"horizons {', '.join(f'{h:g}' for h in horizons_s) or 'none'}; expected seconds above 0")
    record = skid_steer_twin(twin, "this")
    name = record.ground_name(ground)
    records = [loaded(entry, truth) for entry in logs]
    drives = [_Drive.of(entry, record.robot, record.ground(name), counts_per_turn) for entry in records]
    with_pose = [d for d in drives if POSE in d.log]
    known = {origin.sha256 for origin in record.provenance.logs if origin.sha256}
    found, jumped = _horizons(with_pose, horizons_s, distances_m)
    notes = _notes(drives, with_pose, horizons_s, found, jumped)
    if with_pose and not found:
        raise LogError(
            f"{', '.join(d.name for d in with_pose)}: no window of {min(horizons_s):g} s has poses at both ends while the robot "
            f"moves; expected a pose that overlaps with the encoders, or shorter --horizons"
        )
    return Validation(
        twin=f"twin of {record.robot.name}",
        ground=name,
        logs=tuple(d.name for d in drives),
        seen=tuple(d.name for d in drives if d.log.digest in known),
        corrected=tuple(f"{d.name}: {c}" if len(drives) > 1 else c for d in drives for c in d.inspection.corrections),
        horizons=tuple(found),
        rates=None if with_pose else _rates(drives),
        left_out=jumped,
        notes=notes,
        truth=tuple(d.inspection.log.truth_line(named=len(drives) > 1) for d in drives),
    )


def _notes(
    drives: Sequence["_Drive"], with_pose: Sequence["_Drive"], horizons_s: Sequence[float], found: Sequence[Horizon], jumped: int
) -> tuple[str, ...]:
    said = [f"{d.name} has no pose and is left out" for d in drives if with_pose and d not in with_pose]
    reached = {h.length for h in found if h.unit == "s"}
    missed = [f"{h:g}" for h in horizons_s if with_pose and h not in reached]
    if missed:
        said.append(f"no piece of the recordings is long enough for {', '.join(missed)} s")
    if jumped:
        said.append(f"{jumped} windows left out for all models: the pose moved or turned as neither wheels nor gyro did")
    said += [f"{d.name}: only the first {LONGEST_S / 3600.0:g} h are replayed" for d in drives if d.is_cut]
    return tuple(said)


@dataclass(frozen=True, eq=False, slots=True)
class _Drive:
    """One corrected log, and the paths of all models along its wheel speeds."""

    name: str
    log: DriveLog  # corrected
    inspection: Inspection
    start_ns: int
    paths: Mapping[str, np.ndarray]  # by model, (steps + 1, 3): x, y, heading
    rates: Mapping[str, np.ndarray]  # by model, (steps + 1, 2): yaw rate, acceleration felt ahead
    way_m: np.ndarray  # (steps + 1,) of the middle by the wheels, forward and backward alike
    wheel_way_m: np.ndarray  # the same of the faster side
    is_cut: bool

    @classmethod
    def of(cls, log: DriveLog, robot: SkidSteerRobot, ground: Ground, counts_per_turn: float | None) -> "_Drive":
        name = log.source or log.about or "drive"
        inspection = inspect_log(log, robot)
        # A robot that is not fit for calibration (no spin, no step) may still be predicted; one that cannot be read may not.
        if inspection.fatal:
            raise LogError(f"{name}: {inspection.fatal.found}; {inspection.fatal.remedy}")
        try:
            wheels = wheel_angles(inspection.corrected, robot, counts_per_turn=counts_per_turn)
        except LogError as error:
            raise LogError(f"{name}: {error}") from None
        kept = wheels.stamps_ns <= wheels.stamps_ns[0] + int(LONGEST_S * NANOSECONDS)
        regular = without_jitter(replace(wheels, stamps_ns=wheels.stamps_ns[kept], angle_rad=wheels.angle_rad[kept]))
        start, end = int(regular.stamps_ns[0]), int(wheels.stamps_ns[-1])
        speeds = speeds_at(regular, STEP_S)
        rims = speeds * robot.wheels.radius_m.value
        sides = np.column_stack([rims[:, ::2].mean(axis=1), rims[:, 1::2].mean(axis=1)])
        body = replay(robot, ground, speeds).bodies({}, 1)[0]
        kinematic = {"ideal": IdealDrive(robot.track_m), "equal_slip": EqualSlip(robot.track_m, robot.wheelbase_m)}
        paths = {"twin": body[:, [_AT["x_m"], _AT["y_m"], _AT["heading_rad"]]]}
        paths |= {m: drive_one(model, sides, STEP_S) for m, model in kinematic.items()}
        ahead = np.gradient(sides.mean(axis=1), STEP_S)
        rates = {"twin": body[1:, [_AT["yaw_rate_radps"], _AT["fx_mps2"]]]}
        rates |= {m: np.column_stack([np.diff(paths[m][:, 2]) / STEP_S, ahead]) for m in kinematic}
        way, faster = np.abs(sides.mean(axis=1)), np.abs(sides).max(axis=1)
        return cls(
            name=name,
            log=inspection.corrected,
            inspection=inspection,
            start_ns=start,
            paths=paths,
            rates=rates,
            way_m=np.concatenate([[0.0], np.cumsum(way) * STEP_S]),
            wheel_way_m=np.concatenate([[0.0], np.cumsum(faster) * STEP_S]),
            is_cut=end > start + int(LONGEST_S * NANOSECONDS),
        )

    @property
    def end_s(self) -> float:
        return (len(self.way_m) - 1) * STEP_S

    def at(self, column: np.ndarray, times_s: np.ndarray) -> np.ndarray:
        """A column of records, or several, at any times."""
        grid = np.arange(len(column)) * STEP_S
        if column.ndim == 1:
            return np.asarray(np.interp(times_s, grid, column))
        return np.column_stack([np.interp(times_s, grid, entry) for entry in column.T])


@dataclass(frozen=True, eq=False, slots=True)
class _Seen:
    """Poses of one drive while its wheels were recorded."""

    time_s: np.ndarray
    poses: np.ndarray  # (T, 3), heading unwrapped within each segment
    segment: np.ndarray
    turned_rad: np.ndarray  # integral of the gyro at the poses' times, NaN without one

    @classmethod
    def of(cls, drive: _Drive) -> "_Seen":
        channel = drive.log[POSE]
        time_s = (channel.stamps_ns - drive.start_ns) / NANOSECONDS
        poses = np.column_stack([channel.column(name) for name in ("x_m", "y_m", "yaw_rad")])
        kept = (time_s >= 0.0) & (time_s <= drive.end_s) & np.isfinite(poses).all(axis=1)
        segment = np.zeros(len(time_s))
        if SEGMENTS in drive.log:
            pieces = drive.log[SEGMENTS]
            which = np.clip(np.searchsorted(pieces.stamps_ns, channel.stamps_ns, side="right") - 1, 0, len(pieces.stamps_ns) - 1)
            segment = pieces.values[which, 0]
        return cls(time_s[kept], poses[kept], segment[kept], _turned(drive, time_s[kept]))


def _turned(drive: _Drive, times_s: np.ndarray) -> np.ndarray:
    if IMU not in drive.log or "gyro_z_radps" not in drive.log[IMU].columns:
        return np.full(len(times_s), np.nan)
    channel = drive.log[IMU]
    at_s, rate = (channel.stamps_ns - drive.start_ns) / NANOSECONDS, channel.column("gyro_z_radps")
    finite = np.isfinite(rate)
    at_s, rate = at_s[finite], rate[finite]
    if len(at_s) < 2:
        return np.full(len(times_s), np.nan)
    angle = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(at_s))])
    return np.asarray(np.interp(times_s, at_s, angle, left=np.nan, right=np.nan))


def _horizons(drives: Sequence[_Drive], horizons_s: Sequence[float], distances_m: Sequence[float]) -> tuple[list[Horizon], int]:
    """Errors at the ends of all windows of each length, and how many windows had poses that jumped."""
    found, jumped = [], 0
    seen = [_Seen.of(drive) for drive in drives]
    for unit, lengths in (("s", horizons_s), ("m", distances_m)):
        for length in sorted(lengths):
            windows = [_windows(d, s, length, unit) for d, s in zip(drives, seen, strict=True)]
            parts = [_ends(d, s, w) for d, s, w in zip(drives, seen, windows, strict=True) if len(w)]
            jumped += sum(left_out for _, left_out in parts) if unit == "s" else 0
            errors = (
                {
                    m: Errors(*(np.concatenate([getattr(part[m], k) for part, _ in parts]) for k in Errors.__slots__))
                    for m in MODELS
                }
                if parts
                else {}
            )
            if errors and len(errors["twin"].way_m):
                found.append(Horizon(length, unit, len(errors["twin"].way_m), errors))
    return found, jumped


def _windows(drive: _Drive, seen: _Seen, length: float, unit: str) -> np.ndarray:
    """First and last pose of every window, (n, 2); a new one starts every half length, and with each segment."""
    if len(seen.time_s) < 2:
        return np.empty((0, 2), dtype=int)
    along = seen.time_s if unit == "s" else drive.at(drive.way_m, seen.time_s)
    period = float(np.median(np.diff(seen.time_s)))
    slack = max(PERIODS * period, LENGTH_SHARE * length) if unit == "s" else 0.0
    pairs = []
    edges = np.flatnonzero(np.diff(seen.segment, prepend=np.nan) != 0.0)
    for first, last in zip(edges, [*(edges[1:] - 1), len(along) - 1], strict=True):
        piece = along[first : last + 1]
        starts = np.unique(np.searchsorted(piece, np.arange(piece[0], piece[-1], 0.5 * length)))
        for k in starts:
            wanted = piece[k] + length
            end = int(np.searchsorted(piece, wanted - (0.5 * period if unit == "s" else 0.0)))
            if end >= len(piece) and piece[-1] >= wanted - slack:
                end = len(piece) - 1
            if end < len(piece) and end > k and (unit == "m" or abs(piece[end] - wanted) <= slack):
                pairs.append((first + k, first + end))
    return np.array(pairs, dtype=int).reshape(-1, 2)


def _ends(drive: _Drive, seen: _Seen, windows: np.ndarray) -> tuple[dict[str, Errors], int]:
    """Where each model ends against where the robot was seen, both from the window's first pose; and how many poses jumped."""
    from_s, to_s = seen.time_s[windows[:, 0]], seen.time_s[windows[:, 1]]
    way, wheel_way = (drive.at(column, to_s) - drive.at(column, from_s) for column in (drive.way_m, drive.wheel_way_m))
    measured = _moved(seen.poses[windows[:, 0]], seen.poses[windows[:, 1]])
    by_gyro = seen.turned_rad[windows[:, 1]] - seen.turned_rad[windows[:, 0]]
    # Headings of a pose start again after a turn: the turn that the twin makes tells how many whole ones there were.
    guide = np.where(np.isfinite(by_gyro), by_gyro, _moved_by(drive, "twin", from_s, to_s)[:, 2])
    measured[:, 2] += 2.0 * np.pi * np.round((guide - measured[:, 2]) / (2.0 * np.pi))
    moves = wheel_way > LEAST_WHEEL_WAY_M
    jumps = np.hypot(measured[:, 0], measured[:, 1]) > FARTHER * wheel_way + FARTHER_M
    jumps |= np.abs(measured[:, 2] - by_gyro) > TURN_RAD + TURN_SHARE * np.abs(by_gyro)  # never with NaN
    kept = moves & ~jumps
    divisor = np.where(way > LEAST_WAY_M, way, np.nan)[kept]
    errors = {}
    for model in MODELS:
        miss = (_moved_by(drive, model, from_s, to_s) - measured)[kept]
        errors[model] = Errors(np.hypot(miss[:, 0], miss[:, 1]), np.abs(miss[:, 2]), divisor)
    return errors, int((moves & jumps).sum())


def _moved_by(drive: _Drive, model: str, from_s: np.ndarray, to_s: np.ndarray) -> np.ndarray:
    return _moved(drive.at(drive.paths[model], from_s), drive.at(drive.paths[model], to_s))


def _moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Motion from one pose to another in the frame of the first: ahead, to the left, turned."""
    step, c, s = after - before, np.cos(before[:, 2]), np.sin(before[:, 2])
    return np.column_stack([c * step[:, 0] + s * step[:, 1], c * step[:, 1] - s * step[:, 0], step[:, 2]])


def _rates(drives: Sequence[_Drive]) -> Rates:
    """Root mean squares of yaw rate and acceleration over all drives, means over a while, offsets at rest taken away."""
    squares: dict[str, list[np.ndarray]] = {m: [] for m in MODELS}
    for drive in drives:
        if IMU not in drive.log:
            raise LogError(f"{drive.name}: neither pose nor IMU; expected one of them to compare with")
        channel = drive.log[IMU]
        time_s = (channel.stamps_ns - drive.start_ns) / NANOSECONDS
        readings = np.column_stack([channel.column(name) for name in ("gyro_z_radps", "accel_x_mps2")])
        inside = (time_s > MEAN_S) & (time_s < drive.end_s - MEAN_S) & np.isfinite(readings).all(axis=1)
        edges = np.arange(MEAN_S, drive.end_s - MEAN_S, MEAN_S)
        bins = np.digitize(time_s[inside], edges)
        counts = np.bincount(bins, minlength=len(edges) + 1)[1:-1]
        sums_of = np.column_stack([np.bincount(bins, column, minlength=len(edges) + 1)[1:-1] for column in readings[inside].T])
        with np.errstate(invalid="ignore", divide="ignore"):
            said = sums_of / counts[:, None]
        rests = np.diff(drive.at(drive.wheel_way_m, edges)) < 1e-4
        usable = counts > 0
        offset = said[usable & rests].mean(axis=0) if (usable & rests).sum() >= 3 else np.zeros(2)
        for model in MODELS:
            sums = np.concatenate([np.zeros((1, 2)), np.cumsum(drive.rates[model], axis=0) * STEP_S])
            mean = np.diff(drive.at(sums, edges), axis=0) / MEAN_S
            squares[model].append(((said - offset - mean)[usable & ~rests]) ** 2)
    rms = {m: np.sqrt(np.concatenate(parts).mean(axis=0)) for m, parts in squares.items()}
    seconds = MEAN_S * sum(len(part) for part in squares["twin"])
    return Rates({m: float(r[0]) for m, r in rms.items()}, {m: float(r[1]) for m, r in rms.items()}, seconds)
