"""A twin keeps what a calibration found: the same bits, nothing invented, and the right physics under a payload."""

import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from slipfit.errors import ParameterError
from slipfit.library import Parameter
from slipfit.library.schemas import schema_path, schema_text
from slipfit.simulation import Scenario, simulate, simulate_many
from slipfit.twin import FittedParameter, Status, Twin
from unit.twin.twins import changed, example, mapping

G = "grounds.lab_floor"


def test_what_was_saved_is_loaded_to_the_last_bit(tmp_path):
    """0.1 + 0.2 and 1/3 have no short decimal form."""
    data = changed(f"{G}.parameters.c_long.value", 0.1 + 0.2)
    data["grounds"]["lab_floor"]["parameters"]["c_long"]["interval_90"] = [1.0 / 3.0 - 0.2, 1.0 / 3.0]
    twin = Twin.from_mapping(data, where="here")
    twin.save(tmp_path / "a.twin.yaml")
    again = Twin.load(tmp_path / "a.twin.yaml")
    assert again == twin
    assert again.grounds["lab_floor"].parameter("c_long").value == 0.1 + 0.2
    assert again.to_yaml() == (tmp_path / "a.twin.yaml").read_text(encoding="utf-8")


def test_a_missing_value_is_written_as_null():
    """FILES: value is null unless converged or at_bound."""
    assert "value: null" in example().to_yaml()
    assert example().to_document()["parameters"]["mu"] == {
        "value": None, "at_least": 0.29, "status": "not_excited", "source": "log 9f3c12",
    }  # fmt: skip


def test_short_names_become_full_ones():
    ground = example().grounds["lab_floor"]
    assert list(ground.parameters) == ["c_long_per_n", "c_lat_per_n", "mu"]
    assert ground.covariance.names == ["c_long_per_n", "c_lat_per_n"]
    assert ground.parameter("c_lat") is ground.parameter("c_lat_per_n")


def test_a_time_that_yaml_reads_as_a_date_is_the_same_time(tmp_path):
    text = example().to_yaml().replace("'2026-11-15T20:00:00Z'", "2026-11-15T21:00:00+01:00")
    (tmp_path / "a.yaml").write_text(text)
    assert Twin.load(tmp_path / "a.yaml").provenance.made == "2026-11-15T20:00:00Z"


P = f"{G}.parameters.c_long"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (f"{P}.value", None, [P, "null although the status is converged"]),
        (f"{P}.status", "not_excited", [P, "0.00497 although", "value: null"]),
        (f"{P}.status", "sure", [f"{P}.status", "'converged'"]),
        (f"{P}.value", 0.006, [P, "outside interval_90"]),
        (f"{P}.interval_90", [0.006, 0.004], [P, "lower end first"]),
        (f"{P}.std", -1.0, [f"{P}.std", "expected at least 0"]),
        (f"{P}.at_least", 0.005, [P, "[at_least, at_most]"]),
        (f"{P}.value", 7.0, [P, "interval_90"]),
        (f"{P}.sorce", "x", [f"unknown key '{P}.sorce'", "'source'"]),
        (f"{G}.parameters.mu.at_least", -0.1, ["parameters.mu", "-0.1", "[0, inf]"]),
        (f"{G}.parameters.c_lng", {"status": "not_excited", "source": "x"}, ["parameters.c_lng", "'c_long'"]),
        (f"{G}.parameters.c_long_per_n", {"status": "not_excited", "source": "x"}, ["c_long_per_n is given twice"]),
        (f"{G}.law", "wheelslip", [G, "'wheelslip'", "'wheel_slip'"]),
        (f"{G}.covariance.matrix", [[1e-8, 2e-8], [1e-8, 1e-6]], ["covariance", "not symmetric"]),
        (f"{G}.covariance.matrix", [[1e-8, 1.0], [1.0, 1e-6]], ["covariance", "correlation beyond 1"]),
        (f"{G}.covariance.matrix", [[-1e-8, 0.0], [0.0, 1e-6]], ["covariance", "below zero"]),
        (f"{G}.covariance.matrix", [[1e-8]], ["covariance", "expected 2 rows of 2"]),
        (f"{G}.covariance.names", ["c_long", "mass"], ["grounds.lab_floor.covariance.names", "'mass'", "'mass_kg'"]),
        (f"{G}.covariance.names", ["c_long", "mu"], ["covariance.names", "mu has no value"]),
        (f"{G}.combinations.c_lat/c_lng", {"status": "not_excited", "source": "x"}, ["c_lat/c_lng", "'c_long'"]),
        (f"{G}.load_n", 0, [f"{G}.load_n", "expected more than 0"]),
        ("grounds", {}, ["grounds"]),
        ("robot.mass_kg", -1, ["robot.mass_kg", "-1 kg"]),
        ("provenance.made", "yesterday", ["provenance.made", "'yesterday'"]),
        ("provenance.logs", [{"name": "a", "sha256": "xyz"}], ["provenance.logs[0].sha256"]),
    ],
)  # fmt: skip
def test_a_bad_entry_is_one_sentence_with_file_and_key(path, value, said):
    with pytest.raises(ParameterError) as caught:
        Twin.from_mapping(changed(path, value), where="bad.twin.yaml")
    sentence = str(caught.value)
    assert sentence.startswith("bad.twin.yaml: ")
    assert "\n" not in sentence
    for words in said:
        assert words in sentence


