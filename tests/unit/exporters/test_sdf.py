"""Exported SDF models: numbers of the twin to the last bit, bodies that add up, files that sdformat accepts."""

import math
import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from known_twins import known_twin
from patience import HANG_S
from robots import changed, six_wheeled
from slipfit.calibration.spin_test import SpinGeometry
from slipfit.contact import LAWS
from slipfit.errors import ExportError
from slipfit.exporters import Settings, check_text, export
from slipfit.exporters.surface import exact_compliances, fork_saturation_mu
from slipfit.library import find_robot, robot_names
from slipfit.twin import Twin

GAZEBOS = ("gz", "fortress", "gazebo-classic")

#: What is exported: wheels with rollers are not.
SKID_STEER = [name for name in robot_names() if find_robot(name).drive == "skid_steer"]


def model_of(text):
    root = ET.fromstring(text)
    return next(m for m in root.iter("model") if m.find("joint") is not None)


def vector(node, path, start=0, stop=3):
    found = node.find(path)
    return np.zeros(3) if found is None else np.array([float(x) for x in found.text.split()])[start:stop]


def tensor(link):
    i = {key: float(link.findtext(f"inertial/inertia/{key}")) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    return np.array([[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]])


def whole(model):
    """Mass, centre of mass and inertia of all links, by parallel axes. Links are turned about x only."""
    parts = []
    for link in model.findall("link"):
        roll = vector(link, "pose", 3, 4)[0]
        turn = np.array([[1, 0, 0], [0, math.cos(roll), -math.sin(roll)], [0, math.sin(roll), math.cos(roll)]])
        mass = float(link.findtext("inertial/mass"))
        parts.append((mass, vector(link, "pose") + turn @ vector(link, "inertial/pose"), turn @ tensor(link) @ turn.T))
    mass = sum(m for m, _, _ in parts)
    centre = sum(m * c for m, c, _ in parts) / mass
    inertia = sum(i + m * ((c - centre) @ (c - centre) * np.eye(3) - np.outer(c - centre, c - centre)) for m, c, i in parts)
    return mass, centre, inertia


@pytest.mark.parametrize("name", SKID_STEER)
def test_bodies_add_up_to_the_twin(name):
    """Mass, centre of mass and inertia of the links together are the twin's, for every robot of the library."""
    robot = find_robot(name)
    mass, centre, inertia = whole(model_of(export(known_twin(name), "gz").text))
    assert mass == pytest.approx(robot.mass_kg.value, rel=1e-12)
    assert centre == pytest.approx(robot.centre_of_mass_m.value, abs=1e-12)
    assert inertia[2, 2] == pytest.approx(robot.yaw_inertia_kgm2.value, rel=1e-9)
    assert inertia - np.diag(inertia.diagonal()) == pytest.approx(0.0, abs=1e-9)
    if robot.roll_inertia_kgm2 and robot.pitch_inertia_kgm2:
        moments = (robot.roll_inertia_kgm2.value, robot.pitch_inertia_kgm2.value)
        assert inertia.diagonal()[:2] == pytest.approx(moments, rel=1e-9)


@pytest.mark.parametrize("name", SKID_STEER)
def test_every_link_is_a_real_body(name):
    """Principal moments above zero, none larger than the other two together: engines refuse others."""
    for link in model_of(export(known_twin(name), "gz").text).findall("link"):
        small, middle, large = np.linalg.eigvalsh(tensor(link))
        assert small > 0.0
        assert large <= (small + middle) * (1.0 + 1e-9)


def test_p3at_is_taken_apart_as_it_was_put_together():
    """Robot file p3at, from the public Gazebo model: chassis 14 kg at 0.17 m with a yaw inertia of 0.3978, wheels of 1.5 kg."""
    base, *wheels = model_of(export(known_twin(), "gz").text).findall("link")
    assert [float(w.findtext("inertial/mass")) for w in wheels] == pytest.approx([1.5] * 4)
    assert float(base.findtext("inertial/mass")) == pytest.approx(14.0)
    assert vector(base, "pose")[2] + vector(base, "inertial/pose")[2] == pytest.approx(0.17)
    assert tensor(base)[2, 2] == pytest.approx(0.3978, abs=2e-4)


def test_spin_inertia_of_a_geared_rotor_leaves_a_real_base_and_is_told():
    """A wheel with 100 times the inertia has no room in the robot's pitch inertia: the whole stays, the ledger speaks."""
    robot = changed("p3at", wheels__spin_inertia_kgm2=0.9)
    done = export(known_twin(robot), "gz")
    mass, _, inertia = whole(model_of(done.text))
    assert mass == pytest.approx(20.0)
    assert inertia[2, 2] == pytest.approx(0.755)
    assert "spin inertia of a wheel" in [entry.what for entry in done.ledger.entries]


@pytest.mark.parametrize("target", GAZEBOS)
@pytest.mark.parametrize(
    ("name", "c_long", "c_lat"), [("p3at", 0.005, 0.05), ("husky", 0.0017, 0.0213), ("jackal", 1 / 300, 0.07)]
)
def test_compliance_over_force_is_the_constant_to_the_last_bit(target, name, c_long, c_lat):
    """ENGINES: c = compliance / wheel_normal_force; the force is the load at rest, and loads add up to the weight."""
    wheels = model_of(export(known_twin(name, c_long, c_lat), target).text).findall("plugin/wheel")
    forces = [float(w.findtext("wheel_normal_force")) for w in wheels]
    for wheel, force in zip(wheels, forces, strict=True):
        assert float(wheel.findtext("slip_compliance_longitudinal")) / force == c_long
        assert float(wheel.findtext("slip_compliance_lateral")) / force == c_lat
        assert float(wheel.findtext("wheel_radius")) == find_robot(name).wheels.radius_m.value
    assert sum(forces) == pytest.approx(find_robot(name).mass_kg.value * 9.81, rel=1e-4)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.floats(1e-3, 1e5))
