"""Twins of tracked and omni robots: the same file and draws as of robots on wheels, read by the robot's drive; what a climb takes
from them."""

import json

import numpy as np
import pytest
import yaml
from jsonschema import Draft202012Validator

import tracks
from slipfit.calibration.track_twin import CENTRES, ground_of_states
from slipfit.calibration.validation import validate
from slipfit.errors import ParameterError, SlipfitError
from slipfit.estimation.motion import motion_of
from slipfit.exporters import export
from slipfit.library import find_ground, find_robot
from slipfit.library.schemas import schema_path
from slipfit.simulation import simulate
from slipfit.simulation.climb_twin import climber_on_ground
from slipfit.twin import (
    FittedParameter,
    LogOrigin,
    OmniTwin,
    SkidSteerTwin,
    Status,
    TrackedTwin,
    TrackGround,
    Twin,
    find_driver,
    skid_steer_twin,
)
from slipfit.twin.posterior import spreads, without
from slipfit.twin.uncalibrated import uncalibrated_twin
from slipfit.vehicles.kinematic import IcrDrive, body_velocity
from unit.twin.tracked_twins import FOUND, mapping, twin
from unit.twin.twins import example


def climb(**more):
    return tracks.climb(**{"mu_static": 0.9, "mu_dynamic": 0.8} | more)


# --- the file --------------------------------------------------------------------------------------------------------


def on_ground(driver, *rest):
    return climber_on_ground(find_driver(driver), *rest)


def test_what_was_saved_is_loaded_by_its_drive(tmp_path):
    """0.1 + 0.2 has no short decimal form."""
    data = mapping()
    data["grounds"]["floor"]["parameters"]["mu_dynamic"]["value"] = 0.1 + 0.2
    before = TrackedTwin.from_mapping(data, where="here")
    before.save(tmp_path / "a.twin.yaml")
    again = Twin.load(tmp_path / "a.twin.yaml")
    assert isinstance(again, TrackedTwin)
    assert again == before
    assert list(again.to_mapping())[-1] == "provenance"
    example().save(tmp_path / "b.twin.yaml")
    assert isinstance(Twin.load(tmp_path / "b.twin.yaml"), SkidSteerTwin)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("grounds__floor__law", "coulomb", ["there is no law 'coulomb'", "stiction"]),
        ("grounds__floor__parameters__mu_dynamic", {"value": 0.7, **FOUND}, ["mu_dynamic = 0.7 is larger than mu_static = 0.62"]),
        ("grounds__floor__parameters__mu_lat", {"value": 0.7, **FOUND}, ["parameters.mu_lat", "no such constant"]),
        ("grounds__floor__parameters__mu_static", {"value": 0.7, **FOUND}, ["mu_static is given twice"]),
        ("grounds__floor__balance__length_m", 0.5, ["unknown key 'grounds.floor.balance.length_m'"]),
        ("grounds__sand__covariance__names", ["cohesion_pa", "mass"], ["covariance.names", "mass_kg"]),
        ("grounds__sand__parameters__n", {"value": -1.0, **FOUND}, ["parameters.n", "-1"]),
        ("robot__mass_kg", -1.0, ["robot.mass_kg"]),
        ("powertrain", {}, ["unknown key 'powertrain'"]),
        ("grounds", {}, ["grounds"]),
    ],
)
def test_a_bad_file_is_one_sentence(path, value, said):
    with pytest.raises(ParameterError) as caught:
        twin(**{path: value})
    assert "\n" not in str(caught.value)
    for words in ("packbot.twin.yaml: ", *said):
        assert words in str(caught.value)


def test_editors_know_twins_of_every_drive():
    check = Draft202012Validator(json.loads(schema_path(Twin).read_text(encoding="utf-8")))
    omni = uncalibrated_twin(find_robot("robotino"), find_ground("ohio_paper"))
    for data in (mapping(), *(yaml.safe_load(made.to_yaml()) for made in (example(), omni, twin()))):
        assert list(check.iter_errors(data)) == []
    assert not check.is_valid(mapping(grounds__floor__law="wheel_slip"))
    wheeled = yaml.safe_load(example().to_yaml())
    wheeled["grounds"]["lab_floor"]["law"] = "stiction"
    assert not check.is_valid(wheeled)


def test_code_for_robots_on_wheels_refuses_it_in_a_sentence(tmp_path):
    twin().save(tmp_path / "t.yaml")
    for use in (skid_steer_twin, lambda path: export(path, "gz"), lambda path: validate(path, tmp_path / "x.mcap")):
        with pytest.raises(SlipfitError, match=r"t\.yaml: a twin of a tracked robot, and this works with .* skid-steer"):
            use(tmp_path / "t.yaml")
    with pytest.raises(SlipfitError, match="sensors: packbot is tracked, and sensors are not simulated on tracks yet"):
        simulate(tmp_path / "t.yaml", "step_and_spin")
    with pytest.raises(ParameterError, match="a twin of a skid-steer robot, and this works with a twin of a tracked"):
        TrackedTwin.from_mapping(example().to_mapping(), where="x")


