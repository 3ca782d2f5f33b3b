"""A rigid wheel on soil: its integrals against adaptive quadrature written down anew, and its limits."""

from math import hypot

import numpy as np
import pytest
from scipy.integrate import quad

from slipfit.contact.soil import INFO, Place, Rim, fresh, soil, steady_wheel, wheel_on_soil
from slipfit.errors import ParameterError
from slipfit.library import find_ground, ground_names
from soils import DRY_SAND as SAND

RADIUS_M, WIDTH_M = 0.1, 0.08
WHEEL = {"radius_m": RADIUS_M, "width_m": WIDTH_M}


def by_quadrature(n, sinkage, slip, slip_angle, c_1=0.4, c_2=0.2, c_3=0.2):
    """(N, DP, F_y, T) of the module's stresses for SAND with another n, by scipy's adaptive rule on each smooth piece."""
    k, tan_phi, radius = 990.0 / WIDTH_M + 1528430.0, np.tan(0.488692), RADIUS_M
    loose = ((1.0 + max(slip, 0.0)) / (1.0 - 0.5 * max(slip, 0.0))) ** -n
    front = np.arccos(1.0 - sinkage / radius)
    middle, back = (c_1 + c_2 * abs(slip)) * front, -c_3 * front
    turning, travelling = (1.0, 1.0 - slip) if slip >= 0.0 else (1.0 + slip, 1.0)
    aside = travelling * np.tan(slip_angle)

    def sigma(t):
        t = t if t >= middle else front - (t - back) / (middle - back) * (front - middle)
        return loose * k * max(0.0, radius * (np.cos(t) - np.cos(front))) ** n

    def tau(t):
        jx = radius * (turning * (front - t) - travelling * (np.sin(front) - np.sin(t)))
        jy = -radius * aside * (front - t)
        j = max(hypot(jx, jy), 1e-300)
        held = (1040.0 + sigma(t) * tan_phi) * -np.expm1(-j / 0.012) / j
        return held * jx, held * jy

    def wall(t):
        """Soil beside the wheel: D_1 (c h + D_2 gamma h^2 / 2) with X = 45 deg - phi / 2."""
        x = np.pi / 4 - 0.488692 / 2
        h = max(0.0, sinkage - radius * (1.0 - np.cos(t)))
        d_1, d_2 = 1 / np.tan(x) + np.tan(x + 0.488692), 1 / np.tan(x) + tan_phi / np.tan(x) ** 2
        return d_1 * (1040.0 * h + d_2 * 1600.0 * 9.81 * h * h / 2) * radius * np.cos(t)

    def over_rim(f):
        return sum(quad(f, a, b, epsabs=0.0, epsrel=1e-10, limit=300)[0] for a, b in ((back, middle), (middle, front)))

    area, longest = radius * WIDTH_M, radius * abs(aside) * (front - back)
    beside = -np.sign(aside) * over_rim(wall) * (1.0 - np.exp(-longest / 0.012)) if aside else 0.0
    return (
        area * over_rim(lambda t: sigma(t) * np.cos(t) + tau(t)[0] * np.sin(t)),
        area * over_rim(lambda t: tau(t)[0] * np.cos(t) - sigma(t) * np.sin(t)),
        area * (over_rim(lambda t: tau(t)[1]) if aside else 0.0) + beside,
        radius * area * over_rim(lambda t: tau(t)[0]),
    )


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@pytest.mark.parametrize("n", [0.13, 0.7, 1.1, 1.6])
@pytest.mark.parametrize(
    ("slip", "angle"), [(0.05, 0.0), (0.2, 0.0), (0.8, 0.0), (0.2, 0.3), (0.0, -0.1), (-0.1, 0.0), (-0.3, 0.2)]
)
@pytest.mark.parametrize("sinkage", [0.003, 0.03, 0.06])
def test_forces_are_those_of_the_stresses(n, slip, angle, sinkage):
    """Independent quadrature of the same stresses, to 1e-6 of the load (torque: of load times radius). Where shear turns round
    within the rim, of a braked wheel, a few 1e-6 remain: there tau has a kink in its curvature. Likewise beyond half a radius."""
    tolerated = 1e-6 if slip >= 0.0 and sinkage <= 0.5 * RADIUS_M else 1e-5
    load, pull, lateral, torque = by_quadrature(n, sinkage, slip, angle)
    ground = soil(**SAND | {"n": n}, exit_share=0.2)
    found = steady_wheel(ground, Rim(RADIUS_M, WIDTH_M), fresh(0.0), sinkage, slip, np.tan(angle))
    for ours, theirs, scale in (
        (found.load, load, 1.0),
        (found.pull, pull, 1.0),
        (found.lateral, lateral, 1.0),
        (found.torque, torque, RADIUS_M),
    ):
        assert ours == pytest.approx(theirs, abs=tolerated * scale * load)