def test_any_decimal_constants_come_back_to_the_last_bit(c_long, c_lat, load):
    force, along, across = exact_compliances(c_long / 1e7, c_lat / 1e6, load)
    assert (along / force, across / force) == (c_long / 1e7, c_lat / 1e6)
    assert force == pytest.approx(load, rel=2e-3)


@given(st.floats(1e-7, 1.0), st.floats(1e-7, 10.0), st.floats(1e-3, 1e5))
def test_any_constants_come_back_but_for_the_last_bit(c_long, c_lat, load):
    force, along, across = exact_compliances(c_long, c_lat, load)
    assert (along / force, across / force) == pytest.approx((c_long, c_lat), rel=3e-16)


def test_loads_follow_the_centre_of_mass():
    """Husky: x_c = -0.069 m of a wheelbase of 0.512 m, so the rear axle carries 1/2 + 0.069 / 0.512 of the weight."""
    wheels = model_of(export(known_twin("husky"), "gz").text).findall("plugin/wheel")
    forces = {w.get("link_name"): float(w.findtext("wheel_normal_force")) for w in wheels}
    rear = forces["rear_left_wheel"] + forces["rear_right_wheel"]
    assert rear == pytest.approx((0.5 + 0.069 / 0.512) * 56.6 * 9.81, rel=1e-5)


def test_saturation_of_the_forks_cone():
    """ENGINES: with c .005 and .05 on the P3AT the fork's cone saturates below mu* = 2.45."""
    assert fork_saturation_mu(0.005, 0.05, SpinGeometry.of(find_robot("p3at")), 49.05) == pytest.approx(2.45, abs=0.005)
    told = export(known_twin(), "gazebo-classic").ledger.entries[0]
    assert "mu* = |v| / (|w| N min(c)) = 2.45" in told.why


@pytest.mark.parametrize("target", GAZEBOS)
@pytest.mark.parametrize("shape", ["sphere", "thin"])
@pytest.mark.parametrize("world", [False, True])
def test_our_own_check_finds_nothing(target, shape, world):
    for name in ("p3at", "husky", "jackal"):
        assert check_text(export(known_twin(name), target, settings=Settings(shape, world)).text).findings == ()


@pytest.mark.engine
@pytest.mark.parametrize("target", GAZEBOS)
@pytest.mark.parametrize("name", ["p3at", "husky", "jackal"])
def test_sdformat_accepts_it(target, name, tmp_path):
    """ENGINES: `ign sdf --check` of sdformat 12.3, with absolute paths."""
    if not shutil.which("ign"):
        pytest.skip("needs apt install --no-install-recommends sdformat-sdf ignition-tools libsdformat-dev")
    for shape, world in (("sphere", True), ("thin", False)):
        path = tmp_path / f"{shape}.sdf"
        export(known_twin(name), target, settings=Settings(shape, world)).save(path)
        done = subprocess.run(
            ["ign", "sdf", "--check", path.absolute()], capture_output=True, text=True, check=False, timeout=HANG_S
        )
        assert done.stdout.strip() == "Valid.", done.stdout + done.stderr
        assert "Warning" not in done.stderr + done.stdout


def test_names_of_each_generation():
    """ENGINES: file and name of the WheelSlip plugin in Classic, Fortress and gz-sim."""
    plugins = {
        t: [(p.get("filename"), p.get("name")) for p in model_of(export(known_twin(), t).text).findall("plugin")] for t in GAZEBOS
    }
    assert plugins["gz"] == [
        ("gz-sim-wheel-slip-system", "gz::sim::systems::WheelSlip"),
        ("gz-sim-diff-drive-system", "gz::sim::systems::DiffDrive"),
    ]
    assert plugins["fortress"] == [
        ("ignition-gazebo-wheel-slip-system", "ignition::gazebo::systems::WheelSlip"),
        ("ignition-gazebo-diff-drive-system", "ignition::gazebo::systems::DiffDrive"),
    ]
    assert [file for file, _ in plugins["gazebo-classic"]] == ["libWheelSlipPlugin.so", "libSkidSteerDrivePlugin.so"]