def test_three_correlations_that_cannot_be_are_refused():
    """Correlations 0.9, 0.9, -0.9 of three errors: the determinant is 1 + 2 (0.9 0.9 -0.9) - 3 0.81 = -2.9 < 0."""
    data = changed(f"{G}.parameters.mu", {"value": 0.5, "std": 1.0, "status": "converged", "source": "x"})
    rho = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, -0.9], [0.9, -0.9, 1.0]])
    data["grounds"]["lab_floor"]["covariance"] = {"names": ["c_long", "c_lat", "mu"], "matrix": rho.tolist()}
    with pytest.raises(ParameterError, match="positive semidefinite"):
        Twin.from_mapping(data, where="x")


# --- grounds for simulation ------------------------------------------------------------------------------------------


def test_constants_that_the_drives_do_not_tell_are_filled_and_the_note_says_so():
    """mu: the law's default of 10 is above the bound; c_long: half of its 95 % bound."""
    bound = {"at_most": 0.002, "status": "bound_only", "source": "log 1"}
    data = changed(f"{G}.parameters.c_long", bound)
    data["grounds"]["lab_floor"]["covariance"] = None
    ground = Twin.from_mapping(data, where="x").ground()
    assert ground.parameters["mu"].value == 10.0
    assert "law's default" in ground.parameters["mu"].note
    assert ground.parameters["c_long_per_n"].value == 0.001
    assert "half of the 95 % bound" in ground.parameters["c_long_per_n"].note
    assert ground.parameters["c_lat_per_n"] == Parameter("c_lat_per_n", 0.0501, "log 9f3c12", 0.0013, "", 0.0, 10.0)


def test_a_default_below_the_bound_gives_way_to_the_bound():
    data = changed(f"{G}.parameters.mu", {"at_least": 12.0, "status": "not_excited", "source": "x"})
    assert Twin.from_mapping(data, where="x").ground().values()["mu"] == 12.0


@pytest.mark.parametrize(("name", "drive"), [("c_lat_per_n", "spin on the spot"), ("c_long", "change the speed in a step")])
def test_an_unknown_constant_names_the_missing_manoeuvre(name, drive):
    data = changed(f"{G}.covariance", None)
    data["grounds"]["lab_floor"]["parameters"][name] = {"status": "not_excited", "source": "x"}
    with pytest.raises(ParameterError, match=drive):
        Twin.from_mapping(data, where="x").ground()


def two_grounds():
    data = mapping()
    data["grounds"]["yard"] = data["grounds"]["lab_floor"]
    return Twin.from_mapping(data, where="x")


DRIVE = Scenario(commands=[{"for_s": 0.3, "v_mps": 0.5}], record_s=0.01)


def test_a_twin_drives_on_its_own_ground():
    own = simulate(example(), DRIVE)
    assert (own.robot, own.ground) == ("p3at", "lab_floor")
    by_hand = simulate("p3at", DRIVE, ground=example().ground())
    assert np.array_equal(own.vx_mps, by_hand.vx_mps)
    assert simulate(example(), DRIVE, ground="ice").ground == "ice"


