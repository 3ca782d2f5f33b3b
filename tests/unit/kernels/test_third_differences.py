"""Curves of seven bands against dense matrices."""

import numpy as np
import pytest

from slipfit.kernels.third_differences import curve_through


@pytest.mark.parametrize("samples", [4, 5, 7, 60])
def test_curve_and_spread_are_those_of_dense_matrices(samples):
    """x = (I + D^T V^-1 D)^-1 y, and the variance of D x is D (...)^-1 D^T."""
    draw = np.random.default_rng(samples)
    y, variance = draw.standard_normal(samples), draw.uniform(0.01, 5.0, samples - 3)
    third = np.diff(np.eye(samples), n=3, axis=0)
    inverse = np.linalg.inv(np.eye(samples) + third.T @ np.diag(1.0 / variance) @ third)
    curve, spread = curve_through(y, variance)
    assert curve == pytest.approx(inverse @ y, abs=1e-12)
    assert spread == pytest.approx(np.diag(third @ inverse @ third.T), abs=1e-12)


def test_parabolas_are_left_alone():
    """Their third differences are zero, however small these are supposed to be."""
    t = np.linspace(0.0, 1.0, 50)
    curve, _ = curve_through(3.0 * t**2 - t + 0.5, np.full(47, 1e-4))
    assert curve == pytest.approx(3.0 * t**2 - t + 0.5, abs=1e-9)
