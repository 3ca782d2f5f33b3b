"""Parked robots hold up to the peak of their law, and slide beyond it."""

import math

import numpy as np
import pytest

from robots import changed, ground_with, unlimited
from slipfit.contact import LAWS
from slipfit.library import find_robot
from slipfit.simulation import Scenario, simulate_many

UPHILL_RAD = np.array([0.0, 0.3, 0.8, 1.2, math.pi / 2.0, 2.5, math.pi, -2.0])


def largest_mu(law: str, uphill_rad: np.ndarray) -> np.ndarray:
    """Largest force over load against a push along a direction, by the law's own formula for one contact.

    Friction curves: F = mu N (c, k s) for slip along (c, s), so that the force along phi is mu / sqrt(cos^2 + (sin / k)^2).
    Pyramid: mu / max(|cos|, |sin|). Cone: mu.
    """
    c, s = np.abs(np.cos(uphill_rad)), np.abs(np.sin(uphill_rad))
    example = LAWS[law].example
    if law == "wheel_slip":
        return example["mu"] / np.maximum(c, s)
    if law == "wheel_slip_cone":
        return np.full_like(c, example["mu"])
    return example["mu"] / np.hypot(c, s / example["lateral_ratio"])


@pytest.mark.parametrize("law", ["magic_formula", "burckhardt", "kiencke_daiss", "tmeasy", "wheel_slip", "wheel_slip_cone"])
@pytest.mark.parametrize("robot", ["p3at", "husky"])
@pytest.mark.parametrize("step_s", [0.002, 0.001, 0.0002])
def test_holds_at_98_percent_of_its_peak_and_slides_at_102(law, robot, step_s):
    """Issue: friction curves held only to 94-96 % of their peak, and wheel_slip crept by 13-32 µm/s there. Locked wheels on
    slopes of 0.9 and 0.98 of the largest friction creep by 1 µm/s at most, whatever the direction; at 1.02 they slide."""
    low = changed(robot, centre_of_mass_m=[0.0, 0.0, 0.05])  # upright on all of these slopes
    shares = np.repeat([0.9, 0.98, 1.02], len(UPHILL_RAD))
    uphill = np.tile(UPHILL_RAD, 3)
    vary = {"slope_rad": np.arctan(shares * largest_mu(law, uphill)), "uphill_rad": uphill}
    scenario = Scenario(commands=[{"for_s": 1.0, "v_mps": 0.0}], step_s=step_s)
    batch = simulate_many(unlimited(low), scenario, vary, ground=ground_with(law), ends_only=True)
    creep = np.hypot(batch.at_end("vx_mps"), batch.at_end("vy_mps"))
    assert creep[shares < 1.0].max() < 1e-6
    assert creep[shares > 1.0].min() > 1e-2


def test_a_robot_that_stops_on_a_slope_holds():
    """It drives up slopes of up to 0.8 of the peak, slows down, and stays."""
    scenario = Scenario(
        commands=[{"for_s": 2.0, "v_mps": 0.0, "profile": "linear", "ramp_s": 1.0}],
        start={"v_mps": 0.2},
        ground={"slope_rad": 0.2},
    )
    ground = ground_with("magic_formula", mu=math.tan(0.2) / 0.95)
    batch = simulate_many(unlimited(find_robot("p3at")), scenario, {"slope_rad": [0.1, 0.15, 0.17]}, ground=ground)
    assert np.hypot(batch.at_end("vx_mps"), batch.at_end("vy_mps")).max() < 1e-6
