"""Soil constants from traction: exact without noise, covered with it, and what constant loads do not tell."""

import numpy as np
import pytest

from slipfit.errors import FitError, ParameterError
from slipfit.estimate.soil import NAMES, RecursiveSoil, SoilPrior, TractionData, fit_soil, jacobian, traction

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


def test_bad_data_are_sentences():
    with pytest.raises(FitError, match="above zero"):
        TractionData(np.array([0.1, -0.1, 0.2]), np.ones(3), np.ones(3), AREA, LENGTH)
    with pytest.raises(FitError, match="three or more"):
        TractionData(np.array([0.1]), np.ones(1), np.ones(1), AREA, LENGTH)
    with pytest.raises(ParameterError, match="patch"):
        TractionData(np.full(3, 0.1), np.ones(3), np.ones(3), 0.0, LENGTH)
