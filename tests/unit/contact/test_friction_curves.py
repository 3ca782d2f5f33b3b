"""The friction curves against their formulas, worked out by hand or written out here."""

import math

import numpy as np
import pytest

from robots import ground_with
from slipfit.contact import CURVES, LAWS, Touch, curve, force, traction
from slipfit.contact.burckhardt import of_published
from slipfit.contact.dugoff import peak
from slipfit.errors import ParameterError

SLIPS = np.linspace(0.0, 2.0, 20_001)


def with_peak(law, **values):
    return curve(law, dict(LAWS[law].example) | values, SLIPS)


@pytest.mark.parametrize("law", CURVES)
class TestEveryCurve:
    def test_the_examples_share_their_peak(self, law):
        """Document 003's figure 5 compares curves of one tyre: ours peak with .8 at .2 (1e-4: digits of Dugoff's constants)."""
        mu = with_peak(law)
        assert mu.max() == pytest.approx(0.8, abs=1e-4)
        assert SLIPS[mu.argmax()] == pytest.approx(0.2, abs=1e-3)

    def test_the_examples_start_alike_where_the_family_lets_them(self, law):
        """Slope 12, the magic formula's B C mu; Burckhardt's curve would fall below zero with it (20, c1 c2 - c3)."""
        slope = curve(law, LAWS[law].example, 1e-6) / 1e-6
        assert slope == pytest.approx(20.0 if law == "burckhardt" else 12.0, rel=1e-3)

    def test_it_is_what_the_law_answers(self, law):
        """F = mu(S) N along, k_y mu(S) N across, S = s / V with V = 0.5 m/s of the rim while the wheel drives."""
        model = LAWS[law].model(LAWS[law].example)
        for slip in (1e-4, 0.05, 0.3, 0.9):
            mu = float(curve(law, LAWS[law].example, slip))
            along = force(traction(model, Touch(0.5 * slip, 0.0, 0.5, 40.0), None, 0, 1e-3), 0.5 * slip, 0.0)
            across = force(traction(model, Touch(0.0, 0.5 * slip, 0.5, 40.0), None, 0, 1e-3), 0.0, 0.5 * slip)
            assert along[0] == pytest.approx(40.0 * mu, rel=1e-6)  # the smallest slip, 1e-9, is added to S
            assert across[1] == pytest.approx(0.9 * 40.0 * mu, rel=1e-6)

    def test_it_takes_arrays_of_any_shape_and_sign(self, law):
        slips = np.array([[0.1, -0.1], [0.4, 0.0]])
        mu = curve(law, LAWS[law].example, slips)
        assert mu.shape == (2, 2)
        assert mu[0, 0] == mu[0, 1] > 0.0
        assert mu[1, 1] == pytest.approx(0.0, abs=1e-7)

    def test_more_than_full_sliding_is_no_more_than_the_peak(self, law):
        """Wheels that slide sideways on the spot have slips far beyond 1: friction stays between 0 and the peak."""
        mu = curve(law, LAWS[law].example, np.array([1.0, 5.0, 50.0, 1e6]))
        assert (mu >= 0.0).all()
        assert (mu <= 0.8).all()


class TestBurckhardt:
    #: Dry asphalt, as the works that cite Burckhardt1993 print it.
    DRY_ASPHALT = (1.2801, 23.99, 0.52)

    def test_published_constants_come_back(self):
        """c1 (1 - exp(-c2 S)) - c3 S, written out."""
        c1, c2, c3 = self.DRY_ASPHALT
        mu, critical, steepness = of_published(*self.DRY_ASPHALT)
        slips = np.linspace(0.0, 1.0, 101)[1:]
        values = {"mu": mu, "critical_slip": critical, "steepness_c2": steepness}
        assert curve("burckhardt", values, slips) == pytest.approx(c1 * (1.0 - np.exp(-c2 * slips)) - c3 * slips, rel=1e-12)

    def test_dry_asphalt_peaks_with_1_17_at_17_percent(self):
        """The same works' optimal slip and friction of dry asphalt: 0.17 and 1.17."""
        mu, critical, _ = of_published(*self.DRY_ASPHALT)
        assert (mu, critical) == (pytest.approx(1.17, abs=0.005), pytest.approx(0.17, abs=0.005))

    def test_a_curve_that_falls_below_zero_is_refused(self):
        """c2 = 10, S_c = .2: c1 = .8 / (1 - 3 e^-2) = 1.347, c3 = 10 c1 e^-2 = 1.823, mu(1) = c1 (1 - e^-10) - c3 = -.476."""
        with pytest.raises(ParameterError, match=r"mu\(1\) of -0\.476"):
            ground_with("burckhardt", steepness_c2=10.0)


