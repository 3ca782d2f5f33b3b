"""Friction with an arctangent start, for wheels with rollers: each axis of a contact for itself, with its own coefficient.

    F_i = mu_i N (2 / pi) atan(k |s_i|) s_i / |s_i|                                        (box)
    F_i = mu_i N (2 / pi) atan(k |s|) s_i / |s|                                            (ellipse)
    mu falls with sliding, mu (c + (1 - c) / (1 + (s / v_k)^2)), where a kinetic ratio c other than 1 is given

On rollers the axes are the roller's: mu_w along its axis, where the wheel grips, mu_t across it, where it rolls. Between two
rollers the rigid part of the wheel has coefficients of its own (`INFO.rigid`); wheels without rollers never touch with it.

Symbols    s slip velocity (m/s) · N load · k steepness (s/m): half of the limit is reached at 1 / k · c kinetic over static
           friction · v_k speed at which half of the fall has happened
Reference  [Williams2002] eqs. (8), (11), sector values p. 5, Table I; ellipse and fall: options of ours, docs/theory/omni
Valid for  rolling surfaces without memory. At rest the law is viscous: under a steady load F a contact creeps at about
           F / (0.64 k mu N), on a slope of a tenth of mu at 0.16 mm/s for k = 1000 s/m
"""

from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from slipfit.contact.law import LawInfo, LawParameter
from slipfit.contact.limits import Cone, Pyramid, within
from slipfit.contact.touch import along_and_across, blended, coupled, strongest, traction
from slipfit.kernels import atan_of_positive, atan_slopes, part

#: Below this slip velocity (m/s) the curve is its tangent: 0/0 at zero slip becomes its limit.
_SMALLEST = 1e-12

_PER_QUARTER_TURN = 2.0 / pi


class Arctan(NamedTuple):
    """Each axis for itself."""

    mu_x: float
    mu_y: float
    steepness: float


class FallingArctan(NamedTuple):
    """Each axis for itself, and kinetic friction apart from static."""

    mu_x: float
    mu_y: float
    steepness: float
    kinetic_ratio: float
    per_kinetic_speed: float  # s/m


class ArctanEllipse(NamedTuple):
    """Both axes together: sliding one way takes grip from the other."""

    mu_x: float
    mu_y: float
    steepness: float
    kinetic_ratio: float
    per_kinetic_speed: float


@part
def _per_speeds(law, load, x, y):
    """Force over mu and slip speed of both axes; speeds > 0."""
    slope_x, slope_y = atan_slopes(law.steepness * x, law.steepness * y)
    steepest = _PER_QUARTER_TURN * law.steepness * load
    return steepest * slope_x, steepest * slope_y


@part
def _fallen(law, speed):
    """How much of mu is left at a speed."""
    ratio = law.per_kinetic_speed * speed
    return law.kinetic_ratio + (1.0 - law.kinetic_ratio) / (1.0 + ratio * ratio)


@traction.of(Arctan)
def _(law, touch, memory, contact, dt):
    x, y = abs(touch.slip_x) + _SMALLEST, abs(touch.slip_y) + _SMALLEST
    per_x, per_y = _per_speeds(law, touch.load, x, y)
    return along_and_across(law.mu_x * per_x, law.mu_y * per_y)


@traction.of(FallingArctan)
def _(law, touch, memory, contact, dt):
    x, y = abs(touch.slip_x) + _SMALLEST, abs(touch.slip_y) + _SMALLEST
    per_x, per_y = _per_speeds(law, touch.load, x, y)
    return along_and_across(law.mu_x * per_x * _fallen(law, x), law.mu_y * per_y * _fallen(law, y))


@traction.of(ArctanEllipse)
def _(law, touch, memory, contact, dt):
    speed = sqrt(touch.slip_x * touch.slip_x + touch.slip_y * touch.slip_y) + _SMALLEST
    secant = _PER_QUARTER_TURN * touch.load * atan_of_positive(law.steepness * speed) / speed * _fallen(law, speed)
    return along_and_across(law.mu_x * secant, law.mu_y * secant)


@coupled.of(Arctan)
def _(law):
    return False


@coupled.of(FallingArctan)
def _(law):
    return False


@coupled.of(ArctanEllipse)
def _(law):
    return False


