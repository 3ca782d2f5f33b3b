"""Which step a tracked robot climbs, quasi-statically, on hard ground: the friction that it needs.

Side view. The rear sprocket stands on the ground, the straight underside lies on the step's edge, the robot pitches up while it
goes on. Three forces balance: weight, ground (N_r, F_r) and edge (N_c, F_c = lambda N_c):

    s = (h - (R + rho)(1 - cos th)) / sin th                             where the edge touches the underside
    N_c / W = x / (D + lambda E),    |F_r| / N_r = x |sin b - lambda cos b| / |D + lambda E - x (cos b + lambda sin b)|
    mu_needed(th) = min over lambda of max(|lambda|, |F_r| / N_r),       mu_needed(h) = max over the way up

The minimum lies where both are equal, B lambda² + D lambda - x sin b = 0 or B lambda² + (D - 2 x cos b) lambda + x sin b = 0 with
B = E - x sin b. The way ends where the mass stands above the contact, s = a - e tan th; there the rear is free of load and
mu_needed = tan th_tip with

    (a - e tan th) sin th + (R + rho)(1 - cos th) = h.

A robot whose flippers lift its nose starts with the edge under the front axle. Without them its front sprocket has to climb the
edge (b > th) or the wall below it (b = pi/2) first: for a sharp step h >= R, mu² (L + R - a) + mu R - a = 0.

Symbols    R radius of the sprockets with belt · L length of the straight underside (distance of the axles) · a mass ahead of the
           rear axle, along the underside · e mass above the underside · h height of the step · rho radius of its edge ·
           th pitch · b angle of the contact's normal from the vertical (th on the underside) · x mass ahead of the rear contact ·
           D, E moment arms of N_c and F_c about the rear contact · W weight, which cancels
Reference  derived in docs/theory/study, eqs. (balance), (tip) and (wall)
Valid for  slow climbing at right angles, rigid step and belt, mu alike at both contacts. Above tan th_tip of about 1.1 the robot
           can brace itself between ground and edge: `friction_needed` then falls below tan th_tip and is not monotone in h.
"""

from typing import NamedTuple

import numpy as np

#: Up to this friction the closed form tan(th_tip) holds and grows with the step's height (SPEC 5: bracing begins at about 1.1).
VALID_FRICTION = 1.0

#: Halvings of a bracket of at most pi/2: an error below 1e-15 rad.
_HALVINGS = 52

#: Pitches along one phase of the climb, and how often the neighbourhood of the largest need is searched again as finely.
_PITCHES, _ZOOMS = 65, 3

#: A rear load above minus this share of the weight counts as carried: at the tip it is zero but for rounding.
_ROUNDING = 1e-9


class ClimberShape(NamedTuple):
    """Side view of a tracked robot; each entry a number or an array with one entry per run."""

    sprocket_radius_m: float | np.ndarray  # with belt
    underside_m: float | np.ndarray  # length of the straight underside
    mass_ahead_m: float | np.ndarray  # of the rear axle, along the underside
    mass_above_m: float | np.ndarray  # the underside


def highest_step_m(shape: ClimberShape, edge_radius_m=0.0):
    """The step above which the mass never gets over the edge, whatever the friction.

    Its tangent t of the pitch is the one positive root of a + (R + rho - 2 e) t - e t³ = 0, derivative of (tip).
    """
    return _height_at_tip(shape, edge_radius_m, _steepest_tip(shape, edge_radius_m))


def tip_pitch_rad(shape: ClimberShape, height_m, edge_radius_m=0.0):
    """Pitch at which the mass stands above the edge, eq. (tip); NaN where the step is too high for that."""
    height_m, lower, upper = np.broadcast_arrays(np.asarray(height_m, float), 0.0, _steepest_tip(shape, edge_radius_m))
    tip = _rising_root(lambda pitch: _height_at_tip(shape, edge_radius_m, pitch) - height_m, lower, upper)
    return np.where(height_m <= highest_step_m(shape, edge_radius_m), tip, np.nan)


def friction_to_tip(shape: ClimberShape, height_m, edge_radius_m=0.0):
    """tan(th_tip): the friction that a robot with flippers needs; infinite where the step is too high. The closed form."""
    tip = tip_pitch_rad(shape, height_m, edge_radius_m)
    return np.where(np.isnan(tip), np.inf, np.tan(np.nan_to_num(tip)))


