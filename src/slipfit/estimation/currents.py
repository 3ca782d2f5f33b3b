"""Motor currents of a drive's sides, and what straight driving and turning take of them.

A side that pushes the robot the way it turns drives its motor, whatever the other does: the outer side of a bend, both sides of a
turn on the spot. The inner side of a bend may drive or brake, which a current without a sign does not tell, and is left out.

    log I = rho + b log |w|  driving straight,        log I = tau  in turns in which the wheels slide sideways

Rolling and what drives lose grow with speed; sliding friction does not. Logarithms, because currents scatter in proportion.

Valid for  level ground; no constant of the motors is needed
"""

import numpy as np

from slipfit.errors import LogError
from slipfit.estimation.blocks import Blocks
from slipfit.estimation.record import SlipEstimate
from slipfit.library import SkidSteerRobot
from slipfit.logs import DriveLog
from slipfit.logs.channels import MOTORS, SIDES, motor_column

#: Rims that turn backwards faster than this (m/s) show whether currents have signs.
BACKWARDS_MPS = 0.05

#: Straight is where the sides' speeds differ by less than this share of the faster one.
STRAIGHT_SHARE = 0.1

#: Wheels slide sideways where the tangent of the slip angle at the first and last axle, |r| (wheelbase / 2) over the mean rim
#: speed, is above this (9 degrees). Assumed: tyres are past their steep part there, and BorealTC's currents do not grow any more.
SLIDING_TANGENT = 0.15

#: Currents are averaged over so long (s) before their logarithm is taken, where at least `MOST_OF_IT` is of one kind.
AVERAGED_S, MOST_OF_IT = 2.0, 0.5

#: Smaller currents (A) than this are none.
SMALLEST_A = 0.01


def side_currents(log: DriveLog, robot: SkidSteerRobot, stamps_s: np.ndarray, start_ns: int) -> np.ndarray:
    """Current of each side (A) at times of an estimate, (n, 2); of motors on single wheels their sum."""
    if MOTORS not in log:
        raise LogError(
            f"{log.source or 'the log'}: no motor currents; expected a channel '{MOTORS}' with currents of sides or wheels"
        )
    channel = log[MOTORS]
    sides = [motor_column("current", side) for side in SIDES]
    wheels = [motor_column("current", k) for k in range(len(robot.wheels.at_m.value))]
    if set(sides) <= set(channel.columns):
        columns = [channel.column(name) for name in sides]
    elif set(wheels) <= set(channel.columns):
        columns = [np.sum([channel.column(name) for name in wheels[k::2]], axis=0) for k in (0, 1)]
    else:
        raise LogError(
            f"{log.source or 'the log'}: {MOTORS} has {', '.join(channel.columns)}; expected currents of sides or wheels"
        )
    time_s = (channel.stamps_ns - start_ns) / 1e9
    found = []
    for column in columns:
        kept = np.isfinite(column)
        if kept.sum() < 3:
            raise LogError(
                f"{log.source or 'the log'}: {int(kept.sum())} finite currents of a side; expected a drive's length of them"
            )
        found.append(np.interp(stamps_s, time_s[kept], column[kept]))
    return np.column_stack(found)


def signed(currents: np.ndarray, rims_mps: np.ndarray) -> np.ndarray:
    """Currents with the rims' signs where the log gives magnitudes only."""
    if currents.min() >= 0.0 and rims_mps.min() < -BACKWARDS_MPS:
        return np.asarray(currents * np.sign(rims_mps))
    return currents


def has_currents(log: DriveLog) -> bool:
    return MOTORS in log and any("current" in name for name in log[MOTORS].columns)


def current_answers(
    e: SlipEstimate, log: DriveLog, robot: SkidSteerRobot, *, block_s: float, slowest_mps: float
) -> dict[str, Blocks]:
    """What each block says of the current of straight driving and of that in turns; of a kind that never occurs, nothing."""
    currents = np.abs(side_currents(log, robot, e.time_s, e.start_ns))
    rims = e.rims_mps[:, :2]
    apart, fastest = rims[:, 1] - rims[:, 0], np.abs(rims).max(axis=1)
    pushes = np.column_stack([-rims[:, 0] * apart >= 0.0, rims[:, 1] * apart >= 0.0])
    mean = (currents * pushes).sum(axis=1) / np.maximum(pushes.sum(axis=1), 1)
    moves = (fastest > slowest_mps) & pushes.any(axis=1)
    sideways = 0.5 * robot.wheelbase_m * np.abs(e.velocity[:, 2])
    kinds = {
        "straight current": moves & (np.abs(apart) < STRAIGHT_SHARE * fastest),
        "turning current": moves & (sideways > SLIDING_TANGENT * np.abs(rims.mean(axis=1))),
    }
    at = np.floor((e.time_s - e.time_s[0]) / AVERAGED_S).astype(int)
    n = int(at.max()) + 1
    block = np.floor((np.arange(n) + 0.5) * AVERAGED_S / block_s).astype(int)
    found = {}
    for name, kind in kinds.items():
        count = np.bincount(at, kind, n)
        mostly = (count > 0) & (count >= MOST_OF_IT * np.bincount(at, minlength=n))
        amperes, speed = (np.bincount(at, np.where(kind, x, 0.0), n) / np.maximum(count, 1.0) for x in (mean, fastest))
        readings = np.where(mostly, np.log(np.maximum(amperes, SMALLEST_A)), np.nan)
        rows = np.ones((n, 1))
        if name == "straight current":
            rows = np.column_stack([rows, np.log(np.maximum(speed, slowest_mps))])
        if mostly.any():
            found[name] = Blocks.of(block, rows, readings)
    return found
