"""Soil under one flat element: pressure, slip-sinkage, shear, memory. Plain Python, no compiling."""

from math import exp, hypot

import pytest
from scipy.optimize import brentq

from slipfit.contact.soil import (
    Bristles,
    Place,
    Plate,
    bristles_after,
    load_of,
    mobilise,
    place_after,
    plate_normal,
    plate_shear,
    pressed,
    pressure_constant,
    sinkage,
    slip_sinkage_ratio,
    soil,
    virgin,
)
from slipfit.contact.touch import force
from soils import DRY_SAND

SAND = soil(**DRY_SAND)
PLATE = Plate(area=0.07 * 0.1, width=0.07, cleat_area=0.0, cleat_height=0.0)


def settled(ground, plate, load, slip, place=None, steps=1300, dt=0.002):
    """Depth and memory after a load has rested on a plate: no inertia, so that nothing overshoots."""
    depth, place = 0.0, place or Place(0.0, 0.0)
    rising = -0.01
    for _ in range(steps):
        normal = plate_normal(ground, plate, place, max(depth, 1e-9), rising, slip, dt)
        rising = (normal.start - load) / normal.per_rising if normal.per_rising else -0.01
        depth -= dt * rising
        place = place_after(plate, place, depth, slip, 1.0)
    return depth, place


@pytest.mark.parametrize(("name", "n"), [("sand", 1.1), ("loam", 0.7), ("snow", 1.6)])
@pytest.mark.parametrize("slip", [0.1, 0.4, 0.820339, 1.0])
def test_slip_deepens_a_loaded_element_by_the_ratio(name, n, slip):
    """Specification 5(a): z = K_ss z_0 at constant load; (1 + i) / (1 - i / 2) written out here."""
    ground = soil(**DRY_SAND | {"n": n}, damping_pa_s_per_m=8e3)
    still, _ = settled(ground, PLATE, 30.0, 0.0)
    dug, _ = settled(ground, PLATE, 30.0, slip)
    assert dug / still == pytest.approx((1.0 + slip) / (1.0 - 0.5 * slip), rel=1e-6)
    assert still == pytest.approx((30.0 / PLATE.area / (990.0 / 0.07 + 1528430.0)) ** (1.0 / n), rel=1e-6)


def test_braking_does_not_dig():
    """The specification's choice for i < 0."""
    assert slip_sinkage_ratio(-0.5) == 1.0
    assert slip_sinkage_ratio(1.0) == 4.0


def test_dings_exponent_grows_with_slip():
    """p = k z^(n + n1 i), solved for z by hand."""
    ground = soil(**DRY_SAND, slip_sinkage=0.0, exponent_per_slip=0.6)
    k = pressure_constant(ground, 0.1)
    assert sinkage(ground, k, 0.5, 8000.0) == pytest.approx((8000.0 / (9900.0 + 1528430.0)) ** (1.0 / 1.4), rel=1e-12)


@pytest.mark.parametrize("slip", [0.0, 0.3])
def test_sinkage_never_decreases_from_pass_to_pass(slip):
    """Passes of various loads over one place: what has been pressed stays so, but for the rebound."""
    ground, place, before = soil(**DRY_SAND, damping_pa_s_per_m=8e3), Place(0.0, 0.0), 0.0
    for load in (20.0, 35.0, 35.0, 10.0, 36.0, 80.0):
        _, place = settled(ground, PLATE, load, slip, place)
        assert place.deepest >= before
        before = place.deepest
    once, _ = settled(ground, PLATE, 80.0, slip)
    assert place.deepest == pytest.approx(once, rel=1e-6)  # the last load was the heaviest: it decides


def test_a_second_pass_of_the_same_load_runs_in_the_rut():
    """Reloaded along the rebound line, the same load comes to the same depth, from the bottom of the rut on."""
    ground = soil(**DRY_SAND, damping_pa_s_per_m=8e3)
    depth, place = settled(ground, PLATE, 30.0, 0.0)
    again, _ = settled(ground, PLATE, 30.0, 0.0, place)
    assert again == pytest.approx(depth, rel=1e-6)
    k = pressure_constant(ground, PLATE.width)
    bottom = (1.0 - ground.rebound) * depth
    assert pressed(ground, k, 0.0, bottom - 1e-9, depth).pressure == 0.0
    half = pressed(ground, k, 0.0, 0.5 * (bottom + depth), depth).pressure
    assert half == pytest.approx(0.5 * 30.0 / PLATE.area, rel=1e-6)


