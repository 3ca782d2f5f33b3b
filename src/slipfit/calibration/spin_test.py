"""c_lat / c_long from a steady spin whose centre of mass is not at the wheels' centre.

The centre of mass goes round in a circle and needs a centripetal force, which shifts the centre of rotation. With equal
slip constants on all wheels, and kappa = m w omega / n, q = c_long kappa, rho = c_lat / c_long, moments balance when

    D - l² omega / rho - omega q² (x² + rho y²) / (1 + rho q²) = 0,    D = b² (omega_t - omega) - d² omega,

a quadratic equation in rho. Without centripetal force (q = 0), and for x = y = 0, it is `contact.wheel_slip.spin_ratio`.

Symbols    omega_t, omega commanded and reached yaw rate · w = b |omega_t| rim speed · b half track · l half wheelbase, root mean
           square over the wheels · d half width of wheels on their two edges · x, y centre of mass from the wheels' centre
Reference  [Trimble2022] section 2 asks for this term; derived in docs/theory/wheel_slip_protocol, eq. (offset)
Valid for  wheels in pairs about their centre, rim speeds of both sides equal and opposite, below Coulomb's limit;
           rho < l / (q (sqrt(y² - q² x²) - l q)) where the bracket is positive, any rho elsewhere: beyond, a larger ratio turns
           the robot slower again, and the smaller root is the answer
"""

from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np

from slipfit.contact.wheel_slip import spin_ratio, spin_yaw_rate
from slipfit.library import SkidSteerRobot


@dataclass(frozen=True, slots=True)
class SpinGeometry:
    """What the spin test needs to know of a robot."""

    half_track_m: float
    half_wheelbase_m: float  # root mean square distance of the axles from their middle
    half_width_m: float
    offset_x_m: float  # centre of mass from the wheels' centre
    offset_y_m: float
    mass_kg: float
    wheels: int

    @classmethod
    def of(cls, robot: SkidSteerRobot, half_width_m: float = 0.0) -> "SpinGeometry":
        """The geometry of a robot's file; `half_width_m` for wheels that stand on both edges."""
        at = np.array(robot.wheels.at_m.value)
        middle = at.mean(axis=0)
        spread = np.sqrt(np.mean((at - middle) ** 2, axis=0))
        offset = np.array(robot.centre_of_mass_m.value[:2]) - middle
        return cls(
            half_track_m=float(spread[1]),
            half_wheelbase_m=float(spread[0]),
            half_width_m=half_width_m,
            offset_x_m=float(offset[0]),
            offset_y_m=float(offset[1]),
            mass_kg=robot.mass_kg.value,
            wheels=len(at),
        )


def _pull(g: SpinGeometry, commanded_radps: float, yaw_rate_radps: float, c_long_per_n: float) -> float:
    """q = c_long m w omega / n: how far the wheels' centre drifts, over the radius on which the centre of mass turns."""
    return c_long_per_n * g.mass_kg * g.half_track_m * abs(commanded_radps * yaw_rate_radps) / g.wheels


def ratio_from_spin(
    commanded_radps: float, yaw_rate_radps: float, geometry: SpinGeometry, *, c_long_per_n: float | None = None
) -> float:
    """c_lat / c_long of a steady spin; infinite or negative where the robot turned as fast as its wheels, or faster.

    `c_long_per_n`, from the longitudinal test, brings in the centre of mass; without it the term is left out.
    """
    g = geometry
    commanded, rate = abs(commanded_radps), abs(yaw_rate_radps) * np.sign(commanded_radps * yaw_rate_radps)
    along = g.half_track_m**2 * (commanded - rate) - g.half_width_m**2 * rate
    if c_long_per_n is None or hypot(g.offset_x_m, g.offset_y_m) == 0.0 or along <= 0.0:
        return float(spin_ratio(commanded, rate, g.half_track_m, g.half_wheelbase_m, g.half_width_m)) if along else float("inf")
    q2 = _pull(g, commanded, rate, c_long_per_n) ** 2
    square = q2 * (along - rate * g.offset_y_m**2)
    linear = along - rate * q2 * (g.half_wheelbase_m**2 + g.offset_x_m**2)
    constant = -rate * g.half_wheelbase_m**2
    # The root that stays finite when the square term vanishes.
    return float(-2.0 * constant / (linear + sqrt(max(0.0, linear**2 - 4.0 * square * constant))))


def yaw_rate_of_spin(commanded_radps: float, ratio: float, geometry: SpinGeometry, *, c_long_per_n: float | None = None) -> float:
    """Steady yaw rate: the inverse of `ratio_from_spin`, by fixed-point iteration on the small term of the offset."""
    g = geometry
    rate = float(spin_yaw_rate(commanded_radps, ratio, g.half_track_m, g.half_wheelbase_m, g.half_width_m))
    if c_long_per_n is None:
        return rate
    for _ in range(50):
        q2 = _pull(g, commanded_radps, rate, c_long_per_n) ** 2
        offset = q2 * (g.offset_x_m**2 + ratio * g.offset_y_m**2) / (1.0 + ratio * q2)
        lever = g.half_width_m**2 + g.half_wheelbase_m**2 / ratio + offset
        rate, before = commanded_radps / (1.0 + lever / g.half_track_m**2), rate
        if abs(rate - before) <= 1e-15 * abs(rate):
            break
    return rate
