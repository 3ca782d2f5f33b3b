"""Friction curves from forces whose law is known."""

import numpy as np
import pytest
from made_up_forces import ANGLES_RAD, LOAD_N, forces

from slipfit.calibration.tyre import TyreFit, fit_flexible, fit_law, fit_tyre
from slipfit.calibration.tyre.intervals import band, certainty, told_constants
from slipfit.contact import CURVES, LAWS, curve
from slipfit.errors import FitError, ParameterError
from slipfit.twin import Status

WIDE = np.linspace(-0.9, 0.9, 19)
NARROW = np.linspace(-0.06, 0.06, 13)


@pytest.mark.parametrize("law", CURVES)
class TestEveryLaw:
    def test_exact_forces_give_the_constants_back(self, law):
        """Without noise the truth is the only minimum: to 1e-5, where the search ends."""
        truth = LAWS[law].example
        found = fit_law(law, forces(law, truth, WIDE, noise=0.0)).values
        assert found == {name: pytest.approx(value, rel=1e-5) for name, value in truth.items()}

    def test_noise_moves_the_constants_within_their_spread(self, law):
        """Five spreads: one chance in a million for each of 24 constants."""
        truth, data = LAWS[law].example, forces(law, LAWS[law].example, WIDE)
        fit = fit_law(law, data)
        std = dict(zip((c.name for c in fit.coordinates), certainty(fit, data).std, strict=True))
        for name, value in truth.items():
            assert abs(fit.values[name] - value) < 5.0 * std[name]


class TestWhatTheDataTell:
    def test_intervals_and_band_hold_the_truth(self):
        """Five spreads instead of 1.65: intervals that are too narrow by a factor of three would still fail."""
        truth = LAWS["kiencke_daiss"].example
        data = forces("kiencke_daiss", truth, WIDE)
        fit = fit_law("kiencke_daiss", data)
        known = certainty(fit, data)
        for name, told in told_constants(fit, data, known).items():
            assert told.status is Status.CONVERGED
            assert abs(told.value - truth[name]) < 5.0 * told.std
        slips = np.linspace(0.01, 0.9, 30)
        mu, half = band(fit, known, slips)
        assert (np.abs(mu - curve("kiencke_daiss", truth, slips)) < 3.0 * half).all()

    def test_a_fall_that_was_never_reached_is_not_told(self):
        """Slips up to .08, peak at .2: the rise is told, sliding is not, and the curve has a narrow band all the same."""
        fit = fit_tyre(forces("tmeasy", LAWS["tmeasy"].example, NARROW, angles_rad=(0.0, 0.03)), ["tmeasy"])
        assert fit.parameters["initial_slope"].status is Status.CONVERGED
        for name in ("sliding_mu", "sliding_slip"):
            assert fit.parameters[name].status is Status.NOT_EXCITED
            assert fit.parameters[name].value is None
        assert fit.rank < len(fit.names)
        assert (fit.band_90 < 0.02).all()
        assert any("still rises at the largest slip" in finding for finding in fit.findings)
        assert "not told" in fit.summary()

    def test_one_axis_does_not_tell_the_lateral_ratio(self):
        data = forces("kiencke_daiss", LAWS["kiencke_daiss"].example, WIDE, angles_rad=(0.0,), axes=("along",))
        fit = fit_tyre(data, ["kiencke_daiss"])
        assert fit.parameters["lateral_ratio"].status is Status.NOT_EXCITED
        assert fit.values["lateral_ratio"] == 1.0
        assert any("no force across was measured" in finding for finding in fit.findings)

    def test_forces_across_alone_are_fitted_too(self):
        """A slip-angle sweep: the lateral curve is the law's times its ratio, .9 of .8 at the peak."""
        angles = tuple(np.radians(np.linspace(-40.0, 40.0, 41)).tolist())
        data = forces("kiencke_daiss", LAWS["kiencke_daiss"].example, [0.0], angles_rad=angles, axes=("across",))
        assert fit_law("kiencke_daiss", data).values["mu"] == pytest.approx(0.72, rel=0.01)

    def test_offsets_are_found_where_they_are_asked_for(self):
        """Rolling resistance of 3 % of the load; without offsets the curve would bend to it."""
        data = forces("kiencke_daiss", LAWS["kiencke_daiss"].example, WIDE, noise=0.001)
        data.along_n[:] -= 0.03 * LOAD_N
        fit = fit_law("kiencke_daiss", data, with_offsets=True)
        assert fit.offsets["offset_along"] == pytest.approx(-0.03, abs=0.001)
        assert fit.values["initial_slope"] == pytest.approx(12.0, rel=0.01)


