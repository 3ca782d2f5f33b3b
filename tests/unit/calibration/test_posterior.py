"""The posterior by an ensemble sampler: exact where the answer is known, the Gauss approximation where a drive tells enough."""

import subprocess
import sys

import numpy as np
import pytest

from patience import HANG_S
from recovery.drives import GOOD_IMU, drive
from slipfit.calibration import calibrate, posterior
from slipfit.calibration.posterior import FEWEST_DRAWS, Posterior, autocorrelation_steps, integrated_out, run_chain
from slipfit.errors import ParameterError


def effective(chain):
    return chain.shape[0] * chain.shape[1] / autocorrelation_steps(chain).max()


# --- integrated out ---------------------------------------------------------------------------------------------------


def linear_problem(source, rows=60, motion=2, sensors=3):
    """Residuals a + M m + S s with expectations of all s but the first, and none of m."""
    a = source.standard_normal(rows)
    return a, source.standard_normal((rows, motion)), source.standard_normal((rows, sensors)), np.array([0.0, 2.0, 0.7])


@pytest.mark.parametrize("seed", range(5))
def test_linear_unknowns_are_integrated_out_exactly(seed):
    """Of a joint Gaussian the marginal of m has the mean and the block of the covariance of the joint normal equations.

    The point about which the likelihood is taken is no optimum, so that the pull of the residuals there counts too.
    """
    source = np.random.default_rng(seed)
    a, by_motion, by_sensors, prior = linear_problem(source)
    both = np.vstack([np.hstack([by_motion, by_sensors]), np.hstack([np.zeros((3, 2)), np.diag(prior)])])
    covariance = np.linalg.inv(both.T @ both)
    mean = -covariance @ both.T @ np.concatenate([a, np.zeros(3)])
    block = np.linalg.inv(covariance[:2, :2])

    m, s = source.standard_normal(2), source.standard_normal(3)
    marginal = integrated_out(a + by_motion @ m + by_sensors @ s, by_sensors, prior, s, np.zeros(3, dtype=bool))
    places = source.standard_normal((20, 2))
    away = places - mean[:2]
    expected = -0.5 * np.einsum("ni,ij,nj->n", away, block, away)
    found = marginal((places - m) @ by_motion.T)
    assert found - found[0] == pytest.approx(expected - expected[0], rel=1e-9, abs=1e-9)


def test_an_unknown_that_the_fit_held_widens_the_answer_and_does_not_move_it():
    """By hand: residuals d = (m + h - 1, m - h + 1), h held at 0 with spread 1/p. The fit of m alone is 0 and pulls on h.

    The information about m is 2 whether h is there or not (its column is orthogonal), and with residuals (m + h, m) and
    p = 1 it is 2 - 1/2 = 3/2: one half is what h takes.
    """
    held = np.array([True])
    marginal = integrated_out(np.array([-1.0, 1.0]), np.array([[1.0], [-1.0]]), np.array([1.0]), np.zeros(1), held)
    m = np.array([[-0.5], [0.0], [0.5]])
    assert marginal(m @ np.array([[1.0, 1.0]])) == pytest.approx([-0.25, 0.0, -0.25])
    marginal = integrated_out(np.array([0.0, 0.0]), np.array([[1.0], [0.0]]), np.array([1.0]), np.zeros(1), held)
    assert marginal(m @ np.array([[1.0, 1.0]])) == pytest.approx([-0.5 * 1.5 * 0.25, 0.0, -0.5 * 1.5 * 0.25])


# --- the chain --------------------------------------------------------------------------------------------------------


def test_a_gaussian_comes_back():
    """Mean and covariance as they were put in, to four standard errors of so many effective draws."""
    mean, covariance = np.array([0.4, -0.3, 0.1]), np.array([[1.3, 0.5, 0.0], [0.5, 0.8, -0.2], [0.0, -0.2, 1.0]])
    precision = np.linalg.inv(covariance)
    said = []
    chain, acceptance = run_chain(
        lambda y: -0.5 * np.einsum("ni,ij,nj->n", y - mean, precision, y - mean), 3, progress=said.append
    )
    draws, error = chain.reshape(-1, 3), 1.0 / np.sqrt(effective(chain))
    assert draws.mean(axis=0) == pytest.approx(mean, abs=4.0 * error * 1.15)
    assert np.cov(draws.T) == pytest.approx(covariance, abs=4.0 * error * np.sqrt(2.0) * 1.3)
    assert 0.3 < acceptance < 1.0
    assert "effective draws" in said[-1]


def test_a_bound_is_kept():
    """exp(-y) for y >= 0: mean 1, 95 % below ln 20; walkers that would start below are drawn anew."""
    chain, _ = run_chain(lambda y: np.where(y[:, 0] >= 0.0, -y[:, 0], -np.inf) - 0.5 * y[:, 1] ** 2, 2)
    assert chain[..., 0].min() >= 0.0
    error = 1.0 / np.sqrt(effective(chain))
    assert chain[..., 0].mean() == pytest.approx(1.0, abs=4.0 * error)
    # The error of a quantile: sqrt(.05 * .95) over the density there, .05.
    assert np.quantile(chain[..., 0], 0.95) == pytest.approx(np.log(20.0), abs=4.0 * error * 4.4)


