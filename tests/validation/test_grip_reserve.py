"""Grip reserves of slow climbs against the quasi-static step oracle (SPEC 5)."""

import numpy as np
import pytest

from slipfit.simulation.climb_reserve import grip_reserve
from slipfit.vehicles.step_climb import friction_needed
from tracks import SHAPE, plain_climber, slow_climb


@pytest.mark.parametrize(
    "heights",
    [[0.1], pytest.param([0.05, 0.075, 0.117, 0.125], marks=pytest.mark.slow)],
    ids=["100 mm", "50 to 125 mm"],
)
def test_the_factor_is_the_friction_that_the_oracle_asks_for_over_what_there_is(heights):
    """At 10 mm/s, without cleats and flippers, static = dynamic: lambda* = mu_req / mu within 3 %, sharp and with 101.6 mm
    radius, for robots that climb (mu = 1.3 mu_req) and for robots that do not (0.75 mu_req)."""
    height, edge, share = (column.ravel() for column in np.meshgrid(heights, [0.0, 0.1016], [1.3, 0.75]))
    needed = np.array([float(friction_needed(SHAPE, *step, has_flippers=False)) for step in zip(height, edge, strict=True)])
    vary = {"height_m": height, "edge_radius_m": edge, "mu_static": share * needed}
    found = grip_reserve(plain_climber(), slow_climb(0.1, 0.0), vary)
    print(found.factor * share - 1.0)
    assert np.array_equal(found.has_climbed, share > 1.0)
    assert found.factor == pytest.approx(1.0 / share, rel=0.03)
