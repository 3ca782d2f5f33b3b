"""MJCF and its updater: constants in the file, and in MuJoCo itself (marked engine)."""

import math
import re
import xml.etree.ElementTree as ET

import pytest

from known_twins import known_twin
from slipfit.errors import ExportError
from slipfit.exporters import Settings, export
from slipfit.exporters.bodies import bodies
from slipfit.exporters.mjcf import Servo, inverse_weight, updater_text
from slipfit.library import find_robot

ROBOTS = ("p3at", "husky", "jackal")


def test_recipe():
    """ENGINES: elliptic cone, condim 3, friction 10 and 31.6, solref .004 1, capsules of 0.5 mm."""
    root = ET.fromstring(export(known_twin(), "mjcf").text)
    option = root.find("option").attrib
    assert (option["cone"], option["integrator"], option["impratio"]) == ("elliptic", "Euler", "0.0005")
    pairs = root.findall("contact/pair")
    assert len(pairs) == 4
    for pair in pairs:
        across, along, *rest = map(float, pair.get("friction").split())
        assert (across, along, rest) == (10.0, pytest.approx(10.0 * math.sqrt(10.0)), [0.0, 0.0, 0.0])
        assert (pair.get("condim"), pair.get("solref")) == ("3", "0.004 1")
    capsules = root.findall(".//geom[@type='capsule']")
    assert [geom.get("size").split()[1] for geom in capsules] == ["0.0005"] * 4


def test_compliance_goes_with_the_speed():
    """R / b with R = (1 - d) / d times a weight that the file does not change: (1 - d) / (d b) goes with the speed."""

    def compliance(speed):
        pair = ET.fromstring(export(known_twin(), "mjcf", settings=Settings(at_speed_mps=speed)).text).find("contact/pair")
        d = float(pair.get("solimp").split()[0])
        return (1.0 - d) / d / (-float(pair.get("solreffriction").split()[1]) / d)

    assert compliance(0.5) == pytest.approx(2.0 * compliance(0.25))
    assert compliance(5.0) == pytest.approx(10.0 * compliance(0.5))


def test_friction_is_never_below_the_twins():
    """With c_long above c_lat the ellipse is stretched across the wheel."""
    pair = ET.fromstring(export(known_twin(c_long=0.05, c_lat=0.005), "mjcf").text).find("contact/pair")
    across, along, *_ = map(float, pair.get("friction").split())
    assert (across, along) == (pytest.approx(10.0 * math.sqrt(10.0)), pytest.approx(10.0))


def test_updater_stands_alone(tmp_path):
    written = export(known_twin(), "mjcf").save(tmp_path / "robot.xml")
    assert [path.name for path in written] == ["robot.xml", "robot_updater.py"]
    assert not [line for line in updater_text().splitlines() if line.startswith(("import slipfit", "from slipfit"))]


@pytest.mark.parametrize(
    ("model", "script"),
    [("my-robot.xml", "my_robot_updater.py"), ("3 wheels.v2.xml", "_3_wheels_v2_updater.py"), ("p3at.xml", "p3at_updater.py")],
)
def test_updater_can_be_imported_by_its_name(model, script, tmp_path):
    written = export(known_twin(), "mjcf").save(tmp_path / model)
    assert [path.name for path in written] == [model, script]
    assert written[1].stem.isidentifier()


def test_what_is_soft_or_bound_is_told():
    told = {entry.what for entry in export(known_twin(), "mjcf").ledger.entries}
    assert {"slip without the updater", "friction limit", "servos"} <= told


def test_zero_constants_are_refused():
    with pytest.raises(ExportError, match="needs both above zero"):
        export(known_twin(c_long=0.0), "mjcf")


# --- in MuJoCo -------------------------------------------------------------------------------------------------------


@pytest.fixture
def drive(tmp_path):
    """Model, data and updater as a user would load them: from the files, without slipfit."""
    mujoco = pytest.importorskip("mujoco", reason="needs pip install mujoco")
    import importlib.util

    def load(twin, edit=lambda text: text):
        model_path, script = export(twin, "mjcf").save(tmp_path / "robot.xml", force=True)
        model_path.write_text(edit(model_path.read_text()))
        spec = importlib.util.spec_from_file_location("robot_updater", script)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        model = mujoco.MjModel.from_xml_path(str(model_path))
        return model, mujoco.MjData(model), module.SlipUpdater(model)

    return load


@pytest.mark.engine
@pytest.mark.parametrize("name", ROBOTS)
def test_regularisation_is_mujocos(name, drive):
    """Ours is by formula, MuJoCo's is efc_R of the first friction row of each wheel's first contact."""
    import mujoco

    model, data, _ = drive(known_twin(name))
    mujoco.mj_step(model, data, nstep=300)
    parts = bodies(find_robot(name), 9.81)
    rotor = Servo.of(find_robot(name), parts, 0.001).rotor_kgm2
    by_wheel = {}
    for contact in range(data.ncon):
        by_wheel.setdefault(data.contact.geom[contact, 1], data.efc_R[data.contact.efc_address[contact] + 1])
    impedance = model.pair_solimp[:, 0]
    expected = [(1.0 - d) / d * inverse_weight(parts, k, rotor) for k, d in enumerate(impedance)]
    assert list(by_wheel.values()) == pytest.approx(expected, rel=1e-6)
    assert model.body_mass.sum() == pytest.approx(find_robot(name).mass_kg.value)