def test_the_summary_names_every_number():
    text = twin().summary()
    for words in ("twin of packbot", "tread 0.34 m", "ground floor", "0.62 ± 0.03", "mu_lateral", "ground sand", "cohesion_pa"):
        assert words in text


# --- draws -----------------------------------------------------------------------------------------------------------


def test_draws_have_the_files_mean_and_covariance():
    """20 000 draws; cohesion is 5 of its deviations above zero, so nothing is cut off. Correlation -5 / (200 x 0.03) = -0.83."""
    drawn = twin().draws(20000, seed=1, ground="sand")
    assert set(drawn) == {"cohesion_pa", "friction_angle_rad"}
    assert drawn["cohesion_pa"].mean() == pytest.approx(1040.0, abs=4.0 * 200.0 / 141.0)
    assert drawn["friction_angle_rad"].std() == pytest.approx(0.03, rel=0.02)
    assert np.corrcoef(*drawn.values())[0, 1] == pytest.approx(-5.0 / 6.0, abs=0.01)
    with pytest.raises(ParameterError, match="several grounds; choose one of floor, sand"):
        twin().draws(2, seed=1)


def test_what_a_study_gives_itself_is_taken_out_of_the_posterior():
    """Of two normals together the one that is left is normal with its own spread."""
    ground = twin().grounds["sand"]
    (both,) = spreads(ground, ground.info, twin().robot)
    left = without(both, {"cohesion_pa"})
    assert left.names == ("friction_angle_rad",)
    assert (left.root @ left.root.T).item() == pytest.approx(0.0009)
    assert without(both, set(both.names)) is None
    assert without(both, {"mu_static"}) is both


# --- in a climb ------------------------------------------------------------------------------------------------------


def test_a_twins_grounds_stand_for_the_climbs_surface_and_soil():
    on = on_ground(twin(), climb(soil="dry_sand", soil_depth_m=0.05))
    assert on.climb.ground.friction() == (0.62, 0.55)
    assert on.climb.ground.soil_values()["cohesion_pa"] == 1040.0
    assert on.climb.ground.soil_values()["layer_m"] == 0.05
    assert on.grounds == ("floor", "sand")
    assert on.robot.name == "packbot"


def test_a_climb_without_soil_stays_hard_unless_soil_is_asked_for():
    assert on_ground(twin(), climb()).grounds == ("floor",)
    on = on_ground(twin(), climb(), "sand")
    assert on.grounds == ("floor", "sand")
    assert on.climb.ground.soil_values()["n"] == 1.1


def test_of_several_grounds_one_is_chosen_by_name():
    data = mapping()
    data["grounds"]["wet_concrete"] = {"law": "stiction", "parameters": {"mu": {"value": 0.4, **FOUND}}}
    both = TrackedTwin.from_mapping(data, where="x")
    assert on_ground(both, climb(), "floor").climb.ground.friction() == (0.62, 0.55)
    named = tracks.climb(surface="wet_concrete")
    assert on_ground(both, named).climb.ground.friction() == (0.4, 0.4)
    with pytest.raises(ParameterError, match="floor, wet_concrete for the climb's surface; choose one"):
        on_ground(both, climb())
    with pytest.raises(ParameterError, match="has no ground 'ice'"):
        on_ground(both, climb(), "ice")


def test_friction_that_no_drive_told_is_assumed_and_said_or_left_to_the_climb():
    bound = {"at_least": 0.3, "status": "not_excited", "source": "log 1"}
    on = on_ground(twin(grounds__floor__parameters={"mu": bound}), climb())
    assert on.climb.ground.friction() == (0.3, 0.3)
    assert any("mu_static = 0.3 was assumed" in note for note in on.notes)
    nothing = {"mu": {"status": "not_excited", "source": "states"}}
    alone = twin(grounds={"floor": mapping()["grounds"]["floor"] | {"parameters": nothing}})
    on = on_ground(alone, climb())
    assert on.climb.ground.friction() == (0.9, 0.8)
    assert "surface and soil are the climb's own" in on.notes[0]
    with pytest.raises(ParameterError, match="kinematics only"):
        on_ground(alone, climb(), "floor")


def test_a_ground_beside_a_robot_is_refused():
    with pytest.raises(ParameterError, match="grounds beside it belong to twins"):
        on_ground("packbot", climb(), "floor")


