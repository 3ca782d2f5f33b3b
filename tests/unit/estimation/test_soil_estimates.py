"""Soil constants from traction: exact without noise, covered with it, and what constant loads do not tell."""

import numpy as np
import pytest

from slipfit.errors import FitError, ParameterError
from slipfit.estimation.soil import NAMES, RecursiveSoil, SoilPrior, TractionData, fit_soil, jacobian, traction

TRUE = np.array([1040.0, np.radians(28.0), 0.012])
AREA, LENGTH = 0.07112, 0.508
SLIPS, LOADS = np.tile(np.linspace(0.02, 0.6, 12), 3), np.repeat([200.0, 311.64, 450.0], 12)


def data(loads=LOADS, noise_n=0.0, seed=0):
    clean = TractionData(SLIPS, np.zeros(len(SLIPS)), loads, AREA, LENGTH)
    force = traction(TRUE, clean) + noise_n * np.random.default_rng(seed).normal(size=len(SLIPS))
    return TractionData(SLIPS, force, loads, AREA, LENGTH)


def test_traction_is_the_documents():
    """SPEC 5(b): c 1040 Pa, phi 28°, K 12 mm, W 311.64 N, A 0.07112 m², L 0.508 m."""
    slips = np.array([0.05, 0.1, 0.2, 0.4, 0.6])
    found = traction(TRUE, TractionData(slips, np.zeros(5), np.full(5, 311.64), AREA, LENGTH))
    assert found == pytest.approx([140.075, 183.874, 211.366, 225.513, 230.231], abs=1e-3)


def test_traction_is_the_integral_of_janosis_shear():
    """(c + p tan phi)(1 - exp(-i x / K)) over the patch, by the midpoint rule with 20 000 strips."""
    x = (np.arange(20000) + 0.5) / 20000 * LENGTH
    stress = TRUE[0] + 311.64 / AREA * np.tan(TRUE[1])
    expected = stress * AREA * np.mean(1.0 - np.exp(-0.3 * x / TRUE[2]))
    found = traction(TRUE, TractionData(np.full(3, 0.3), np.zeros(3), np.full(3, 311.64), AREA, LENGTH))
    assert found[0] == pytest.approx(expected, rel=1e-6)


def test_slopes_are_those_of_differences():
    d = data()
    for k, step in enumerate((1e-1, 1e-6, 1e-7)):
        moved = np.eye(3)[k] * step
        expected = (traction(TRUE + moved, d) - traction(TRUE - moved, d)) / (2.0 * step)
        assert jacobian(TRUE, d)[:, k] == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())


def test_varying_loads_tell_all_three_exactly():
    found = fit_soil(data())
    assert found.rank == 3
    assert found.values == pytest.approx(TRUE, rel=1e-6)
    assert found.told == (True, True, True)


def test_ninety_percent_intervals_cover():
    """100 sets with 2 N of noise: 90 % less three deviations of such a share, 81 %."""
    hits = np.zeros(3)
    for seed in range(100):
        found = fit_soil(data(noise_n=2.0, seed=seed))
        for k, name in enumerate(NAMES):
            low, high = found.interval_90(name)
            hits[k] += low <= TRUE[k] <= high
    assert (hits >= 81).all()


def test_a_constant_load_tells_two_and_says_which():
    """Erratum 7: rank 2; K and A c + W tan phi = 239.667 N."""
    found = fit_soil(data(np.full(len(SLIPS), 311.64)))
    assert found.rank == 2
    assert found.condition > 1e9
    assert found.told == (False, False, True)
    assert found.value("shear_modulus_m") == pytest.approx(0.012, rel=1e-6)
    assert found.combinations["A c + W tan(phi), N"][0] == pytest.approx(239.667, abs=1e-3)
    assert "prior" in found.summary()


def one_slip(loads, slip=0.3, noise_n=0.5):
    slips = np.broadcast_to(np.asarray(slip, dtype=float), len(loads)).copy()
    clean = TractionData(slips, np.zeros(len(loads)), np.asarray(loads, dtype=float), AREA, LENGTH)
    force = traction(TRUE, clean) + noise_n * np.random.default_rng(3).normal(size=len(loads))
    return TractionData(slips, force, clean.load_n, AREA, LENGTH)