@pytest.mark.engine
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("turn", [0.05, 1.0])
def test_spin_reads_the_ratio(name, turn, drive):
    """SPEC eq. 3 with the measured wheel speed gives 10 within .02, slow and fast."""
    _, data, slip = drive(known_twin(name))
    robot = find_robot(name)
    b, l, r = robot.track_m / 2.0, robot.wheelbase_m / 2.0, robot.wheels.radius_m.value
    data.ctrl[:] = [-turn * b / r, turn * b / r] * 2
    for _ in range(2500):
        slip.step(data)
    told = abs(data.qvel[6:10]).mean() * r / b
    omega = data.qvel[5]
    assert l**2 * omega / (b**2 * (told - omega)) == pytest.approx(10.0, abs=0.02)


@pytest.mark.engine
@pytest.mark.parametrize("speed", [0.0, 0.05])
def test_side_slope(speed, drive):
    """wheel_slip: v_lat = c_lat |w| m g sin / 4, 0.0213 m/s at 0.05 m/s on 10 degrees; a parked robot stays (0.1 mm/s)."""
    model, data, slip = drive(known_twin())
    model.opt.gravity[:] = (0.0, -9.81 * math.sin(math.radians(10.0)), -9.81 * math.cos(math.radians(10.0)))
    data.ctrl[:] = speed / 0.11
    for _ in range(1500):
        slip.step(data)
    side = 0.05 * speed * 20.0 * 9.81 * math.sin(math.radians(10.0)) / 4.0
    assert -data.qvel[1] == pytest.approx(side, rel=0.01, abs=1.1e-4)


PAN = """<body name="mast" pos="0 0 .2"><joint name="pan" axis="0 0 1" damping=".1"/>
<inertial pos="0 0 0" mass=".1" diaginertia="1e-3 1e-3 1e-3"/></body></body></worldbody>"""
TENDONS = "".join(f'<fixed name="t{k}"><joint joint="pan" coef="1"/></fixed>' for k in range(6))


def with_tendon_motor(k):
    """A mast that turns, driven by a motor on the tendon with the id k; joints have ids 1 to 4 (wheels) and 5."""

    def edit(text):
        base_end = text.rindex("</body>")
        text = text[:base_end] + PAN + text[text.index("</worldbody>") + len("</worldbody>") :]
        text = text.replace("<actuator>", f"<tendon>{TENDONS}</tendon><actuator>")
        return text.replace("</actuator>", f'<motor name="pan" tendon="t{k}"/></actuator>')

    return edit


@pytest.mark.engine
@pytest.mark.parametrize("k", [1, 4])
def test_a_tendon_with_a_joints_id_is_left_alone(k, drive):
    """The mast's motor is told nothing and gives no torque, while the wheels reach what they are told."""
    model, data, slip = drive(known_twin(), with_tendon_motor(k))
    assert model.nu == 5
    for _ in range(1500):
        data.ctrl[:] = [-2.0, 2.0, -2.0, 2.0, 0.0]
        slip.step(data)
    assert data.actuator_force[4] == 0.0
    assert abs(data.qvel[6:10]) == pytest.approx([2.0] * 4, rel=1e-3)


@pytest.mark.engine
def test_motors_of_ones_own_get_the_torque_that_they_are_told(drive):
    _, data, slip = drive(known_twin(), lambda text: re.sub(r'<velocity (name="\w+" joint="\w+")[^>]*/>', r"<motor \1/>", text))
    for _ in range(200):
        data.ctrl[:] = 0.3
        slip.step(data)
    assert list(data.actuator_force) == [0.3] * 4


@pytest.mark.engine
@pytest.mark.parametrize("by_time", [True, False])
def test_a_new_run_begins_afresh(by_time, drive):
    """Nothing is told and nothing moves, whatever servos missed in the run before."""
    import mujoco

    model, data, slip = drive(known_twin())
    for _ in range(1000):
        data.ctrl[:] = [-3.0, 3.0, -3.0, 3.0]
        slip.step(data)
    mujoco.mj_resetData(model, data)
    if not by_time:
        data.time = 100.0
        slip.reset()
    for _ in range(200):
        slip.step(data)
    _, fresh, new = drive(known_twin())
    for _ in range(200):
        new.step(fresh)
    assert abs(data.qvel[6:10]).max() < 1e-3
    assert data.qpos == pytest.approx(fresh.qpos, abs=1e-6)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('type="plane" size="0 0 1"', 'type="box" size="50 50 .5" pos="0 0 -.5"', "the floor 'floor' .* is no plane"),
        ('timestep="0.001"', 'timestep="0.002"', "timestep is 0.002 s; expected 0.001 s"),
    ],
)
def test_models_that_were_changed_too_far_are_refused(old, new, said, drive):
    with pytest.raises(ValueError, match=said):
        drive(known_twin(), lambda text: text.replace(old, new))


@pytest.mark.engine
def test_smaller_steps_are_taken(drive):
    """Ten of half a millisecond; servos made for a whole one are softer there, which is stable."""
    _, data, slip = drive(known_twin(), lambda text: text.replace('timestep="0.001"', 'timestep="0.0005"'))
    for _ in range(10):
        slip.step(data)
    assert data.time == pytest.approx(0.005)
