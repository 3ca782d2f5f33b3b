"""Several drives of one robot: their own errors average away, those of the robot's numbers do not."""

import numpy as np
import pytest

from slipfit.calibration.pool import pooled_fit
from slipfit.library import find_robot
from unit.report.fits import example_drive

C_LONG, MASS_KG = 0.005, 20.0


def a_drive(value: float, *, own: float, of_mass: float):
    """c = k / m: relative spreads of the drive itself and of the mass, which pulls c the other way."""
    names, values = ("c_long_per_n", "c_lat_per_n", "mass_kg"), np.array([value, 10.0 * value, MASS_KG])
    own_covariance = np.diag((own * values) ** 2 * [1.0, 1.0, 0.0])
    pull = of_mass * values * [-1.0, -1.0, 1.0]
    return example_drive(
        names=names, values=values, own_covariance=own_covariance, covariance=own_covariance + np.outer(pull, pull)
    )


def pooled(*drives):
    return pooled_fit(drives, find_robot("p3at"), "floor", "wheel_slip", 9.81)


@pytest.mark.parametrize("count", [2, 4, 9])
def test_the_masss_share_stays(count):
    """var = own² / n + of_mass²; drives that agree exactly have no variance between them."""
    fit = pooled(*(a_drive(C_LONG, own=0.02, of_mass=0.01) for _ in range(count)))
    assert fit["c_long"].value == pytest.approx(C_LONG)
    assert fit["c_long"].std / C_LONG == pytest.approx(np.sqrt(0.02**2 / count + 0.01**2))


def test_the_product_with_the_mass_is_told_more_precisely():
    """m c does not depend on the mass: of four drives with 2 % each, 1 % is left."""
    fit = pooled(*(a_drive(C_LONG, own=0.02, of_mass=0.05) for _ in range(4)))
    product = fit.combinations["mass*c_long"]
    assert product.std / product.value == pytest.approx(0.01, rel=1e-3)


def test_drives_that_differ_by_more_than_they_say_widen_the_answer():
    """Two drives 10 % apart with 1 % each: variance between them 2 (5 %)² - (1 %)²; of the mean half of that and of 1 %."""
    fit = pooled(*(a_drive(C_LONG * (1.0 + off), own=0.01 / (1.0 + off), of_mass=0.0) for off in (-0.05, 0.05)))
    assert fit["c_long"].std / C_LONG == pytest.approx(0.05, rel=1e-6)
    assert fit.repeatability["c_long_per_n"] == pytest.approx(0.05 * np.sqrt(2.0))
