"""slipfit simulate twin.yaml: the twin's fitted powertrain acts as it does in sf.simulate."""

import json
from pathlib import Path

import pytest

import slipfit as sf
from known_twins import known_twin
from slipfit.twin import FittedPowertrain
from slipfit.twin.fitted import FittedParameter
from slipfit.twin.powertrain import Side

LAG_S, DELAY_S, V_MPS = 0.1, 0.2, 0.3
DRIVE = f"schema: slipfit/scenario/2\ncommands:\n- {{for_s: 2.5, v_mps: {V_MPS}}}\n"


def _found(value):
    return FittedParameter(value=value, status="converged", source="known")


def _end_m(slipfit, twin):
    twin.save("twin.yaml")
    Path("drive.yaml").write_text(DRIVE)
    result = slipfit("simulate", "twin.yaml", "--scenario", "drive.yaml", "--json")
    assert result.code == 0, result.err
    return json.loads(result.out)["end"]["x_m"]


def test_lag_and_delay_of_a_twin_act_in_the_command(slipfit):
    """Wheels that follow a step late by a delay and a first-order lag roll v (T - delay - lag), 0.66 m; slip of the step takes
    c_long m v² / 2 n = 1 mm of it. Without the powertrain it would be 0.74 m. Python agrees to the bit."""
    side = Side(setpoint_per_radps=_found(1.0), lag_s=_found(LAG_S), delay_s=_found(DELAY_S))
    twin = known_twin().with_powertrain(FittedPowertrain(setpoint_unit="radps", left=side, right=side))
    end_m = _end_m(slipfit, twin)
    assert end_m == pytest.approx(V_MPS * (2.5 - DELAY_S - LAG_S), rel=5e-3)
    assert end_m == sf.simulate(twin, "drive.yaml").x_m[-1]


def test_a_key_that_a_twin_cannot_use_is_told_with_the_scenario_that_has_it(slipfit):
    known_twin().save("twin.yaml")
    Path("climb.yaml").write_text(f"{DRIVE}start: {{flipper_angle_rad: 0.1}}\n")
    result = slipfit("simulate", "twin.yaml", "--scenario", "climb.yaml")
    assert result.code == 2
    assert "climb.yaml: start.flipper_angle_rad: " in " ".join(result.err.split())
    assert "twin.yaml" not in result.err