class TestChoice:
    def test_the_law_that_made_the_forces_is_chosen(self):
        fit = fit_tyre(forces("tmeasy", LAWS["tmeasy"].example, WIDE, repeats=2), ["kiencke_daiss", "dugoff", "tmeasy"])
        assert fit.law == "tmeasy"
        assert {c.name for c in fit.candidates} == {"kiencke_daiss", "dugoff", "tmeasy", "flexible"}

    def test_errors_on_repeats_are_the_noise_for_the_right_law(self):
        """152 rows, noise 0.5 N: 0.5 N within 15 % (four spreads of the noise's own spread)."""
        data = forces("kiencke_daiss", LAWS["kiencke_daiss"].example, WIDE)
        fit = fit_tyre(data, ["kiencke_daiss"])
        assert fit.candidates[0].rms_n == {axis: pytest.approx(0.5, rel=0.15) for axis in ("along", "across")}
        assert fit.spread_n == {axis: pytest.approx(0.5, rel=0.15) for axis in ("along", "across")}

    def test_of_laws_that_are_as_good_the_simplest_is_chosen(self):
        """Below the peak TMeasy and Kiencke-Daiss are the same curve, with six and four constants."""
        data = forces("kiencke_daiss", LAWS["kiencke_daiss"].example, NARROW, angles_rad=(0.0, 0.03), repeats=2)
        assert fit_tyre(data, ["tmeasy", "kiencke_daiss"]).law == "kiencke_daiss"

    def test_noise_does_not_hide_the_better_law_where_there_are_many_rows(self):
        """Noise of 5 % of the load hides a misfit of 1 % in each reading, not in 2400."""
        data = forces("tmeasy", LAWS["tmeasy"].example, np.linspace(-0.9, 0.9, 300), noise=0.05, repeats=2)
        assert fit_tyre(data, ["burckhardt", "tmeasy"]).law == "tmeasy"

    def test_one_repeat_is_said(self):
        data = forces("kiencke_daiss", LAWS["kiencke_daiss"].example, WIDE, repeats=1)
        assert any(finding.startswith("one repeat only") for finding in fit_tyre(data, ["kiencke_daiss"]).findings)

    def test_forces_that_no_curve_has_are_said(self):
        """A wheel that is resisted when braked and not when driven, as in sand."""
        data = forces("kiencke_daiss", LAWS["kiencke_daiss"].example, WIDE)
        data.along_n[data.slip[:, 0] > 0.0] *= 0.1
        fit = fit_tyre(data, ["kiencke_daiss", "dugoff"])
        assert any("no friction curve here has the shape of these forces" in finding for finding in fit.findings)


class TestFlexible:
    def test_it_finds_a_curve_between_the_readings(self):
        """Left out: every third slip. Error of the curve within the noise, 0.5 N."""
        law = LAWS["kiencke_daiss"].example
        found = fit_flexible(forces("kiencke_daiss", law, np.linspace(-0.9, 0.9, 31)))
        between = forces("kiencke_daiss", law, np.linspace(-0.87, 0.87, 30), noise=0.0, repeats=1)
        for axis, predicted in found.predict(between).items():
            assert np.sqrt(np.mean((predicted - between.forces()[axis]) ** 2)) < 0.5

    def test_its_spread_grows_where_there_are_no_readings(self):
        """Read at 0 to 0.3, asked at 0.9."""
        law = LAWS["kiencke_daiss"].example
        found = fit_flexible(forces("kiencke_daiss", law, np.linspace(0.0, 0.3, 16)))
        inside, outside = (forces("kiencke_daiss", law, [slip], angles_rad=(0.0,), repeats=1) for slip in (0.15, 0.9))
        assert found.spread(outside)["along"][0] > 3.0 * found.spread(inside)["along"][0]


@pytest.fixture(scope="module")
def fit():
    return fit_tyre(forces("dugoff", LAWS["dugoff"].example, WIDE, angles_rad=ANGLES_RAD[:2]), ["dugoff"])


class TestRecord:
    def test_it_saves_and_loads_itself(self, fit, tmp_path):
        fit.save(tmp_path / "fit.json")
        again = TyreFit.load(tmp_path / "fit.json")
        assert again.to_document() == fit.to_document()
        assert again.summary() == fit.summary()

    def test_its_ground_has_the_law_and_its_constants(self, fit):
        ground = fit.ground("My Tyre")
        assert (ground.name, ground.law) == ("my_tyre", "dugoff")
        assert ground.values() == fit.values
        assert ground.parameters["mu"].source.startswith("forces 000000")

    def test_another_file_is_refused(self, tmp_path):
        (tmp_path / "x.json").write_text('{"schema": "slipfit/twin/1"}')
        with pytest.raises(ParameterError, match="expected 'slipfit/tyre_fit/1'"):
            TyreFit.load(tmp_path / "x.json")


class TestBadInput:
    def test_fewer_forces_than_constants(self):
        data = forces("tmeasy", LAWS["tmeasy"].example, [0.1, 0.3], angles_rad=(0.0,), repeats=1)
        with pytest.raises(FitError, match="4 forces for the 6 constants of tmeasy"):
            fit_law("tmeasy", data)
        with pytest.raises(FitError, match="2 rows; expected 6 or more"):
            fit_tyre(data)

    def test_a_law_without_a_curve(self):
        data = forces("dugoff", LAWS["dugoff"].example, WIDE, repeats=1)
        with pytest.raises(ParameterError, match="law 'coulomb' has no friction curve over slip"):
            fit_tyre(data, ["coulomb"])
        with pytest.raises(ParameterError, match=r"law 'magic' is not a law; did you mean 'magic_formula'\?"):
            fit_tyre(data, ["magic"])

    def test_a_wheel_that_never_slips(self):
        data = forces("dugoff", LAWS["dugoff"].example, [0.0], angles_rad=(0.0,) * 8, repeats=1)
        with pytest.raises(FitError, match="the wheel never slips"):
            fit_tyre(data, ["dugoff"])


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    """90 % of 60 tables, for each of four constants: between 80 and 98 % of all 240 (a spread is 2 %, errors go together)."""
    truth, inside = LAWS["kiencke_daiss"].example, []
    for seed in range(60):
        data = forces("kiencke_daiss", truth, WIDE, seed=seed, noise=0.03)
        fit = fit_law("kiencke_daiss", data)
        for name, told in told_constants(fit, data, certainty(fit, data)).items():
            inside.append(told.interval_90[0] <= truth[name] <= told.interval_90[1])
    assert 0.80 < np.mean(inside) < 0.98
