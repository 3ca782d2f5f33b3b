"""Soils from tests: constants that tables were made with come back, what tables cannot tell is said, bad tables are refused."""

import math
from dataclasses import replace

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
from slipfit.report.soil_figure import soil_axes

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
            (lambda text: _scaled(text, 2, -1.0), "pressure is negative.*write scale: -1"),
            (lambda text: _scaled(text, 3, 0.0), "diameter of 0 m; expected 0.005 to 2 m"),
            (lambda text: _scaled(text, 3, 1e3), "if it is in millimetres, a factor of 1000"),
            (lambda text: _scaled(text, 3, 1e-3), "the map says mm, a factor of 1000"),
            (lambda text: _scaled(text, 1, 1e-3), "take the unit away, a factor of 1000"),
            (lambda text: _falling(text), "the pressure falls with depth"),
        ],
    )
    def test_bad_tables_are_refused_with_a_sentence(self, tmp_path, change, words):
        path = plate_table(tmp_path / "p.csv")
        path.write_text(change(path.read_text()))
        with pytest.raises((LogError, FitError), match=words):
            fit_plates(read_plates(path, PLATE_MAP))


def _falling(text):
    head, *rows = text.splitlines()
    cells = [row.split(",") for row in rows]
    return "\n".join([head, *(f"{run},{z},{5000.0 - 5e4 * float(z)},{d}" for run, z, _, d in cells)]) + "\n"


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

    def test_shear_in_another_unit_is_refused(self, tmp_path):
        path = shear_table(tmp_path / "s.csv")
        path.write_text(_scaled(path.read_text(), 2, 1e-3))
        with pytest.raises(LogError, match="kPa and Pa are a factor of 1000 apart"):
            read_shear(path, SHEAR_MAP)

    def test_peaks_become_a_ground_with_doubts(self, tmp_path):
        """tau = s (j / 10 mm) exp(1 - j / 10 mm) falls to nearly nothing: K stays in the law's range, the poor fit is said."""
        lines = ["run,j,tau,p"]
        for normal in (5e3, 1e4, 2e4):
            for j in np.linspace(0.0, 0.06, 31):
                lines.append(f"{normal},{j},{(1e3 + 0.55 * normal) * 100.0 * j * math.exp(1.0 - 100.0 * j)},{normal}")
        (tmp_path / "s.csv").write_text("\n".join(lines) + "\n")
        fit = fit_shear(read_shear(tmp_path / "s.csv", SHEAR_MAP))
        assert fit.ground("peak", find_ground("dry_sand")).values()["shear_modulus_m"] >= 1e-4
        assert any("rmse over largest shear is 22 %" in finding for finding in fit.findings)
        assert np.abs(fit.correlation).max() <= 1.0 + 1e-9


def made_wheel(soil, noise=0.0, slips=(-0.8, -0.5, -0.2, 0.0, 0.15, 0.3, 0.5, 0.7, 0.9)):
    draw = np.random.default_rng(5)
    slip = np.tile(slips, 2)
    found = wheel_on_soil(INFO.model(soil), radius_m=0.1, width_m=0.08, slip=slip, load_n=50.0)
    pull = found.pull_n + 50.0 * noise * draw.standard_normal(len(slip))
    depth = found.sinkage_m + 0.1 * noise * draw.standard_normal(len(slip))
    load, repeat = np.full(len(slip), 50.0), np.repeat([0, 1], len(slips))
    return WheelData("made", "0" * 64, 0.1, 0.08, 0.0, slip, load, pull, depth, repeat, None)


def test_wheel_constants_come_back():
    """A wheel made with Lyasko's model, 0.5 % noise: slip-sinkage is told to a few hundredths."""
    ground = find_ground("dry_sand")
    truth = ground.values() | {"slip_sinkage": 0.6, "shear_modulus_m": 0.015}
    fit = fit_wheel(made_wheel(truth, noise=0.005), ground, hold=["friction_angle_rad"], models=["lyasko", "none"])
    assert fit.values["slip_sinkage"] == pytest.approx(0.6, abs=0.06)
    assert fit.errors["pull_rmse_over_load"] < 0.01
    assert {one["model"] for one in fit.held_out} == {"lyasko", "none"}