# --- from files and steady states ------------------------------------------------------------------------------------


def test_grounds_files_become_grounds_of_a_twin():
    """Spreads of the file are those of the draws; Coulomb's friction is that of tracks in every direction."""
    sand = uncalibrated_twin(find_robot("packbot"), find_ground("dry_sand"))
    assert isinstance(sand, TrackedTwin)
    assert sand.values()["k_phi"] == 1528430.0
    assert sand.draws(20000, seed=1)["k_phi"].std() == pytest.approx(240000.0, rel=0.02)
    assert TrackGround.of_file(find_ground("wet_concrete")).parameters["mu_static"].value == 0.8
    with pytest.raises(ParameterError, match="law arctan; tracks slide by Coulomb's"):
        TrackGround.of_file(find_ground("ohio_paper"))
    with pytest.raises(ParameterError, match="law soil, which twins of robots on wheels do not hold"):
        uncalibrated_twin(find_robot("p3at"), find_ground("dry_sand"))


def test_steady_states_give_the_rotation_centres_they_were_made_with():
    """States by the asymmetric model itself, with known centres and gains; 1 mm/s of noise. The interval holds in nine of ten: of
    four numbers all within 3.5 deviations is nearly sure."""
    true, tread, draw = IcrDrive(0.42, -0.36, 0.0, 1.02, 0.97), 0.606, np.random.default_rng(1)
    left, right = draw.uniform(-0.4, 0.4, (2, 120))
    u, _, r = body_velocity(true, left, right)
    slips = [left - (u - 0.5 * tread * r), right - (u + 0.5 * tread * r)]
    states = np.column_stack([left, right, *(slip + 0.001 * draw.normal(size=120) for slip in slips)])
    ground = ground_of_states(states, tread_m=tread, origin=LogOrigin(name="s.csv", sha256=""))
    numbers = ground.kinematics.numbers
    assert ground.kinematics.rung == "icr"
    for name, value in zip(CENTRES, (0.42, -0.36, 1.02, 0.97), strict=True):
        assert numbers[name].value == pytest.approx(value, abs=3.5 * numbers[name].std)
    assert ground.tells_forces is False
    packbot = twin(grounds={"driven": ground.model_dump(exclude_none=True)})
    known = motion_of(packbot).expected
    assert (known.y_left, known.gain_right) == (numbers["y_left_m"].value, numbers["gain_right"].value)


def test_a_newer_ground_keeps_what_it_does_not_tell():
    older, newer = twin().grounds["floor"], ground_of_states_of_two_models()
    merged = older.merged(newer)
    assert merged.parameters == older.parameters
    assert merged.kinematics == newer.kinematics
    assert newer.merged(older).kinematics == newer.kinematics
    extended = TrackedTwin.new_or_extended(twin(), twin().robot, {"floor": newer, "yard": newer}, [])
    assert list(extended.grounds) == ["floor", "sand", "yard"]
    assert extended.grounds["floor"].parameter("mu").value == 0.62
    with pytest.raises(ParameterError, match="of packbot, and this of maxxii"):
        TrackedTwin.new_or_extended(twin(), find_robot("maxxii"), {"yard": newer}, [])


def ground_of_states_of_two_models():
    left, right = np.random.default_rng(2).uniform(-0.4, 0.4, (2, 40))
    states = np.column_stack([left, right, 0.1 * (left - right), 0.1 * (right - left)])
    return ground_of_states(states, tread_m=0.34, origin=LogOrigin(name="s.csv", sha256=""))


def test_an_effective_track_of_even_slip_is_the_closed_form():
    """Each belt loses a tenth of the difference: the ground speeds differ by 0.8 of the belts', T = 0.34 / 0.8; ahead nothing."""
    found = ground_of_states_of_two_models().kinematics
    assert found.effective_track_m.value == pytest.approx(0.34 / 0.8)
    assert found.gain.value == pytest.approx(1.0)


def test_a_constant_is_replaced_in_twins_of_every_drive():
    told = FittedParameter(value=0.7, std=0.01, status=Status.CONVERGED, source="tilt")
    changed = twin().with_parameter("mu", told, ground="floor", note="by tilting")
    assert changed.values("floor")["mu_static"] == 0.7
    assert changed.provenance.notes == ["by tilting"]


def test_an_omni_robots_twin_drives_on_its_ground():
    made = uncalibrated_twin(find_robot("robotino"), find_ground("ohio_paper"))
    again = OmniTwin.from_mapping(made.to_mapping(), where="r.twin.yaml")
    assert again.ground().values() == find_ground("ohio_paper").values()
    assert motion_of(again).is_omni
