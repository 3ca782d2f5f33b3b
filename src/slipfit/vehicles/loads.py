"""Wheel loads of a rigid body on a plane: static shares, centre of mass, load transfer, lift-off.

The ground's resultant acts where weight and specific force (f = acceleration - gravity, horizontal) meet the ground,

    X_p = X_c - h f_x / g_n,    Y_p = Y_c - h f_y / g_n,

and is shared among axles and sides by products of linear shares,

    N_n = m g_n · K_axle · K_side,    K_axle = 1/A + (X_n - Xm)(X_p - Xm) / sum (X_a - Xm)^2,    K_side likewise,

each clipped to [0, 1] before the product, so that the loads always add up to the weight. With two axles this is the
usual K_front = l_r / L - (h / L) f_x / g_n. A clipped share is a wheel in the air.

Symbols    X, Y wheel positions, Xm, Ym their means · X_c, Y_c, h centre of mass · A axles · g_n gravity into the ground
Reference  [Shilliday2023] eq. (5), signs derived in docs/theory/skid_steer, eq. (loads)
Valid for  left and right wheels in pairs; more than two axles: equal springs
"""

from typing import Any, NamedTuple

import numpy as np

from slipfit.kernels import chosen_by_type, folded, wide


class Wheels(NamedTuple):
    """Wheels of one robot: tables with one entry per wheel."""

    x: Any  # m from the wheels' centre, ahead
    y: Any  # m, to the left
    leverage_x: Any  # 1/m, (X_n - Xm) / sum over axles
    leverage_y: Any  # 1/m
    share_x: Any  # 1/A minus leverage times mean position
    share_y: Any
    radius: Any  # m


def wheels(at_m, radius_m) -> Wheels:
    """Wheels from positions (W, 2), for one robot; radius for all or for each."""
    at_m = np.asarray(at_m, dtype=float)
    pairs = len(at_m) / 2.0

    def sharing(position, repeated):
        """`repeated`: how often each axle or side is counted when summing over wheels."""
        centred = position - position.mean()
        leverage = centred / (np.sum(centred * centred) / repeated)
        return leverage, repeated / len(position) - leverage * position.mean()

    leverage_x, share_x = sharing(at_m[:, 0], 2.0)
    leverage_y, share_y = sharing(at_m[:, 1], pairs)
    radius = np.broadcast_to(np.asarray(radius_m, dtype=float), len(at_m))
    return Wheels(at_m[:, 0], at_m[:, 1], leverage_x, leverage_y, share_x, share_y, radius.copy())


def spring_shares(at_m) -> np.ndarray:
    """The matrix (n, 3) that gives each wheel's share of the weight of (1, X_p, Y_p), the place of the ground's resultant.

        N / (m g_n) = A^+ (1, X_p, Y_p),    rows of A: 1, X, Y

    Statics for three wheels; for more, what equal springs under a rigid body give (the smallest loads that balance).
    Reference  derived in docs/theory/omni, eq. (loads)
    """
    at = np.asarray(at_m, dtype=float)
    return np.asarray(np.linalg.pinv(np.vstack([np.ones(len(at)), at.T])))


@chosen_by_type
def wheel_loads(wheels, weight, centre_x, centre_y, loads):
    """Fill `loads` with the normal force of each wheel (N), for the ground's resultant at (centre_x, centre_y). The class of the
    table decides how the weight is shared; this is how wheels in pairs share it."""
    total = wide(0.0 * weight)
    centre_x, centre_y = wide(centre_x), wide(centre_y)
    for n in range(len(loads)):
        on_axle = max(0.0, min(1.0, wheels.share_x[n] + wheels.leverage_x[n] * centre_x))
        on_side = max(0.0, min(1.0, wheels.share_y[n] + wheels.leverage_y[n] * centre_y))
        loads[n] = on_axle * on_side
        total += loads[n]
    scale = wide(weight / folded(total))  # 1 with two axles; with three, a clipped share leaves something to hand out
    for n in range(len(loads)):
        loads[n] = loads[n] * scale
