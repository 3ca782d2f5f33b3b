"""Wheels over ground of any shape: statics, frames, energy, lift-off, and agreement with the planar vehicle."""

import math

import numpy as np
import pytest

from rovers import DT, lynx_on, record
from slipfit.ground import height_field, plane
from slipfit.kernels.space import Quat, Vec3, rotation, to_ground
from slipfit.vehicles import powertrain
from slipfit.vehicles.rigid_body import Body6, State6, free_motion, kinetic, moved
from slipfit.vehicles.run_loop import OFF_MAP, OK, TIPPED

WAVY = np.array([[6 + 4 * math.sin(2 * t), 6 - 4 * math.sin(1.7 * t)] for t in np.arange(4000) * DT])


def tilted_field(slope, **options):
    x = -10.0 + 0.5 * np.arange(61)
    return height_field(np.tile(math.tan(slope) * x, (61, 1)), 0.5, (-10.0, -10.0), **options)


@pytest.mark.parametrize("uphill", [0.0, math.pi, math.pi / 2, -math.pi / 2, 0.7])
def test_rests_as_statics_say(uphill):
    """Equal springs under a rigid body: loads linear in the place of the resultant, moved by h tan(slope) downhill."""
    slope = math.radians(20.0)
    motion = record(lynx_on(plane(9.81, slope, uphill), [0.0, 0.0], 1), 1, every=1)
    lean = 0.06 * math.tan(slope) * np.array([math.cos(uphill), math.sin(uphill)])
    at = np.array([[0.1, 0.1245], [0.1, -0.1245], [-0.1, 0.1245], [-0.1, -0.1245]])
    wanted = 2.148 * 9.81 * math.cos(slope) * (0.25 - at[:, 0] * lean[0] / 0.04 - at[:, 1] * lean[1] / (4 * 0.1245**2))
    assert motion["load"][0] == pytest.approx(wanted, rel=1e-4)  # the body leans by its tyres' give, 2 mrad
    assert motion["load"][1].sum() == pytest.approx(wanted.sum(), rel=1e-3)  # put down in equilibrium: it neither jumps nor falls


def test_agrees_with_the_planar_vehicle():
    """Straight up 20°: place and speed of both, and SPEC 4(b)'s loads; tyres of 5300 N/m move the resultant by some 1e-4."""
    motion = record(lynx_on(plane(9.81, math.radians(20.0)), [3.0, 3.0], 3000), 3000)
    planar = record(lynx_on(plane(9.81, math.radians(20.0)), [3.0, 3.0], 3000, is_planar=True), 3000)
    assert motion["place"][-1, 0] == pytest.approx(planar["place"][-1, 0], abs=1e-5)
    assert motion["velocity"][-1, 0] == pytest.approx(planar["velocity"][-1, 0], abs=1e-5)
    assert motion["load"][-1] == pytest.approx([3.869, 3.869, 6.031, 6.031], abs=2e-3)


def test_turns_as_the_planar_vehicle_does():
    """A slalom on level ground. Springs share loads linearly, the planar vehicle by products: they differ in second order."""
    motion, planar = (record(lynx_on(plane(9.81), WAVY, 4000, is_planar=flat), 4000) for flat in (False, True))
    assert np.abs(motion["place"][:, :2] - planar["place"][:, :2]).max() < 0.01


def test_a_caster_turns_it_as_it_turns_the_planar_vehicle():
    """A side force that acts 30 mm behind the contacts: the moment -n_T F_y straightens the slalom of both alike."""
    caster = {"losses": (0.0181, 0.0, 0.03)}
    motion, planar = (record(lynx_on(plane(9.81), WAVY, 4000, is_planar=flat, **caster), 4000) for flat in (False, True))
    without = record(lynx_on(plane(9.81), WAVY, 4000), 4000)
    felt = np.abs(motion["place"][:, :2] - without["place"][:, :2]).max()
    assert np.abs(motion["place"][:, :2] - planar["place"][:, :2]).max() < 0.2 * felt


