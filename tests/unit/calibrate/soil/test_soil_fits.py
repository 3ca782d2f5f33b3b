"""Soils from tests: constants that tables were made with come back, what tables cannot tell is said, bad tables are refused."""

import math

import numpy as np
import pytest

from slipfit.calibrate.soil import (
    PlateColumns,
    ShearColumns,
    SoilFit,
    WheelData,
    fit_plates,
    fit_shear,
    fit_wheel,
    read_plates,
    read_shear,
    soil_from_cone,
)
from slipfit.contact.soil import INFO, wheel_on_soil
from slipfit.errors import FitError, LogError, ParameterError
from slipfit.library import find_ground

K_C, K_PHI, N = 5270.0, 1515040.0, 0.7  # sandy loam of the table
C_PA, PHI, K_M = 1720.0, math.radians(29.0), 0.012
PLATE_MAP = PlateColumns(test="run", sinkage="z", pressure="p", diameter="d")  # type: ignore[call-arg]
SHEAR_MAP = ShearColumns(test="run", displacement="j", shear="tau", normal="p")  # type: ignore[call-arg]


def plate_table(path, diameters=(0.1, 0.2, 0.3), *, seed=1, scatter=0.05, tests=3):
    """Bekker's formula written out; each test's bed is as strong as chance has it, rows have 0.2 % noise."""
    draw, lines = np.random.default_rng(seed), ["run,z,p,d"]
    for diameter in diameters:
        for test in range(tests):
            z = np.linspace(0.001, 0.05, 40)
            p = (1.0 + scatter * draw.standard_normal()) * (K_C / (0.5 * diameter) + K_PHI) * z**N
            p = p + 0.002 * p.max() * draw.standard_normal(len(z))
            lines += [f"{diameter}-{test},{a:.6g},{b:.8g},{diameter}" for a, b in zip(z, p, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def shear_table(path, normals=(5e3, 15e3, 30e3), *, scatter=0.02):
    """Janosi's formula written out."""
    draw, lines = np.random.default_rng(2), ["run,j,tau,p"]
    for normal in normals:
        for test in range(3):
            j = np.linspace(0.0, 0.06, 30)
            tau = (1.0 + scatter * draw.standard_normal()) * (C_PA + normal * math.tan(PHI)) * (1.0 - np.exp(-j / K_M))
            lines += [f"{normal}-{test},{a:.6g},{b:.8g},{normal}" for a, b in zip(j, tau, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


class TestPlates:
    def test_exact_tables_give_exact_constants(self, tmp_path):
        """Without scatter least squares end at the truth; 0.2 % noise on rows leaves a few per mille of n."""
        fit = fit_plates(read_plates(plate_table(tmp_path / "p.csv", scatter=0.0), PLATE_MAP))
        assert fit.values["n"] == pytest.approx(N, rel=0.005)
        assert fit.values["k_phi"] == pytest.approx(K_PHI, rel=0.03)
        assert fit.rank == 3

    def test_intervals_hold_the_truth_about_nine_times_in_ten(self, tmp_path):
        """40 tables; 28 of 40 or fewer would come up once in some thousand if 90 % of intervals hold the truth."""
        hits = 0
        for seed in range(40):
            fit = fit_plates(read_plates(plate_table(tmp_path / "p.csv", seed=seed), PLATE_MAP))
            told = fit.parameters["k_phi"]
            hits += told.interval_90 is not None and told.interval_90[0] <= K_PHI <= told.interval_90[1]
        assert hits > 28

    def test_one_diameter_tells_one_combination(self, tmp_path):
        """k_c/b + k_phi at b = 50 mm is 5270/0.05 + 1515040 = 1620440."""
        fit = fit_plates(read_plates(plate_table(tmp_path / "p.csv", diameters=(0.1,), scatter=0.01), PLATE_MAP))
        assert fit.rank == 2
        assert fit.parameters["k_c"].value is None
        assert fit.parameters["k_phi"].value is None
        (combination,) = fit.combinations.values()
        assert combination.interval_90[0] <= 1620440.0 <= combination.interval_90[1]
        assert any("cannot be told apart" in finding for finding in fit.findings)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda text: text.replace("run,z,p,d", "run,z,q,d"), "no column 'p'"),
            (lambda text: "\n".join(text.splitlines()[:4]) + "\n", "3 rows with sinkage"),
            (lambda text: _scaled(text, 2, 1e-3), "if it is in kPa, a factor of 1000"),
            (lambda text: _scaled(text, 1, 1e3), "if it is in millimetres"),
            (lambda text: _scaled(text, 1, -1.0), "write scale: -1"),
            (lambda text: _scaled(text, 1, math.nan), "every row has an empty cell or NaN"),
        ],
    )
    def test_bad_tables_are_refused_with_a_sentence(self, tmp_path, change, words):
        path = plate_table(tmp_path / "p.csv")
        path.write_text(change(path.read_text()))
        with pytest.raises((LogError, FitError), match=words):
            fit_plates(read_plates(path, PLATE_MAP))


def _scaled(text, column, factor):
    head, *rows = text.splitlines()
    cells = [row.split(",") for row in rows]
    for row in cells:
        row[column] = str(float(row[column]) * factor)
    return "\n".join([head, *(",".join(row) for row in cells)]) + "\n"


class TestShear:
    def test_constants_come_back(self, tmp_path):
        """2 % scatter between nine tests: cohesion is a small part of the strength, so only its interval must hold the truth."""
        fit = fit_shear(read_shear(shear_table(tmp_path / "s.csv"), SHEAR_MAP))
        for name, truth in (("cohesion_pa", C_PA), ("friction_angle_rad", PHI), ("shear_modulus_m", K_M)):
            low, high = fit.parameters[name].interval_90
            assert low <= truth <= high, name
        assert fit.values["friction_angle_rad"] == pytest.approx(PHI, rel=0.05)

    def test_one_normal_stress_tells_strength_and_modulus(self, tmp_path):
        """c + p tan(phi) = 1720 + 15000 tan 29 deg = 10034.6 Pa (SPEC 5, erratum 7: rank 2)."""
        fit = fit_shear(read_shear(shear_table(tmp_path / "s.csv", normals=(15e3,), scatter=0.0), SHEAR_MAP))
        assert fit.rank == 2
        assert fit.parameters["cohesion_pa"].value is None
        (strength,) = fit.combinations.values()
        assert strength.value == pytest.approx(10034.6, rel=1e-3)
        assert fit.parameters["shear_modulus_m"].value == pytest.approx(K_M, rel=1e-3)


def made_wheel(soil, noise=0.0):
    draw = np.random.default_rng(5)
    slip = np.tile([-0.8, -0.5, -0.2, 0.0, 0.15, 0.3, 0.5, 0.7, 0.9], 2)
    found = wheel_on_soil(INFO.model(soil), radius_m=0.1, width_m=0.08, slip=slip, load_n=50.0)
    pull = found.pull_n + 50.0 * noise * draw.standard_normal(len(slip))
    depth = found.sinkage_m + 0.1 * noise * draw.standard_normal(len(slip))
    load, repeat = np.full(len(slip), 50.0), np.repeat([0, 1], 9)
    return WheelData("made", "0" * 64, 0.1, 0.08, 0.0, slip, load, pull, depth, repeat, None)


def test_wheel_constants_come_back():
    """A wheel made with Lyasko's model, 0.5 % noise: slip-sinkage is told to a few hundredths."""
    ground = find_ground("dry_sand")
    truth = ground.values() | {"slip_sinkage": 0.6, "skid_sinkage": 0.4, "shear_modulus_m": 0.015}
    fit = fit_wheel(made_wheel(truth, noise=0.005), ground, hold=["friction_angle_rad"], models=["lyasko", "none"])
    assert fit.values["slip_sinkage"] == pytest.approx(0.6, abs=0.06)
    assert fit.values["skid_sinkage"] == pytest.approx(0.4, abs=0.06)
    assert fit.errors["pull_rmse_over_load"] < 0.01
    assert {one["model"] for one in fit.held_out} == {"lyasko", "none"}


def test_fits_save_load_and_become_grounds(tmp_path):
    fit = fit_plates(read_plates(plate_table(tmp_path / "p.csv"), PLATE_MAP))
    fit.save(tmp_path / "fit.json")
    again = SoilFit.load(tmp_path / "fit.json")
    assert again.to_document() == fit.to_document()
    assert fit.ground("mine", find_ground("dry_sand")).values()["n"] == fit.values["n"]
    with pytest.raises(ParameterError, match="name a soil to take them from"):
        fit.ground("mine")


class TestCone:
    def test_clay_has_an_eightieth_of_a_thousand(self):
        """CI = 12.5 c: 400 kPa are 32 kPa of cohesion, with a factor of two to both sides."""
        told = soil_from_cone(4e5, "clay").parameters["cohesion_pa"]
        assert told.value == pytest.approx(32e3)
        assert told.interval_90 == pytest.approx((16e3, 64e3))

    @pytest.mark.parametrize("kind", ["sand", "loam", "clay", "snow"])
    def test_every_kind_becomes_a_ground(self, kind):
        assert soil_from_cone(3e5, kind).ground("guess").law == "soil"

    def test_kilopascals_are_found_out(self):
        with pytest.raises(ParameterError, match="if it is in kPa, the factor is 1000: write 400000"):
            soil_from_cone(400.0, "clay")
        with pytest.raises(ParameterError, match="no kind of soil 'peat'"):
            soil_from_cone(4e5, "peat")
