"""Document 004 (PreMoStat), its soil: reference numbers of the specification, section 5(b), and its errata 1 and 2."""

from math import exp, pi, tan

import pytest

from slipfit.contact.soil import (
    Bristles,
    Place,
    Plate,
    plate_normal,
    plate_shear,
    pressure_constant,
    sinkage,
    slip_sinkage_ratio,
    soil,
    virgin,
)
from slipfit.contact.touch import force
from slipfit.library import find_ground


def _soil(n, k_c_kn, k_phi_kn, c_kpa, phi_deg):
    """A row of the specification's table."""
    return soil(
        k_c=1e3 * k_c_kn, k_phi=1e3 * k_phi_kn, n=n, cohesion_pa=1e3 * c_kpa, friction_angle_rad=phi_deg * pi / 180.0,
        shear_modulus_m=0.012,
    )  # fmt: skip


DRY_SAND = _soil(1.1, 0.99, 1528.43, 1.04, 28.0)
LETE = _soil(0.79, 102.0, 5301.0, 1.3, 31.1)
UPLAND = _soil(1.10, 74.6, 2080.0, 3.3, 33.7)
HANAMOTO_WET = _soil(0.5, 0.77, 51.91, 5.17, 11.0)
SNOW_US_1 = _soil(1.6, 4.37, 196.72, 1.03, 19.7)
SNOW_US_2 = _soil(1.6, 2.49, 245.90, 0.62, 23.2)
SNOW_SWEDEN = _soil(1.44, 10.55, 66.08, 6.0, 20.7)


