"""Where a drive comes onto another surface: how turning and way ahead answer to the rims, and how rough it is.

Over blocks of `BLOCK_S`, each with constants that stay while the surface does:

    r = kappa (w_r - w_l) / B,    u = gamma (w_r + w_l) / 2,    log a = rho + lambda log(|u| + |r| B / 2)

a the root mean square of what the accelerometer shakes by. All three change together (`change_points`).

Valid for  drives in which the robot turns and moves on every surface; a change of payload or tyre pressure looks like one
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from slipfit.errors import FitError
from slipfit.estimate.change_points import Blocks, block_noise, pieces
from slipfit.estimate.record import SlipEstimate
from slipfit.logs import DriveLog
from slipfit.logs.channels import IMU

#: Length of a block, and the least length of a surface (s).
BLOCK_S, LEAST_S = 2.0, 60.0

#: How much dearer than Schwarz's criterion another surface is: laws bend with speed, which three constants do not know.
CAUTION = 6.0

#: Slower motion (m/s) tells nothing.
MOVING_MPS = 0.1


@dataclass(frozen=True, slots=True)
class Surface:
    """One stretch: share of the rims' turning and way that the body does, and roughness at 1 m/s (m/s², NaN without an IMU)."""

    from_s: float
    to_s: float
    turning: float
    turning_std: float
    ahead: float
    ahead_std: float
    roughness_mps2: float

    def to_document(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def surfaces(estimate: SlipEstimate, log: DriveLog, *, track_m: float, caution: float = CAUTION) -> tuple[Surface, ...]:
    """Stretches of a drive in their order; one where nothing changes."""
    e = estimate
    start = float(e.time_s[0])
    block = np.floor((e.time_s - start) / BLOCK_S).astype(int)
    left, right = e.rims_mps.T[:2]
    u, _, r = e.velocity.T
    moves = np.maximum(np.abs(left), np.abs(right)) > MOVING_MPS
    turning = _scaled(block, ((right - left) / track_m)[:, None], np.where(moves, r, np.nan))
    ahead = _scaled(block, (0.5 * (right + left))[:, None], np.where(moves, u, np.nan))
    both = turning[0].beside(ahead[0])
    rough = _roughness(e, log, block, track_m)
    if rough is not None:
        both = both.beside(rough)
    if (both.count > 0).sum() < 2 * LEAST_S / BLOCK_S:
        raise FitError(
            f"{e.name}: {int((both.count > 0).sum() * BLOCK_S)} s of motion; expected {2 * LEAST_S:g} s or more to tell surfaces"
        )
    found = pieces(both, caution=caution, least=round(LEAST_S / BLOCK_S))
    surfaces = []
    for p in found:
        std = np.sqrt(np.maximum(np.diag(p.covariance), 0.0))
        rough_at = float(np.exp(p.constants[2])) if rough is not None else float("nan")
        ends = (start + p.first * BLOCK_S, min(start + p.last * BLOCK_S, float(e.time_s[-1])))
        surfaces.append(Surface(*ends, float(p.constants[0]), float(std[0]), float(p.constants[1]), float(std[1]), rough_at))
    return tuple(surfaces)


def _scaled(block: np.ndarray, regressors: np.ndarray, readings: np.ndarray) -> tuple[Blocks, float]:
    """Blocks in units of their own noise, and that noise."""
    plain = Blocks.of(block, regressors, readings)
    noise = max(block_noise(plain), 1e-9)
    return Blocks(plain.gram / noise**2, plain.moment / noise**2, plain.square / noise**2, plain.count), noise


def _roughness(e: SlipEstimate, log: DriveLog, block: np.ndarray, track_m: float) -> Blocks | None:
    if IMU not in log:
        return None
    columns = [c for c in ("accel_x_mps2", "accel_y_mps2", "accel_z_mps2") if c in log[IMU].columns]
    if "accel_z_mps2" not in columns:
        return None
    time_s = (log[IMU].stamps_ns - e.start_ns) / 1e9
    at = np.floor((time_s - e.time_s[0]) / BLOCK_S).astype(int)
    n = int(block.max()) + 1
    shaken = np.full(n, np.nan)
    accel = log[IMU].column("accel_z_mps2")
    speed = np.abs(e.velocity[:, 0]) + 0.5 * track_m * np.abs(e.velocity[:, 2])
    fast = np.array([speed[block == b].mean() if (block == b).any() else np.nan for b in range(n)])
    for b in range(n):
        inside = accel[(at == b) & np.isfinite(accel)]
        if len(inside) >= 8 and fast[b] > MOVING_MPS:
            shaken[b] = np.log(max(float(np.std(np.diff(inside))), 1e-6))
    rows = np.column_stack([np.ones(n), np.log(np.maximum(fast, 1e-3))])
    return _scaled(np.arange(n), rows, shaken)[0]
