"""What engines add to slip that the twin does not have: each artefact with what gave it away and the setting to change."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from scipy.optimize import brentq

from slipfit.calibration.spin_test import SpinGeometry
from slipfit.contact.wheel_slip import spin_ratio
from slipfit.engines import EngineRun
from slipfit.engines.engine_run import BOUNCE_S
from slipfit.engines.rigid_parts import spin_inertias, whole_centre, yaw_inertia
from slipfit.engines.sdf_model import PYRAMID, SdfModel
from slipfit.exporters.bodies import bodies
from slipfit.exporters.surface import KD_NSPM, KP_NPM, fork_saturation_mu
from slipfit.library import SkidSteerRobot
from slipfit.verification.measures import Rest, is_whole, rate_by_heading, spin_reading, steady_end

#: From here on something is an artefact: shares of the twin's own number unless a unit is named. Sound exports stay well below.
RATIO_SHARE, LOAD_SHARE, CARRIED_SHARE, RATE_SHARE, MODEL_SHARE, SERVO_SHARE = 0.02, 0.02, 0.1, 0.01, 0.01, 0.02
SINKAGE_SHARE = 0.01  # of the wheel's radius
INERTIA_SHARE = 0.1  # it acts while speeds change only, and twins do not know it better
LEVEL_DRIFT_MPS, SLOPE_DRIFT_MPS = 1e-4, 1e-3


#: How much smaller steps are, and how many more iterations, when the solver is suspected.
FINER = 5


class Kind(Enum):
    """What can be wrong; the value is what the user reads."""

    DIVERGED = "the run did not stay finite"
    LIFTED = "wheels leave the ground"
    CONTACTS = "wheels stand on their edges"
    SINKAGE = "wheels sink in"
    LOADS = "wheel loads are not determined"
    STEPS = "steps too large or solver not converged"
    FDIR1 = "directions of friction are not the wheel's"
    HEADING = "the yaw rate depends on the heading"
    CONE = "the friction cone of Gazebo Classic's fork would saturate"
    DRIFT = "the robot drifts at rest"
    WHEELS = "wheels do not turn as they are told"
    MODEL = "the model's numbers are not the twin's"
    INERTIA = "the model's inertia is not the twin's"


@dataclass(frozen=True, slots=True)
class Artefact:
    """One artefact: what was found, and the setting to change."""

    kind: Kind
    found: str
    setting: str

    def text(self) -> str:
        return f"{self.kind.value}: {self.found}\n    change: {self.setting}"

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind.name.lower(), "what": self.kind.value, "found": self.found, "setting": self.setting}


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """All that finders look at. Runs on the side slope are by the heading that the robot started with (rad)."""

    engine: str  # its name, as asked for
    robot: SkidSteerRobot
    gravity_mps2: float
    c_long_per_n: float
    c_lat_per_n: float
    twin_reading: float | None  # of eq. 3, from the twin's own spin; None: that is not steady
    model: SdfModel | None  # None: not an SDF file
    spin: EngineRun
    told_radps: float  # mean speed of wheels that the spin asked for
    rest: Rest
    slope_rest: Rest
    carried_m: dict[float, float]  # to the robot's left on the side slope, by its heading
    carried_by_twin_m: float | None  # None: the slope tells nothing, see `verify.run`
    twin_slides: bool  # down the side slope while parked: its grip is less than that needs
    twin_swing: float  # of the twin's own yaw rate with the heading
    all_runs: tuple[EngineRun, ...]
    spin_with: Callable[[dict[str, Any]], EngineRun]  # the spin again with other settings

    @property
    def ratio(self) -> float:
        return self.c_lat_per_n / self.c_long_per_n

    @property
    def stiffness(self) -> str:
        """What makes contacts softer or harder in this engine (docs/howto/engines)."""
        return _STIFFNESS[self.engine]

    @property
    def reading(self) -> float:
        return spin_reading(self.spin, self.robot, self.c_long_per_n)


def diverged(e: Evidence) -> Artefact | None:
    if all(is_whole(run) for run in e.all_runs):
        return None
    return Artefact(Kind.DIVERGED, "numbers stopped being finite", f"a smaller step, or softer contacts: {e.stiffness}")


def lifted(e: Evidence) -> Artefact | None:
    away_s = max(float(run.airborne_s.max()) for run in e.all_runs)
    # A hundredth of all time in single steps is chatter that does not show in the motion.
    if away_s <= max(10.0 * BOUNCE_S, 0.01 * max(float(run.time_s[-1]) for run in e.all_runs)):
        return None
    return Artefact(Kind.LIFTED, f"a wheel had no contact for {away_s:.2g} s", f"softer contacts ({e.stiffness}), or less torque")


def contacts(e: Evidence) -> Artefact | None:
    """Two edge contacts resist a spin: c_lat / c_long reads low unless the half width d is in the formula."""
    half_width = max((wheel.half_width_m for wheel in e.model.wheels), default=0.0) if e.model else 0.0
    seen = float(e.spin.contacts[e.spin.steady(1.0)].mean())
    lost = (half_width / (0.5 * e.robot.track_m)) ** 2
    if seen < 1.5 or lost < 1e-4:
        return None
    found = f"{seen:.1f} contacts per wheel, edges {2e3 * half_width:.3g} mm apart"
    if e.twin_reading is not None:
        with_width = spin_reading(e.spin, e.robot, e.c_long_per_n, half_width)
        found += f": eq. 3 reads {e.reading:.4g}, with the width in it {with_width:.4g} (twin {e.twin_reading:.4g})"
    return Artefact(Kind.CONTACTS, found, "wheel collisions: <sphere>, or <cylinder> with <length>0.001</length>")


def sinkage(e: Evidence) -> Artefact | None:
    radius = e.robot.wheels.radius_m.value
    if not e.rest.sinkage_m > SINKAGE_SHARE * radius:
        return None
    kp = e.spin.settings.kp_n_per_m
    formula = f", N / (n kp) with kp {kp:g} N/m" if kp else ""
    return Artefact(Kind.SINKAGE, f"{1e3 * e.rest.sinkage_m:.3g} mm at rest{formula}", e.stiffness)


def loads(e: Evidence) -> Artefact | None:
    """Against statics, and against springs where contacts are springs: four rigid contacts share a weight as the solver likes."""
    kp = e.spin.settings.kp_n_per_m
    if not e.rest.worst_load_share > LOAD_SHARE or (kp is None and contacts(e)):
        return None  # a rigid wheel may stand on either of its edges, as the solver likes
    told = ", ".join(f"{load:.1f}" for load in e.rest.loads_n)
    because = f" with kp {kp:g} N/m" if kp else ""
    found = f"wheels carry {told} N at rest{because}, {100.0 * e.rest.worst_load_share:.0f} % from what statics says"
    return Artefact(Kind.LOADS, found, e.stiffness if kp else "masses and centres of mass of the links: export anew")


def steps(e: Evidence) -> Artefact | None:
    """The spin again with smaller steps, and with more iterations: what brings the ratio back is to blame."""
    if e.twin_reading is None:
        return None
    error = e.reading - e.twin_reading
    if abs(error) <= RATIO_SHARE * abs(e.twin_reading):
        return None
    step_s, iterations = e.spin.step_s, e.spin.settings.iterations
    trials: dict[str, dict[str, Any]] = {f"step {1e3 * step_s / FINER:g} ms": {"step_s": step_s / FINER}}
    if iterations is not None:
        trials[f"{FINER * iterations} iterations"] = {"iterations": FINER * iterations}
    helps = {}
    for name, changed in trials.items():
        run = e.spin_with(changed)
        better = spin_reading(run, e.robot, e.c_long_per_n) if is_whole(run) else math.nan
        if abs(better - e.twin_reading) < 0.5 * abs(error):
            helps[name] = better
    if not helps:
        return None
    now = f"{1e3 * step_s:g} ms" + (f" and {iterations} iterations" if iterations is not None else "")
    told = ", ".join(f"{value:.4g} with {name}" for name, value in helps.items())
    return Artefact(Kind.STEPS, f"eq. 3 reads {e.reading:.4g} at {now}, {told} (twin {e.twin_reading:.4g})", " or ".join(helps))


_FDIR1 = "<fdir1> in each wheel's <friction><ode>: the axle in the collision's frame, as 0 0 1"


def fdir1(e: Evidence) -> Artefact | None:
    """Tilted gravity: a robot that drives across a slope slips down by c_lat, whatever its heading."""
    missing = e.model is not None and any(wheel.collision.surface.fdir1 is None for wheel in e.model.wheels)
    if e.carried_by_twin_m is None:
        return Artefact(Kind.FDIR1, "there is no <fdir1> (by the file: the slope tells nothing)", _FDIR1) if missing else None
    shares = {heading: way / e.carried_by_twin_m for heading, way in e.carried_m.items()}
    if all(abs(share - 1.0) <= CARRIED_SHARE for share in shares.values()):
        return None
    told = ", ".join(f"{share:.2f} times as far at heading {math.degrees(heading):.0f}°" for heading, share in shares.items())
    spread = max(shares.values()) - min(shares.values())
    if not missing and spread < CARRIED_SHARE and not _is_swapped(e, list(shares.values())):
        return None  # something else: the same at every heading, and not by the ratio of the constants
    kind = "there is no <fdir1>" if missing else "<fdir1> does not point along the axle"
    found = f"{kind}: across a side slope the robot is carried {told} as the twin"
    return Artefact(Kind.FDIR1, found, _FDIR1)


def _is_swapped(e: Evidence, shares: list[float]) -> bool:
    """Whether the robot slips by c_long where it should by c_lat."""
    return abs(float(np.mean(shares)) * e.ratio - 1.0) < 0.5


def heading(e: Evidence) -> Artefact | None:
    # A twin's spin that is still speeding up changes with its heading too.
    swing = rate_by_heading(e.spin) - e.twin_swing if e.twin_reading is not None else 0.0
    if swing <= RATE_SHARE:
        return None
    found = f"in a spin it swings by {100.0 * swing:.0f} % with the heading"
    return Artefact(Kind.HEADING, found, "<fdir1> of each wheel; without it slip axes stay fixed in the world")


def drift(e: Evidence) -> Artefact | None:
    level, slope = e.rest.drift_mps, 0.0 if e.twin_slides else e.slope_rest.drift_mps
    if level <= LEVEL_DRIFT_MPS and slope <= SLOPE_DRIFT_MPS:
        return None
    if e.model is None:
        remedy = "step with the updater that was exported beside the model"
    elif all(wheel.slip is not None for wheel in e.model.wheels):
        remedy = f"a smaller step, more iterations, or {e.stiffness}"
    else:
        remedy = "the WheelSlip plugin for every wheel, instead of <slip1> and <slip2>, which yield at rest too"
    told = f"{1e3 * level:.2g} mm/s on level ground" + ("" if e.twin_slides else f", {1e3 * slope:.2g} mm/s on a side slope")
    return Artefact(Kind.DRIFT, told, remedy)


def wheels(e: Evidence) -> Artefact | None:
    if e.twin_reading is None:
        return None
    reached = float(np.abs(e.spin.wheel_speed_radps[steady_end(e.spin, 1.0)]).mean())
    if abs(reached / e.told_radps - 1.0) <= SERVO_SHARE:
        return None
    found = f"{reached:.4g} rad/s in the spin, told {e.told_radps:.4g} rad/s"
    return Artefact(Kind.WHEELS, found, "torque limit (<effort>) of the wheels' joints, or the servo's gain")


def model_numbers(e: Evidence) -> Artefact | None:
    """Mass, wheels, slip constants and gravity of the file against the twin's; of wheels, the one that is furthest off."""
    if e.model is None:
        return None
    robot, model = e.robot, e.model
    radius_m = robot.wheels.radius_m.value
    slips = [wheel.slip for wheel in model.wheels]
    at = np.array([wheel.at_m for wheel in model.wheels])
    pairs = {
        "mass [kg]": (model.mass_kg, robot.mass_kg.value),
        "wheel radius [m]": _furthest([wheel.radius_m for wheel in model.wheels], radius_m),
        "track [m]": (float(np.ptp(at[:, 1])), robot.track_m),
        "wheelbase [m]": (float(np.ptp(at[:, 0])), robot.wheelbase_m),
    }
    if all(slip is not None for slip in slips):
        known = [slip for slip in slips if slip is not None]
        pairs["c_long [1/N]"] = _furthest([s.compliance_longitudinal / s.normal_force_n for s in known], e.c_long_per_n)
        pairs["c_lat [1/N]"] = _furthest([s.compliance_lateral / s.normal_force_n for s in known], e.c_lat_per_n)
        # Zero is the wheel's own.
        pairs["WheelSlip's wheel_radius [m]"] = _furthest([s.radius_m or radius_m for s in known], radius_m)
    else:
        pairs["wheels with WheelSlip"] = float(sum(slip is not None for slip in slips)), float(len(slips))
    apart = [
        f"{name} {has:.4g} instead of {want:.4g}" for name, (has, want) in pairs.items() if abs(has - want) > MODEL_SHARE * want
    ]
    remedy = "export anew, or patch the model: slipfit export TWIN --to gz --into MODEL"
    if model.is_in_world and math.dist(model.gravity_mps2, (0.0, 0.0, -e.gravity_mps2)) > MODEL_SHARE * e.gravity_mps2:
        told = " ".join(f"{value:g}" for value in model.gravity_mps2)
        apart.append(f"the world's gravity [m/s²] {told} instead of 0 0 {-e.gravity_mps2:g} (driven with the twin's)")
        remedy = f"<gravity> of the world; {remedy}" if len(apart) > 1 else "<gravity> of the world"
    return Artefact(Kind.MODEL, "; ".join(apart), remedy) if apart else None