def closed_form(slip, load):
    """SPEC 5(b)'s formula, written out."""
    x = slip * LENGTH / TRUE[2]
    return (AREA * TRUE[0] + load * np.tan(TRUE[1])) * (1.0 - (1.0 - np.exp(-x)) / x)


@pytest.mark.parametrize("slip", [0.3, np.linspace(0.3, 0.3002, 12)])
def test_one_slip_at_one_load_tells_the_traction_there_and_nothing_else(slip):
    """J has one row, twelve times: rank 1. Its traction is the mean of twelve forces, 0.5 N / sqrt(12) = 0.14 N; the noise is
    estimated from nine degrees of freedom, which is right to a factor of two. SPEC 7.5: nothing else has a value."""
    found = fit_soil(one_slip(np.full(12, 311.64), slip))
    assert found.rank == 1
    assert found.told == (False, False, False)
    assert np.isnan(found.values).all()
    assert np.isinf([found.std(name) for name in NAMES]).all()
    assert list(found.combinations) == ["F at slip 0.3 and 311.64 N, N"]
    ((value, std),) = found.combinations.values()
    assert value == pytest.approx(closed_form(0.3, 311.64), abs=4 * 0.144)
    assert 0.07 < std < 0.29
    text = found.summary()
    assert "the load is the same throughout" in text
    assert "the slip is the same throughout" in text or "the slip hardly changes" in text
    assert "K and A c" not in text
    assert all(number is None for number in found.to_document()["numbers"].values())


def test_one_slip_at_many_loads_blames_the_slip_not_the_load():
    """F = (A c + W tan phi) m(K): c m and tan(phi) m are told, neither c, phi nor K. Tractions at both ends of a line through
    twelve points have 0.5 N sqrt(4 / 12) = 0.29 N at most."""
    found = fit_soil(one_slip(np.linspace(150.0, 450.0, 12)))
    assert found.rank == 2
    assert found.told == (False, False, False)
    for load in (150.0, 450.0):
        assert found.combinations[f"F at slip 0.3 and {load:g} N, N"][0] == pytest.approx(closed_form(0.3, load), abs=4 * 0.29)
    assert "A c + W tan(phi), N" not in found.combinations
    assert "load" not in " ".join(found.notes)
    assert "the slip is the same throughout, 0.3" in found.notes[0]


def test_small_slips_tell_strength_over_modulus():
    """i L / K << 1: F = (A c + W tan phi) i L / (2 K), by the series of the exponential; the quotient is 239.667 / 0.012 N/m."""
    found = fit_soil(one_slip(np.full(12, 311.64), np.linspace(1e-6, 4e-6, 12), noise_n=0.0), noise_n=1e-5)
    assert found.combinations["(A c + W tan(phi)) / K, N/m"][0] == pytest.approx(239.667 / 0.012, rel=1e-3)
    assert "all slips are small" in " ".join(found.notes)


def test_slips_that_hardly_differ_are_fitted_to_their_noise():
    """Slips 0.300 to 0.301, where steps along the weak direction are far too long: 0.5 N of noise is left, not more."""
    assert fit_soil(one_slip(np.full(12, 311.64), np.linspace(0.3, 0.301, 12))).rms_n < 1.0


def test_a_prior_fills_what_is_missing_and_is_named():
    prior = SoilPrior({"cohesion_pa": 1040.0}, {"cohesion_pa": 200.0}, "Wong2008, dry sand")
    found = fit_soil(data(np.full(len(SLIPS), 311.64), noise_n=0.5), noise_n=0.5, prior=prior)
    assert found.told == (True, True, True)
    assert found.value("friction_angle_rad") == pytest.approx(TRUE[1], abs=0.05)
    assert found.rank == 2  # of the data alone
    assert "Wong2008" in found.summary()


def test_recursively_the_same_constants_come_out():
    means = dict(zip(NAMES, (2000.0, 0.4, 0.02), strict=True))
    prior = SoilPrior(means, dict(zip(NAMES, (2000.0, 0.2, 0.01), strict=True)), "guess")
    online = RecursiveSoil(prior, area_m2=AREA, length_m=LENGTH, noise_n=1.0)
    draw = np.random.default_rng(1)
    order = np.tile(draw.permutation(len(SLIPS)), 10)
    d = data()
    for k in order:
        online.update(SLIPS[k], d.force_n[k] + draw.normal(), LOADS[k])
    online.update(float("nan"), 1.0, 1.0)
    spread = np.sqrt(np.diag(online.covariance))
    assert (np.abs(online.values - TRUE) < 4.0 * spread).all()
    assert spread[2] < 0.001


