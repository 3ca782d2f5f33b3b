"""The longest step that a drive is computed with, and what becomes of a scenario that asks for a longer one.

The method of `vehicles/skid_steer`, `omni` and `rough` is of first order and stable at every step; what a long step costs is
accuracy, without a sign of it in the result. At LONGEST_STEP_S the library's robots end within 10 mm and 10 mrad of where they
end at 1 ms (docs/theory/stepping, table "steps"). A longer step is divided into equal ones; records stay where they were.

A shaft that gives vibrates faster than anything else on a plane, and steps of first order damp it by half a radian of its phase:
a scenario that leaves the step open gets one of at most SHAFT_STEP_RAD of the rotor's vibration against the wheel.

    step <= SHAFT_STEP_RAD / omega_n,    omega_n^2 = K_s (1 / J_m + 1 / J_w)

Symbols    K_s stiffness of the shaft · J_m inertia of the rotor, J_w of the wheel
"""

import math
from typing import Any

from slipfit.errors import ParameterError
from slipfit.simulation.scenario import MOST_STEPS, WHEEL_STEP_S, Scenario

#: Measured over robots, grounds and drives of the library: docs/theory/stepping. Twice the default step.
LONGEST_STEP_S = 0.002

#: At 0.01 the overshoot of the library's rover with shafts is 0.1 points below that of far shorter steps (at 1 ms, 0.7).
#: Very stiff shafts hardly swing; steps are never made shorter than the second number for them.
SHAFT_STEP_RAD, SHORTEST_SHAFT_STEP_S = 0.01, 5e-5

#: Steps that are longer by rounding only are not.
_ROUNDING = 1e-9


def in_steps_for(robot: Any, scenario: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """The scenario with steps for a robot on wheels: as it asks, if that is not too long; shorter ones for shafts where it asks
    for none, as far as their number allows; and a note on it."""
    wanted = math.ceil(WHEEL_STEP_S / _shaft_step_s(robot) * (1.0 - _ROUNDING))
    if scenario.step_s is not None or wanted <= 1:
        return in_short_steps(scenario)
    step_s = WHEEL_STEP_S / max(1, min(wanted, int(MOST_STEPS * WHEEL_STEP_S / scenario.duration_s)))
    note = f"computed in steps of {1e3 * step_s:.3g} ms for the vibration of {robot.name}'s shafts (step_s)"
    if step_s > 1.01 * WHEEL_STEP_S / wanted:
        note += f"; it needs {1e3 * WHEEL_STEP_S / wanted:.3g} ms, more steps than a run may have: take a shorter drive"
    return scenario.model_copy(update={"step_s": step_s, "record_s": scenario.record_interval_s}), (note,)


def _shaft_step_s(robot: Any) -> float:
    """The longest step that resolves the vibration of a robot's shafts; infinite for rigid ones."""
    stiffness = getattr(robot.powertrain, "shaft_stiffness_nm_per_rad", None)
    inertias = (robot.powertrain.rotor_inertia_kgm2.value, robot.wheels.spin_inertia_kgm2.value) if stiffness else (0.0,)
    if stiffness is None or min(inertias) <= 0.0:  # rigid, or nothing that could swing
        return math.inf
    per_inertia = sum(1.0 / inertia for inertia in inertias)
    return max(SHORTEST_SHAFT_STEP_S, SHAFT_STEP_RAD / math.sqrt(stiffness.value * per_inertia))


def in_short_steps(scenario: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """The scenario with steps that are not too long, and a note where they were."""
    step_s, notes = short_step(scenario.time_step_s)
    if not notes:
        return scenario, ()
    if scenario.duration_s / step_s > MOST_STEPS:
        raise ParameterError(
            f"step_s = {scenario.time_step_s:g} s is computed in steps of {1e3 * step_s:.3g} ms, and the drive lasts "
            f"{scenario.duration_s:g} s, more than {MOST_STEPS:,} of them; expected a shorter drive, divide it into several"
        )
    record_s = scenario.time_step_s * max(1, round(scenario.record_interval_s / scenario.time_step_s))
    return scenario.model_copy(update={"step_s": step_s, "record_s": record_s}), notes


def short_step(step_s: float) -> tuple[float, tuple[str, ...]]:
    """The step to compute with in place of another: as it is, or an equal part of it with a note that says so."""
    parts = math.ceil(step_s / LONGEST_STEP_S * (1.0 - _ROUNDING))
    if parts <= 1:
        return step_s, ()
    note = (
        f"step_s = {step_s:g} s is longer than the {1e3 * LONGEST_STEP_S:g} ms up to which drives are accurate: each step was "
        f"computed in {parts} steps of {1e3 * step_s / parts:.3g} ms"
    )
    return step_s / parts, (note,)
