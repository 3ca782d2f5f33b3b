"""Grip reserves: their sign is the verdict, their brackets hold what runs at their ends show, and they do not jump."""

import math

import numpy as np
import pytest

from slipfit.errors import ParameterError, SimulationError
from slipfit.simulation import simulate_many
from slipfit.simulation.climb_reserve import GripReserve, grip_reserve
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.scenario import Stop, find_scenario
from tracks import climb as flat
from tracks import plain_climber

CURB = {
    "schema": "slipfit/climb/1",
    "mu_static": 0.8,
    "obstacle": {"kind": "curb", "height_m": 0.117, "edge_radius_m": 0.0254, "distance_m": 0.2},
}


def test_on_a_ramp_it_is_what_the_slope_leaves():
    """A robot that lies on a slope slides below mu = tan(slope): the factor is tan(20°) / mu, and 3 % for the way it gets there
    (as in test_climb_verdicts). 1 - 0.364 / 0.5 = 0.272; 0.3 / 0.364 - 1 = -0.176."""
    obstacle = {"kind": "ramp", "height_m": 0.5, "slope_rad": math.radians(20.0), "distance_m": 0.1}
    ramp = flat(mu_static=0.5, obstacle=obstacle, duration_s=30.0)
    mu, needed = np.array([0.5, 0.3]), math.tan(math.radians(20.0))
    found = grip_reserve(plain_climber(), ramp, {"mu_static": mu})
    assert found.factor == pytest.approx(needed / mu, rel=0.03)
    assert found.reserve == pytest.approx([1.0 - needed / 0.5, 0.3 / needed - 1.0], abs=0.03)
    assert found.beyond == (Outcome.SLIPPED, Outcome.CLIMBED)


def test_sliding_friction_keeps_its_share():
    """With all friction halved, half of the factor's change is needed: friction at rest and sliding go together."""
    both = {"mu_static": np.array([0.8, 0.8, 0.4]), "mu_dynamic": np.array([0.8, 0.6, 0.3])}
    alike, faded, halved = grip_reserve("packbot", CURB, both).factor
    assert faded > 1.1 * alike  # less friction for what slides leaves less
    assert halved == pytest.approx(2.0 * faded, rel=0.02)


def test_it_crosses_zero_without_a_jump_and_with_one_slope():
    """reserve = 1 - mu*/mu above the friction mu* that is needed and mu/mu* - 1 below: d reserve / d ln(mu) = 1 from both sides.

    0.02 for the bracket (0.005) and for verdicts that change back and forth within a percent of mu*. The kinematic margin of the
    same runs jumps by a third there, since a robot that is held stands still however much it lacks."""
    logs = np.linspace(-0.12, 0.12, 16)
    vary = {"mu_static": 0.4535 * np.exp(logs)}
    reserve, margin = grip_reserve("packbot", CURB, vary, tolerance=0.005).reserve, simulate_many("packbot", CURB, vary).margin
    assert reserve[0] < -0.08
    assert reserve[-1] > 0.08
    assert np.abs(np.diff(reserve)).max() < logs[1] - logs[0] + 0.02
    assert np.abs(np.diff(margin)).max() > 0.3
    for side in (reserve < 0.0, reserve > 0.0):
        slope, at_zero = np.polyfit(logs[side], reserve[side], 1)
        assert slope == pytest.approx(1.0, abs=0.15)
        assert at_zero == pytest.approx(0.0, abs=0.03)


def test_higher_curbs_leave_less_reserve():
    """SPEC 5: the friction that is needed grows with the height, for needs up to 1; at a friction of 0.6 the reserve falls. No
    friction helps beyond the geometric limit of 169.2 mm (edge of 25.4 mm): the lowest reserve that there is."""
    heights = np.array([0.06, 0.08, 0.1, 0.11, 0.12, 0.13, 0.14, 0.18])
    found = grip_reserve("packbot", CURB, {"height_m": heights, "mu_static": np.full(8, 0.6)})
    assert (np.diff(found.reserve) < 0.0).all()
    assert found.reserve[-1] == -0.75
    assert not found.is_found[-1]
    assert "no grip from a quarter to four times" in found.sentence(7)


def _random(n):
    rng = np.random.default_rng(3)
    return {
        "mu_static": rng.uniform(0.2, 1.5, n),
        "height_m": rng.uniform(0.06, 0.17, n),
        "centre_of_mass_x_m": rng.uniform(-0.05, 0.05, n),
        "edge_radius_m": rng.uniform(0.0, 0.05, n),
    }


@pytest.mark.parametrize(("robot", "soil"), [("packbot", None), ("maxxii", None), ("packbot", "dry_sand")])
def test_the_sign_is_the_verdict_and_the_bracket_holds_the_change(robot, soil):
    """Any climb, eight of each kind: the definition, asked of runs at both ends of the bracket."""
    climb, vary = CURB | {"soil": soil}, _random(8)
    found, batch = grip_reserve(robot, climb, vary), simulate_many(robot, climb, vary, ends_only=True)
    assert np.array_equal(found.reserve > 0.0, batch.has_climbed)
    assert found.outcomes == batch.outcomes
    assert len(set(batch.has_climbed.tolist())) == 2
    low, high = (_with_grip(robot, climb, vary, factor) for factor in (found.factor_low, found.factor_high))
    assert np.array_equal((low != high)[found.is_found], np.ones(found.is_found.sum(), dtype=bool))
    near = np.where(found.factor < 1.0, high, low)
    assert np.array_equal(near[found.is_found], batch.has_climbed[found.is_found])
    assert (found.factor_high / found.factor_low)[found.is_found] == pytest.approx(1.0, abs=0.0101)


