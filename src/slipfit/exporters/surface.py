"""What a twin's ground says of a wheel's contact, in the words of rigid-body engines: friction, slip, plugin numbers.

The WheelSlip plugin sets the engine's slip to compliance |w| / N; with the compliance c N of a wheel that carries N at rest the
twin's c carries over 1:1.

Reference  docs/howto/export; [Trimble2022] section 1
"""

import math
from dataclasses import dataclass

from slipfit.calibration.spin_test import SpinGeometry
from slipfit.contact import wheel_slip
from slipfit.contact.wheel_slip import spin_forces, spin_yaw_rate
from slipfit.errors import ExportError
from slipfit.exporters.ledger import Entry, Ledger, ledger
from slipfit.library import Ground
from slipfit.twin import SkidSteerTwin

#: Contact stiffness and damping: sinkage of 0.05 mm at 50 N, loads that are determined, eq. 3 to 1e-4 at 1 ms in ODE. A P3AT that
#: drives freely for 20 s ends 0.04 degrees from the twin; at 1e5 and 100 it rocks on its wheels and ends 1 degree away. Gazebo's
#: default of 1e12 makes the loads of four wheels indeterminate.
KP_NPM = 1e6
KD_NSPM = 1e3

#: Forces that are tried until compliance / force is exact; each fails for about half of all constants, at most.
_MOST_MOVES = 200

#: Constants of wheel_slip for which engines have no words.
_UNSAID = wheel_slip.RELAXATION

WHEEL_SLIP_LAWS = ("wheel_slip", "wheel_slip_cone")


@dataclass(frozen=True, slots=True)
class Surface:
    """A wheel's contact. c belongs to wheel_slip laws, k to viscous slip; the others are None."""

    law: str
    gravity_mps2: float
    mu_long: float
    mu_lat: float
    c_long_per_n: float | None
    c_lat_per_n: float | None
    k_long_mps_per_n: float | None
    k_lat_mps_per_n: float | None
    ledger: Ledger

    @property
    def slips_with_speed(self) -> bool:
        """Whether the WheelSlip plugin has something to do."""
        return self.c_long_per_n is not None


def surface(twin: SkidSteerTwin, ground_name: str | None, target: str) -> Surface:
    """Of a twin's ground; a law that engines do not have is an error."""
    name = twin.ground_name(ground_name)
    ground = twin.ground(name)
    values, gravity = ground.values(), ground.gravity_mps2.value
    entries = [_dropped(key, values[key]) if key in _UNSAID else _chosen(twin, name, ground, key) for key in ground.parameters]
    if ground.law in WHEEL_SLIP_LAWS:
        mu = values.get("mu", 10.0)
        cone = _cone_entry() if ground.law == "wheel_slip_cone" else None
        c_long, c_lat = values["c_long_per_n"], values["c_lat_per_n"]
        found = Surface(ground.law, gravity, mu, mu, c_long, c_lat, None, None, ledger(*entries, cone))
    elif ground.law == "viscous_slip":
        mu = values.get("mu", 10.0)
        k = values["k_long_mps_per_n"], values["k_lat_mps_per_n"]
        found = Surface(ground.law, gravity, mu, mu, None, None, *k, ledger(*entries))
    elif ground.law in ("coulomb", "coulomb_pyramid"):
        if values.get("direction_rad", 0.0) != 0.0:
            raise ExportError(
                f"ground {name}: direction_rad = {values['direction_rad']:g} cannot be said to {target}, whose friction "
                f"direction turns with the wheel; export with direction_rad 0"
            )
        mu_long = values["mu_long"]
        cone = _cone_entry() if ground.law == "coulomb" else None
        found = Surface(
            ground.law, gravity, mu_long, values.get("mu_lat", mu_long), None, None, None, None, ledger(*entries, cone)
        )
    else:
        raise ExportError(
            f"ground {name}: the law {ground.law} cannot be said to {target}; it knows wheel_slip, viscous_slip and Coulomb "
            f"friction: calibrate with --law wheel_slip"
        )
    return found


