"""What a climb of a tracked robot was: verdict, margin and columns over time, of one run."""

import json
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Self

import numpy as np

from slipfit.contact.slip import slip_ratio
from slipfit.errors import SimulationError
from slipfit.library.files import check_target, write_through
from slipfit.vehicles import track_verdict


class Verdict(Enum):
    """How a climb ended; the value is what the user reads."""

    CLIMBED = "The robot got over the obstacle."
    SLIPPED = "The tracks slipped; the robot did not get on."
    TIPPED_BACKWARDS = "The robot tipped over backwards."
    TIPPED_OVER = "The robot tipped over."
    HIGH_CENTRED = "The robot is high-centred: its belly carries it, and the tracks do not reach."
    STUCK_IN_SOIL = "The robot is stuck in the soil."
    TIMED_OUT = "The time was over before the robot was over the obstacle."
    FINISHED = "The drive reached its end."
    DIVERGED = "The numbers stopped being finite; check the robot's and the ground's constants of this run."

    @property
    def is_success(self) -> bool:
        """Whether the run reached its end, or its goal."""
        return self in (Verdict.CLIMBED, Verdict.FINISHED)


_BY_CODE = {
    track_verdict.CLIMBED: Verdict.CLIMBED,
    track_verdict.SLIPPED: Verdict.SLIPPED,
    track_verdict.TIPPED_BACKWARDS: Verdict.TIPPED_BACKWARDS,
    track_verdict.TIPPED_OVER: Verdict.TIPPED_OVER,
    track_verdict.HIGH_CENTRED: Verdict.HIGH_CENTRED,
    track_verdict.STUCK_IN_SOIL: Verdict.STUCK_IN_SOIL,
    track_verdict.TIMED_OUT: Verdict.TIMED_OUT,
    track_verdict.NOT_FINITE: Verdict.DIVERGED,
}


def verdict_of(code: float) -> Verdict:
    """The verdict of a climb whose run ended with this code of vehicles.track_verdict."""
    return _BY_CODE[code]


@dataclass(frozen=True, eq=False)
class ClimbTrajectory:
    """How a tracked robot moved: columns by name, (T,), of its centre of mass and belts; see docs/reference/files."""

    columns: dict[str, np.ndarray]
    verdict: Verdict
    margin: float | None  # None where there is no obstacle
    stopped_at_s: float
    robot: str
    scenario: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    @property
    def pitch_up_rad(self) -> np.ndarray:
        """Elevation of the nose, (T,)."""
        w, x, y, z = (self.columns[name] for name in ("qw", "qx", "qy", "qz"))
        return np.asarray(np.arcsin(np.clip(2.0 * (x * z - w * y), -1.0, 1.0)))

    @property
    def heading_rad(self) -> np.ndarray:
        """Heading, without wrapping, (T,)."""
        w, x, y, z = (self.columns[name] for name in ("qw", "qx", "qy", "qz"))
        return np.unwrap(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))

    @property
    def slip(self) -> np.ndarray:
        """Slip of the two belts together against the motion of the centre of mass ahead, (T,)."""
        belts = 0.5 * (self.columns["belt_left_mps"] + self.columns["belt_right_mps"])
        return np.asarray(np.vectorize(slip_ratio, otypes=[float])(self.columns["vx_mps"], belts))

    def summary(self) -> str:
        """A screen of text."""
        c, heading = self.columns, self.heading_rad
        ahead = np.cos(heading[0]) * (c["x_m"][-1] - c["x_m"][0]) + np.sin(heading[0]) * (c["y_m"][-1] - c["y_m"][0])
        up = round(c["z_m"][-1] - c["z_m"][0], 3) + 0.0  # no "-0.000"
        rows = [f"{self.robot}, {self.scenario}"]
        margin = "" if self.margin is None else f", margin {self.margin:+.3f}"
        rows.append(f"  verdict  {self.verdict.value} ({self.stopped_at_s:.2f} s{margin})")
        rows.append(f"  place    {ahead:.3f} m ahead, {up:+.3f} m up, heading {np.degrees(heading[-1]):.1f}°")
        rows.append(f"  nose     up to {np.degrees(self.pitch_up_rad.max()):.1f}° up")
        if np.nanmax(c["deepest_m"]) > 0.0:
            rows.append(f"  sinkage  up to {1e3 * c['deepest_m'].max():.1f} mm")
        rows.append(f"  drive    up to {np.abs([c['drive_left_n'], c['drive_right_n']]).max():.0f} N on a belt")
        rows += [f"  note     {note}" for note in self.notes]
        return "\n".join(rows)

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a .csv file whose first line tells verdict and origin."""
        path = Path(path)
        check_target(path, force=force, formats=(".csv",))
        about = {"robot": self.robot, "scenario": self.scenario, "verdict": self.verdict.name, "margin": self.margin,
                 "stopped_at_s": self.stopped_at_s, "notes": list(self.notes)}  # fmt: skip
        rows = np.column_stack(list(self.columns.values())).tolist()
        lines = [f"# {json.dumps(about)}", ",".join(self.columns), *(",".join(repr(v) for v in row) for row in rows)]
        write_through(path, lambda target: target.write_text("\n".join(lines) + "\n", encoding="utf-8"), force=force)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read what `save` wrote."""
        try:
            first, names, *rows = Path(path).read_text(encoding="utf-8").splitlines()
            about = json.loads(first.removeprefix("# "))
            table = np.array([[float(v) for v in row.split(",")] for row in rows])
            columns = dict(zip(names.split(","), table.T, strict=True))
            verdict = Verdict[about["verdict"]]
            return cls(
                columns, verdict, about["margin"], about["stopped_at_s"], about["robot"], about["scenario"], tuple(about["notes"])
            )
        except OSError as error:
            raise SimulationError(f"{path}: cannot be read ({error.strerror}); expected a climb that slipfit saved") from None
        except (ValueError, KeyError, UnicodeDecodeError):
            raise SimulationError(
                f"{path}: this is no climb that slipfit saved; expected a .csv file of `slipfit simulate -o`"
            ) from None