def test_of_several_grounds_the_scenario_or_the_caller_chooses():
    named = DRIVE.model_copy(update={"ground": DRIVE.ground.model_copy(update={"surface": "yard"})})
    assert simulate(two_grounds(), named).ground == "yard"
    assert simulate(two_grounds(), DRIVE, ground="yard").ground == "yard"
    other = DRIVE.model_copy(update={"ground": DRIVE.ground.model_copy(update={"surface": "ice"})})
    with pytest.raises(ParameterError, match="lab_floor, yard"):
        simulate(two_grounds(), other)


def test_a_twin_file_stands_in_for_a_robot(tmp_path):
    example().save(tmp_path / "p3at.twin.yaml")
    assert simulate(tmp_path / "p3at.twin.yaml", DRIVE).distance_m == simulate(example(), DRIVE).distance_m


# --- payload ---------------------------------------------------------------------------------------------------------


def test_a_payload_moves_mass_centre_and_inertia_by_parallel_axes():
    """20 kg at [0, 0, 0.152], 5 kg at [0.05, 0.02, 0.3]: reduced mass 4 kg, I_z + 4 (0.05^2 + 0.02^2) = 0.755 + 0.0116."""
    robot = example().with_payload(5.0, (0.05, 0.02, 0.3)).robot
    assert robot.mass_kg.value == 25.0
    assert robot.mass_kg.std == 0.2
    assert robot.centre_of_mass_m.value == pytest.approx((0.01, 0.004, (20 * 0.152 + 5 * 0.3) / 25))
    assert robot.yaw_inertia_kgm2.value == pytest.approx(0.7666, abs=1e-12)
    assert robot.roll_inertia_kgm2.value == pytest.approx(0.426 + 4 * (0.02**2 + 0.148**2), abs=1e-12)


def test_mass_times_c_is_unchanged_by_a_payload():
    """c N is a constant of the tyre [Trimble2022]: c shrinks by 20/25, so do spread, interval and errors."""
    before, after = example(), example().with_payload(5.0)
    c0, c1 = (t.grounds["lab_floor"].parameter("c_long") for t in (before, after))
    assert c1.value * 25.0 == pytest.approx(c0.value * 20.0, rel=1e-15)
    assert c1.std == pytest.approx(0.8 * c0.std)
    assert c1.interval_90 == pytest.approx((0.8 * 0.00479, 0.8 * 0.00515))
    assert c1.status is Status.CONVERGED
    ground = after.grounds["lab_floor"]
    assert ground.covariance.array == pytest.approx(0.64 * before.grounds["lab_floor"].covariance.array)
    assert ground.parameter("mu") == before.grounds["lab_floor"].parameter("mu")
    assert ground.load_n == pytest.approx(25 * 9.81 / 4)
    assert ground.combinations["c_lat/c_long"].value == pytest.approx(10.08, rel=1e-14)
    assert ground.combinations["mass*c_long"].value == pytest.approx(0.0994, rel=1e-14)


def test_an_error_of_the_mass_moves_the_scaled_constant():
    """c' = c m / (m + M): by central differences over the mass, 0.1 kg each way."""
    data = changed(f"{G}.covariance", {"names": ["c_long", "mass_kg"], "matrix": [[0.0, 0.0], [0.0, 0.04]]})
    ground = Twin.from_mapping(data, where="x").with_payload(5.0).grounds["lab_floor"]
    slope = (0.00497 * 20.1 / 25.1 - 0.00497 * 19.9 / 24.9) / 0.2
    assert ground.covariance.array == pytest.approx(np.array([[slope**2, slope], [slope, 1.0]]) * 0.04, rel=1e-4)


