"""Friction coefficients from tests in which the whole robot slides, with a spread.

    tilt      mu = tan(theta)                           angle at which the robot begins to slide: static
    pull      mu = F / (m g cos a) + tan(a)             force while all wheels slip, or the locked robot is dragged
    stall     mu = T / (R m g cos a)                    torque of all wheels together while they spin and the robot is held
    braking   mu = v^2 / (2 g d cos a) - tan(a)         locked wheels, distance from speed v to rest: sliding

The mean of the readings has the variance u^2 = s^2 / n + b^2: their scatter s, and b from what all readings share (mass,
torque constant, radius). The 90 % interval is mean +- t u, with Student's t at the degrees of freedom of Welch and
Satterthwaite, nu = u^4 / ((s^2 / n)^2 / (n - 1)). A stated error of a reading takes the place of a smaller scatter.

Symbols    theta angle of the plane · F drawbar force · T torque at the wheels · m mass · R wheel radius · g gravity · v speed
           · d distance · a slope, positive where the weight adds to what the wheels hold (pull: the robot pulls uphill;
           braking: it drives uphill). Torque is what the wheels hold by itself: a slope only takes load from a stall test
Reference  Coulomb's law on a rigid body; interval: JCGM 100:2008 annex G.4
Valid for  all wheels on the ground and all of them sliding; the load as a whole counts, its distribution does not
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from scipy import stats

from slipfit.errors import ParameterError
from slipfit.library import Parameter, SkidSteerRobot
from slipfit.library.ground import STANDARD_GRAVITY
from slipfit.library.robot import DcMotor
from slipfit.twin import FittedParameter, LogOrigin, Status, Twin

#: Beyond this angle a robot tips over rather than slides.
STEEPEST_RAD = math.radians(80.0)

STATIC, SLIDING = "static", "sliding"

#: A twin of any drive, the same that comes out.
TwinOfAny = TypeVar("TwinOfAny", bound=Twin)


@dataclass(frozen=True)
class Reading:
    """One friction coefficient, or a bound of it where nothing slid; `std` is its own error, None where only scatter tells."""

    mu: float
    std: float | None = None
    is_bound: bool = False
    note: str = ""


@dataclass(frozen=True)
class Friction:
    """A friction coefficient and what it rests on."""

    mu: FittedParameter
    method: str
    kind: str  # static: just before sliding begins; sliding: while it lasts
    readings: tuple[Reading, ...]
    logs: tuple[LogOrigin, ...] = field(default=())

    def summary(self) -> str:
        """A few lines of text."""
        rows = [f"mu {self.mu.text()}  ({self.kind} friction by {self.method})", f"  {self.mu.status.sentence}"]
        if self.mu.note:
            rows.append(f"  {self.mu.note}")
        for k, reading in enumerate(self.readings, 1):
            own = "" if reading.std is None else f" ± {reading.std:.2g}"
            note = f"  {reading.note}" if reading.note else ""
            rows.append(f"  reading {k}: {'at least ' if reading.is_bound else ''}{reading.mu:.4f}{own}{note}")
        return "\n".join(rows)

    def document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "method": self.method,
            "kind": self.kind,
            "mu": self.mu.model_dump(),
            "parameters": {"mu": self.mu.model_dump()},
            "readings": [{"mu": r.mu, "std": r.std, "is_bound": r.is_bound, "note": r.note} for r in self.readings],
            "logs": [log.model_dump() for log in self.logs],
        }

    def into(self, twin: TwinOfAny, ground: str | None = None) -> TwinOfAny:
        """The twin with this coefficient; a bound does not replace a value. Of tracks, sliding friction goes beside the static
        one where that is known, and serves for both where it is not."""
        name = twin.ground_name(ground)
        known = twin.grounds[name].parameters
        static = known.get("mu_static")
        key = "mu_dynamic" if self.kind == SLIDING and static is not None and static.value is not None else "mu"
        there = known.get(key) or known.get("mu_long") or static
        if self.mu.value is None and there is not None and there.value is not None:
            raise ParameterError(
                f"ground {name}: mu is {there.text()} already, and this test gives only a bound ({self.mu.text()}); "
                f"nothing was changed, repeat the test until the robot slides"
            )
        note = f"mu of {name}: {self.kind} friction by {self.method}, {len(self.readings)} readings"
        twin = twin.with_parameter(key, self.mu, ground=name, note=note)
        logs = [*twin.provenance.logs, *(log for log in self.logs if log not in twin.provenance.logs)]
        return twin.model_copy(update={"provenance": twin.provenance.model_copy(update={"logs": logs})})


# --- readings that were typed ----------------------------------------------------------------------------------------


def tilt(angles_rad: Sequence[float], *, angle_std_rad: float | None = None, source: str = "typed readings") -> Friction:
    """Static friction from angles at which the robot, wheels locked, began to slide: mu = tan(theta)."""
    for angle in angles_rad:
        if not 0.0 < angle <= STEEPEST_RAD:
            raise ParameterError(
                f"tilt: an angle of {math.degrees(angle):g} degrees; expected more than 0 and at most 80, in degrees from level"
            )
    std = _stated("the error of an angle", angle_std_rad)
    readings = [Reading(math.tan(a), None if std is None else std / math.cos(a) ** 2) for a in angles_rad]
    return combined("tilt", STATIC, readings, source=source)


def pull(
    forces_n: Sequence[float],
    mass: Parameter,
    *,
    gravity_mps2: float = STANDARD_GRAVITY.value,
    slope_rad: float = 0.0,
    force_std_n: float | None = None,
    kind: str = SLIDING,
    source: str = "typed readings",
) -> Friction:
    """Friction from the force on the drawbar: mu = F / (m g cos a) + tan(a)."""
    _positive("pull: a force", forces_n, "N")
    std = _stated("the error of a force", force_std_n)
    readings = [of_drawbar(f, mass, gravity_mps2, slope_rad, std) for f in forces_n]
    return combined("pull", kind, readings, shared=_relative(mass), source=source)


def stall(
    torques_nm: Sequence[float],
    mass: Parameter,
    radius: Parameter,
    *,
    gravity_mps2: float = STANDARD_GRAVITY.value,
    slope_rad: float = 0.0,
    torque_std_nm: float | None = None,
    relative_std: float = 0.0,
    kind: str = SLIDING,
    source: str = "typed readings",
) -> Friction:
    """Friction from the torque of all wheels together while they spin: mu = T / (R m g cos a).

    `relative_std` is what the torques share, such as the spread of the torque constant over its value.
    """
    _positive("stall: a torque", torques_nm, "N m")
    std = _stated("the error of a torque", torque_std_nm)
    forces = [(torque / radius.value, None if std is None else std / radius.value) for torque in torques_nm]
    readings = [of_wheels(force, mass, gravity_mps2, slope_rad, error) for force, error in forces]
    shared = math.hypot(_relative(mass), _relative(radius), relative_std)
    return combined("stall", kind, readings, shared=shared, source=source)


def braking(
    speeds_mps: Sequence[float],
    distances_m: Sequence[float],
    *,
    gravity_mps2: float = STANDARD_GRAVITY.value,
    slope_rad: float = 0.0,
    speed_std_mps: float | None = None,
    distance_std_m: float | None = None,
    source: str = "typed readings",
) -> Friction:
    """Sliding friction from braking with locked wheels: mu = v^2 / (2 g d cos a) - tan(a)."""
    if len(speeds_mps) != len(distances_m):
        raise ParameterError(
            f"braking: {len(speeds_mps)} speeds and {len(distances_m)} distances; expected as many of one as of the other"
        )
    _positive("braking: a speed", speeds_mps, "m/s")
    _positive("braking: a distance", distances_m, "m")
    stated = (_stated("the error of a speed", speed_std_mps), _stated("the error of a distance", distance_std_m))
    readings = []
    for v, d in zip(speeds_mps, distances_m, strict=True):
        along = v * v / (2.0 * gravity_mps2 * d * math.cos(slope_rad))
        own = None if stated == (None, None) else along * math.hypot(2.0 * (stated[0] or 0.0) / v, (stated[1] or 0.0) / d)
        readings.append(Reading(along - math.tan(slope_rad), own))
    return combined("braking", SLIDING, readings, source=source)


def of_wheels(force_n: float, mass: Parameter, gravity_mps2: float, slope_rad: float, std_n: float | None) -> Reading:
    """One reading from the force of all wheels together on the ground."""
    load_n = mass.value * gravity_mps2 * math.cos(slope_rad)
    return Reading(force_n / load_n, None if std_n is None else std_n / load_n)


def of_drawbar(force_n: float, mass: Parameter, gravity_mps2: float, slope_rad: float, std_n: float | None) -> Reading:
    """One reading from the force on the drawbar: uphill, the wheels hold the weight's part along the slope as well."""
    return of_wheels(force_n + mass.value * gravity_mps2 * math.sin(slope_rad), mass, gravity_mps2, slope_rad, std_n)


