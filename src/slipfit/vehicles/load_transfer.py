"""Loads and specific force at once: the loads of a step are those of the specific force that its own contact forces make.

A contact at its limit gives force in proportion to its load, and loads follow the specific force f (see `loads`). With g(f) what
a step comes to with the loads of f, a step is right where r = f - g(f) = 0. The search begins at f of the step before and, where
that does not do, goes on by Broyden's secant method, in steps of limited length that become shorter:

    f <- f - s H r,    H <- H + (df - H dr) (df^T H) / (df^T H dr),    H = 1 at first

Without a search, f <- g(f) once a step, loads feed back with a gain of up to 2 mu h / L: from 1 on they alternate for ever. Where
contacts jump (a wheel comes to rest under a law of friction that falls), a step may have no such f; it then has the loads of the
step before. Of 48,000 steps of robots of the library that slide, spin and stop, ten at most are such.

Symbols    f specific force ahead and to the left, m/s^2 · r residual · H approximation of the inverse of dr/df · s share of the
           step · h height of the center of mass · L wheelbase or track
Reference  Broyden's method; gain: docs/theory/stepping, Tall robots
"""

from math import sqrt
from typing import NamedTuple

from slipfit.kernels import alike, part, where

#: Loads agree with the specific force of their step to this share of gravity.
AGREES_TO_GRAVITY = 1e-3

#: Solutions of one step for loads that do not agree, of which the last ones no longer change the loads: three where forces are
#: linear in the loads, more where contacts change over.
MOST_SOLUTIONS, LAST_CHANGE = 64, 59

#: Steps of the search are no longer than the first number (m/s^2); their share is a half from the second one of them on, and a
#: quarter from the third, so that no cycle goes on.
_FARTHEST, _HALF_FROM, _QUARTER_FROM = 7.0, 20, 40

#: What the last change leaves (m/s^2) without being given up.
_GIVES_UP = 0.1

#: A secant is used where the residual moved by at least this share of what it moves without feedback.
_LEAST_SECANT = 0.1

#: Larger than any specific force, m/s^2.
_ANY = 1e30


class Search(NamedTuple):
    """Where the search for the specific force stands."""

    fx: float  # m/s^2, of the present loads
    fy: float
    first_x: float  # that of the step before
    first_y: float
    rx: float  # the last residual
    ry: float
    dx: float  # the last change of f
    dy: float
    xx: float  # H
    xy: float
    yx: float
    yy: float


@part
def begun(fx, fy):
    """A search that begins at the specific force of the step before."""
    zero, one = alike(0.0, fx), alike(1.0, fx)
    return Search(fx, fy, fx, fy, zero, zero, zero, zero, one, zero, zero, one)


@part
def disagrees(search, body, g_into, fx, fy, waits, k):
    """Whether loads belong to another specific force than (fx, fy), which solution k came to; not asked where contacts still
    change over (`waits`)."""
    most = where(waits, alike(_ANY, fx), (AGREES_TO_GRAVITY if k <= LAST_CHANGE else _ANY) * g_into)
    return (abs(fx - search.fx) + abs(fy - search.fy)) * body.com_height > most * body.com_height


@part
def moved(search, fx, fy, goes_on, k):
    """The search after solution k came to (fx, fy) with the loads of its f, for runs in which it goes on."""
    a = search
    rx, ry = a.fx - fx, a.fy - fy
    xx, xy, yx, yy = _learned(a, rx - a.rx, ry - a.ry)
    dx, dy = -(xx * rx + xy * ry), -(yx * rx + yy * ry)
    share = (1.0 if k < _HALF_FROM else 0.5 if k < _QUARTER_FROM else 0.25) * _FARTHEST
    kept = share / max(_FARTHEST, sqrt(dx * dx + dy * dy))
    dx, dy = kept * dx, kept * dy
    if k == LAST_CHANGE:
        strays = rx * rx + ry * ry > _GIVES_UP * _GIVES_UP
        dx, dy = where(strays, a.first_x - a.fx, dx), where(strays, a.first_y - a.fy, dy)
    return Search(
        where(goes_on, a.fx + dx, a.fx), where(goes_on, a.fy + dy, a.fy), a.first_x, a.first_y, where(goes_on, rx, a.rx),
        where(goes_on, ry, a.ry), where(goes_on, dx, a.dx), where(goes_on, dy, a.dy), where(goes_on, xx, a.xx),
        where(goes_on, xy, a.xy), where(goes_on, yx, a.yx), where(goes_on, yy, a.yy),
    )  # fmt: skip


@part
def _learned(a, change_x, change_y):
    """H after the last change of f changed the residual so."""
    hx, hy = a.xx * change_x + a.xy * change_y, a.yx * change_x + a.yy * change_y
    tx, ty = a.dx * a.xx + a.dy * a.yx, a.dx * a.xy + a.dy * a.yy
    bottom = a.dx * hx + a.dy * hy
    is_secant = bottom > _LEAST_SECANT * (a.dx * a.dx + a.dy * a.dy)
    per = where(is_secant, 1.0 / where(is_secant, bottom, alike(1.0, bottom)), alike(0.0, bottom))
    ex, ey = (a.dx - hx) * per, (a.dy - hy) * per
    return a.xx + ex * tx, a.xy + ex * ty, a.yx + ey * tx, a.yy + ey * ty
