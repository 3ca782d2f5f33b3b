"""Two driven wheels and casters: the skid-steer robot's motion, with weight on supports that push up and nothing else.

Casters are points without friction: they carry weight, and neither roll nor drag. Loads are linear in the place of the ground's
resultant (X_p, Y_p, see `loads`),

    N_n = m g_n max(0, s_n) / sum max(0, s),    s = A^+ (1, X_p, Y_p),    rows of A: 1, X, Y of all wheels and casters,

which with one caster is statics: three loads, three balances. With two it is what equal springs give. The sum goes over wheels
and casters, so that all loads together are the weight; wheels get their part of it.

Symbols    s shares of the weight · X, Y places of wheels and casters · g_n gravity into the ground
Reference  derived above; the matrix is that of docs/theory/omni, eq. (loads)
Valid for  planes, one or two casters; a support whose share is negative has lifted off, and the robot is about to tip
"""

from typing import Any, NamedTuple

import numpy as np

from slipfit.kernels import folded, tables, wide
from slipfit.vehicles.loads import spring_shares, wheel_loads
from slipfit.vehicles.skid_steer import measure, places_of

#: The tables have one row per driven wheel, and casters are read beside them.
MOST_CASTERS = 2


class WheelsAndCasters(NamedTuple):
    """Driven wheels of one robot, and in the same rows its casters: shares of zero where there is none."""

    x: Any  # m from the middle of the axle, ahead
    y: Any  # m, to the left
    share: Any  # of the weight: share + leverage_x X_p + leverage_y Y_p
    leverage_x: Any  # 1/m
    leverage_y: Any
    caster_share: Any
    caster_leverage_x: Any
    caster_leverage_y: Any
    radius: Any  # m


class Supports(NamedTuple):
    """The same, with places from the centre of mass, read in packs."""

    x: Any
    y: Any
    radius: Any
    share: Any
    leverage_x: Any
    leverage_y: Any
    caster_share: Any
    caster_leverage_x: Any
    caster_leverage_y: Any


def wheels_and_casters(at_m, casters_m, radius_m) -> WheelsAndCasters:
    """Tables of one robot from places of two wheels, (2, 2), and of one or two casters."""
    at, casters = np.asarray(at_m, dtype=float), np.asarray(casters_m, dtype=float)
    shares = spring_shares(np.vstack([at, casters]))
    of_casters = np.zeros((MOST_CASTERS, 3))
    of_casters[: len(casters)] = shares[len(at) :]
    radius = np.full(len(at), float(radius_m))
    own, theirs = shares[: len(at)].T.copy(), of_casters.T.copy()
    return WheelsAndCasters(at[:, 0].copy(), at[:, 1].copy(), own[0], own[1], own[2], theirs[0], theirs[1], theirs[2], radius)


@places_of.of(WheelsAndCasters)
def _(wheels, size, like):
    return tables(Supports, size, like)


@measure.of(WheelsAndCasters)
def _(wheels, body, places):
    for n in range(len(wheels.x)):
        places.x[n], places.y[n], places.radius[n] = wheels.x[n] - body.com_x, wheels.y[n] - body.com_y, wheels.radius[n]
        places.share[n], places.caster_share[n] = wheels.share[n], wheels.caster_share[n]
        places.leverage_x[n], places.leverage_y[n] = wheels.leverage_x[n], wheels.leverage_y[n]
        places.caster_leverage_x[n] = wheels.caster_leverage_x[n]
        places.caster_leverage_y[n] = wheels.caster_leverage_y[n]


@wheel_loads.of(Supports)
def _(wheels, weight, centre_x, centre_y, loads):
    total = wide(0.0 * weight)
    centre_x, centre_y = wide(centre_x), wide(centre_y)
    for n in range(len(loads)):
        on_caster = wheels.caster_share[n] + wheels.caster_leverage_x[n] * centre_x + wheels.caster_leverage_y[n] * centre_y
        loads[n] = max(0.0, wheels.share[n] + wheels.leverage_x[n] * centre_x + wheels.leverage_y[n] * centre_y)
        total += loads[n] + max(0.0, on_caster)
    scale = wide(weight / folded(total))
    for n in range(len(loads)):
        loads[n] = loads[n] * scale
