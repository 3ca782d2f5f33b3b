"""How a robot moved: the record of one run, and its files."""

import glob
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from slipfit.errors import SimulationError
from slipfit.library.files import check_target, write_through
from slipfit.library.interrupts import undisturbed
from slipfit.logs import DriveLog

TRAJECTORY_FORMATS = (".parquet", ".csv", ".tum")

#: Columns of one wheel in files: their names end in the wheel's number, from 0.
WHEEL_FIELDS = ("wheel_speed_radps", "wheel_angle_rad", "load_n", "force_x_n", "force_y_n", "effort", "lowest_load_n")
BODY_FIELDS = (
    "time_s", "x_m", "y_m", "heading_rad", "vx_mps", "vy_mps", "yaw_rate_radps", "fx_mps2", "fy_mps2", "yaw_accel_radps2",
)  # fmt: skip


#: A grip counts as used when it lasted this long, in one piece or in several.
GRIP_WINDOW_S = 0.05

#: A wheel bears when it carries more than this share of what all wheels carry on average.
_BEARS_SHARE = 0.05


class RunStatus(Enum):
    """How a run ended; the value is what the user reads."""

    FINISHED = "The run reached its end."
    ARRIVED = "The robot reached its last waypoint."
    TIMED_OUT = "The robot did not reach its last waypoint in time; it is stuck, or needs a larger at_most_s."
    SLID_AWAY = "The robot slid away, further from its route than that is long: too little grip for this slope or these commands."
    LEFT_THE_MAP = "A wheel left the terrain's map; take a larger map, or other waypoints."
    TIPPED_OVER = "The robot tipped over."
    SUNK_IN = "A wheel sank deeper than its radius; the soil is too soft for this load, or the wheel dug itself in."
    DIVERGED = "The numbers stopped being finite; check the robot's and the ground's constants of this run."

    @property
    def is_success(self) -> bool:
        """Whether the run reached its end, or its goal."""
        return self in (RunStatus.FINISHED, RunStatus.ARRIVED)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Motion of the robot's origin (docs/conventions) in the plane's own frame, and of each wheel. First axis time, second wheel.

    vx, vy are along the body's axes; fx, fy are what an accelerometer at the centre of mass feels along them; effort is the
    wheel's torque (N m) with a speed loop and its current (A) with a motor. Wheel forces are along the body's axes.
    """

    time_s: np.ndarray
    x_m: np.ndarray
    y_m: np.ndarray
    heading_rad: np.ndarray
    vx_mps: np.ndarray
    vy_mps: np.ndarray
    yaw_rate_radps: np.ndarray
    fx_mps2: np.ndarray
    fy_mps2: np.ndarray
    yaw_accel_radps2: np.ndarray
    wheel_speed_radps: np.ndarray
    wheel_angle_rad: np.ndarray
    load_n: np.ndarray
    force_x_n: np.ndarray
    force_y_n: np.ndarray
    effort: np.ndarray
    lowest_load_n: np.ndarray  # since the record before
    robot: str = ""
    ground: str = ""
    status: RunStatus = RunStatus.FINISHED
    effort_limit: float = float("inf")  # N m of a speed loop; motors are limited by their voltage
    slope_rad: float = 0.0
    commanded_turn_rad: float = float("nan")  # what the wheels would have turned the robot by, as commanded and without slip
    drive: str = "skid_steer"
    notes: tuple[str, ...] = ()  # sentences for the reader
    readings: DriveLog = field(default_factory=DriveLog)

    #: Columns of files, of the body and of each wheel.
    body_fields: ClassVar[tuple[str, ...]] = BODY_FIELDS
    wheel_fields: ClassVar[tuple[str, ...]] = WHEEL_FIELDS

    @property
    def wheel_names(self) -> list[str]:
        """What wheels are called in sentences and figures, in the order of the records."""
        return wheel_names(self.load_n.shape[1], self.drive)

    @property
    def distance_m(self) -> float:
        """Length of the path."""
        return float(np.hypot(np.diff(self.x_m), np.diff(self.y_m)).sum())

    @property
    def lifted_wheels(self) -> dict[int, float]:
        """Wheels that left the ground, also between two records, with the time of the record that shows it first."""
        lifted = self.lowest_load_n <= 0.0
        return {w: float(self.time_s[np.argmax(lifted[:, w])]) for w in range(lifted.shape[1]) if lifted[:, w].any()}

    @property
    def at_effort_limit_s(self) -> float:
        """How long some wheel gave all it had: then the robot did not follow its commands."""
        at_limit = (np.abs(self.effort) >= self.effort_limit * (1.0 - 1e-9)).any(axis=1)
        return float(at_limit[1:] @ np.diff(self.time_s))

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Notes of the run, and what its records give cause for."""
        return self.notes

    def summary(self) -> str:
        """A few lines for people."""
        notes = self.notes if self.has_failed_at_once else self.all_notes
        return "\n".join([*self._rows(), *(f"  note     {note}" for note in notes)])

    def _rows(self) -> list[str]:
        """The summary without notes."""
        turned = float(self.heading_rad[-1] - self.heading_rad[0])
        asked = f" of {np.degrees(self.commanded_turn_rad):.1f}° commanded" if np.isfinite(self.commanded_turn_rad) else ""
        slope = f" at {np.degrees(self.slope_rad):.3g}°" if self.slope_rad else ""
        rows = [
            f"{self.robot} on {self.ground}{slope}: {self.time_s[-1]:.4g} s, {self.distance_m:.3f} m, "
            f"turned {np.degrees(turned):.1f}°{asked}",
            *self._status_rows(),
        ]
        if self.has_failed_at_once:
            return rows
        rows += [
            f"  end      x {self.x_m[-1]:.4f} m  y {self.y_m[-1]:.4f} m  heading {np.degrees(self.heading_rad[-1]):.2f}°",
            f"  speed    {self.vx_mps.min():.3f} to {self.vx_mps.max():.3f} m/s ahead, {np.abs(self.vy_mps).max():.3f} m/s "
            f"sideways, {np.abs(self.yaw_rate_radps).max():.3f} rad/s at most",
        ]
        share = self.largest_grip_used
        rows.append(
            f"  grip     {share:.3f} of the load used (|F|/N, kept for {GRIP_WINDOW_S:g} s)"
            if np.isfinite(share)
            else "  grip     unknown"
        )
        names = self.wheel_names
        lifted = ", ".join(f"{names[w]} at {t:.2f} s" for w, t in self.lifted_wheels.items())
        stayed = "all on the ground throughout" if np.isfinite(self.load_n).all() else "unknown"
        rows.append(f"  wheels   left the ground: {lifted}" if lifted else f"  wheels   {stayed}")
        if self.at_effort_limit_s > 0.0:
            rows.append(
                f"  drive    at its torque limit of {self.effort_limit:g} N m for {self.at_effort_limit_s:.3g} s of "
                f"{self.time_s[-1]:.3g} s: the wheels did not follow their commands then"
            )
        return rows

    def _status_rows(self) -> list[str]:
        """How it ended, if not as it should."""
        return [] if self.status in (RunStatus.FINISHED, RunStatus.ARRIVED) else [f"  status   {self.status.value}"]

    @property
    def has_failed_at_once(self) -> bool:
        """Whether it ended where it started: one record has no slip, way or energy to speak of."""
        return len(self.time_s) < 2

    @property
    def largest_grip_used(self) -> float:
        """Largest |F| / N of a wheel, counted only if it lasted: single steps in which a contact changes over do not count, nor
        does a wheel that hardly bears (soil that is cohesive or pushed aside acts on it without a load)."""
        bears = self.load_n > _BEARS_SHARE * self.load_n.mean(axis=1, keepdims=True)
        grip = np.hypot(self.force_x_n, self.force_y_n) / np.where(bears, self.load_n, np.inf)
        if not bears.any() or len(self.time_s) < 2:
            return float("nan")
        lasting = max(1, round(GRIP_WINDOW_S / float(self.time_s[1] - self.time_s[0])))
        longest = min(lasting, len(grip))
        return float(np.sort(grip, axis=0)[-longest].max())

    def thinned(self, every: int) -> Self:
        """Every so many records; the lowest loads are those since the one before."""
        kept = np.unique(np.append(np.arange(0, len(self.time_s), every), len(self.time_s) - 1))
        thin: dict[str, Any] = {name: getattr(self, name)[kept] for name in (*self.body_fields, *self.wheel_fields)}
        thin["lowest_load_n"] = np.minimum.reduceat(self.lowest_load_n, np.append(0, kept[:-1] + 1), axis=0)
        return replace(self, **thin, **self._more_thinned(kept))

    def _more_thinned(self, kept: np.ndarray) -> dict[str, Any]:
        """What else is recorded over time; nothing here."""
        return {}

    def __repr__(self) -> str:
        return f"<Trajectory of {self.robot or 'a robot'} on {self.ground or 'a ground'}, {len(self.time_s)} records>"

    # --- files -------------------------------------------------------------------------------------------------------

    def columns(self) -> dict[str, np.ndarray]:
        """Every column of a file: the body's, then each wheel's with its number."""
        table = {name: np.asarray(getattr(self, name)) for name in self.body_fields}
        for name in self.wheel_fields:
            for w in range(self.load_n.shape[1]):
                table[f"{name}_{w}"] = np.ascontiguousarray(getattr(self, name)[:, w])
        return table

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write .parquet, .csv, or .tum (stamp x y z qx qy qz qw, as trajectory tools read it)."""
        path = Path(path)
        writers = dict(zip(TRAJECTORY_FORMATS, (self._write_parquet, self._write_csv, self._write_tum), strict=True))
        check_target(path, force=force, formats=TRAJECTORY_FORMATS)
        write_through(path, writers[path.suffix], force=force)

    def _write_parquet(self, path: Path) -> None:
        import slipfit

        about = {"slipfit": slipfit.__version__, **self._about()}
        pairs = ", ".join(f"{key}: '{_quoted(value)}'" for key, value in about.items())
        self._copy(path, f"FORMAT parquet, KV_METADATA {{{pairs}}}")

    def _about(self) -> dict[str, str]:
        """What a file says of the whole run."""
        return {
            "robot": self.robot,
            "ground": self.ground,
            "status": self.status.name,
            "effort_limit": repr(self.effort_limit),
            "slope_rad": repr(self.slope_rad),
            "commanded_turn_rad": repr(self.commanded_turn_rad),
            "drive": self.drive,
            "notes": json.dumps(self.notes),
        }

    def _write_csv(self, path: Path) -> None:
        self._copy(path, "FORMAT csv, HEADER")

    @undisturbed()
    def _copy(self, path: Path, options: str) -> None:
        import duckdb

        with duckdb.connect() as connection:
            connection.register("trajectory", self.columns())
            try:
                connection.execute(f"COPY trajectory TO '{_quoted(str(path))}' ({options})")
            except duckdb.IOException as error:
                raise OSError(str(error).splitlines()[0]) from None

    def _write_tum(self, path: Path) -> None:
        lines = (" ".join(repr(number) for number in row) for row in self._tum_rows().tolist())
        path.write_text("# stamp_s x_m y_m z_m qx qy qz qw\n" + "\n".join(lines) + "\n", encoding="utf-8")

    def _tum_rows(self) -> np.ndarray:
        half = 0.5 * self.heading_rad
        zero = np.zeros_like(half)
        return np.column_stack([self.time_s, self.x_m, self.y_m, zero, zero, zero, np.sin(half), np.cos(half)])

    @classmethod
    @undisturbed()
    def load(cls, path: Path | str) -> Self:
        """Read back a .parquet or .csv file that `save` wrote."""
        import duckdb

        path = Path(path)
        if path.suffix not in (".parquet", ".csv"):
            raise SimulationError(f"{path}: cannot read '{path.suffix}' back; expected .parquet or .csv")
        if not path.is_file():
            raise SimulationError(f"{path}: there is no such file; check the path")
        about: dict[str, str] = {}
        try:
            with duckdb.connect() as connection:
                source = f"'{_quoted(glob.escape(str(path)))}'"
                if path.suffix == ".parquet":
                    found = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({source})").fetchall()
                    about = {bytes(key).decode(): bytes(value).decode() for key, value in found}
                table = connection.execute(f"SELECT * FROM {source}").fetchnumpy()
            return cls._from_columns(table, about, path)
        except (duckdb.Error, ValueError, KeyError) as error:  # not the format, text instead of numbers, unknown status
            raise SimulationError(f"{path}: cannot be read as a trajectory ({str(error).splitlines()[0]})") from None

    @classmethod
    def _from_columns(cls, table: dict[str, np.ndarray], about: dict[str, str], path: Path) -> Self:
        wheels = sum(name.startswith(f"{WHEEL_FIELDS[0]}_") for name in table)
        wanted = [*cls.body_fields, *(f"{name}_{w}" for name in cls.wheel_fields for w in range(wheels))]
        missing = [name for name in wanted if name not in table]
        if missing or not wheels:
            raise SimulationError(
                f"{path}: column '{(missing or ['wheel_speed_radps_0'])[0]}' is missing; not a trajectory of slipfit"
            )
        body: dict[str, Any] = {name: _floats(table[name]) for name in cls.body_fields}
        per_wheel: dict[str, Any] = {
            name: np.column_stack([_floats(table[f"{name}_{w}"]) for w in range(wheels)]) for name in cls.wheel_fields
        }
        is_finite = all(np.isfinite(body[name]).all() for name in ("x_m", "y_m", "heading_rad"))
        status = RunStatus[about.get("status", (RunStatus.FINISHED if is_finite else RunStatus.DIVERGED).name)]
        return cls(**body, **per_wheel, **cls._told(about), **cls._more_columns(table), status=status)

    @classmethod
    def _more_columns(cls, table: dict[str, np.ndarray]) -> dict[str, Any]:
        """What else a file's columns fill; nothing here."""
        return {}

    @classmethod
    def _told(cls, about: dict[str, str]) -> dict[str, Any]:
        """The inverse of `_about`, as far as a file has it."""
        return {
            "robot": about.get("robot", ""),
            "ground": about.get("ground", ""),
            "effort_limit": float(about.get("effort_limit", "inf")),
            "slope_rad": float(about.get("slope_rad", "0")),
            "commanded_turn_rad": float(about.get("commanded_turn_rad", "nan")),
            "drive": about.get("drive", "skid_steer"),
            "notes": tuple(json.loads(about.get("notes", "[]"))),
        }


def wheel_names(count: int, drive: str = "skid_steer") -> list[str]:
    """front left, front right, ..., in the order of records; numbers from 1 where wheels stand anywhere."""
    if drive == "omni" or count % 2:
        return [f"wheel {k + 1}" for k in range(count)]
    rows = (
        ["front", "rear"]
        if count == 4
        else ["front", "middle", "rear"]
        if count == 6
        else [f"axle {k + 1}" for k in range(count // 2)]
    )
    return [f"{row} {side}" for row in rows for side in ("left", "right")]


def _floats(column: Iterable[float]) -> np.ndarray:
    return np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan)


def _quoted(text: str) -> str:
    return text.replace("'", "''")