def largest_step_m(shape: ClimberShape, friction, edge_radius_m=0.0):
    """The highest step that a robot with flippers climbs with this friction, by the closed form; beyond the steepest tip no more
    friction helps."""
    pitch = np.minimum(np.arctan(np.asarray(friction, float)), _steepest_tip(shape, edge_radius_m))
    return _height_at_tip(shape, edge_radius_m, pitch)


def wall_friction(shape: ClimberShape):
    """Friction with which the nose climbs a vertical wall, eq. (wall): the positive root of mu² (L + R - a) + mu R - a = 0."""
    radius, length, ahead, _ = shape
    return (-radius + np.sqrt(radius * radius + 4.0 * ahead * (length + radius - ahead))) / (2.0 * (length + radius - ahead))


def friction_needed(shape: ClimberShape, height_m, edge_radius_m=0.0, *, has_flippers: bool):
    """The friction needed on the whole way up, from the balance of forces at every pitch; infinite where the step is too high.

    With flippers it equals `friction_to_tip` up to about 1.1; above, bracing helps.
    """
    arrays = np.broadcast_arrays(*shape, np.asarray(height_m, float), np.asarray(edge_radius_m, float))
    *entries, height, edge = (array[..., None] for array in arrays)  # the last axis runs over pitches
    shape = ClimberShape(*entries)
    tip = tip_pitch_rad(shape, height, edge)
    on_nose = _nose_pitch(shape, height, edge)
    needed = _largest(lambda pitch: _needed_on_underside(shape, height, edge, pitch), on_nose, tip)
    if not has_flippers:
        climbing = _largest(lambda pitch: _needed_on_sprocket(shape, height, edge, pitch), np.zeros_like(on_nose), on_nose)
        needed = np.maximum(needed, climbing)
    return np.where(np.isnan(tip[..., 0]), np.inf, needed)


# --- the balance -----------------------------------------------------------------------------------------------------


def _needed_on_underside(shape, height, edge, pitch):
    radius, _, _, _ = shape
    sin, cos = np.sin(pitch), np.cos(pitch)
    along = (height - (radius + edge) * (1.0 - cos)) / np.maximum(sin, 1e-300)
    return _balance(_mass_ahead(shape, pitch), along + radius * sin, radius * (1.0 - cos), sin, cos)


def _needed_on_sprocket(shape, height, edge, pitch):
    radius, length, _, _ = shape
    cos = np.clip((radius + length * np.sin(pitch) - height + edge) / (radius + edge), 0.0, 1.0)  # 0: on the wall
    sin = np.sqrt(1.0 - cos * cos)
    at_x, at_z = length * np.cos(pitch) + radius * sin, radius + length * np.sin(pitch) - radius * cos
    return _balance(_mass_ahead(shape, pitch), at_x * cos + at_z * sin, at_x * sin - at_z * cos, sin, cos)


def _balance(x, arm_normal, arm_friction, sin, cos):
    """Least friction with which weight, ground and edge are in balance; infinite where they cannot be."""
    square = arm_friction - x * sin
    best = np.full(np.shape(x), np.inf)
    for linear, constant in ((arm_normal, -x * sin), (arm_normal - 2.0 * x * cos, x * sin)):
        for share in _roots(square, linear, constant):
            with np.errstate(divide="ignore", invalid="ignore"):  # a share that is no root, or a contact without a lever
                on_edge = x / (arm_normal + share * arm_friction)
                on_ground = 1.0 - on_edge * (cos + share * sin)
            is_possible = (on_edge >= 0.0) & (on_ground >= -_ROUNDING)
            best = np.where(is_possible, np.fmin(best, np.abs(share)), best)
    return best


def _roots(square, linear, constant):
    """Both roots of a quadratic without cancellation; NaN where they are not real."""
    with np.errstate(divide="ignore", invalid="ignore"):
        half = -0.5 * (linear + np.copysign(np.sqrt(linear * linear - 4.0 * square * constant), linear))
        return half / square, constant / half


def _mass_ahead(shape, pitch):
    radius, _, ahead, above = shape
    return ahead * np.cos(pitch) - (above - radius) * np.sin(pitch)


