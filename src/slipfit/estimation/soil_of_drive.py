"""Tractions of a drive against its slip, from currents, and soil constants fitted to them.

Each block of straight driving gives one point for each side: its mean slip, its mean force, and half of the weight as load.
"""

from dataclasses import replace

import numpy as np

from slipfit.errors import FitError
from slipfit.estimation.currents import side_currents
from slipfit.estimation.friction import DriveConstants, side_forces
from slipfit.estimation.record import SlipEstimate
from slipfit.estimation.soil import NAMES, SoilEstimate, SoilPrior, TractionData, fit_soil, traction
from slipfit.library import SkidSteerRobot
from slipfit.library.ground import STANDARD_GRAVITY
from slipfit.logs import DriveLog

#: Length of a block (s); slips below this are within what a filter errs; slower rims (m/s) and faster turns (rad/s) are left out.
BLOCK_S, LEAST_SLIP, LEAST_MPS, MOST_RADPS = 0.5, 0.02, 0.05, 0.05

#: Errors of slip go together for about a second, and in both sides: points of so long a stretch (s) do.
STRETCH_S = 4.0

#: Fewest points that constants are fitted to; fewest stretches that tell how they scatter.
FEWEST, FEWEST_STRETCHES = 6, 4


def tractions(
    estimate: SlipEstimate, log: DriveLog, robot: SkidSteerRobot, constants: DriveConstants, *, area_m2: float, length_m: float,
    gravity_mps2: float = STANDARD_GRAVITY.value,
) -> TractionData:  # fmt: skip
    """Points (slip, force, load) of one side's patch of `area_m2` and `length_m`."""
    e = estimate
    forces = side_forces(e, side_currents(log, robot, e.time_s, e.start_ns), constants)
    block = np.floor((e.time_s - e.time_s[0]) / BLOCK_S).astype(int)
    straight = np.abs(e.velocity[:, 2]) < MOST_RADPS
    slips, stretches, found = [], [], []
    for side in (0, 1):
        good = straight & e.is_told[:, side] & (np.abs(e.rims_mps[:, side]) > LEAST_MPS)
        for b in np.unique(block[good]):
            at = good & (block == b)
            way = float(np.sign(e.rims_mps[at, side].mean()))
            slip = way * float(e.slip[at, side].mean())
            if slip > LEAST_SLIP:
                slips.append(slip)
                stretches.append(int(b * BLOCK_S // STRETCH_S))
                found.append(way * float(forces[at, side].mean()))
    if len(slips) < FEWEST:
        raise FitError(
            f"{e.name}: {len(slips)} stretches of straight driving with slip above {LEAST_SLIP:g}; expected {FEWEST} or more: "
            f"pull a load, or climb, to make the robot slip"
        )
    load = 0.5 * robot.mass_kg.value * gravity_mps2
    loads = np.full(len(slips), load)
    return TractionData(np.array(slips), np.array(found), loads, area_m2, length_m, np.array(stretches))


def fit_soil_of_drive(data: TractionData, *, force_std: float, prior: SoilPrior | None = None) -> SoilEstimate:
    """Soil constants of a drive, with two errors that a fit to independent forces does not know.

    Slips of one stretch err together, and most where traction is steep in slip: the forces' noise is taken as large as K scatters
    when the stretches are left out one by one (jackknife). The force for each ampere is wrong by the same share `force_std` in
    all readings: spreads hold what a fit to forces moves that are wrong by it.
    """
    found = fit_soil(data, noise_n=_noise_n(data), prior=prior)
    if force_std == 0.0:
        return found
    other = fit_soil(replace(data, force_n=data.force_n * (1.0 + force_std)), prior=prior)
    shift = np.where(found.told, other.best - found.best, 0.0)
    combinations = {
        name: (value, float(np.hypot(std, other.combinations[name][0] - value)) if name in other.combinations else std)
        for name, (value, std) in found.combinations.items()
    }
    return replace(found, covariance=found.covariance + np.outer(shift, shift), combinations=combinations)


def _noise_n(data: TractionData) -> float | None:
    """Standard deviation of forces with which K is as unsure as the stretches of a drive make it, at least what the fit leaves:

    std(K)^2 = (g - 1) / g sum_j (K_j - mean K)^2,    K_j without stretch j of g

    None where no K is told.
    """
    of = data.stretch
    if of is None or len(np.unique(of)) < FEWEST_STRETCHES:
        return None
    alone = fit_soil(data)
    if not alone.told[NAMES.index("shear_modulus_m")]:
        return None
    moduli = np.array([fit_soil(_part(data, np.not_equal(of, j))).best[NAMES.index("shear_modulus_m")] for j in np.unique(of)])
    std = np.sqrt((len(moduli) - 1) * np.mean((moduli - moduli.mean()) ** 2))
    left = data.force_n - traction(alone.best, data)
    noise = float(np.sqrt(left @ left / max(len(left) - 3, 1)))
    return max(noise, 1e-9) * max(1.0, float(std) / alone.std("shear_modulus_m"))


def _part(data: TractionData, kept: np.ndarray) -> TractionData:
    assert data.stretch is not None
    return replace(data, slip=data.slip[kept], force_n=data.force_n[kept], load_n=data.load_n[kept], stretch=data.stretch[kept])