def test_a_level_height_field_is_the_plane():
    """To 1e-9, over four seconds of slalom: every record of body, wheels and books."""
    flat = record(lynx_on(plane(9.81), WAVY, 4000), 4000)
    field = record(lynx_on(height_field(np.zeros((60, 60)), 0.5, (-10.0, -10.0)), WAVY, 4000), 4000)
    for name, column in flat.items():
        assert np.abs(column - field[name]).max() < 1e-9, name


@pytest.mark.parametrize("interpolation", ["bicubic", pytest.param("bilinear", marks=pytest.mark.slow)])
def test_a_tilted_height_field_is_the_plane(interpolation):
    """To 1e-9: the plane's frame is turned by its slope, nothing else differs."""
    slope = math.radians(15.0)
    c, s = math.cos(slope), math.sin(slope)
    field = record(lynx_on(tilted_field(slope, interpolation=interpolation), WAVY, 4000), 4000)
    flat = record(lynx_on(plane(9.81, slope), WAVY, 4000), 4000)
    x, y, z = (flat["place"] - flat["place"][0]).T
    turned = np.column_stack([c * x - s * z, y, s * x + c * z])
    assert np.abs(field["place"] - field["place"][0] - turned).max() < 1e-9
    for name in ("velocity", "rate", "felt", "load", "speed", "force_x", "force_y", "effort"):
        assert np.abs(flat[name] - field[name]).max() < 1e-9, name


def test_the_recorded_velocity_is_how_fast_the_origin_moves():
    """With the center of mass 30 mm ahead of the origin, in a slalom: differences of places, in the body's axes."""
    batch = lynx_on(plane(9.81), WAVY, 4000)
    batch.body.com_x[:] = 0.03
    motion = record(batch, 4000, every=1)
    heading = DT * np.cumsum(motion["rate"][:, 2])
    vx, vy = (np.diff(motion["place"][:, :2], axis=0) / DT).T
    sideways = vy * np.cos(heading[:-1]) - vx * np.sin(heading[:-1])
    assert np.abs(0.03 * motion["rate"][:, 2]).max() > 0.02  # what a wrong sign would be off by, twice
    assert np.abs(sideways - motion["velocity"][1:, 1]).max() < 2e-3


def bump_field():
    x = -2.0 + 0.02 * np.arange(400)
    h = np.where(np.abs(x - 1.0) < 0.2, 0.015 * (1 + np.cos(np.pi * (x - 1.0) / 0.2)), 0.0)
    return height_field(np.tile(h, (100, 1)), 0.02, (-2.0, -1.0))


@pytest.mark.parametrize("speed", [0.8, 2.0])
def test_a_bump_is_crossed_without_creating_energy(speed):
    """Coasting (motors without torque and friction) over 3 cm, fast wheels lift and come back: motion + height + tyres never
    rise above where it was by more than 1e-3 of the motion (steps are straight, ground bends: first order), and ends lower."""
    idle = powertrain.DcMotor(0.0053, 4.0, 0.1, 1e-9, 1e-9, 0.0, 12.0)
    batch = lynx_on(bump_field(), [0.0, 0.0], 2500, start=(0.0, 0.0, 0.0, speed, 0.0, 0.0), motor=idle)
    motion = record(batch, 2500, every=1)
    energy = motion["stores"].sum(axis=1)
    assert (motion["lowest"].min() == 0.0) == (speed > 1.5)
    assert motion["place"][-1, 0] > 1.5
    assert (energy - np.minimum.accumulate(energy)).max() < 1e-3 * (energy[0] - motion["stores"][0, 2])
    assert energy[-1] < energy[0]
    assert motion["load"][-1] == pytest.approx(np.full(4, 2.148 * 9.81 / 4), rel=0.02)


def test_books_balance_over_a_bump():
    """Driven at 10 V: supplied = stored + dissipated within .1 % of what went through."""
    motion = record(lynx_on(bump_field(), [10.0, 10.0], 3000), 3000)
    flows, stores = motion["flows"][-1] - motion["flows"][0], motion["stores"][-1] - motion["stores"][0]
    assert abs(flows[0] - flows[2:].sum() - stores.sum()) < 1e-3 * flows[1]