#: The specification's table: n, k_c and k_phi (kN), c (kPa), phi (degrees).
TABLE = {
    "dry_sand": (1.1, 0.99, 1528.43, 1.04, 28.0),
    "sandy_loam_lll_15": (0.7, 5.27, 1515.04, 1.72, 29.0),
    "sandy_loam_lll_22": (0.2, 2.56, 43.12, 1.38, 38.0),
    "sandy_loam_michigan_11": (0.9, 52.53, 1127.97, 4.83, 20.0),
    "sandy_loam_michigan_23": (0.4, 11.42, 808.96, 9.65, 35.0),
    "sandy_loam_hanamoto_26": (0.3, 2.79, 141.11, 13.79, 22.0),
    "sandy_loam_hanamoto_32": (0.5, 0.77, 51.91, 5.17, 11.0),
    "clayey_soil_thailand_38": (0.5, 13.19, 692.15, 4.14, 13.0),
    "clayey_soil_thailand_55": (0.7, 16.03, 1262.53, 2.07, 10.0),
    "heavy_clay_wes_25": (0.13, 12.70, 1555.95, 68.95, 34.0),
    "heavy_clay_wes_40": (0.11, 1.84, 103.27, 20.69, 6.0),
    "lean_clay_wes_22": (0.2, 16.43, 1724.69, 68.95, 20.0),
    "lean_clay_wes_32": (0.15, 1.52, 119.61, 13.79, 11.0),
    "lete_sand": (0.79, 102.0, 5301.0, 1.3, 31.1),
    "upland_sandy_loam": (1.10, 74.6, 2080.0, 3.3, 33.7),
    "rubicon_sandy_loam": (0.66, 6.9, 752.0, 3.7, 29.8),
    "north_gower_clayey_loam": (0.73, 41.6, 2471.0, 6.1, 26.6),
    "grenville_loam": (1.01, 0.06, 5880.0, 3.1, 29.8),
    "snow_us_1": (1.6, 4.37, 196.72, 1.03, 19.7),
    "snow_us_2": (1.6, 2.49, 245.90, 0.62, 23.2),
    "snow_sweden": (1.44, 10.55, 66.08, 6.0, 20.7),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_librarys_soils_are_the_tables(name):
    """Section 5(b), table 2.3 in SI, to 1e-9: files hold radians with twelve decimals."""
    n, k_c, k_phi, c, phi = TABLE[name]
    found = find_ground(name).values()
    names = ("n", "k_c", "k_phi", "cohesion_pa", "friction_angle_rad")
    expected = (n, 1e3 * k_c, 1e3 * k_phi, 1e3 * c, phi * pi / 180.0)
    assert [found[key] for key in names] == pytest.approx(expected, rel=1e-9)


def test_slip_sinkage_ratio_of_the_document():
    """5(b): 35.8 / 11.6 = 3.08621 belongs to i = .820339; K_ss(1) = 4."""
    assert slip_sinkage_ratio(0.820339) == pytest.approx(35.8 / 11.6, abs=1e-5)
    assert slip_sinkage_ratio(1.0) == 4.0
    assert slip_sinkage_ratio(0.0) == 1.0


@pytest.mark.parametrize(
    ("ground", "width_m", "pressure_kpa", "abs_kpa"),
    [(DRY_SAND, 0.05, 11.501, 1e-3), (DRY_SAND, 0.07, 11.459, 1e-3), (LETE, 0.07, 199.9, 0.05), (UPLAND, 0.07, 23.37, 1e-2)],
)
def test_pressures_at_the_documents_sinkage(ground, width_m, pressure_kpa, abs_kpa):
    """5(b): pressure for z_0 = 11.6 mm."""
    assert virgin(ground, pressure_constant(ground, width_m), 0.0, 0.0116) / 1e3 == pytest.approx(pressure_kpa, abs=abs_kpa)


@pytest.mark.parametrize(("load_n", "area_m2"), [(155.82, 0.01360), (311.64, 0.02720)])
def test_contact_area_that_sinks_as_far(load_n, area_m2):
    """5(b): area needed for 11.6 mm in dry sand, b = .07."""
    pressure_pa = virgin(DRY_SAND, pressure_constant(DRY_SAND, 0.07), 0.0, 0.0116)
    assert load_n / pressure_pa == pytest.approx(area_m2, abs=1e-5)


@pytest.mark.parametrize(("ground", "sinkage_mm"), [(DRY_SAND, 4.841), (HANAMOTO_WET, 4.852), (UPLAND, 2.533), (LETE, 0.092)])
def test_flat_rest(ground, sinkage_mm):
    """5(b): 311.64 N on two belts of .07 x .508 m are 4.382 kPa."""
    pressure_pa = 311.64 / (2 * 0.07 * 0.508)
    assert pressure_pa / 1e3 == pytest.approx(4.382, abs=1e-3)
    assert 1e3 * sinkage(ground, pressure_constant(ground, 0.07), 0.0, pressure_pa) == pytest.approx(sinkage_mm, abs=1e-3)


@pytest.mark.parametrize(("ground", "sinkage_mm"), [(SNOW_US_1, 78.1), (SNOW_US_2, 74.2), (SNOW_SWEDEN, 66.6)])
def test_flat_rest_in_snow(ground, sinkage_mm):
    """5(b): at the same pressure the snows sink by 67 to 78 mm; the tenths by hand, (4382 / (k_c / .07 + k_phi))^(1/n)."""
    assert 1e3 * sinkage(ground, pressure_constant(ground, 0.07), 0.0, 311.64 / (2 * 0.07 * 0.508)) == pytest.approx(
        sinkage_mm, abs=0.05
    )


def test_erratum_1_shear_grows_with_displacement():
    """Eq. 8 prints exp(-K / j): 1.000 at j = .1 K and .095 at 10 K, the wrong way round. Corrected: .0952, .6321, 1.000."""
    plate, load_n = Plate(0.01, 0.1, 0.0, 0.0), 50.0
    most = DRY_SAND.cohesion * 0.01 + load_n * tan(28.0 * pi / 180.0)
    for of_modulus, right in ((0.1, 0.0952), (1.0, 0.6321), (10.0, 1.000)):
        speed_mps = of_modulus * 0.012
        fx, _ = force(plate_shear(DRY_SAND, plate.area, Bristles(0.0, 0.0), load_n, speed_mps, 0.0, 1.0), speed_mps, 0.0)
        printed = 1.0 - exp(-1.0 / of_modulus)
        assert fx / most == pytest.approx(right, abs=1e-4)
        assert of_modulus == 1.0 or abs(fx / most - printed) > 0.5


def test_erratum_2_total_sinkage_has_the_exponent():
    """Eq. 11 prints K_ss^-n k z A without the exponent on z, and calls z static. Only the total sinkage to the power n, eq. 5,
    gives the load back at which a slipping plate came to rest."""
    plate, slip, static_m = Plate(0.0272, 0.07, 0.0, 0.0), 0.820339, 0.0116
    k = 1e3 * (0.99 / 0.07 + 1528.43)
    load_n = k * static_m**1.1 * plate.area
    total_m = (1.0 + slip) / (1.0 - 0.5 * slip) * static_m
    ours = plate_normal(DRY_SAND, plate, Place(0.0, 0.0), total_m, 0.0, slip, 1e-3).start
    assert ours == pytest.approx(load_n, rel=1e-9)
    for z in (static_m, total_m):
        printed = slip_sinkage_ratio(slip) ** -1.1 * k * z * plate.area
        assert abs(printed / load_n - 1.0) > 0.3