def test_many_wheels_are_the_one_wheel():
    """The compiled loop gives what plain Python does, for a given sinkage and for the load found there."""
    ground, slips = soil(**SAND), np.array([-0.3, 0.0, 0.2, 0.7])
    many = wheel_on_soil(ground, slip=slips, sinkage_m=0.02, slip_angle_rad=0.1, **WHEEL)
    for k, slip in enumerate(slips):
        one = steady_wheel(ground, Rim(RADIUS_M, WIDTH_M), fresh(0.0), 0.02, slip, np.tan(0.1))
        assert [many.load_n[k], many.pull_n[k], many.lateral_n[k], many.torque_nm[k]] == pytest.approx(list(one), rel=1e-12)
    back = wheel_on_soil(ground, slip=slips, load_n=many.load_n, slip_angle_rad=0.1, **WHEEL)
    assert back.sinkage_m == pytest.approx(np.full(4, 0.02), rel=1e-9)


def test_hard_soil_tends_to_the_rigid_wheel():
    """The stiffer the soil, the less it sinks and resists; at large slip the pull tends to Coulomb's, N tan(phi)."""
    before = (np.inf, np.inf)
    for k_phi in (1e6, 1e8, 1e10, 1e12):
        ground = INFO.model(SAND | {"k_phi": k_phi, "cohesion_pa": 0.0, "k_c": 0.0, "shear_modulus_m": 1e-6, "slip_sinkage": 0.0})
        found = wheel_on_soil(ground, slip=0.9, load_n=50.0, **WHEEL)
        missing = np.tan(0.488692) - float(found.pull_n) / 50.0
        assert 0.0 < float(found.sinkage_m) < before[0]
        assert abs(missing) < before[1]
        before = (float(found.sinkage_m), abs(missing))
    assert before[0] < 1e-5
    assert before[1] < 0.03 * np.tan(0.488692)
    assert float(found.torque_nm) == pytest.approx(RADIUS_M * 50.0 * np.tan(0.488692), rel=0.03)


def test_zero_torque_is_the_towed_wheel():
    """A wheel without drive skids a little (i < 0) and must be towed: the work of towing is that of the stresses, and lies near
    Bekker's compaction resistance b k z^(n+1) / (n+1)."""
    ground, slips = soil(**SAND, slip_sinkage=0.0), np.linspace(-0.2, 0.0, 2001)
    found = wheel_on_soil(ground, slip=slips, load_n=50.0, **WHEEL)
    free = int(np.argmin(np.abs(found.torque_nm)))
    assert slips[free] < 0.0
    compaction = WIDTH_M * (990.0 / WIDTH_M + 1528430.0) * found.sinkage_m[free] ** 2.1 / 2.1
    assert -found.pull_n[free] == pytest.approx(compaction, rel=0.15)


def test_mirrored_slip_angles_give_mirrored_forces():
    ground = soil(**SAND)
    found = wheel_on_soil(ground, slip=0.2, load_n=50.0, slip_angle_rad=[0.2, -0.2], **WHEEL)
    assert found.lateral_n[0] == -found.lateral_n[1] < 0.0
    assert found.pull_n[0] == found.pull_n[1]