def inertias(e: Evidence) -> Artefact | None:
    """Moments of inertia and the height of the centre of mass: SDF takes 1 kg m² for each moment that a file leaves out."""
    if e.model is None:
        return None
    model, robot = e.model, e.robot
    at = np.array([wheel.at_m for wheel in model.wheels])
    height_m = float(whole_centre(model)[2] - at[:, 2].mean()) + robot.wheels.radius_m.value
    spin = bodies(robot, e.gravity_mps2).wheel_spin_inertia_kgm2  # as an export has it
    pairs = {
        "yaw inertia [kg m²]": (yaw_inertia(model), robot.yaw_inertia_kgm2.value),
        "spin inertia of a wheel [kg m²]": _furthest(spin_inertias(model), spin),
        "height of the centre of mass [m]": (height_m, robot.centre_of_mass_m.value[2]),
    }
    apart = [
        f"{name} {has:.4g} instead of {want:.4g}" for name, (has, want) in pairs.items() if abs(has - want) > INERTIA_SHARE * want
    ]
    return (
        Artefact(Kind.INERTIA, "; ".join(apart), "<inertial> of the links: <inertia> and <pose>, or export anew")
        if apart
        else None
    )


def _furthest(found: list[float], wanted: float) -> tuple[float, float]:
    """The number that is furthest from what is wanted, and that."""
    return max(found, key=lambda value: abs(value - wanted)), wanted