def _with_grip(robot, climb, vary, factor):
    """Which climb with their grip multiplied by a factor each; where it is none, as they are."""
    factor = np.where(np.isfinite(factor), factor, 1.0)
    more = {"mu_static": vary["mu_static"] * factor}
    if climb["soil"]:
        soil = flat(**climb).ground.soil_values()
        more["cohesion_pa"] = soil["cohesion_pa"] * factor
        more["friction_angle_rad"] = np.minimum(np.arctan(np.tan(soil["friction_angle_rad"]) * factor), math.pi / 3.0)
    return simulate_many(robot, climb, vary | more, ends_only=True).has_climbed


def test_more_grip_may_be_too_much():
    """maxxii has no flippers: at frictions of 2 its nose grips the wall and is not lifted. The nearest change then lies above 1
    for a run that climbs, and below 1 for one that does not."""
    climbs, fails = grip_reserve("maxxii", CURB | {"mu_static": 1.7}), grip_reserve("maxxii", CURB | {"mu_static": 2.5})
    assert climbs.reserve[0] > 0.0
    assert climbs.factor[0] > 1.0
    assert climbs.reserve[0] == pytest.approx(1.0 - 1.0 / climbs.factor[0], abs=1e-12)
    assert "with" in climbs.sentence()
    assert "more grip; above that" in climbs.sentence()
    assert fails.reserve[0] < 0.0
    assert fails.factor[0] < 1.0
    assert "would climb with" in fails.sentence()
    assert "less grip" in fails.sentence()


@pytest.mark.slow
def test_a_run_does_not_feel_its_neighbours():
    """To the last bit: the same run beside another one, among many, and beside a run that is no number."""
    vary = _random(11)
    among = grip_reserve("packbot", CURB, vary)
    for k in (0, 4, 10):
        pair = {name: np.array([column[k], column[(k + 3) % 11]]) for name, column in vary.items()}
        beside = grip_reserve("packbot", CURB, pair, workers=1)
        assert beside.reserve[0] == among.reserve[k]
        assert beside.beyond[0] is among.beyond[k]
    broken = {name: np.array([column[4], np.nan]) for name, column in vary.items()}
    found = grip_reserve("packbot", CURB, broken)
    assert found.reserve[0] == among.reserve[4]
    assert np.isnan(found.reserve[1])
    assert found.sentence(1) == "none: the run is no number"


def test_one_run_alone_has_the_reserve_of_a_run_among_others():
    """Its verdict comes from the kernel for single runs, as `simulate` tells it, and the search from that for many."""
    alone, beside = grip_reserve("packbot", CURB), grip_reserve("packbot", CURB, {"mu_static": np.array([0.8, 0.8])})
    assert alone.reserve[0] == beside.reserve[0]
    assert alone.reserve[0] > 0.0


def test_soil_and_friction_may_be_as_weak_or_strong_as_can_be():
    """Factors stop at what such numbers may be (60°, a friction of 5, 20 Pa); nothing is refused on the way."""
    soil = find_scenario("curb_117mm").model_copy(update={"stop": Stop(after_s=0.5)})
    vary = {"mu_static": np.array([5.0, 1e-6]), "friction_angle_rad": np.array([1.04, 0.0]), "cohesion_pa": np.array([1e6, 21.0])}
    assert not grip_reserve("packbot", soil, vary).is_found.any()


def test_it_is_saved_and_loaded(tmp_path):
    found = grip_reserve("packbot", CURB, {"mu_static": np.array([0.3, 0.7, 0.05, np.nan])})
    found.save(tmp_path / "reserve.csv")
    again = GripReserve.load(tmp_path / "reserve.csv")
    for name, column in found.table().items():
        assert np.array_equal(column, again.table()[name], equal_nan=column.dtype.kind == "f")
    assert again.summary() == found.summary()
    assert again.robot == "packbot"
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SimulationError, match="no grip reserves that slipfit saved"):
        GripReserve.load(tmp_path / "other.csv")
    with pytest.raises(SimulationError, match="cannot be read"):
        GripReserve.load(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("climb", "given", "sentence"),
    [
        (CURB, {"tolerance": 0.0}, "tolerance = 0"),
        (CURB, {"tolerance": math.nan}, "tolerance"),
        (
            {"schema": "slipfit/climb/1", "mu_static": 0.8},
            {},
            "the scenario has no goal: a grip reserve is of a drive",
        ),
        (CURB, {"vary": {"friction": [0.1]}}, "there is no number 'friction'"),
        (CURB, {"workers": 0}, "workers = 0"),
    ],
)
def test_what_makes_no_sense_is_refused(climb, given, sentence):
    with pytest.raises((ParameterError, SimulationError), match=sentence):
        grip_reserve("packbot", climb, **given)