def torque_constant(robot: SkidSteerRobot, given: Parameter | None) -> Parameter:
    """Torque per ampere at the wheel: as given, or of the robot's motors."""
    if given is not None:
        return given
    if isinstance(robot.powertrain, DcMotor):
        return robot.powertrain.torque_constant_nm_per_a
    raise ParameterError(
        f"stall: {robot.name} has a speed loop and no torque constant; give --torque-constant-nm-per-a, or --torque-nm"
    )


def _positive(what: str, numbers: Sequence[float], unit: str) -> None:
    for number in numbers:
        if not (math.isfinite(number) and number > 0.0):
            raise ParameterError(f"{what} of {number:g} {unit}; expected more than 0 {unit}")


def _stated(what: str, std: float | None) -> float | None:
    if std is not None and not (math.isfinite(std) and std > 0.0):
        raise ParameterError(f"{what} is {std:g}; expected more than 0, as a standard deviation")
    return std


def _relative(parameter: Parameter) -> float:
    return (parameter.std or 0.0) / parameter.value


# --- from readings to a coefficient ----------------------------------------------------------------------------------


def combined(
    method: str,
    kind: str,
    readings: Sequence[Reading],
    *,
    shared: float = 0.0,
    source: str,
    logs: Sequence[LogOrigin] = (),
) -> Friction:
    """The coefficient from all readings; `shared` is the relative error that they have in common."""
    if not readings:
        raise ParameterError(f"{method}: there are no readings; type some, name a file of them, or a log")
    slid = [reading for reading in readings if not reading.is_bound]
    if not slid:
        best = max(readings, key=lambda r: r.mu)
        error = math.hypot(best.std or 0.0, shared * best.mu)
        at_least = max(0.0, best.mu - float(stats.norm.ppf(0.95)) * error)
        note = "the robot did not slide: the coefficient is larger than what the wheels held"
        mu = FittedParameter(status=Status.NOT_EXCITED, at_least=at_least, source=source, note=note)
        return Friction(mu, method, kind, tuple(readings), tuple(logs))
    mean, u, freedom, scatter = _mean(method, slid, shared)
    if mean <= 0.0:
        raise ParameterError(f"{method}: the readings give mu = {mean:.3g}; expected more than 0, check slope and signs")
    half = float(stats.t.ppf(0.95, freedom)) * u if math.isfinite(freedom) else float(stats.norm.ppf(0.95)) * u
    note = f"{kind} friction by {method}, {len(slid)} reading{'s' * (len(slid) > 1)}"
    note += "" if scatter is None else f" that scatter by {scatter:.2g}"
    mu = FittedParameter(
        value=mean,
        std=u,
        interval_90=(max(0.0, mean - half), mean + half),
        status=Status.CONVERGED,
        source=source,
        note=note,
    )
    return Friction(mu, method, kind, tuple(readings), tuple(logs))


def _mean(method: str, readings: Sequence[Reading], shared: float) -> tuple[float, float, float, float | None]:
    """Mean, its standard uncertainty, degrees of freedom, and the scatter of the readings (none of a single one)."""
    values = np.array([reading.mu for reading in readings])
    mean, n = float(values.mean()), len(values)
    stds = [reading.std for reading in readings if reading.std is not None]
    own = math.sqrt(sum(s * s for s in stds) / len(stds)) if stds else 0.0
    scatter = float(values.std(ddof=1)) if n > 1 else 0.0
    if max(own, scatter) == 0.0:
        told = "one reading has no scatter" if n == 1 else "the readings are all the same, so that their scatter tells nothing"
        raise ParameterError(f"{method}: {told}; take more, or state the error of a reading (the options that end in std)")
    random = max(own, scatter) ** 2 / n
    u = math.sqrt(random + (shared * mean) ** 2)
    freedom = math.inf if own >= scatter else u**4 / (random**2 / (n - 1))
    return mean, u, freedom, scatter if n > 1 else None