def test_world_has_the_settings_that_work():
    """ENGINES: steps of 1 ms, 50 iterations, the pyramid; the floor's friction is not below the wheels'."""
    root = ET.fromstring(export(known_twin(), "gazebo-classic", settings=Settings(world=True)).text)
    physics = root.find("world/physics")
    assert physics.findtext("max_step_size") == "0.001"
    assert physics.findtext("ode/solver/iters") == "50"
    assert physics.findtext("ode/solver/friction_model") == "pyramid_model"
    floor = root.find("world/model[static]/link/collision/surface/friction/ode")
    wheel = model_of(export(known_twin(), "gz").text).find("link[@name='front_left_wheel']/collision/surface")
    assert (floor.findtext("mu"), floor.findtext("mu2")) == (
        wheel.findtext("friction/ode/mu"),
        wheel.findtext("friction/ode/mu2"),
    )
    assert [wheel.findtext(f"contact/ode/{key}") for key in ("kp", "kd")] == ["1000000.0", "1000.0"]
    assert wheel.findtext("friction/ode/fdir1") == "0 0 1"


def test_what_is_chosen_is_told_in_the_file():
    """mu is known from below only (0.3): the law's default of 10 is taken, and the file says so."""
    done = export(known_twin(), "gz")
    assert "mu = 10, so high that grip never runs out: not told by the drives, at least 0.3" in " ".join(done.text.split())
    assert done.text.isascii()


def other_law(law, **values):
    data = known_twin().to_mapping()
    parameters = {
        key: {"value": v, "status": "converged", "source": "x"} for key, v in (dict(LAWS[law].example) | values).items()
    }
    data["grounds"] = {"floor": {"law": law, "parameters": parameters}}
    return Twin.from_mapping(data, where="twin")


def test_relaxation_is_left_out_and_told():
    done = export(other_law("wheel_slip", relaxation_long_m=0.03, relaxation_lat_m=0.0), "gz")
    assert [entry.what for entry in done.ledger.entries if "relaxation" in entry.what] == ["relaxation_long_m = 0.03"]


@pytest.mark.parametrize("name", ["world", "__model__", "__x__"])
def test_names_that_sdf_keeps_for_itself(name):
    """SDF 1.7 and later reserve `world` and names in double underscores."""
    data = known_twin().to_mapping()
    data["robot"]["name"] = name
    done = export(Twin.from_mapping(data, where="x"), "gz")
    assert model_of(done.text).get("name") == f"robot_{name}"
    assert f"SDF keeps '{name}' for itself" in next(entry.why for entry in done.ledger.entries if entry.what == "name")


def test_gravity_that_a_model_cannot_say_is_told():
    """On the moon: the world has it, a model alone cannot."""
    data = known_twin().to_mapping()
    data["grounds"]["floor"]["gravity_mps2"] = 1.62
    moon = Twin.from_mapping(data, where="x")
    told = [entry.text() for entry in export(moon, "gz").ledger.entries]
    assert any(text.startswith("gravity of 1.62 m/s2") and "<gravity>0 0 -1.62</gravity>" in text for text in told)
    for without in (export(moon, "gz", settings=Settings(world=True)), export(known_twin(), "gz")):
        assert not any(entry.what.startswith("gravity") for entry in without.ledger.entries)


def test_coulomb_has_friction_and_no_plugin():
    """mu belongs to fdir1, across the wheel; mu2 to the direction along it."""
    model = model_of(export(other_law("coulomb_pyramid", mu_long=0.8, mu_lat=0.6), "gz").text)
    ode = model.find("link[@name='rear_left_wheel']/collision/surface/friction/ode")
    assert (ode.findtext("mu"), ode.findtext("mu2")) == ("0.6", "0.8")
    assert not model.findall("plugin/wheel")


def test_viscous_slip_is_the_engines_own():
    """ODE's slip1 acts along fdir1, that is across the wheel."""
    model = model_of(export(other_law("viscous_slip", k_long_mps_per_n=0.005, k_lat_mps_per_n=0.01), "gazebo-classic").text)
    ode = model.find("link[@name='rear_left_wheel']/collision/surface/friction/ode")
    assert (ode.findtext("slip1"), ode.findtext("slip2")) == ("0.01", "0.005")


def test_laws_that_engines_do_not_have_are_refused():
    with pytest.raises(ExportError, match=r"magic_formula cannot be said to gz.*wheel_slip"):
        export(other_law("magic_formula"), "gz")
    with pytest.raises(ExportError, match=r"direction_rad = 0\.3"):
        export(other_law("coulomb", direction_rad=0.3), "gz")


def test_six_wheels():
    """Names and sides of three axles; Classic's drive plugin has four wheels and is left out, which is told."""
    model = model_of(export(known_twin(six_wheeled()), "gz").text)
    assert [j.text for j in model.findall("plugin/left_joint")] == [f"{a}_left_wheel_joint" for a in ("front", "middle", "rear")]
    classic = export(known_twin(six_wheeled()), "gazebo-classic")
    assert "drive" in [entry.what for entry in classic.ledger.entries]
    assert check_text(classic.text).is_good


def test_unknown_targets_get_the_nearest():
    with pytest.raises(ExportError, match="did you mean 'mjcf'"):
        export(known_twin(), "mjfc")