def test_a_rut_that_spinning_dug_stays_loose():
    """The place keeps the smallest K_ss^-n: after slip 0.6 a standing load sinks as far as with that slip."""
    ground = soil(**DRY_SAND, damping_pa_s_per_m=8e3)
    _, place = settled(ground, PLATE, 10.0, 0.6)
    later, _ = settled(ground, PLATE, 30.0, 0.0, place)
    fresh, _ = settled(ground, PLATE, 30.0, 0.0)
    assert later / fresh == pytest.approx(1.6 / 0.7, rel=1e-6)


def test_a_thin_layer_ends_on_its_base():
    """Snow of 5 mm on rock: ten times the load sinks hardly deeper than the layer."""
    ground = soil(**DRY_SAND, damping_pa_s_per_m=3e6, layer_m=0.005)
    depth, _ = settled(ground, PLATE, 1000.0, 0.0)
    assert 0.005 < depth < 0.0053


def test_damping_never_pulls():
    """A plate torn out of the ground feels nothing, not a pull."""
    ground = soil(**DRY_SAND, damping_pa_s_per_m=8e3)
    normal = plate_normal(ground, PLATE, Place(0.01, 0.0), 0.01, 1.0, 0.0, 0.001)
    assert load_of(normal, 5.0) == 0.0
    assert load_of(normal, -0.001) > load_of(normal, 0.0) > 0.0


def test_cleats_reach_deeper():
    """F_N = k (z^n A + (z + h)^n A_c), the corrected eq. 11 written out."""
    plate = Plate(0.004, 0.07, 0.001, 0.01)
    normal = plate_normal(SAND, plate, Place(0.0, 0.0), 0.008, -1e-6, 0.0, 1e-6)
    k = 990.0 / 0.07 + 1528430.0
    assert normal.start == pytest.approx(k * (0.008**1.1 * 0.004 + 0.018**1.1 * 0.001), rel=1e-12)


#: k_c (N/m^(n+1)), k_phi (N/m^(n+2)), n, c (Pa), phi (rad) of the specification's table: dry sand, sandy loam (LLL) and others.
SOILS = {
    "dry sand": (0.99e3, 1528.43e3, 1.1, 1.04e3, 0.48869),
    "loam": (5.27e3, 1515.04e3, 0.7, 1.72e3, 0.50615),
    "LETE": (102e3, 5301e3, 0.79, 1.3e3, 0.54280),
    "upland": (74.6e3, 2080e3, 1.10, 3.3e3, 0.58818),
}

#: A robot's two belts, a quarter of them cleats of 6 mm.
BELTS = Plate(0.75 * 0.07112, 0.07, 0.25 * 0.07112, 0.006)


def _soil_of(name, **more):
    k_c, k_phi, n, c, phi = SOILS[name]
    return soil(k_c=k_c, k_phi=k_phi, n=n, cohesion_pa=c, friction_angle_rad=phi, shear_modulus_m=0.012, **more)


def _own_rest_m(name, load_n, slip=0.0):
    """Specification 5(a): F_N = K_ss^-n k (z^n A + (z + h)^n A_c), each depth clamped at 0; its root."""
    k_c, k_phi, n, _, _ = SOILS[name]
    k = ((1.0 + slip) / (1.0 - 0.5 * slip)) ** -n * (k_c / 0.07 + k_phi)
    return brentq(
        lambda z: k * (max(z, 0.0) ** n * BELTS.area + max(z + 0.006, 0.0) ** n * BELTS.cleat_area) - load_n, -0.006, 0.2,
        xtol=1e-15,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "slip", "rest_mm"),
    [("dry sand", 0.0, 3.279), ("loam", 0.0, -4.403), ("LETE", 0.0, -5.467), ("upland", 0.0, None), ("LETE", 0.6, None)],
)
def test_a_plate_with_cleats_stands_where_the_specification_says(name, slip, rest_mm):
    """311.64 N on untouched soil: in firm soil the base hangs in the air, carried by the cleats alone. The load at the root of
    the specification's formula, and lowered without inertia the plate comes to rest there."""
    own = _own_rest_m(name, 311.64, slip)
    assert rest_mm is None or 1e3 * own == pytest.approx(rest_mm, abs=1e-3)
    assert plate_normal(_soil_of(name), BELTS, Place(0.0, 0.0), own, 0.0, slip, 1e-3).start == pytest.approx(311.64, rel=1e-9)
    ground, depth, place = _soil_of(name, damping_pa_s_per_m=8e3), -0.006 + 1e-6, Place(0.0, 0.0)
    rising = -1e-3
    for _ in range(3000):
        normal = plate_normal(ground, BELTS, place, depth, rising, slip, 0.002)
        rising = (normal.start - 311.64) / normal.per_rising
        depth -= 0.002 * rising
        place = place_after(BELTS, place, depth, slip, 1.0)
    assert depth == pytest.approx(own, abs=1e-9)
    assert place.deepest == pytest.approx(own + 0.006, abs=1e-9)  # of the tips


