"""How a robot really moves for what its wheels turn: a smooth map over the direction of motion, with its spread.

    (dx + i dy)_true = (dx + i dy)_ideal + w . phi(ideal),    l dpsi_true = l dpsi_ideal + v . chi(ideal)
    p_seen = p + e^(i psi) o

Symbols    phi, chi shapes of ways and turns, `directions` · w, v their weights · o where on the robot the tracked point sits
Reference  derived in docs/howto/omni_calibrate.md; fitted by `slip_map_fit`
Valid for  steady driving on one surface, in directions and at speeds that were driven. Lines hardly tell o from drift that goes
           with turning: paths of the tracked point are right all the same, those of the centre to o times the turn
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from slipfit.calibration.omni.directions import Shapes
from slipfit.calibration.omni.runs import OmniRun, dead_reckoned, tracked_point
from slipfit.calibration.spread import quantile
from slipfit.library import OmniRobot
from slipfit.library.json_record import JsonRecord


@dataclass(frozen=True, slots=True)
class Heading:
    """Slip in one direction of travel: of each metre that the wheels roll, how far along and across, and how much of a turn."""

    travel_rad: float
    along: float
    along_std: float
    across: float  # to the left of the travel direction
    across_std: float
    turn_radpm: float
    turn_std_radpm: float

    @property
    def slip(self) -> float:
        """Share of the rolled way that is lost, positive where the wheels outrun the ground."""
        return 1.0 - self.along


@dataclass(frozen=True, eq=False, slots=True)
class SlipMap(JsonRecord):
    """The map of one robot on one surface."""

    schema: ClassVar[str] = "slipfit/omni_slip_map/1"
    called: ClassVar[str] = "slip map"
    written_by: ClassVar[str] = "slipfit omni calibrate"

    robot: str
    surface: str
    shapes: Shapes
    way_weights: np.ndarray  # (shapes,) complex, per metre
    turn_weights: np.ndarray  # (shapes,) times l, per metre
    offset_m: np.ndarray  # (2,) tracked point, ahead and to the left of the robot's centre
    way_covariance: np.ndarray  # (shapes + 1, shapes + 1) complex, Hermitian: weights and offset
    turn_covariance: np.ndarray  # (shapes, shapes)
    smoothness: tuple[float, float]  # prior standard deviations at degree 1 of ways and turns
    left_out_percent: float  # median end error of fitted runs, each left out in its turn, heading measured; least over smoothness
    runs: tuple[str, ...]

    def motion(self, run: OmniRun, robot: OmniRobot) -> np.ndarray:
        """Body motion of each step of a run, (T - 1, 3)."""
        ideal = run.ideal_motion(robot)
        return self._moved(ideal, *self.shapes.of_steps(ideal, run.duration_s / len(ideal)))

    def velocity(self, ideal: np.ndarray) -> np.ndarray:
        """Body velocity (n, 3) where the wheels turn as for the velocity `ideal` (n, 3)."""
        return self._moved(ideal, *self.shapes.of_velocities(ideal))

    def _moved(self, ideal: np.ndarray, ways: np.ndarray, turns: np.ndarray) -> np.ndarray:
        way, turn = ways @ self.way_weights, turns @ self.turn_weights
        return np.asarray(ideal + np.column_stack([way.real, way.imag, turn / self.shapes.length_m]))

    def path(self, run: OmniRun, robot: OmniRobot, *, measured_heading: bool = False) -> np.ndarray:
        """Poses (T, 3) of the tracked point from the run's true start; with the run's own heading where a gyro tells it."""
        heading = run.poses[:, 2] if measured_heading else None
        centre = run.poses[0] - tracked_point(np.array([[0.0, 0.0, run.poses[0, 2]]]), self.offset_m)[0] * [1.0, 1.0, 0.0]
        return tracked_point(dead_reckoned(centre, self.motion(run, robot), heading_rad=heading), self.offset_m)

    def by_travel(self, travel_rad: Sequence[float] | np.ndarray, speed_mps: float | None = None) -> list[Heading]:
        """Slip over the travel direction, without commanded turning."""
        angles = np.asarray(travel_rad, dtype=float)
        straight = np.column_stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)])
        ways, turns = self.shapes.of_directions(straight, speed_mps)
        moved = 1.0 + np.exp(-1j * angles) * (ways @ self.way_weights)
        # A complex error has half of its variance along and half across.
        spread = self.way_covariance[:-1, :-1]
        way_std = np.sqrt(0.5 * np.einsum("ij,jk,ik->i", ways, spread, ways.conj()).real)
        turn_std = np.sqrt(np.einsum("ij,jk,ik->i", turns, self.turn_covariance, turns))
        length = self.shapes.length_m
        turn = turns @ self.turn_weights
        columns = (angles, moved.real, way_std, moved.imag, way_std, turn / length, turn_std / length)
        return [Heading(*map(float, row)) for row in zip(*columns, strict=True)]

    def summary(self) -> str:
        """A screen of text."""
        rows = [
            f"{self.robot} on {self.surface}: slip by travel direction from {len(self.runs)} runs",
            f"  a run left out ends {self.left_out_percent:.2f} % of its way off (median, heading measured; chosen as the least)",
            f"  tracked point {1e3 * self.offset_m[0]:.1f} mm ahead, {1e3 * self.offset_m[1]:.1f} mm to the left of the centre",
            f"  {'travel':>8}{'slip':>18}{'across':>20}{'turn':>24}",
        ]
        reach = quantile(len(self.runs))
        for h in self.by_travel(np.radians(np.arange(0.0, 360.0, 30.0))):
            slip = f"{100.0 * h.slip:.1f} ± {100.0 * reach * h.along_std:.1f} %"
            across = f"{100.0 * h.across:+.1f} ± {100.0 * reach * h.across_std:.1f} %"
            turn = f"{math.degrees(h.turn_radpm):+.1f} ± {math.degrees(reach * h.turn_std_radpm):.1f} °/m"
            rows.append(f"  {math.degrees(h.travel_rad):>7.0f}°{slip:>18}{across:>20}{turn:>24}")
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        """For --json and files."""
        return {
            "schema": self.schema,
            "robot": self.robot,
            "surface": self.surface,
            "shapes": asdict(self.shapes),
            "way_weights": _pairs(self.way_weights),
            "turn_weights": self.turn_weights.tolist(),
            "offset_m": self.offset_m.tolist(),
            "way_covariance": _pairs(self.way_covariance),
            "turn_covariance": self.turn_covariance.tolist(),
            "smoothness": list(self.smoothness),
            "left_out_percent": self.left_out_percent,
            "runs": list(self.runs),
        }

    @classmethod
    def _of_document(cls, data: dict[str, Any], where: str) -> Self:
        real, planar = ("turn_weights", "offset_m", "turn_covariance"), ("way_weights", "way_covariance")
        return cls(
            robot=str(data["robot"]),
            surface=str(data["surface"]),
            shapes=Shapes(**data["shapes"]),
            smoothness=(float(data["smoothness"][0]), float(data["smoothness"][1])),
            left_out_percent=float(data["left_out_percent"]),
            runs=tuple(data["runs"]),
            **{name: np.array(data[name], dtype=float) for name in real},
            **{name: np.array(data[name], dtype=float) @ [1.0, 1j] for name in planar},
        )


def _pairs(numbers: np.ndarray) -> Any:
    """Complex numbers as pairs: JSON has none."""
    return np.stack([numbers.real, numbers.imag], axis=-1).tolist()
