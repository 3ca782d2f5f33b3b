"""Tractions of a drive against its slip, from currents: what soil constants are fitted to.

Each block of straight driving gives one point for each side: its mean slip, its mean force, and half of the weight as load.
"""

import numpy as np

from slipfit.errors import FitError
from slipfit.estimate.friction import DriveConstants, side_currents, side_forces
from slipfit.estimate.record import SlipEstimate
from slipfit.estimate.soil import TractionData
from slipfit.library import Robot
from slipfit.library.ground import STANDARD_GRAVITY
from slipfit.logs import DriveLog

#: Length of a block (s); slips below this are within what a filter errs; slower rims (m/s) and faster turns (rad/s) are left out.
BLOCK_S, LEAST_SLIP, LEAST_MPS, MOST_RADPS = 0.5, 0.02, 0.05, 0.05

#: Fewest points that constants are fitted to.
FEWEST = 6


def tractions(
    estimate: SlipEstimate, log: DriveLog, robot: Robot, constants: DriveConstants, *, area_m2: float, length_m: float,
    gravity_mps2: float = STANDARD_GRAVITY.value,
) -> TractionData:  # fmt: skip
    """Points (slip, force, load) of one side's patch of `area_m2` and `length_m`."""
    e = estimate
    forces = side_forces(e, side_currents(log, robot, e.time_s, e.start_ns), constants)
    block = np.floor((e.time_s - e.time_s[0]) / BLOCK_S).astype(int)
    straight = np.abs(e.velocity[:, 2]) < MOST_RADPS
    slips, found = [], []
    for side in (0, 1):
        good = straight & e.is_told[:, side] & (np.abs(e.rims_mps[:, side]) > LEAST_MPS)
        for b in np.unique(block[good]):
            at = good & (block == b)
            way = float(np.sign(e.rims_mps[at, side].mean()))
            slip = way * float(e.slip[at, side].mean())
            if slip > LEAST_SLIP:
                slips.append(slip)
                found.append(way * float(forces[at, side].mean()))
    if len(slips) < FEWEST:
        raise FitError(
            f"{e.name}: {len(slips)} stretches of straight driving with slip above {LEAST_SLIP:g}; expected {FEWEST} or more: "
            f"pull a load, or climb, to make the robot slip"
        )
    load = 0.5 * robot.mass_kg.value * gravity_mps2
    return TractionData(np.array(slips), np.array(found), np.full(len(slips), load), area_m2, length_m)