def test_what_cleats_pressed_does_not_count_for_the_base():
    """Tips were 4 mm deep, the base 2 mm in the air: below the base the soil is untouched. Pressed on, the load is that of the
    formula; lifted by the rebound of the tips, 5 % of 4 mm, nothing bears."""
    k, place = 990.0 / 0.07 + 1528430.0, Place(0.004, 0.0)
    deeper = plate_normal(SAND, BELTS, place, 0.001, -1e-9, 0.0, 1e-3)
    assert deeper.start == pytest.approx(k * (0.001**1.1 * BELTS.area + 0.007**1.1 * BELTS.cleat_area), rel=1e-9)
    half = plate_normal(SAND, BELTS, place, -0.002 - 0.0001, 0.0, 0.0, 1e-3)
    assert half.start == pytest.approx(0.5 * k * 0.004**1.1 * BELTS.cleat_area, rel=1e-9)
    assert plate_normal(SAND, BELTS, place, -0.00221, 0.0, 0.0, 1e-3).start == 0.0


def test_a_base_in_the_air_has_no_cohesion():
    """(c A_c + N tan phi) while the plate stands on its cleats, (c (A + A_c) + N tan phi) once its base touches."""
    for depth, area in ((-0.001, BELTS.cleat_area), (0.001, 0.07112)):
        normal = plate_normal(SAND, BELTS, Place(0.0, 0.0), depth, 0.0, 0.0, 1e-3)
        answer = plate_shear(SAND, normal.area, Bristles(1.0, 0.0), normal.start, 0.0, 0.0, 1e-3)
        assert answer.start_x == pytest.approx(1040.0 * area + SAND.friction * normal.start, rel=1e-12)


def test_the_base_below_a_layer_carries_where_the_soil_was_pressed_away():
    """10 mm on a base of 1e9 Pa/m, pressed to 10.1 mm, rebound 0.2 %: the soil's line ends at 10.0798 mm, 79.8 kPa deep in the
    base. Continuous there, and nowhere below the base alone."""
    ground = soil(**DRY_SAND | {"layer_m": 0.01, "rebound": 0.002})
    k, before = pressure_constant(ground, 0.07), None
    for step in range(202):
        depth = 0.0101 - 1e-6 * step
        found = pressed(ground, k, 0.0, depth, 0.0101).pressure
        assert found >= 1e9 * max(0.0, depth - 0.01)
        assert before is None or 0.0 <= before - found < 1700.0  # (1e9 + the line's 4.9e8 Pa/m) x 1 um
        before = found
    assert found == 0.0


@pytest.mark.parametrize("layer_m", [1e-3, 0.01, 1.0])
@pytest.mark.parametrize("name", ["dry sand", "LETE"])
def test_a_plate_that_bounces_never_gains(name, layer_m):
    """A mass let go on its cleats from 2 mm up, thrown up by what comes back: no flight has more energy than the fall."""
    ground, dt, mass = _soil_of(name, layer_m=layer_m, rebound=0.3), 1e-4, 31.77
    depth, sinking, place, energies = -0.008, 0.0, Place(0.0, 0.0), [9.81 * 0.008]
    for _ in range(4000):
        normal = plate_normal(ground, BELTS, place, depth, -sinking, 0.0, dt)
        free = sinking + 9.81 * dt
        new = (mass * free - dt * normal.start) / (mass + dt * normal.per_rising)
        is_loaded = normal.start + normal.per_rising * new > 0.0
        sinking = new if is_loaded else free
        place = place_after(BELTS, place, depth, 0.0, float(is_loaded))
        depth += dt * sinking
        if not is_loaded and sinking < 0.0:
            energies.append(0.5 * sinking**2 - 9.81 * depth)
    assert len(energies) > 2
    assert max(energies) <= energies[0]


