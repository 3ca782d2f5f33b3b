"""Two driven wheels and casters: the skid-steer robot's motion, with weight on supports that push up and nothing else.

Casters are points without friction: they carry weight, and neither roll nor drag. Loads balance weight and both moments about
the ground's resultant at (X_p, Y_p) (see `loads`), and none pulls:

    N_n = m g_n (s_n + t z_n) >= 0,    s = A^+ (1, X_p, Y_p),    A z = 0,    rows of A: 1, X, Y of all wheels and casters.

With one caster z = 0 and s is statics: three loads, three balances. With two, s is what equal springs give, and t the smallest
change that leaves no load below zero: zero, or what lifts one support off and lets the other three carry the robot,

    t = max(0, t_n) + min(0, t_n) over n,    t_n = -min(0, s_n) / z_n.

Where no t does, the resultant lies outside all supports: loads below zero are cut, and all are scaled to the weight.

Symbols    s shares of the weight · z loads that balance by themselves · X, Y places of wheels and casters · g_n gravity into the
           ground
Reference  derived above: the least elastic energy of equal springs that only push; s is that of docs/theory/omni, eq. (loads)
Valid for  planes, one or two casters; with a resultant outside of the supports the robot is about to tip
"""

from typing import Any, NamedTuple

import numpy as np

from slipfit.kernels import tables, where, wide
from slipfit.vehicles.loads import spring_shares, wheel_loads
from slipfit.vehicles.skid_steer import measure, places_of

#: A wheel's row has columns for so many.
MOST_CASTERS = 2

#: What is known of each support: share of the weight (share + leverage_x X_p + leverage_y Y_p), and what it bears of z.
_COLUMNS = ("share", "leverage_x", "leverage_y", "slack", "per_slack")

#: Shares that are negative by rounding only are not.
_ROUNDING = 1e-9

#: Less than this share of the weight is what rounding leaves of a support that is off; rows that fill up a pack bear nothing.
NOTHING = 1e-12


class WheelsAndCasters(NamedTuple):
    """Driven wheels of one robot. Each row has all four supports, so that it tells by itself which of them push: its own wheel,
    the other one, and two casters, of zeros where there is none."""

    x: Any  # m from the middle of the axle, ahead; in packs from the center of mass
    y: Any  # m, to the left
    radius: Any  # m
    own_share: Any
    own_leverage_x: Any  # 1/m
    own_leverage_y: Any
    own_slack: Any  # z_n
    own_per_slack: Any  # 1 / z_n; 0 where that is 0
    other_share: Any
    other_leverage_x: Any
    other_leverage_y: Any
    other_slack: Any
    other_per_slack: Any
    first_share: Any
    first_leverage_x: Any
    first_leverage_y: Any
    first_slack: Any
    first_per_slack: Any
    second_share: Any
    second_leverage_x: Any
    second_leverage_y: Any
    second_slack: Any
    second_per_slack: Any


def wheels_and_casters(at_m, casters_m, radius_m) -> WheelsAndCasters:
    """Tables of one robot from places of two wheels, (2, 2), and of one or two casters."""
    at, casters = np.asarray(at_m, dtype=float), np.asarray(casters_m, dtype=float)
    left, right, *rest = _columns(np.vstack([at, casters]))
    first, second = [*rest, *np.zeros((MOST_CASTERS, len(_COLUMNS)))][:MOST_CASTERS]
    rows = np.array([[*left, *right, *first, *second], [*right, *left, *first, *second]])
    radius = np.full(len(at), float(radius_m))
    return WheelsAndCasters(at[:, 0].copy(), at[:, 1].copy(), radius, *rows.T.copy())


def _columns(supports_m: np.ndarray) -> np.ndarray:
    """`_COLUMNS` of each support, (n, 5)."""
    slack = _slack(supports_m)
    per_slack = np.divide(1.0, slack, out=np.zeros_like(slack), where=slack != 0.0)
    return np.column_stack([spring_shares(supports_m), slack, per_slack])


