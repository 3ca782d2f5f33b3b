"""Where a drive comes onto another surface: how turning and way ahead answer to the rims, how rough it is, what motors take.

Over blocks of `BLOCK_S`, each with constants that stay while the surface does:

    r = kappa (w_r - w_l) / B,    u = gamma (w_r + w_l) / 2,    log a = rho + lambda log(|u| + |r| B / 2)

a the root mean square of what the accelerometer shakes by, over `SHAKEN_S`; and where the log has motor currents, those of
straight driving and of turns (`currents`). All change together (`change_points`). What a block is off by is not white: a robot
keeps to a command for seconds, and laws bend with speed, which these constants do not know. Blocks are therefore longer than
commands, and count by how much blocks scatter (`block_scatter`).

Valid for  drives in which the robot turns and moves on every surface; a change of payload or tyre pressure looks like one, and so
           does a change of how the robot is driven that these laws do not follow. The way ahead counts where something other than
           an IMU tells it
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from slipfit.errors import FitError, ParameterError
from slipfit.estimation.block_scatter import constant_of, scatters
from slipfit.estimation.blocks import Blocks
from slipfit.estimation.change_points import FALSE_PER_HOUR, change_points
from slipfit.estimation.currents import current_answers, has_currents
from slipfit.estimation.record import SlipEstimate
from slipfit.library import SkidSteerRobot
from slipfit.logs import DriveLog
from slipfit.logs.channels import IMU

#: Length of a block, and the least length of a surface (s): commands are shorter than the one, and a calibration drive shows all
#: of its speeds in the other.
BLOCK_S, LEAST_S = 12.0, 60.0

#: What the accelerometer shakes by is taken over so long (s).
SHAKEN_S = 2.0

#: Slower motion (m/s) tells nothing.
MOVING_MPS = 0.1

_NOTHING = (float("nan"), float("nan"))


@dataclass(frozen=True, slots=True)
class Surface:
    """One stretch: share of the rims' turning and way that the body does, roughness at 1 m/s (m/s²), and the current that a side
    takes in turns (A, geometric mean); NaN where no sensor tells."""

    from_s: float
    to_s: float
    turning: float
    turning_std: float
    ahead: float
    ahead_std: float
    roughness_mps2: float
    turning_current_a: float

    def to_document(self) -> dict[str, float | None]:
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value if isfinite(value) else None for name, value in values.items()}

    def words(self) -> str:
        said = [f"{_told(self.turning, self.turning_std)} of the rims' turning"]
        if isfinite(self.ahead):
            said.append(f"{_told(self.ahead, self.ahead_std)} of their way ahead")
        if isfinite(self.roughness_mps2):
            said.append(f"shakes by {self.roughness_mps2:.2g} m/s² at 1 m/s")
        if isfinite(self.turning_current_a):
            said.append(f"{self.turning_current_a:.2g} A in turns")
        return ", ".join(said)


def _told(value: float, std: float) -> str:
    return f"{value:.2f} ± {std:.2f}" if isfinite(value) else "an unknown share"


@dataclass(frozen=True, slots=True)
class Surfaces:
    """Stretches of a drive in their order, one where nothing changes, and how many changes an hour may be none."""

    name: str
    stretches: tuple[Surface, ...]
    false_per_hour: float

    @property
    def changes_s(self) -> tuple[float, ...]:
        return tuple(stretch.from_s for stretch in self.stretches[1:])

    def summary(self) -> str:
        count = len(self.stretches)
        rows = [
            f"surfaces, {self.name}: {f'{count} stretches' if count > 1 else 'no change found'}"
            f" (at most {self.false_per_hour:g} false changes an hour)"
        ]
        rows += [f"  {stretch.from_s:.0f} to {stretch.to_s:.0f} s: {stretch.words()}" for stretch in self.stretches]
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        return {
            "log": self.name,
            "changes_s": list(self.changes_s),
            "false_per_hour": self.false_per_hour,
            "stretches": [stretch.to_document() for stretch in self.stretches],
        }


def surfaces(estimate: SlipEstimate, log: DriveLog, robot: SkidSteerRobot, *, false_per_hour: float = FALSE_PER_HOUR) -> Surfaces:
    """Where a drive comes onto another surface. Changes that are none occur at most `false_per_hour`."""
    e = estimate
    if e.is_omni:
        raise ParameterError(f"{robot.name} has omni wheels; surfaces are told of robots with a left and a right side")
    parts = answers(e, log, robot)
    heard = np.sum([part.count for part in parts.values()], axis=0) > 0
    if heard.sum() < 2 * LEAST_S / BLOCK_S:
        moving = min(heard.sum() * BLOCK_S, e.time_s[-1] - e.time_s[0])
        raise FitError(
            f"{e.name}: {moving:.0f} s of motion at most; expected {2 * LEAST_S:g} s or more to tell surfaces; drive longer, "
            f"or leave out --surfaces"
        )
    edges = partition(parts, false_per_hour=false_per_hour)
    noise = scatters(parts, edges)
    start, found = float(e.time_s[0]), []
    for first, last in pairwise(edges):
        told = {name: constant_of(part, noise[name], first, last) for name, part in parts.items()}
        ends = (start + first * BLOCK_S, min(start + last * BLOCK_S, float(e.time_s[-1])))
        rough, current = (float(np.exp(told.get(name, _NOTHING)[0])) for name in ("roughness", "turning current"))
        found.append(Surface(*ends, *told["turning"], *told.get("ahead", _NOTHING), rough, current))
    return Surfaces(e.name, tuple(found), false_per_hour)


def answers(e: SlipEstimate, log: DriveLog, robot: SkidSteerRobot) -> dict[str, Blocks]:
    """What each block says of turning, of the way ahead (where a sensor tells it), of roughness (where an accelerometer does) and
    of currents (where the log has them)."""
    block = np.floor((e.time_s - e.time_s[0]) / BLOCK_S).astype(int)
    left, right = e.rims_mps.T[:2]
    u, _, r = e.velocity.T
    moves = np.maximum(np.abs(left), np.abs(right)) > MOVING_MPS
    found = {"turning": Blocks.of(block, ((right - left) / robot.track_m)[:, None], np.where(moves, r, np.nan))}
    if {c.sensor for c in e.consistency} & {"pose", "gnss", "odometry"}:
        found["ahead"] = Blocks.of(block, (0.5 * (right + left))[:, None], np.where(moves, u, np.nan))
    rough = _roughness(e, log, len(found["turning"]), robot.track_m)
    if rough is not None:
        found["roughness"] = rough
    if has_currents(log):
        found |= current_answers(e, log, robot, block_s=BLOCK_S, slowest_mps=MOVING_MPS)
    return found


def partition(parts: Mapping[str, Blocks], *, false_per_hour: float = FALSE_PER_HOUR) -> list[int]:
    """Blocks at which surfaces begin, and the number of blocks at the end."""
    return change_points(parts, block_s=BLOCK_S, least=round(LEAST_S / BLOCK_S), false_per_hour=false_per_hour)


def _roughness(e: SlipEstimate, log: DriveLog, blocks: int, track_m: float) -> Blocks | None:
    if IMU not in log or "accel_z_mps2" not in log[IMU].columns:
        return None
    time_s = (log[IMU].stamps_ns - e.start_ns) / 1e9
    at = np.floor((time_s - e.time_s[0]) / SHAKEN_S).astype(int)
    parts = np.floor((e.time_s - e.time_s[0]) / SHAKEN_S).astype(int)
    accel = log[IMU].column("accel_z_mps2")
    speed = np.abs(e.velocity[:, 0]) + 0.5 * track_m * np.abs(e.velocity[:, 2])
    n = int(parts.max()) + 1
    fast, shaken = np.full(n, np.nan), np.full(n, np.nan)
    for b in range(n):
        fast[b] = speed[parts == b].mean() if (parts == b).any() else np.nan
        inside = accel[(at == b) & np.isfinite(accel)]
        if len(inside) >= 8 and fast[b] > MOVING_MPS:
            shaken[b] = np.log(max(float(np.std(np.diff(inside))), 1e-6))
    rows = np.column_stack([np.ones(n), np.log(np.maximum(fast, 1e-3))])
    return Blocks.of(np.minimum((np.arange(n) * SHAKEN_S / BLOCK_S).astype(int), blocks - 1), rows, shaken)
