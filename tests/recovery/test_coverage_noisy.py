"""90 % intervals hold the truth as often as they say, and the mean hits it: a minute of IMU and encoders, noise .2, bias .05."""

import pytest

from recovery.many_drives import TRUTH, minute_plan, our_drives, study
from slipfit.library import find_robot

pytestmark = pytest.mark.slow
NOISE, BIAS = 0.2, 0.05


@pytest.fixture(scope="module")
def plan():
    return minute_plan(NOISE, BIAS)


def test_many_drives(plan):
    """Mean within 1 %, scatter within 1.5 of the bound (the plan's information), coverage 90 %.

    The scatter is mostly the mass's, 1 %; 40 drives tell their mean to .16 % and their coverage to 5 %, of which three are
    allowed. benchmarks/coverage.py does the same with 200.
    """
    for name, found in study(our_drives(plan, 40), find_robot("p3at"), TRUTH).items():
        print(name, found)
        assert abs(found.error.mean()) < 0.01
        assert found.error.std(ddof=1) < 1.5 * plan.promises[name].std / plan.promises[name].guess
        assert found.coverage >= 0.9 - 3.0 * 0.047
