"""Slip, defined once: velocities, ratios, angles and how they stay finite at rest.

Slip is positive when the wheel outruns the ground (driving). Symbols: u, v ground speed of the wheel's centre along and across
the wheel (m/s), w = rim speed (m/s), so that the slip velocity is (w - u, -v): the force on the vehicle has its sign.

Reference  [Trimble2022] section 2; [Pacejka2012] ch. 1; docs/conventions.md
"""

from slipfit.kernels import part, where

#: Below this speed a lateral velocity joins the denominator of slip ratios, so that a parked wheel sticks. Documented
#: default of every ratio with a speed below the line.
SPEED_FLOOR_MPS = 0.02

#: The speed at which a sticking contact reaches its limit: the whole creep that a held robot shows. Small enough to be
#: invisible (a robot with mu 0.8 on a 10 degree slope moves 13 micrometres a minute), large enough for double precision.
STICK_SPEED_MPS = 1e-6

#: Soil before a wheel or a track resists whole from this speed of travel on; below, in proportion to it, for it takes
#: rolling: a standing robot is held by shear.
RESISTS_FROM_MPS = 1e-3


@part
def transport_speed(u, v, w):
    """Speed that slip ratios are taken of, max(|u|, |w|) with a floor that keeps ratios finite and lets wheels stick.

        V = max(|u|, |w|, min(|v|, v_eps), v_stick)

    Above v_eps this is the usual max(|u|, |w|, v_eps). Below it the floor follows the lateral creep instead of staying
    at v_eps: a fixed floor would turn every ratio law into a viscous one at rest, and a parked robot would creep.
    """
    return max(max(abs(u), abs(w)), max(min(abs(v), SPEED_FLOOR_MPS), STICK_SPEED_MPS))


@part
def slip_ratio(u, w):
    """Longitudinal slip (w - u) / max(|w|, |u|), in [-2, 2]: 1 for a wheel that spins on the spot, -1 for a locked one."""
    return (w - u) / max(max(abs(w), abs(u)), SPEED_FLOOR_MPS)


@part
def driving_slip(u, w):
    """Slip ratio counted along the rim's own way: 1 for a wheel that spins on the spot, forward or backward, -1 for a locked one.

    i = (|w| - u sign(w)) / max(|w|, |u|),   with sign(w) = sign(u) at w = 0
    """
    same_way = where(w < 0.0, 0.0 - u, where(w > 0.0, u, abs(u)))
    return (abs(w) - same_way) / max(max(abs(w), abs(u)), SPEED_FLOOR_MPS)


@part
def ground_speed(w, slip):
    """Ground speed of a wheel with rim speed w and slip ratio: the inverse of `slip_ratio` for wheels that roll forward.

    u = w (1 - i) when driving (i >= 0), u = w / (1 + i) when braking (i < 0); valid for -1 < i <= 1.
    """
    return where(slip >= 0.0, w * (1.0 - slip), w / (1.0 + where(slip >= 0.0, 0.0, slip)))