def cone(e: Evidence) -> Artefact | None:
    """An artefact of Classic only, and only where the file asks for the cone."""
    if e.model is None or e.engine != "ode" or e.model.friction_model == PYRAMID:
        return None
    return _cone(e)


def cone_note(e: Evidence) -> str | None:
    """What the cone would do to a model that has the pyramid, or does not run in Classic."""
    told = _cone(e) if cone(e) is None else None
    return f"{told.kind.value}, if it were asked for: {told.found}; keep the pyramid" if told else None


def _cone(e: Evidence) -> Artefact | None:
    """By formula: that fork cannot be run here."""
    if e.model is None:
        return None
    mu = min(min(w.collision.surface.mu, w.collision.surface.mu2) for w in e.model.wheels)
    mu = min(mu, e.model.ground.mu, e.model.ground.mu2)
    load = min(e.rest.loads_n)
    if not load > 0.0:
        return None
    geometry = SpinGeometry.of(e.robot)
    limit = fork_saturation_mu(e.c_long_per_n, e.c_lat_per_n, geometry, load)
    if mu >= limit:
        return None
    reading = cone_reading(mu, e.c_long_per_n, e.c_lat_per_n, geometry, load)
    found = f"mu = {mu:.3g} is below mu* = {limit:.3g}: with the cone a spin would read {reading:.3g} (by formula, not run)"
    return Artefact(
        Kind.CONE, found, f"<friction_model>pyramid_model</friction_model> in Classic's solver, or mu above {limit:.3g}"
    )