def test_the_chain_is_the_same_each_time():
    chains = [run_chain(lambda y: -0.5 * (y**2).sum(axis=1), 2)[0] for _ in range(2)]
    np.testing.assert_array_equal(*chains)


def test_few_draws_and_a_distant_mean_are_told():
    source = np.random.default_rng(0)
    draws = {"c_long_per_n": 0.005 + 1e-4 * source.standard_normal(500)}
    good = Posterior(draws, {"c_long_per_n": 0.005}, 0.5, {"c_long_per_n": 5.0}, FEWEST_DRAWS, 50, 20, 24)
    assert good.doubts == ()
    doubtful = Posterior(draws, {"c_long_per_n": 0.0053}, 0.5, {"c_long_per_n": 20.0}, 60.0, 50, 20, 24)
    short, distant = doubtful.doubts
    assert "60 effective draws" in short
    assert "c_long_per_n lies -3" in distant
    assert short in doubtful.summary()


# --- a drive ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def log():
    """23 s of a P3AT with an IMU of .05 m/s² and no pose."""
    return drive(sensors=GOOD_IMU).readings


@pytest.fixture(scope="module")
def sampled(log):
    """With 400 effective draws: means to 5 % of a standard deviation, deviations to 4 %."""
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(posterior, "ENOUGH_DRAWS", 400.0)
        return calibrate(log, robot="p3at", posterior="emcee", progress=lines.append), lines


class TestADriveThatTellsEnough:
    """Speed steps and spins determine both constants to 5 %: nearly a Gaussian, so the sampler must agree with the covariance."""

    def test_draws_agree_with_the_gauss_approximation(self, sampled):
        fit, _ = sampled
        (found,) = fit.drives
        for k, name in enumerate(found.names):
            draws, std = fit.posterior[name], np.sqrt(found.covariance[k, k])
            assert draws.mean() == pytest.approx(found.values[k], abs=0.3 * std), name
            assert draws.std() == pytest.approx(std, rel=0.25), name
        # Only mass times constant is told: both go together as in the covariance.
        expected = found.covariance[0, 1] / np.sqrt(found.covariance[0, 0] * found.covariance[1, 1])
        drawn = np.corrcoef(fit.posterior[found.names[0]], fit.posterior[found.names[1]])[0, 1]
        assert drawn == pytest.approx(expected, abs=0.05)

    def test_intervals_come_from_the_draws_and_values_from_the_fit(self, sampled):
        fit, _ = sampled
        for name, c in fit.parameters.items():
            if c.value is None:
                continue
            draws = fit.posterior[name]
            assert c.value == fit.drives[0].values[fit.drives[0].names.index(name)]
            assert c.std == pytest.approx(draws.std())
            # Student's 1.895 (eight blocks) or 1.729 (twenty, where they confirm the noise) instead of 1.645 to either side.
            low, high = np.quantile(draws, [0.05, 0.95])
            widened = (1.729 if fit.drives[0].inflation <= 1.0 else 1.895) / 1.645
            assert c.interval_90 == pytest.approx([c.value + widened * (q - c.value) for q in (low, high)], rel=1e-3)
        np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance.array)), [d.std(ddof=1) for d in fit.posterior.values()])
        product = fit.posterior["mass_kg"] * fit.posterior["c_long_per_n"]
        assert fit.combinations["mass*c_long"].std == pytest.approx(product.std())

    def test_the_chain_is_told(self, sampled):
        fit, lines = sampled
        (found,) = fit.drives
        assert found.posterior.effective_draws > FEWEST_DRAWS
        assert found.posterior.doubts == ()
        assert {"c_long_per_n", "c_lat_per_n", "mass_kg", "centre_of_mass_x_m"} <= set(found.posterior.draws)
        assert not [name for name in found.posterior.draws if "bias" in name or "relaxation" in name]
        assert any("sampling the posterior" in line for line in lines)
        document = fit.to_document()["drives"][0]["posterior"]
        assert document["effective_draws"] == found.posterior.effective_draws
        quantiles = document["unknowns"]["c_long_per_n"]["quantiles"]
        assert quantiles["0.05"] < quantiles["0.5"] < quantiles["0.95"]


# --- what it refuses --------------------------------------------------------------------------------------------------


def test_without_emcee_a_sentence_says_what_to_install(log, monkeypatch):
    monkeypatch.setitem(sys.modules, "emcee", None)
    with pytest.raises(ParameterError, match=r"pip install 'slipfit\[posterior\]'"):
        calibrate(log, robot="p3at", posterior="emcee")


def test_several_logs_are_refused(log):
    with pytest.raises(ParameterError, match="takes one log, and 2 were given"):
        calibrate(log, log, robot="p3at", posterior="emcee")


def test_other_names_are_refused(log):
    with pytest.raises(ParameterError, match="did you mean 'emcee'"):
        calibrate(log, robot="p3at", posterior="emce")


def test_emcee_is_imported_only_when_asked_for():
    script = "import sys, slipfit.calibration, slipfit.calibration.posterior; sys.exit('emcee' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=HANG_S).returncode == 0
