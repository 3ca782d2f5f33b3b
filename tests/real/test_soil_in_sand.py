"""CMU's plates and smooth wheel in sand. Numbers as the benchmark `soil_sand.py` prints them; targets from the issue of soils."""

import math
from pathlib import Path

import numpy as np
import pytest

from slipfit.calibrate.soil import errors_of, fit_plates, fit_wheel, read_plates, read_wheel
from slipfit.library import Ground, find_ground

MAPS = Path(__file__).parents[2] / "examples" / "columns"


@pytest.fixture(scope="module")
def plates(recordings):
    return fit_plates(
        read_plates(recordings / "cmu_single_wheel" / "penetration_f-d-small-box.csv.gz", MAPS / "plates_in_sand.yaml")
    )


@pytest.fixture(scope="module")
def wheel(recordings):
    return read_wheel(recordings / "cmu_single_wheel" / "single_wheel_smooth.csv", MAPS / "single_wheel_in_sand.yaml")


@pytest.fixture(scope="module")
def sand(plates):
    base = find_ground("dry_sand").to_mapping()
    base["parameters"]["friction_angle_rad"] = {"value": math.radians(29.0), "source": "CmuSingleWheel"}
    return plates.ground("cmu_sand", Ground.from_mapping(base, where="dry_sand"))


def test_plates_fit_within_three_percent_of_the_largest_pressure(plates):
    assert plates.errors["rmse_over_largest_pressure"] <= 0.03
    assert plates.rank == 3


def test_k_c_of_this_sand_is_negative_and_said_to_be(plates):
    """60 mm plates carry less than 100 mm ones at the same depth: 17 to 19 against 34 to 38 kPa at 20 mm, read off the file."""
    assert plates.parameters["k_c"].interval_90[1] < 0.0
    assert any("k_c is negative" in finding for finding in plates.findings)


def test_the_table_has_nine_slips_with_three_repeats(wheel):
    """Spread between repeats 4.4 % of the load and 0.7 mm, as the issue of soils has it, rounded."""
    assert (len(wheel), wheel.repeats) == (27, 3)
    assert wheel.spread == (pytest.approx(0.044, abs=5e-4), pytest.approx(0.0007, abs=5e-5))


def test_without_tuning_driven_wheels_are_predicted(wheel, sand):
    """Plates, phi = 29 deg, c and K of dry sand, Wong and Reece's loose sand: 12 % and 10 mm hold for driven wheels; braked
    ones plough themselves in, which no published constant here tells."""
    values = sand.values() | {"slip_sinkage": 0.0, "peak_share": 0.18, "peak_share_per_slip": 0.32}
    pull, depth = errors_of(values, wheel, wheel.slip > -0.05)
    assert pull < 0.12
    assert depth < 0.010


def test_what_the_wheel_does_not_tell_stays_the_soils(wheel, sand):
    """The angle trades against cohesion here: sought freely it ends at 0.02 rad. It stays 29 degrees, spread, source and all; and
    the plates' doubt of k_c is carried on."""
    fit = fit_wheel(wheel, sand, models=["ding"])
    written = fit.ground("sand_3", sand)
    assert fit.kept == ("friction_angle_rad",)
    assert written.parameters["friction_angle_rad"] == sand.parameters["friction_angle_rad"]
    assert written.parameters["cohesion_pa"].std is not None
    assert "of cmu_sand: k_c is negative" in written.about


def test_fitted_on_two_repeats_the_third_is_predicted(wheel, sand):
    """Targets 6 % of the load and 3 mm, root mean square over the three choices of the repeat that is left out. The model's form
    was chosen with all repeats in sight: this judges constants only (docs/howto/soil_tests.md)."""
    fit = fit_wheel(wheel, sand, models=["lyasko", "ding"], seek=["cohesion_pa", "friction_angle_rad"])
    for model in ("lyasko", "ding"):
        own = [one for one in fit.held_out if one["model"] == model]
        assert np.sqrt(np.mean([one["pull"] ** 2 for one in own])) <= 0.06
        assert np.sqrt(np.mean([one["sinkage_m"] ** 2 for one in own])) <= 0.003