def cone_reading(mu: float, c_long: float, c_lat: float, geometry: SpinGeometry, load_n: float) -> float:
    """What eq. 3 reads in a spin with the fork's cone, F_i = min(v_i / (c_i |w|), mu N v_i / |v|), from b F_long = l F_lat.

    Reference  docs/howto/export (the fork limits each axis by the direction of sliding)
    """
    b, l = geometry.half_track_m, geometry.half_wheelbase_m

    def moment(rate: float) -> float:
        v_long, v_lat = b * (1.0 - rate), l * rate  # omega_t = 1, so |w| = b
        speed = math.hypot(v_long, v_lat)
        f_long = min(v_long / (c_long * b), mu * load_n * v_long / speed)
        f_lat = min(v_lat / (c_lat * b), mu * load_n * v_lat / speed)
        return b * f_long - l * f_lat

    return float(spin_ratio(1.0, float(brentq(moment, 1e-9, 1.0 - 1e-12)), b, l))


#: Where contacts get their stiffness from, by engine.
_STIFFNESS = {
    "ode": f"<contact><ode> of wheels with kp near {KP_NPM:g}, kd near {KD_NSPM:g}",
    "mujoco": "solref of the wheels' geoms: export anew with the step that is used",
    "gz-physics": "a smaller step: contacts are rigid in gz-physics, kp and kd do nothing",
}


#: In the order in which one should look.
FINDERS: tuple[Callable[[Evidence], Artefact | None], ...] = (
    model_numbers,
    inertias,
    lifted,
    fdir1,
    heading,
    contacts,
    loads,
    sinkage,
    drift,
    wheels,
    cone,
)

#: What explains a wrong ratio by itself: steps are suspected only where none of these was found.
_EXPLAIN_RATIO = {Kind.MODEL, Kind.FDIR1, Kind.CONTACTS, Kind.LIFTED}


def find_artefacts(evidence: Evidence) -> tuple[Artefact, ...]:
    """All that are there; of a run that diverged only that."""
    if first := diverged(evidence):
        return (first,)
    found = [artefact for finder in FINDERS if (artefact := finder(evidence))]
    if not {artefact.kind for artefact in found} & _EXPLAIN_RATIO and (artefact := steps(evidence)):
        found.append(artefact)
    return tuple(found)