def test_what_the_wheel_does_not_tell_stays_the_soils():
    """Spinning wheels alone, 5 % noise: strength is mobilised throughout, so that cohesion and angle trade against each other.
    The angle stays the table's, spread, source and all."""
    ground = find_ground("dry_sand")
    made = made_wheel(ground.values(), noise=0.05, slips=np.linspace(0.6, 0.9, 9))
    fit = fit_wheel(made, ground, models=["lyasko"])
    assert "friction_angle_rad" in fit.kept
    assert fit.ground("sand_3", ground).parameters["friction_angle_rad"] == ground.parameters["friction_angle_rad"]


def test_what_a_shear_test_measured_is_held():
    """The angle of a test stays with its spread; a printed table's spread holds nothing. Sought by name, it is fitted."""
    mapping = find_ground("dry_sand").to_mapping()
    mapping["parameters"]["friction_angle_rad"] = {"value": 0.505, "std": 0.0016, "source": "shear 7b8833dfb762"}
    ground = type(find_ground("dry_sand")).from_mapping(mapping, where="sand_2")
    made = made_wheel(ground.values() | {"slip_sinkage": 0.6}, noise=0.005)
    fit = fit_wheel(made, ground, models=["lyasko"])
    assert "friction_angle_rad" not in fit.parameters
    assert "cohesion_pa" in fit.parameters
    assert fit.ground("sand_3", ground).parameters["friction_angle_rad"].std == 0.0016
    assert any("held as dry_sand has it from its tests" in finding for finding in fit.findings)
    assert any("lyasko, as asked for" in finding for finding in fit.findings)
    assert "friction_angle_rad" in fit_wheel(made, ground, models=["lyasko"], seek=["friction_angle_rad"]).names


def test_next_to_no_cohesion_is_written_as_none(tmp_path):
    """The law refuses 5 Pa as a likely 5 kPa; a fit that ends there has found none."""
    fit = fit_shear(read_shear(shear_table(tmp_path / "s.csv"), SHEAR_MAP))
    dry = replace(fit, values=fit.values | {"cohesion_pa": 5.0})
    assert dry.ground("dry", find_ground("dry_sand")).values()["cohesion_pa"] == 0.0


def test_doubts_of_the_base_are_carried_on(tmp_path):
    base = find_ground("dry_sand").model_copy(
        update={"name": "sand_1", "about": "plates fit of p.csv", "notes": ["k_c is negative"]}
    )
    written = fit_shear(read_shear(shear_table(tmp_path / "s.csv"), SHEAR_MAP)).ground("sand_2", base)
    assert "of sand_1: k_c is negative" in written.notes
    assert not any("--" in note for note in written.notes)


def test_round_plates_are_named_by_their_diameter(tmp_path):
    """b of a round plate is its radius: a plate of 100 mm must not be read as one of 50 mm."""
    data = read_plates(plate_table(tmp_path / "p.csv"), PLATE_MAP)
    marks = soil_axes(fit_plates(data), data)[0].marks
    assert {one.name for one in marks} == {f"diameter {2e3 * width:.3g} mm" for width in data.widths_m}
    assert replace(data, is_round=(False,) * len(data.tests)).size_words(data.widths_m[0]).startswith("width ")


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

    def test_what_is_the_tables_is_said_and_holds_its_rows(self):
        """Both sands of the table have K = 12 mm, with a spread of their own."""
        told = soil_from_cone(3e5, "sand").parameters
        assert told["k_phi"].source == "cone index 300 kPa, sand"
        for name in ("n", "cohesion_pa", "friction_angle_rad", "shear_modulus_m"):
            assert told[name].source == "rows of the table: sand"
            rows = [find_ground(sand).parameters[name] for sand in ("dry_sand", "lete_sand")]
            assert all(told[name].interval_90[0] <= row.value <= told[name].interval_90[1] for row in rows)
            assert told[name].std >= 0.8 * min(row.std for row in rows)

    def test_kilopascals_are_found_out(self):
        with pytest.raises(ParameterError, match=r"400 Pa; expected 5000 to 1e\+07 Pa; if it is in kPa, write 400000"):
            soil_from_cone(400.0, "clay")
        with pytest.raises(ParameterError, match="no kind of soil 'peat'"):
            soil_from_cone(4e5, "peat")