@strongest.of(Arctan)
def _(law, force_x, force_y, load):
    return within(Pyramid(law.mu_x, law.mu_y), force_x, force_y, load)


@strongest.of(FallingArctan)
def _(law, force_x, force_y, load):
    return within(Pyramid(law.mu_x, law.mu_y), force_x, force_y, load)


@strongest.of(ArctanEllipse)
def _(law, force_x, force_y, load):
    return within(Cone(law.mu_x, law.mu_y), force_x, force_y, load)


@part
def _between(a, b, share):
    return a + share * (b - a)


@blended.of(Arctan)
def _(law, other, share):
    return Arctan(_between(law.mu_x, other.mu_x, share), _between(law.mu_y, other.mu_y, share), law.steepness)


@blended.of(FallingArctan)
def _(law, other, share):
    mu_x, mu_y = _between(law.mu_x, other.mu_x, share), _between(law.mu_y, other.mu_y, share)
    return FallingArctan(mu_x, mu_y, law.steepness, law.kinetic_ratio, law.per_kinetic_speed)


@blended.of(ArctanEllipse)
def _(law, other, share):
    mu_x, mu_y = _between(law.mu_x, other.mu_x, share), _between(law.mu_y, other.mu_y, share)
    return ArctanEllipse(mu_x, mu_y, law.steepness, law.kinetic_ratio, law.per_kinetic_speed)


def _box(values, mu_w, mu_t):
    k, ratio = values["steepness_s_per_m"], np.asarray(values["kinetic_ratio"], dtype=float)
    if np.all(ratio == 1.0):
        return Arctan(values[mu_w], values[mu_t], k)
    return FallingArctan(values[mu_w], values[mu_t], k, ratio, 1.0 / np.asarray(values["kinetic_speed_mps"], dtype=float))


def _ellipse(values, mu_w, mu_t):
    per_speed = 1.0 / np.asarray(values["kinetic_speed_mps"], dtype=float)
    return ArctanEllipse(values[mu_w], values[mu_t], values["steepness_s_per_m"], values["kinetic_ratio"], per_speed)


_PARAMETERS = (
    LawParameter("mu_w", "friction along the roller's axis; of wheels without rollers along the wheel", alias="mu"),
    LawParameter("mu_t", "friction across the roller's axis, where it rolls; of wheels without rollers across"),
    LawParameter("mu_w_rigid", "the same as mu_w, on the rigid part between two rollers", same_as="mu_w"),
    LawParameter("mu_t_rigid", "the same as mu_t, on the rigid part between two rollers", same_as="mu_t"),
    LawParameter(
        "steepness_s_per_m", "k: half of the limit is reached at 1 / k", lower=1.0, upper=1e7, default=1000.0, alias="k"
    ),
    LawParameter("kinetic_ratio", "friction of fast sliding over that of slow", lower=0.05, upper=1.0, default=1.0),
    LawParameter("kinetic_speed_mps", "slip velocity at which half of that fall has happened", lower=1e-4, default=0.05),
)

_ROLLERS, _RIGID = ("mu_w", "mu_t"), ("mu_w_rigid", "mu_t_rigid")
_EXAMPLE = {"mu_w": 0.6, "mu_t": 0.3, "mu_w_rigid": 0.7, "mu_t_rigid": 0.7}

INFO = LawInfo(
    name="arctan",
    about="Friction with an arctangent start on each axis by itself, for wheels with rollers: creeps down every slope",
    formula="F_i = mu_i N (2 / pi) atan(k s_i)",
    valid_for="omni and mecanum wheels on hard or carpeted floors",
    references=("Williams2002",),
    parameters=_PARAMETERS,
    build=lambda values: _box(values, *_ROLLERS),
    rigid=lambda values: _box(values, *_RIGID),
    example=_EXAMPLE,
    holds_at_rest=False,
)

ELLIPSE = LawInfo(
    name="arctan_ellipse",
    about="The same with a friction ellipse: sliding one way takes grip from the other",
    formula="F_i = mu_i N (2 / pi) atan(k |s|) s_i / |s|",
    valid_for="comparison; Williams2002's figures need the box",
    references=("Williams2002",),
    parameters=_PARAMETERS,
    build=lambda values: _ellipse(values, *_ROLLERS),
    rigid=lambda values: _ellipse(values, *_RIGID),
    example=_EXAMPLE,
    holds_at_rest=False,
)
