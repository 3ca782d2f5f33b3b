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


def lateral_resistance(mu_lat: Any, radius_m: Any = 0.0, tread_m: float = 1.0) -> Any:
    """mu_l of a turn: as given on the spot, and less in wide turns, mu / (0.925 + 0.15 R / B); never more than given.

    That resistance falls with the radius is Steeds's [Steeds1950]; form and constants are assumed, not measured here.
    """
    return np.minimum(mu_lat, np.divide(mu_lat, 0.925 + 0.15 * np.abs(radius_m) / tread_m))


def turning_moment_nm(drive_moment_nm: Any, yaw_rate_radps: Any, *, mu_lat: Any, load_n: Any, length_m: Any) -> Any:
    """What is left of the drive's moment: the resistance acts against turning, and at rest holds whatever is below it."""
    resists = np.asarray(mu_lat) * load_n * length_m / 4.0
    at_rest = np.sign(drive_moment_nm) * np.maximum(np.abs(drive_moment_nm) - resists, 0.0)
    return np.where(np.equal(yaw_rate_radps, 0.0), at_rest, drive_moment_nm - resists * np.sign(yaw_rate_radps))