class TestKienckeDaiss:
    def test_by_hand(self):
        """k 12, mu .8, S_c .2: c1 = 15 - 10 = 5, c2 = 25; mu(.1) = 1.2 / 1.75, mu(1) = 12 / 31."""
        assert curve("kiencke_daiss", LAWS["kiencke_daiss"].example, [0.1, 1.0]) == pytest.approx([1.2 / 1.75, 12.0 / 31.0])

    def test_a_slope_below_the_way_to_the_peak_is_refused(self):
        with pytest.raises(ParameterError, match=r"initial_slope is below mu / critical_slip = 4"):
            ground_with("kiencke_daiss", initial_slope=3.9)


class TestDugoff:
    VALUES = {"mu": 1.0, "initial_slope": 10.0, "friction_fall": 0.0}  # noqa: RUF012

    def test_elastic_up_to_half_of_its_friction(self):
        """f = 1 for lambda >= 1: mu = k S up to S = mu / 2k = .05; then mu (1 - mu / 4 k S): at .1 .75, at .5 .95."""
        assert curve("dugoff", self.VALUES, [0.03, 0.05, 0.1, 0.5]) == pytest.approx([0.3, 0.5, 0.75, 0.95])

    def test_without_a_fall_friction_grows_towards_its_limit(self):
        assert curve("dugoff", self.VALUES, 1e6) == pytest.approx(1.0, abs=1e-6)
        assert math.isinf(peak(*map(np.array, self.VALUES.values()))[0])

    @pytest.mark.parametrize(("mu_0", "slope", "fall"), [(1.0, 10.0, 0.3), (0.5, 30.0, 0.9), (1.2, 4.0, 0.6)])
    def test_the_peak_in_closed_form_is_the_largest_of_the_curve(self, mu_0, slope, fall):
        """S_c = sqrt(mu_0 / (A (4 k + mu_0 A))): against the curve on a grid of 1e-4."""
        critical, largest = peak(np.array(mu_0), np.array(slope), np.array(fall))
        mu = curve("dugoff", {"mu": mu_0, "initial_slope": slope, "friction_fall": fall}, SLIPS)
        assert SLIPS[mu.argmax()] == pytest.approx(float(critical), abs=1e-4)
        assert mu.max() == pytest.approx(float(largest), rel=1e-6)
        assert LAWS["dugoff"].model({"mu": mu_0, "initial_slope": slope, "friction_fall": fall}).mu == pytest.approx(
            mu.max(), rel=1e-6
        )


class TestTMeasy:
    def test_it_rises_as_kiencke_and_daiss(self):
        slips = np.linspace(0.0, 0.2, 41)
        rising = curve("kiencke_daiss", LAWS["kiencke_daiss"].example, slips)
        assert curve("tmeasy", LAWS["tmeasy"].example, slips) == pytest.approx(rising, rel=1e-14)

    def test_it_falls_by_a_cubic_to_full_sliding(self):
        """Half-way between .2 and .8 half of the fall from .8 to .667; a quarter of the way 5/32 of it; constant beyond."""
        mu = curve("tmeasy", LAWS["tmeasy"].example, [0.35, 0.5, 0.8, 1.5])
        assert mu == pytest.approx([0.8 - 0.133 * 5.0 / 32.0, 0.8 - 0.133 / 2.0, 0.667, 0.667])

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"initial_slope": 7.9}, r"initial_slope is below 2 mu / critical_slip = 8"),
            ({"sliding_slip": 0.2}, "sliding_slip does not lie behind critical_slip"),
            ({"sliding_mu": 0.9}, "sliding_mu is larger than mu"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, changes, words):
        with pytest.raises(ParameterError, match=words):
            ground_with("tmeasy", **changes)


@pytest.mark.parametrize("law", [law for law in CURVES if law != "dugoff"])
def test_a_critical_slip_of_zero_is_refused(law):
    with pytest.raises(ParameterError, match=r"critical_slip = 0 lies outside \[0\.001"):
        ground_with(law, critical_slip=0.0)


def test_a_shape_that_never_peaks_is_refused():
    """C <= 1: the magic formula has no peak, so no critical slip."""
    with pytest.raises(ParameterError, match=r"shape_c = 1 lies outside \[1\.01, 2\]"):
        ground_with("magic_formula", shape_c=1.0)
