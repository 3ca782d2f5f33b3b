"""Public names that go: for one version they still work, and say what to write instead."""

import pytest

import slipfit as sf
from slipfit.contact import LAWS
from slipfit.hardware import drive
from slipfit.library import OmniRobot, omni_robot
from slipfit.simulation.climb_reserve import grip_reserve
from slipfit.twin import OmniTwin, TrackedTwin


@pytest.mark.parametrize(
    ("name", "found", "instead"),
    [
        ("OmniRobot", OmniRobot, "sf.Robot"),
        ("find_omni_robot", omni_robot, "sf.find_robot"),
        ("OmniTwin", OmniTwin, "sf.Twin"),
        ("TrackedTwin", TrackedTwin, "sf.Twin"),
        ("simulate_climb", sf.simulate, "sf.simulate"),
        ("climb_many", sf.simulate_many, "sf.simulate_many"),
        ("RunStatus", sf.Outcome, "sf.Outcome"),
        ("LAWS", LAWS, "`from slipfit.contact import LAWS`"),
        ("grip_reserve", grip_reserve, "`from slipfit.simulation.climb_reserve import grip_reserve`"),
        ("drive", drive, "`from slipfit.hardware import drive`"),
        ("load_twin", sf.Twin.load, "sf.Twin.load"),
    ],
)
def test_a_name_that_goes_works_and_names_its_replacement(name, found, instead):
    with pytest.warns(DeprecationWarning, match=f"sf.{name} goes with the next version; take {instead}"):
        assert getattr(sf, name) == found
    assert name not in sf.__all__