def test_the_loaded_robot_slips_alike_at_the_same_acceleration():
    """s = c m a / n at the rim: with m c unchanged the slip ratio over the acceleration is unchanged (document 000, eq. 1)."""
    ratios = []
    for twin in (example(), example().with_payload(5.0)):
        drive = Scenario(
            commands=[{"for_s": 0.5, "v_mps": 0.5}, {"for_s": 1.0, "v_mps": 1.0, "profile": "linear", "ramp_s": 1.0}],
            record_s=0.01,
        )
        run = simulate(twin, drive)
        k = 100  # in the middle of the ramp
        rim = run.wheel_speed_radps[k].mean() * 0.11
        ratios.append((1.0 - run.vx_mps[k] / rim) / run.fx_mps2[k])
    assert ratios[1] == pytest.approx(ratios[0], rel=2e-3)
    assert ratios[0] == pytest.approx(0.00497 * 20.0 / 4.0, rel=2e-3)


@pytest.mark.parametrize(
    ("mass", "at", "said"),
    [(-20.0, None, "some mass is left"), (float("nan"), None, "nan"), (500.0, (0.3, 0, 0.3), "outside the wheels"),
     (1.0, (0.0, 0.0), "x, y from the wheels' centre")],
)  # fmt: skip
def test_an_impossible_payload_is_refused(mass, at, said):
    with pytest.raises(ParameterError, match=said):
        example().with_payload(mass, at)


# --- draws -----------------------------------------------------------------------------------------------------------


def test_draws_have_the_covariance_and_drive_robots():
    """Means within 5 standard errors, covariances within 5 %: 40 000 draws leave 0.7 %."""
    drawn = example().draws(40_000, seed=3)
    assert list(drawn) == ["c_long_per_n", "c_lat_per_n"]
    pair = np.array(list(drawn.values()))
    assert pair.mean(axis=1) == pytest.approx([0.00497, 0.0501], rel=5 * 0.026 / 200)
    assert np.cov(pair) == pytest.approx(np.array([[1.21e-8, 1e-8], [1e-8, 1.69e-6]]), rel=0.12)
    few = example().draws(5, seed=3)
    assert len(simulate_many(example(), DRIVE, few)) == 5
    assert all(np.array_equal(few[name], example().draws(5, seed=3)[name]) for name in few)


def test_draws_stay_within_the_law_and_below_a_bound():
    data = changed(f"{G}.covariance", None)
    ground = data["grounds"]["lab_floor"]
    ground["parameters"]["c_long"] = {"at_most": 0.002, "status": "bound_only", "source": "x"}
    ground["parameters"]["c_lat_per_n"] = {"value": 0.0, "std": 0.01, "status": "at_bound", "source": "x"}
    drawn = Twin.from_mapping(data, where="x").draws(2000, seed=0)
    assert drawn["c_lat_per_n"].min() >= 0.0
    assert 0.0 <= drawn["c_long_per_n"].min() < drawn["c_long_per_n"].max() <= 0.002
    assert drawn["c_long_per_n"].mean() == pytest.approx(0.001, rel=0.06)


# --- text and schema -------------------------------------------------------------------------------------------------


def test_the_summary_tells_values_statuses_and_origin():
    text = example().summary()
    for words in (
        "0.00497 ± 0.00011",
        "0.00479 to 0.00515",
        "at least 0.29",
        "the drives do not tell it",
        "run.mcap",
        "yaw sign",
    ):
        assert words in text


def test_a_constant_is_replaced_and_its_covariances_go():
    mu = FittedParameter(value=0.5, std=0.01, status="converged", source="tilt")
    twin = example().with_parameter("c_long", mu, note="by hand")
    ground = twin.grounds["lab_floor"]
    assert ground.parameter("c_long_per_n") == mu
    assert ground.covariance.names == ["c_lat_per_n"]
    assert twin.provenance.notes == ["by hand"]
    with pytest.raises(ParameterError, match="no constant 'nu'"):
        example().with_parameter("nu", mu)


def test_the_kept_schema_is_current_and_fits():
    assert schema_path(Twin).read_text(encoding="utf-8") == schema_text(Twin)
    check = Draft202012Validator(json.loads(schema_text(Twin)))
    check.check_schema(check.schema)
    assert list(check.iter_errors(mapping())) == []
    for path, value in ((f"{P}.value", None), (f"{G}.parameters.mu.value", 0.5), (f"{G}.law", "x"), (f"{G}.parameters.nu", {})):
        assert not check.is_valid(changed(path, value)), path