def test_the_resultant_never_exceeds_the_strength():
    """Ishigami's independent axes would give more than c A + N tan(phi) in all directions at once: without bulldozing (no weight,
    no cohesion) the resultant around the rim stays below the normal stress times tan(phi)."""
    ground = INFO.model(SAND | {"cohesion_pa": 0.0, "density_kgpm3": 0.0})
    found = wheel_on_soil(ground, slip=0.9, sinkage_m=0.03, slip_angle_rad=1.3, **WHEEL)
    normal = wheel_on_soil(soil(**SAND | {"cohesion_pa": 0.0, "friction_angle_rad": 0.0}), slip=0.9, sinkage_m=0.03, **WHEEL)
    around = np.hypot(found.torque_nm / RADIUS_M, found.lateral_n)
    assert around <= 1.1 * float(normal.load_n) * np.tan(0.488692)


def test_slip_digs_a_wheel_in():
    """Lyasko and Ding both sink deeper with slip; without either the sinkage hardly changes."""
    slips = [0.0, 0.3, 0.6]
    for more in ({}, {"slip_sinkage": 0.0, "exponent_per_slip": 0.5}):
        z = wheel_on_soil(soil(**SAND, **more), slip=slips, load_n=50.0, **WHEEL).sinkage_m
        assert z[2] > 1.2 * z[1] > 1.2 * z[0]
    z = wheel_on_soil(soil(**SAND, slip_sinkage=0.0), slip=slips, load_n=50.0, **WHEEL).sinkage_m
    assert z[2] < 1.1 * z[0]


def test_the_second_pass_rolls_easier():
    """In the rut of the first pass the same wheel stands deeper yet, and what it still compacts resists less than half."""
    ground = soil(**SAND)
    first = wheel_on_soil(ground, slip=0.1, load_n=50.0, **WHEEL)
    second = wheel_on_soil(ground, slip=0.1, load_n=50.0, rut_m=first.sinkage_m, rut_slip=0.1, **WHEEL)
    assert float(second.sinkage_m) > float(first.sinkage_m)
    resisted = [float(found.torque_nm / RADIUS_M - found.pull_n) for found in (first, second)]
    assert 0.0 < resisted[1] < 0.5 * resisted[0]


def test_grousers_enlarge_the_wheel():
    ground = soil(**SAND)
    plain = wheel_on_soil(ground, slip=0.3, load_n=50.0, radius_m=0.11, width_m=WIDTH_M)
    with_grousers = wheel_on_soil(ground, slip=0.3, load_n=50.0, grouser_m=0.01, **WHEEL)
    assert with_grousers.pull_n == plain.pull_n


def test_a_thin_layer_carries_any_load():
    ground = soil(**SAND, layer_m=0.01)
    found = wheel_on_soil(ground, slip=0.1, load_n=2000.0, **WHEEL)
    assert 0.01 < float(found.sinkage_m) < 0.0115


def test_a_locked_wheel_drags():
    """Shear is fully turned round: the pull is the strength backwards, and the resistance besides."""
    found = steady_wheel(soil(**SAND), Rim(RADIUS_M, WIDTH_M), Place(0.0, 0.0), 0.01, -1.0, 0.0)
    assert found.pull < -0.5 * found.load
    assert found.torque < 0.0


def test_either_sinkage_or_load():
    with pytest.raises(ParameterError, match="either sinkage_m or load_n"):
        wheel_on_soil(soil(**SAND), slip=0.0, **WHEEL)


SOILS = [name for name in ground_names() if find_ground(name).law == INFO.name]


@pytest.mark.parametrize("name", SOILS)
def test_the_load_found_is_the_load_asked_for(name):
    """On untouched soil and in the rut of a lighter wheel, for all slips: 1e-6 of the load where the soil can carry it (as deep
    as a wheel may be it carries more), nothing where it cannot. Steps by a power alone go to and fro in ruts."""
    ground = soil(**find_ground(name).values())
    slips, radii, ratios = np.linspace(-1.0, 1.0, 81), np.array([0.0635, 0.165])[:, None], np.array([1.0, 1.1, 1.3, 1.5])
    load = np.where(radii < 0.1, 4.1, 60.0)
    size = {"radius_m": radii, "width_m": np.where(radii < 0.1, 0.06, 0.114), "slip": slips}
    first = wheel_on_soil(ground, load_n=load, **size)
    rut = {"rut_m": first.sinkage_m[..., None], "rut_slip": slips[:, None], "slip": slips[:, None]}
    rut |= {key: size[key][..., None] for key in ("radius_m", "width_m")}
    asked = load[..., None] * ratios * np.ones((1, 81, 1))
    second = wheel_on_soil(ground, load_n=asked, **rut)
    for found, wanted, where in ((first, load * np.ones(81), size), (second, asked, rut)):
        deepest = wheel_on_soil(ground, sinkage_m=0.98 * where["radius_m"], **where).load_n
        carried = np.isfinite(found.sinkage_m)
        assert found.load_n[carried] == pytest.approx(wanted[carried], rel=1e-6)
        assert carried[deepest >= wanted].all()
    assert np.isfinite(second.load_n).any()