# --- geometry of the way ---------------------------------------------------------------------------------------------


def _height_at_tip(shape, edge, pitch):
    radius, _, ahead, above = shape
    return (ahead - above * np.tan(pitch)) * np.sin(pitch) + (radius + np.asarray(edge, float)) * (1.0 - np.cos(pitch))


def _steepest_tip(shape, edge):
    radius, _, ahead, above = shape
    slope = radius + np.asarray(edge, float) - 2.0 * above
    ahead, above, slope = np.broadcast_arrays(ahead, above, slope)

    def falling(pitch):
        tangent = np.tan(pitch)
        return above * tangent**3 - slope * tangent - ahead

    return _rising_root(falling, np.zeros(ahead.shape), np.full(ahead.shape, 0.5 * np.pi))


def _nose_pitch(shape, height, edge):
    """Pitch at which the edge passes from the front sprocket to the underside: L sin th + (R + rho)(1 - cos th) = h."""
    radius, length, _, _ = shape
    return _rising_root(
        lambda pitch: length * np.sin(pitch) + (radius + edge) * (1.0 - np.cos(pitch)) - height,
        np.zeros_like(height),
        np.full_like(height, 0.5 * np.pi),
    )


def _rising_root(function, lower, upper):
    """Where a function that is negative first and positive later changes sign, by halving, everywhere at once."""
    for _ in range(_HALVINGS):
        middle = 0.5 * (lower + upper)
        is_below = function(middle) < 0.0
        lower, upper = np.where(is_below, middle, lower), np.where(is_below, upper, middle)
    return 0.5 * (lower + upper)


def _largest(function, lower, upper):
    """Largest value of a function of the pitch between two pitches (the last axis, length one), searched ever more closely."""
    best = -np.inf
    start, end = lower, upper
    for _ in range(1 + _ZOOMS):
        pitches = start + (end - start) * np.linspace(0.0, 1.0, _PITCHES)
        values = np.nan_to_num(function(pitches), nan=-np.inf, posinf=np.inf)
        at = np.argmax(values, axis=-1)[..., None]
        best = np.maximum(best, np.take_along_axis(values, at, axis=-1)[..., 0])
        step = (end - start) / (_PITCHES - 1)
        middle = np.take_along_axis(pitches, at, axis=-1)
        start, end = np.maximum(middle - step, lower), np.minimum(middle + step, upper)
    return best


class ClimbPath(NamedTuple):
    """The way up one step: pitch, friction needed there, and where the rear axle is before the wall's face (negative)."""

    pitch_rad: np.ndarray
    friction: np.ndarray
    rear_x_m: np.ndarray


def climb_path(
    shape: ClimberShape, height_m: float, edge_radius_m: float = 0.0, *, has_flippers: bool, pitches: int
) -> ClimbPath:
    """One climb from the first touch of the edge to the tip, or to the steepest pitch where the step is too high for that."""
    radius, length, _, _ = shape
    height, edge = np.array([height_m], float), np.array([edge_radius_m], float)
    tip = tip_pitch_rad(shape, height, edge)[0]
    end = _steepest_tip(shape, edge)[0] if np.isnan(tip) else tip
    on_nose = min(_nose_pitch(shape, height, edge)[0], end)
    start = on_nose if has_flippers else 0.0
    pitch = np.linspace(start, end, pitches)
    on_sprocket = pitch < on_nose
    sprocket, underside = (of(shape, height, edge, pitch) for of in (_needed_on_sprocket, _needed_on_underside))
    # The edge's own circle has its centre at (rho, h - rho); its contact with sprocket or underside gives the rear axle's place.
    cos = np.clip((radius + length * np.sin(pitch) - height + edge) / (radius + edge), 0.0, 1.0)
    at_sprocket = edge - (radius + edge) * np.sqrt(1.0 - cos * cos) - length * np.cos(pitch)
    along = (height - (radius + edge) * (1.0 - np.cos(pitch))) / np.maximum(np.sin(pitch), 1e-9)
    at_underside = edge - (edge + radius) * np.sin(pitch) - along * np.cos(pitch)
    return ClimbPath(pitch, np.where(on_sprocket, sprocket, underside), np.where(on_sprocket, at_sprocket, at_underside))
