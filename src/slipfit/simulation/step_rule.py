"""The longest step that a drive is computed with, and what becomes of a scenario that asks for a longer one.

The method of `vehicles/skid_steer`, `omni` and `rough` is of first order and stable at every step; what a long step costs is
accuracy, without a sign of it in the result. At LONGEST_STEP_S the library's robots end within 10 mm and 10 mrad of where they
end at 1 ms (docs/theory/stepping, table "steps"). A longer step is divided into equal ones; records stay where they were.
"""

import math

from slipfit.errors import ParameterError
from slipfit.simulation.scenario import MOST_STEPS, Scenario

#: Measured over robots, grounds and drives of the library: docs/theory/stepping. Twice the default step.
LONGEST_STEP_S = 0.002

#: Steps that are longer by rounding only are not.
_ROUNDING = 1e-9


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