# --- shear ---------------------------------------------------------------------------------------------------------------------


def sheared(bristles, slips, load=100.0, dt=0.001, ground=SAND):
    """Forces along a path of slip velocities."""
    found = []
    for sx, sy in slips:
        answer = plate_shear(ground, PLATE.area, bristles, load, sx, sy, dt)
        found.append(force(answer, sx, sy))
        bristles = bristles_after(ground, bristles, load, sx, sy, dt)
    return found, bristles


@pytest.mark.parametrize("heading", [(1.0, 0.0), (0.6, -0.8)])
def test_straight_shear_is_janosis_curve(heading):
    """tau = (c + p tan phi) (1 - exp(-j / K)): exact, whatever the step."""
    for steps, dt in ((100, 0.001), (10, 0.01), (1, 0.1)):
        path = [(0.2 * heading[0], 0.2 * heading[1])] * steps
        forces, _ = sheared(Bristles(0.0, 0.0), path, dt=dt)
        most = 1040.0 * PLATE.area + 100.0 * SAND.friction
        assert hypot(*forces[-1]) == pytest.approx(most * (1.0 - exp(-0.02 / 0.012)), rel=1e-9)
        assert forces[-1][0] == pytest.approx(heading[0] * hypot(*forces[-1]), abs=1e-9)


def test_shear_turns_round_within_its_modulus():
    """After a metre of slip one modulus back releases the force (slope 1 / K from full strength), and more turns it round."""
    _, bristles = sheared(Bristles(0.0, 0.0), [(1.0, 0.0)] * 1000)
    assert bristles.x == pytest.approx(1.0, abs=1e-9)
    back, bristles = sheared(bristles, [(-0.012, 0.0)] * 1000)
    assert abs(bristles.x) < 1e-6
    back, _ = sheared(bristles, [(-1.0, 0.0)] * 1000)
    assert back[-1][0] < -40.0


def test_shear_holds_at_rest():
    """What is mobilised stays so while nothing slips: a parked vehicle does not creep."""
    _, bristles = sheared(Bristles(0.0, 0.0), [(0.005, 0.0)] * 1000)
    forces, after = sheared(bristles, [(0.0, 0.0)] * 1000)
    assert after == bristles
    assert forces[-1][0] == pytest.approx(forces[0][0], rel=1e-12)


def test_shear_follows_a_new_direction():
    """Sliding on sideways, the force ends against the new slip with all its strength."""
    _, bristles = sheared(Bristles(0.0, 0.0), [(1.0, 0.0)] * 200)
    forces, bristles = sheared(bristles, [(0.0, 1.0)] * 500)
    assert hypot(bristles.x, bristles.y) <= 1.0 + 1e-12
    assert abs(forces[-1][0]) < 1e-3 * forces[-1][1]


def test_shear_is_passive():
    """Over a closed path of slip the ground takes energy and gives none."""
    from math import cos, sin

    path = [(cos(0.01 * k) * 0.5, sin(0.023 * k) * 0.3) for k in range(1000)]
    forces, _ = sheared(Bristles(0.0, 0.0), path)
    assert sum(fx * sx + fy * sy for (fx, fy), (sx, sy) in zip(forces, path, strict=True)) > 0.0


def test_contact_lost_is_forgotten():
    assert bristles_after(SAND, Bristles(0.7, 0.1), 0.0, 0.1, 0.0, 0.001) == Bristles(0.0, 0.0)


def test_secants_are_positive_and_bounded():
    """A step that reverses through full strength: passive whatever the guess."""
    for dx in (-10.0, -1.5, 0.0, 0.3, 4.0):
        held = mobilise(SAND, 1.0, 0.0, dx * SAND.shear_modulus / 0.001, 0.0, 0.001)
        assert held.per_slip > 0.0
        assert abs(held.start_x + held.per_slip * dx * SAND.shear_modulus / 0.001) <= 1.0 + 1e-12


def test_air_has_no_pressure():
    assert virgin(SAND, 1e6, 0.0, -0.01) == 0.0
    assert pressed(SAND, 1e6, 0.0, -0.01, 0.0) == (0.0, 0.0)