def wheel_slip_surface(twin: SkidSteerTwin, ground_name: str | None, target: str) -> Surface:
    """The same for targets that say wheel_slip only."""
    name = twin.ground_name(ground_name)
    if twin.grounds[name].law not in WHEEL_SLIP_LAWS:
        raise ExportError(
            f"ground {name} has the law {twin.grounds[name].law}; {target} can be written for wheel_slip: calibrate with "
            f"--law wheel_slip"
        )
    found = surface(twin, name, target)
    if not (found.c_long_per_n and found.c_lat_per_n):
        raise ExportError(
            f"ground {name}: c_long = {found.c_long_per_n:g} and c_lat = {found.c_lat_per_n:g} 1/N; "
            f"{target} needs both above zero"
        )
    return found


def _chosen(twin: SkidSteerTwin, name: str, ground: Ground, key: str) -> Entry | None:
    """A constant that the drives do not tell and that had to be chosen."""
    fitted = twin.grounds[name].parameters.get(key)
    if fitted is None or fitted.value is not None:
        return None
    value = ground.parameters[key].value
    remedy = "measure it with 'slipfit friction'" if key == "mu" else "calibrate with a drive that tells it"
    meaning = ", so high that grip never runs out" if key == "mu" and value >= 5.0 else ""
    return Entry(f"{key} = {value:.4g}{meaning}", _ascii(ground.parameters[key].note), remedy)


def _dropped(key: str, value: float) -> Entry | None:
    """A constant that no target can say."""
    why = "the target's contacts answer at once; steady slip is the same, quick changes of speed are not"
    return Entry(f"{key} = {value:.4g}", f"left out: {why}") if value else None


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii")


def _cone_entry() -> Entry:
    return Entry(
        "friction cone",
        "the twin limits the resultant, the engine's pyramid each axis: up to 41 % too strong on the diagonal, at the limit only",
    )


def exact_compliances(c_long: float, c_lat: float, load_n: float) -> tuple[float, float, float]:
    """Wheel normal force (the load, to 6 digits) and both compliances c N, such that compliance / force gives c to the last bit.

    Rounding may take the last bit away; then the force's last digit is moved until both come back. Where none does (c within
    rounding of a power of two) the last bit stays wrong.
    """
    digits = 6 - math.ceil(math.log10(load_n))
    for k in range(_MOST_MOVES):
        force = round(load_n + (k + 1) // 2 * (-1) ** k * 10.0**-digits, digits)
        along, across = _quotient(c_long, force), _quotient(c_lat, force)
        if along / force == c_long and across / force == c_lat:
            return force, along, across
    force = round(load_n, digits)
    return force, c_long * force, c_lat * force


def _quotient(c: float, force: float) -> float:
    """A number that divided by the force is exactly c, if there is one near c times the force."""
    near = c * force
    return next((q for q in (math.nextafter(near, 0.0), math.nextafter(near, math.inf)) if near / force != c == q / force), near)


def fork_saturation_mu(c_long: float, c_lat: float, geometry: SpinGeometry, least_load_n: float) -> float:
    """mu* of Gazebo Classic's friction cone in a steady spin: below it the cone limits what Coulomb's would not.

    The fork limits each axis to mu N |v_i| / |v|. With v_i = c_i |w| F_i the axis i is free while |v| <= mu N c_i |w|, so

        mu* = |v| / (|w| N min(c)) = sqrt((c_long F_long)^2 + (c_lat F_lat)^2) / (N min(c))

    Reference  docs/howto/export; forces: `contact.wheel_slip.spin_forces`
    """
    b, l = geometry.half_track_m, geometry.half_wheelbase_m
    f_long, f_lat = spin_forces(1.0, spin_yaw_rate(1.0, c_lat / c_long, b, l), c_long, c_lat, b, l)
    return float(math.hypot(c_long * f_long, c_lat * f_lat) / (least_load_n * min(c_long, c_lat)))
