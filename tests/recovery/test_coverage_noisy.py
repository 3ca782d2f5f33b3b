"""90 % intervals hold the truth as often as they say, and the mean hits it: a minute of IMU and encoders, noise .2, bias .05."""

import pytest

from recovery.many_drives import TRUTH, minute_plan, our_drives, study
from slipfit.library import find_robot

pytestmark = pytest.mark.slow
NOISE, BIAS = 0.2, 0.05


@pytest.fixture(scope="module")
def plan():
    return minute_plan(NOISE, BIAS)


def test_two_hundred_drives(plan):
    """Issue of this number: mean within 1 %, scatter within 1.5 of the bound (the plan's information), coverage 85 to 95 %."""
    for name, found in study(our_drives(plan, 200), find_robot("p3at"), TRUTH).items():
        print(name, found)
        assert abs(found.error.mean()) < 0.01
        assert found.error.std(ddof=1) < 1.5 * plan.promises[name].std / plan.promises[name].guess
        assert 0.85 <= found.coverage <= 0.95
