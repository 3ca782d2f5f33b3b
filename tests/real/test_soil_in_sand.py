"""CMU's plates and smooth wheel in sand. Numbers as the benchmark `soil_sand.py` prints them; targets from the issue of soils."""

import math
from pathlib import Path

import numpy as np
import pytest

from slipfit.calibration.soil import errors_of, fit_plates, fit_wheel, predict_wheel, read_plates, read_wheel
from slipfit.calibration.soil.beds import SPREAD
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


def test_beds_of_equal_plates_differ_by_what_is_assumed_of_few(recordings):
    """Pressures of three equal plates each, 9 to 11 and 14 to 16 mm deep, over their mean: 10 and 8 % apart, which is where the
    10 % of few tests come from."""
    data = read_plates(recordings / "cmu_single_wheel" / "penetration_f-d-small-box.csv.gz", MAPS / "plates_in_sand.yaml")
    spreads = []
    for depth in (0.010, 0.015):
        there = np.abs(data.sinkage_m - depth) < 0.001
        means = {k: float(data.pressure_pa[there & (data.test == k)].mean()) for k in range(9)}
        widths = [[means[k] for k in range(9) if data.width_m[data.test == k][0] == b] for b in data.widths_m]
        spreads.append(float(np.sqrt(np.mean([np.var(np.array(w) / np.mean(w), ddof=1) for w in widths]))))
    assert spreads == [pytest.approx(0.098, abs=0.002), pytest.approx(0.076, abs=0.002)]
    assert abs(SPREAD - spreads[0]) < 0.01


def test_the_table_has_nine_slips_with_three_repeats(wheel):
    """Spread between repeats 4.4 % of the load and 0.7 mm, as the issue of soils has it, rounded."""
    assert (len(wheel), wheel.repeats) == (27, 3)
    assert wheel.spread == (pytest.approx(0.044, abs=5e-4), pytest.approx(0.0007, abs=5e-5))


def test_repeats_predict_each_other_to_what_the_how_to_says(wheel):
    """The mean of the two other repeats of a slip, without any model: of three repeats a deviation from the others' mean is 1.5
    of that from the mean of all. 5.4 % of the load and 0.8 mm."""
    missing = []
    for measured in (wheel.pull_n / wheel.load_n, wheel.sinkage_m):
        table = measured[np.lexsort((wheel.repeat, np.round(wheel.slip, 2)))].reshape(9, 3)
        missing.append(float(np.sqrt(np.mean((1.5 * (table - table.mean(axis=1, keepdims=True))) ** 2))))
    assert missing == [pytest.approx(0.054, abs=5e-4), pytest.approx(0.0008, abs=5e-5)]


@pytest.mark.parametrize(("share", "per_slip"), [(0.18, 0.32), (0.4, 0.2)])
def test_without_tuning_driven_and_braked_wheels_are_predicted(wheel, sand, share, per_slip):
    """Plates, phi = 29 deg, c and K of dry sand, no slip-sinkage: 12 % of the load and 10 mm, from locked to spinning, with Wong
    and Reece's place of the largest stress in loose sand and with the law's default alike."""
    values = sand.values() | {"slip_sinkage": 0.0, "peak_share": share, "peak_share_per_slip": per_slip}
    pull, depth = errors_of(values, wheel)
    assert pull < 0.12
    assert depth < 0.010


def test_a_locked_wheel_drags_and_sinks_as_measured(wheel, sand):
    """Untuned: the repeats dragged with 1.90 to 2.13 of the load at 50 to 51 mm, read off the file; to 10 and 15 %."""
    values = sand.values() | {"slip_sinkage": 0.0, "peak_share": 0.18, "peak_share_per_slip": 0.32}
    found, locked = predict_wheel(values, wheel), wheel.slip < -0.99
    assert float(np.mean(found.pull_n[locked] / wheel.load_n[locked])) == pytest.approx(-2.0, rel=0.1)
    assert float(np.mean(found.sinkage_m[locked])) == pytest.approx(0.0503, rel=0.15)


def test_the_wheel_alone_finds_a_sands_constants(wheel, sand):
    """Sought freely, the friction angle is told and holds the authors' 29 degrees, and cohesion none, as dry sand has. Doubts of
    the plates' k_c are carried on."""
    fit = fit_wheel(wheel, sand, models=["ding"])
    written = fit.ground("sand_3", sand)
    low, high = fit.parameters["friction_angle_rad"].interval_90
    assert low < math.radians(29.0) < high
    assert fit.parameters["cohesion_pa"].interval_90[0] == 0.0
    assert any("of cmu_sand: k_c is negative" in note for note in written.notes)


def test_fitted_on_two_repeats_the_third_is_predicted(wheel, sand):
    """Targets 6 % of the load and 3 mm, root mean square over the three choices of the repeat that is left out, friction angle
    held at the authors' 29 degrees; no constant ends on a bound. By model, and by the one that the two other repeats choose. How
    much to believe: docs/howto/soil_tests.md."""
    fit = fit_wheel(wheel, sand, models=["lyasko", "ding"], hold=["friction_angle_rad"])
    assert not any(one.status == "at_bound" for one in fit.parameters.values())
    by_model = [[one for one in fit.held_out if one["model"] == model] for model in ("lyasko", "ding")]
    for own in (*by_model, [one for one in fit.held_out if one["chosen"]]):
        assert len(own) == 3
        assert np.sqrt(np.mean([one["pull"] ** 2 for one in own])) <= 0.06
        assert np.sqrt(np.mean([one["sinkage_m"] ** 2 for one in own])) <= 0.003