def test_wheels_lift_off_at_the_angle_of_statics():
    """Front wheels at tan(slope) = .1 / .06 (59.04°), with grip for it: below, the robot stands on all wheels; above, it tips."""
    for slope_deg, code in ((58.0, OK), (61.0, TIPPED)):
        batch = lynx_on(plane(9.81, math.radians(slope_deg)), [0.0, 0.0], 3000, mu=5.0)
        motion = record(batch, 3000)
        assert motion["status"] == code
        assert (motion["load"][0, :2].max() > 0.0) == (code == OK)


def test_a_tumbling_body_keeps_its_energy():
    """Torque-free for ten seconds at (3, 4, 5) rad/s: kinetic energy and angular momentum in the ground's frame stay."""
    body, zero = Body6(2.148, 0.0140, 0.0252, 0.0334, 0.0, 0.0, 0.06), Vec3(0.0, 0.0, 0.0)
    s = State6(zero, Quat(1.0, 0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0), Vec3(3.0, 4.0, 5.0), zero)
    before = kinetic(body, s)
    for _ in range(10_000):
        free = free_motion(body, s, zero, DT)
        s = moved(s, free, free.velocity, free.rate, zero, DT)
    momentum = to_ground(rotation(s.attitude), Vec3(0.0140 * s.rate.x, 0.0252 * s.rate.y, 0.0334 * s.rate.z))
    assert kinetic(body, s) == pytest.approx(before, rel=1e-5)
    assert np.array(momentum) == pytest.approx([0.0140 * 3, 0.0252 * 4, 0.0334 * 5], abs=5e-4)


def test_leaving_the_map_is_told():
    """A field that ends 1 m ahead: the front wheels leave it, and the time is noted."""
    field = height_field(np.zeros((20, 12)), 0.1, (-0.1, -1.0))
    motion = record(lynx_on(field, [10.0, 10.0], 2000), 2000)
    assert motion["status"] == OFF_MAP
    at = motion["place"][np.searchsorted(motion["time"], motion["stopped_at"]), 0]
    assert at == pytest.approx(0.9, abs=0.02)  # front wheels .1 m ahead of the origin


def test_weight_is_carried_while_rolling():
    """Sum of loads on level ground at constant speed: m g, to rounding."""
    motion = record(lynx_on(plane(9.81), [6.0, 6.0], 3000), 3000)
    assert motion["load"][-1].sum() == pytest.approx(2.148 * 9.81, rel=1e-6)


def test_mirrored_drives_are_mirrored():
    """Left and right exchanged: y, roll and yaw change their signs."""
    left = record(lynx_on(plane(9.81, 0.2), WAVY[:2000], 2000), 2000)
    right = record(lynx_on(plane(9.81, 0.2), WAVY[:2000, ::-1], 2000), 2000)
    assert np.abs(left["place"] * [1, -1, 1] - right["place"]).max() < 1e-10
    assert np.abs(left["load"][:, [1, 0, 3, 2]] - right["load"]).max() < 1e-8


@pytest.mark.slow  # a kernel of its own
def test_a_lane_does_not_feel_its_neighbours():
    """Eight runs at different voltages: each the same bits as in a group with copies of itself."""
    volts = np.linspace(1.0, 8.0, 8)
    field = bump_field()
    together = record(lynx_on(field, [5.0, 5.0], 800, n=8, mass=volts * 0.1 + 2.0), 800, in_lanes=True, run=3)
    alone = record(lynx_on(field, [5.0, 5.0], 800, n=8, mass=np.full(8, volts[3] * 0.1 + 2.0)), 800, in_lanes=True, run=6)
    assert np.array_equal(together["place"], alone["place"])
    single = record(lynx_on(field, [5.0, 5.0], 800, n=1, mass=np.array([volts[3] * 0.1 + 2.0])), 800)
    assert np.abs(together["place"] - single["place"]).max() < 1e-10