def test_recursively_one_slip_leaves_the_prior_its_spread():
    """500 readings at one slip see one direction of three; across it the prior stays. The prior of K moves the traction there by
    S / (i L) times 0.01 m = 16 N, that of cohesion by 131 N: K keeps nine tenths of its spread; a Kalman filter linearised
    reading by reading was sure of it to a tenth. What the readings tell is said to be their traction alone."""
    means = dict(zip(NAMES, (2000.0, 0.4, 0.02), strict=True))
    prior = SoilPrior(means, dict(zip(NAMES, (2000.0, 0.2, 0.01), strict=True)), "guess")
    online = RecursiveSoil(prior, area_m2=AREA, length_m=LENGTH, noise_n=0.5)
    with pytest.raises(FitError, match="no reading"):
        online.report()
    draw = np.random.default_rng(2)
    for _ in range(500):
        online.update(0.3, closed_form(0.3, 311.64) + 0.5 * draw.normal(), 311.64)
    spread = np.sqrt(np.diag(online.covariance))
    assert spread[2] > 0.009
    assert (np.abs(online.values - TRUE) < 2.0 * spread).all()
    found = online.report()
    assert (found.rank, found.told_by_data) == (1, (False, False, False))
    assert found.combinations["F at slip 0.3 and 311.64 N, N"][0] == pytest.approx(closed_form(0.3, 311.64), abs=0.1)
    assert "without it cohesion_pa, friction_angle_rad, shear_modulus_m would not be told" in found.summary()
    assert found.rms_n == pytest.approx(0.5, rel=0.1)


def test_recursively_a_modulus_that_jumps_is_followed():
    """K 12 mm, then 20 mm, with a walk of 0.1 mm from reading to reading: 8 mm are 80 such steps."""
    means = dict(zip(NAMES, TRUE, strict=True))
    prior = SoilPrior(means, dict(zip(NAMES, (500.0, 0.1, 0.005), strict=True)), "guess")
    online = RecursiveSoil(prior, area_m2=AREA, length_m=LENGTH, noise_n=0.5, walk=(0.0, 0.0, 1e-4))
    draw = np.random.default_rng(4)
    for k in range(300):
        data = TractionData(np.full(3, draw.choice([0.05, 0.1, 0.3])), np.zeros(3), np.full(3, 300.0), AREA, LENGTH)
        soil = TRUE if k < 100 else np.array([TRUE[0], TRUE[1], 0.02])
        online.update(data.slip[0], traction(soil, data)[0] + 0.5 * draw.normal(), 300.0)
    assert online.values[2] == pytest.approx(0.02, abs=4.0 * np.sqrt(online.covariance[2, 2]))
    assert np.sqrt(online.covariance[2, 2]) < 0.002


def test_bad_data_are_sentences():
    with pytest.raises(FitError, match="above zero"):
        TractionData(np.array([0.1, -0.1, 0.2]), np.ones(3), np.ones(3), AREA, LENGTH)
    with pytest.raises(FitError, match="three or more"):
        TractionData(np.array([0.1]), np.ones(1), np.ones(1), AREA, LENGTH)
    with pytest.raises(ParameterError, match="patch"):
        TractionData(np.full(3, 0.1), np.ones(3), np.ones(3), 0.0, LENGTH)


@pytest.mark.parametrize("std", [0.0, -1.0, np.nan, np.inf])
def test_a_prior_that_is_no_spread_is_a_sentence(std):
    with pytest.raises(ParameterError, match=r"the prior's standard deviation of cohesion_pa is .*; expected above zero"):
        SoilPrior({"cohesion_pa": 1000.0}, {"cohesion_pa": std}, "a table")


def test_a_prior_of_what_is_no_soil_constant_is_a_sentence():
    with pytest.raises(ParameterError, match="the prior names 'cohesion'; known are cohesion_pa"):
        SoilPrior({"cohesion": 1000.0}, {"cohesion": 1.0}, "a table")