def test_loads_that_are_not_carried():
    """Before the axle touches the soil carries about 250 N here: beyond, nothing is said, or what it is when clipped."""
    loads = np.array([50.0, 5000.0])
    found = wheel_on_soil(soil(**SAND), slip=0.5, load_n=loads, **WHEEL)
    assert np.isfinite([column[0] for column in found]).all()
    assert np.isnan([column[1] for column in found]).all()
    kept = wheel_on_soil(soil(**SAND), slip=0.5, load_n=loads, keep_stuck=True, **WHEEL)
    assert kept.sinkage_m[1] == pytest.approx(0.98 * RADIUS_M, rel=1e-9)
    assert kept.load_n[1] < 1000.0


def test_no_number_in_no_number_out():
    nan, ground = np.nan, soil(**SAND | {"n": [1.1, np.nan]})
    assert np.isnan(wheel_on_soil(ground, slip=0.1, load_n=50.0, **WHEEL).pull_n).tolist() == [False, True]
    ground = soil(**SAND)
    for state in ({"slip": [0.1, nan]}, {"rut_m": [0.01, nan]}, {"slip_angle_rad": [0.0, nan]}, {"width_m": [0.1, nan]}):
        for given in ({"load_n": 50.0}, {"sinkage_m": 0.01}):
            found = wheel_on_soil(ground, **{"slip": 0.1} | WHEEL | given | state)
            assert all(np.isnan(column).tolist() == [False, True] for column in found)
    for given in ({"load_n": [50.0, nan]}, {"sinkage_m": [0.01, nan]}):
        assert np.isnan(wheel_on_soil(ground, slip=0.1, **WHEEL, **given).sinkage_m).tolist() == [False, True]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"radius_m": 0.0}, "radius_m = 0; expected a finite number above 0"),
        ({"width_m": -0.1}, "width_m = -0.1; expected"),
        ({"load_n": np.inf}, "load_n = inf; expected"),
        ({"load_n": [50.0, -50.0]}, "load_n = -50; expected"),
        ({"rut_m": -0.01}, "rut_m = -0.01; expected a finite number, 0 or more"),
        ({"slip": [0.1, 20.0]}, "slip = 20; expected a slip ratio from -1"),
    ],
)
def test_wheels_that_cannot_be(wrong, sentence):
    with pytest.raises(ParameterError, match=sentence):
        wheel_on_soil(soil(**SAND), **{"slip": 0.1, "load_n": 50.0} | WHEEL | wrong)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"n": 0.0}, "n = 0; expected 0.01 to 3"),
        ({"n": [1.0, -1.0]}, "n = -1; expected"),
        ({"friction_angle_rad": 28.0}, r"friction_angle_rad = 28; expected 0 to 1.0472 \(60 degrees\)"),
        ({"shear_modulus_m": 12.0}, "shear_modulus_m = 12; expected"),
        ({"cohesion_pa": 1.04}, "in kPa it would be 1040 Pa"),
        ({"k_phi": 1528.43}, "multiply k_c and k_phi by 1000"),
        ({"rebound": 0.0}, "rebound = 0; expected"),
        ({"gravity_mps2": -9.81}, "gravity_mps2 = -9.81; expected"),
    ],
)
def test_soils_that_cannot_be(wrong, sentence):
    with pytest.raises(ParameterError, match=sentence):
        soil(**SAND | wrong)