def _slack(supports_m: np.ndarray) -> np.ndarray:
    """Loads that balance by themselves, (n,), the largest 1: what statics leaves open of four supports; zero for three."""
    if len(supports_m) < 4:
        return np.zeros(len(supports_m))
    balances = np.vstack([np.ones(len(supports_m)), supports_m.T])
    found = np.linalg.svd(balances)[2][-1]
    found = np.where(np.abs(found) < _ROUNDING, 0.0, found)
    return np.asarray(found / np.abs(found).max())


def is_stable(supports_m: np.ndarray, x: float, y: float) -> bool:
    """Whether supports that only push can carry a weight above (x, y)."""
    share, leverage_x, leverage_y, slack, per_slack = _columns(supports_m).T
    pushed = share + leverage_x * x + leverage_y * y
    shifts = np.maximum(0.0, -pushed) * per_slack
    return bool((pushed + (max(0.0, shifts.max()) + min(0.0, shifts.min())) * slack).min() > -_ROUNDING)


@places_of.of(WheelsAndCasters)
def _(wheels, size, like):
    return tables(WheelsAndCasters, size, like)


@measure.of(WheelsAndCasters)
def _(wheels, body, places):
    for n in range(len(wheels.x)):
        places.x[n], places.y[n], places.radius[n] = wheels.x[n] - body.com_x, wheels.y[n] - body.com_y, wheels.radius[n]
        places.own_share[n], places.own_leverage_x[n] = wheels.own_share[n], wheels.own_leverage_x[n]
        places.own_leverage_y[n], places.own_slack[n] = wheels.own_leverage_y[n], wheels.own_slack[n]
        places.own_per_slack[n] = wheels.own_per_slack[n]
        places.other_share[n], places.other_leverage_x[n] = wheels.other_share[n], wheels.other_leverage_x[n]
        places.other_leverage_y[n], places.other_slack[n] = wheels.other_leverage_y[n], wheels.other_slack[n]
        places.other_per_slack[n] = wheels.other_per_slack[n]
        places.first_share[n], places.first_leverage_x[n] = wheels.first_share[n], wheels.first_leverage_x[n]
        places.first_leverage_y[n], places.first_slack[n] = wheels.first_leverage_y[n], wheels.first_slack[n]
        places.first_per_slack[n] = wheels.first_per_slack[n]
        places.second_share[n], places.second_leverage_x[n] = wheels.second_share[n], wheels.second_leverage_x[n]
        places.second_leverage_y[n], places.second_slack[n] = wheels.second_leverage_y[n], wheels.second_slack[n]
        places.second_per_slack[n] = wheels.second_per_slack[n]


@wheel_loads.of(WheelsAndCasters)
def _(wheels, weight, centre_x, centre_y, loads):
    centre_x, centre_y, weight = wide(centre_x), wide(centre_y), wide(weight)
    for n in range(len(loads)):
        own = wheels.own_share[n] + wheels.own_leverage_x[n] * centre_x + wheels.own_leverage_y[n] * centre_y
        other = wheels.other_share[n] + wheels.other_leverage_x[n] * centre_x + wheels.other_leverage_y[n] * centre_y
        first = wheels.first_share[n] + wheels.first_leverage_x[n] * centre_x + wheels.first_leverage_y[n] * centre_y
        second = wheels.second_share[n] + wheels.second_leverage_x[n] * centre_x + wheels.second_leverage_y[n] * centre_y
        a, b = max(0.0, -own) * wheels.own_per_slack[n], max(0.0, -other) * wheels.other_per_slack[n]
        c, d = max(0.0, -first) * wheels.first_per_slack[n], max(0.0, -second) * wheels.second_per_slack[n]
        shift = max(0.0, max(max(a, b), max(c, d))) + min(0.0, min(min(a, b), min(c, d)))
        borne = max(0.0, own + shift * wheels.own_slack[n])
        rest = max(0.0, other + shift * wheels.other_slack[n])
        rest += max(0.0, first + shift * wheels.first_slack[n]) + max(0.0, second + shift * wheels.second_slack[n])
        share = borne / max(borne + rest, NOTHING)
        loads[n] = weight * where(share < NOTHING, 0.0 * share, share)
