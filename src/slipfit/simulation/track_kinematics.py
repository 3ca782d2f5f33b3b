"""How a tracked vehicle moves when its tracks slip, seen from above; and what turning costs it.

    V = (r/2) (w_L (1 - i_L) + w_R (1 - i_R)),      psi. = (r/B) (w_R (1 - i_R) - w_L (1 - i_L))
    X. = V (cos psi + tan a sin psi),               Y. = V (sin psi - tan a cos psi)
    F(i) = (A c + W tan phi) (1 - (K / (i L)) (1 - exp(-i L / K)))
    I psi.. = (F_R - F_L) B / 2 - M_r sign(psi.),   held at psi. = 0 while the drive's moment is below M_r = mu_l W L / 4

Symbols    r sprocket radius · w sprocket speeds · i slips (driving) · B full tread · a slip angle, tan a = -y./x. · A, L area and
           length of the contact · W load · c, phi, K constants of the soil · mu_l lateral resistance
Reference  [Hackett2011] (its yaw rate r/(2B) contradicts its own turning radius; r/B follows for the full tread); traction of a
           track under uniform pressure after [JanosiHanamoto1961]; mu_l falling with the radius [Steeds1950]
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from slipfit.errors import ParameterError


class PlanarRates(NamedTuple):
    x_mps: Any
    y_mps: Any
    yaw_rate_radps: Any


def planar_rates(
    heading_rad: Any, left_radps: Any, right_radps: Any, slip_left: Any, slip_right: Any, slip_angle_rad: Any, *, radius_m: float,
    tread_m: float,
) -> PlanarRates:  # fmt: skip
    """Velocity of the vehicle's middle over the ground and its yaw rate; takes arrays."""
    left, right = radius_m * left_radps * (1.0 - slip_left), radius_m * right_radps * (1.0 - slip_right)
    speed, aside = 0.5 * (left + right), np.tan(slip_angle_rad)
    c, s = np.cos(heading_rad), np.sin(heading_rad)
    return PlanarRates(speed * (c + aside * s), speed * (s - aside * c), (right - left) / tread_m)


def turning_radius_m(left_mps: Any, right_mps: Any, tread_m: float) -> Any:
    """Radius of the path of the middle, of two tracks that go over the ground at these speeds; infinite straight ahead."""
    with np.errstate(divide="ignore"):
        return 0.5 * tread_m * np.divide(np.add(right_mps, left_mps), np.subtract(right_mps, left_mps))


def track_traction_n(slip: Any, *, cohesion_pa: float, friction_angle_rad: float, shear_modulus_m: float, load_n: float,
                     area_m2: float, length_m: float) -> Any:  # fmt: skip
    """Thrust of tracks under uniform pressure at a slip above zero."""
    reach = np.asarray(slip, dtype=float) * length_m / shear_modulus_m
    most = area_m2 * cohesion_pa + load_n * np.tan(friction_angle_rad)
    return most * (1.0 + np.expm1(-reach) / reach)


def lateral_resistance(
    mu_lat: Any, radius_m: Any = 0.0, tread_m: float = 1.0, *, on_the_spot: float = 0.925, per_radius: float = 0.15
) -> Any:
    """mu_l of a turn of this radius: less in wide turns than on the spot.

        mu_l = min(mu, mu / (a + b |R| / B))

    Symbols    mu mu_lat, measured on the spot · R radius_m · B tread_m · a on_the_spot, b per_radius, without units
    Reference  that resistance falls with the radius is Steeds's [Steeds1950], whose work was not read here: the form and its
               constants are assumed, in wide use for tracked vehicles on earth. Fit a and b where turns were measured; b = 0
               and a = 1 leave mu as it is
    """
    if not (on_the_spot > 0.0 and per_radius >= 0.0):
        raise ParameterError(
            f"on_the_spot = {on_the_spot:g}, per_radius = {per_radius:g}: expected the first above 0 and the other not below"
        )
    return np.minimum(mu_lat, np.divide(mu_lat, on_the_spot + per_radius * np.abs(radius_m) / tread_m))


def turning_moment_nm(drive_moment_nm: Any, yaw_rate_radps: Any, *, mu_lat: Any, load_n: Any, length_m: Any) -> Any:
    """What is left of the drive's moment: the resistance acts against turning, and at rest holds whatever is below it."""
    resists = np.asarray(mu_lat) * load_n * length_m / 4.0
    at_rest = np.sign(drive_moment_nm) * np.maximum(np.abs(drive_moment_nm) - resists, 0.0)
    return np.where(np.equal(yaw_rate_radps, 0.0), at_rest, drive_moment_nm - resists * np.sign(yaw_rate_radps))


def yaw_rate_after(
    yaw_rate_radps: Any, drive_moment_nm: Any, dt_s: float, *, yaw_inertia_kgm2: Any, mu_lat: Any, load_n: Any, length_m: Any
) -> Any:
    """Yaw rate one step later: the resistance stops a turn and holds it, but never turns it round.

        psi.' = sign(f) max(|f| - h M_r / I, 0),      f = psi. + h M / I

    Symbols    h dt_s · M drive_moment_nm · M_r = mu_l W L / 4 · I yaw_inertia_kgm2
    Reference  implicit Coulomb friction, derived in docs/theory/tracked; exact for constant M between stops
    """
    free = np.asarray(yaw_rate_radps) + dt_s * np.asarray(drive_moment_nm) / yaw_inertia_kgm2
    most = dt_s * np.asarray(mu_lat) * load_n * length_m / 4.0 / yaw_inertia_kgm2
    return np.sign(free) * np.maximum(np.abs(free) - most, 0.0)


class SpotTurn(NamedTuple):
    """A turn on the spot on hard ground: moment of the drive, and the yaw rate over that of tracks without slip."""

    moment_nm: float
    rate_share: float


def turn_on_the_spot(*, mu: float, load_n: float, length_m: float, tread_m: float, places_m: Any = None) -> SpotTurn:
    """Steady turn on the spot of two tracks, Coulomb's friction the same along and across.

    The load is uniform along the tracks, or, with `places_m`, the same at each of these places ahead of the middle. A place x
    ahead of the middle slides by (s, -psi. x); with a = s / psi. the belts' thrust and the resistance balance where

        (B/2) (2a/L) asinh(L/2a) = (1/L) ((L/2) sqrt(a^2 + L^2/4) - a^2 asinh(L/2a)),     M = mu W times either side

    and the yaw rate is B / (2a + B) of the ideal. M is below mu W L / 4, which belts that do not slip along would feel.

    Symbols    B tread_m · L length_m · W load_n · s slip of the belts along
    Reference  derived in docs/theory/tracked, eq. (spot)
    """
    half, arm = 0.5 * length_m, 0.5 * tread_m
    x = None if places_m is None else np.asarray(places_m, dtype=float)

    def across(a: float) -> float:
        if x is not None:
            return float(np.mean(x * x / np.hypot(a, x)))
        return float(half * np.hypot(a, half) - a * a * np.arcsinh(half / a)) / length_m

    def along(a: float) -> float:
        if x is not None:
            return arm * float(np.mean(a / np.hypot(a, x)))
        return float(arm * a / half * np.arcsinh(half / a))

    a = float(brentq(lambda a: along(a) - across(a), 1e-9 * half, 1e3 * half))
    return SpotTurn(mu * load_n * across(a), arm / (a + arm))
