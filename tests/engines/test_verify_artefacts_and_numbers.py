"""slipfit verify in real engines: sound exports agree with the twin, and artefacts provoked on purpose are found (issue 4)."""

import re

import pytest

from known_twins import known_twin
from slipfit.engines import Settings
from slipfit.library import Robot, find_robot
from slipfit.twin import Twin
from slipfit.verification import Kind, quick, verify
from slipfit.verification.measures import spin_reading
from slipfit.verification.run import Course, Rig

pytestmark = pytest.mark.engine

#: Issue 4: eq. 3 within .005 of 10 in ODE and gz-physics, .02 in MuJoCo.
ENGINES = {"ode": 0.005, "gz-physics": 0.005, "mujoco": 0.02}
SDF_ENGINES = ["ode", "gz-physics"]


def kinds(found):
    return {artefact.kind for artefact in found.artefacts}


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exported_p3at_agrees(engine, need):
    """Issue 4: eq. 3, 1 % of distance and 1° (2 % and 2° in MuJoCo); c_long within 1 %, by a speed step alone 1.5 % in MuJoCo,
    whose friction answers to the acceleration of slip as well."""
    need(engine)
    found = verify(known_twin(), engine)
    assert found.is_good, found.summary()
    assert found.ratio.found == pytest.approx(10.0, abs=ENGINES[engine])
    assert found.c_long.found == pytest.approx(0.005, rel=0.015 if engine == "mujoco" else 0.01)
    limit = 2.0 if engine == "mujoco" else 1.0
    assert found.free.share < 0.01 * limit
    assert found.free.heading_deg < limit


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("robot", ["husky", "jackal"])
def test_other_robots_agree(engine, robot, need):
    """Issue 4: two other robots within 2 %, whose centres of mass are not amid the wheels."""
    need(engine)
    found = verify(known_twin(robot), engine)
    assert found.ratio.found == pytest.approx(10.0, rel=0.02)
    assert found.is_close, found.summary()
    assert not found.artefacts


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("c_long", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("ratio", [2.0, 10.0, 50.0])
def test_nine_pairs_of_constants(engine, c_long, ratio, need, tmp_path):
    """Issue 4: within 2 %."""
    need(engine)
    strong = find_robot("p3at").to_mapping()
    strong["powertrain"] = {"kind": "speed_loop", "torque_limit_nm": 50.0}  # with c_long 0.001 a spin takes 4 N m per wheel
    robot = Robot.from_mapping(strong, where="strong")
    course, rig = rig_of(engine, known_twin(robot, c_long=c_long, c_lat=c_long * ratio), tmp_path)
    run = rig.drive(course[short_spin])
    assert spin_reading(run, course.robot, c_long) == pytest.approx(ratio, rel=0.02)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("offset", [(0.05, 0.0), (-0.04, 0.03)])
def test_off_centre_mass(engine, offset, need, tmp_path):
    """Issue 4: off-centre mass within 2 %, by the closed form that knows the offset (docs/theory/wheel_slip_protocol)."""
    need(engine)
    robot = find_robot("p3at")
    centre = robot.centre_of_mass_m
    moved = robot.to_mapping()
    moved["centre_of_mass_m"] = [*offset, centre.value[2]]
    course, rig = rig_of(engine, known_twin(Robot.from_mapping(moved, where="moved")), tmp_path)
    run = rig.drive(course[short_spin])
    assert spin_reading(run, course.robot, 0.005) == pytest.approx(10.0, rel=0.02)


def rig_of(engine, twin, folder):
    from slipfit.engines import find_engine

    course = Course(twin)
    return course, Rig(find_engine(engine), course.export(engine, folder), course, Settings())


def short_spin(robot, ground):
    from slipfit.verification.manoeuvres import spin

    return spin(robot, ground, 4.0)


# --- artefacts, each provoked on purpose ------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", SDF_ENGINES)
def test_missing_fdir1_is_found(engine, need, write_world):
    """ENGINES: without fdir1 the axes of slip stay fixed in the world."""
    need(engine)
    found = verify(known_twin(), engine, model=write_world(fdir1=""))
    assert {Kind.FDIR1, Kind.HEADING} <= kinds(found)
    told = next(a for a in found.artefacts if a.kind is Kind.FDIR1)
    assert "there is no <fdir1>" in told.found
    assert "<fdir1>" in told.setting
    assert found.ratio.found < 1.0


@pytest.mark.parametrize("engine", SDF_ENGINES)
def test_fdir1_that_points_elsewhere_is_found(engine, need, write_world):
    """x of a wheel turns with the wheel, and its slip axes with it."""
    need(engine)
    found = verify(known_twin(), engine, model=write_world(fdir1="<fdir1>1 0 0</fdir1>"))
    assert Kind.FDIR1 in kinds(found)
    assert "does not point along the axle" in next(a for a in found.artefacts if a.kind is Kind.FDIR1).found


@pytest.mark.parametrize("engine", SDF_ENGINES)
def test_wide_cylinders_are_found_and_the_correction_restores(engine, need, write_world):
    """ENGINES: 75 mm cylinders read 5.263; with the half width in the formula 9.9998."""
    need(engine)
    found = verify(known_twin(), engine, model=write_world(width_m=0.075))
    assert found.ratio.found == pytest.approx(5.263, abs=0.01)
    told = next(a for a in found.artefacts if a.kind is Kind.CONTACTS)
    assert "2.0 contacts per wheel, edges 75 mm apart" in told.found
    assert "with the width in it 10 " in told.found
    assert "<sphere>" in told.setting


def test_gazebos_default_stiffness_is_found(need, write_world):
    """ENGINES: kp 1e12 makes wheel loads indeterminate."""
    need("ode")
    found = verify(known_twin(), "ode", model=write_world(kp=1e12, kd=1.0))
    told = next(a for a in found.artefacts if a.kind is Kind.LOADS)
    assert "kp 1e+12" in told.found
    assert "kp near 1e+06" in told.setting


def test_soft_contacts_are_found(need, write_world):
    """ENGINES: 49 mm of sinkage at kp 1e3."""
    need("ode")
    found = verify(known_twin(), "ode", model=write_world(kp=1e3), settings=Settings(settle_s=3.0))
    assert found.rest.sinkage_m == pytest.approx(0.049, rel=0.02)
    assert Kind.SINKAGE in kinds(found)


def test_large_steps_with_few_iterations_are_found(need, write_world):
    """ENGINES: 7.538 at 10 ms and 10 iterations. What a solver reads that has not converged hangs on the order of its rows; the
    same spin as in ENGINES is in test_spin_in_engines."""
    need("ode")
    found = verify(known_twin(), "ode", model=write_world(), settings=Settings(step_s=0.01, iterations=10))
    assert found.ratio.found == pytest.approx(7.538, abs=1.0)
    told = next(a for a in found.artefacts if a.kind is Kind.STEPS)
    assert "10 ms and 10 iterations" in told.found
    assert "step 2 ms" in told.setting


def test_slip_at_rest_is_found(need, write_world):
    """<slip1> without the plugin yields at rest: a robot parked across a slope creeps at slip1 m g sin / 4."""
    need("ode")
    path = write_world(plugin=False)
    path.write_text(path.read_text().replace("</mu2><fdir1>", "</mu2><slip1>0.005</slip1><slip2>0.005</slip2><fdir1>"))
    found = verify(known_twin(), "ode", model=path)
    assert {Kind.DRIFT, Kind.MODEL} <= kinds(found)
    assert "WheelSlip" in next(a for a in found.artefacts if a.kind is Kind.MODEL).found


CONE_MODEL = "<physics type='ode'><ode><solver><friction_model>cone_model</friction_model></solver></ode></physics>"


def test_cone_of_the_fork_is_a_note_where_the_file_has_the_pyramid(need, write_world):
    """ENGINES: saturates below mu* = 2.45; at mu = 1 eq. 3 would read 4.22. The pyramid, Classic's default, does not."""
    need("ode")
    found = verify(known_twin(), "ode", model=write_world(mu=1.0))
    (told,) = [note for note in found.notes if "mu* = 2.45" in note]
    assert float(re.search(r"would read ([\d.]+)", told)[1]) == pytest.approx(4.22, rel=0.02)
    assert found.ratio.found == pytest.approx(10.0, abs=0.005)
    assert not found.artefacts


@pytest.mark.parametrize("engine", SDF_ENGINES)
def test_cone_that_the_file_asks_for_is_an_artefact_of_classic_only(engine, need, write_world):
    need(engine)
    path = write_world(mu=1.0)
    path.write_text(path.read_text().replace("<gravity>", f"{CONE_MODEL}<gravity>"))
    found = verify(known_twin(), engine, model=path)
    assert kinds(found) == ({Kind.CONE} if engine == "ode" else set())
    assert any("mu* = 2.45" in text for text in (*found.notes, *(a.found for a in found.artefacts)))


def test_gravity_of_the_world_is_compared(need, write_world):
    """The Moon's, where the twin's ground has the Earth's; the drives have the twin's."""
    need("ode")
    path = write_world()
    path.write_text(path.read_text().replace("0 0 -9.81", "0 0 -1.62"))
    (told,) = verify(known_twin(), "ode", model=path).artefacts
    assert told.kind is Kind.MODEL
    assert "gravity [m/s²] 0 0 -1.62 instead of 0 0 -9.81" in told.found
    assert told.setting == "<gravity> of the world"


def test_inertia_that_the_file_leaves_out_is_found(need, write_world):
    """SDF: <inertia> is 1 kg m² where it is missing. Base 1 instead of 0.3978: 0.755 + 0.602 = 1.357 in all; wheels 1 kg m²."""
    need("ode")
    path = write_world()
    text = path.read_text()
    path.write_text(re.sub(r"(<mass>14</mass>)<inertia>.*?</inertia>", r"\1", text, flags=re.DOTALL))
    told = next(a for a in verify(known_twin(), "ode", model=path).artefacts if a.kind is Kind.INERTIA)
    assert float(re.fullmatch(r"yaw inertia \[kg m²\] ([\d.]+) instead of 0.755\d*", told.found)[1]) == pytest.approx(
        1.357, abs=0.002
    )
    path.write_text(re.sub(r"(<mass>1.5</mass>)<inertia>.*?</inertia>", r"\1", text, flags=re.DOTALL))
    told = next(a for a in verify(known_twin(), "ode", model=path).artefacts if a.kind is Kind.INERTIA)
    assert "spin inertia of a wheel [kg m²] 1 instead of 0.009075" in told.found
    path.write_text(text.replace("<pose>0 0 0.06 0 0 0</pose>", "<pose>0 0 0.16 0 0 0</pose>"))
    told = next(a for a in verify(known_twin(), "ode", model=path).artefacts if a.kind is Kind.INERTIA)
    assert told.found == "height of the centre of mass [m] 0.222 instead of 0.152"  # 14 kg of 20, 0.1 m higher


def test_edges_of_rigid_wheels_share_loads_as_the_solver_likes(need, write_world):
    """A wheel on either edge: its load acts 37 mm to either side. Masses and centres are the twin's."""
    need("gz-physics")
    found = verify(known_twin(), "gz-physics", model=write_world(width_m=0.075))
    assert kinds(found) == {Kind.CONTACTS}, found.summary()


@pytest.mark.parametrize("step_s", [0.002, 0.0005])
def test_exports_are_made_for_the_step_that_is_asked_for(step_s, need):
    """MuJoCo's updater refuses steps above the file's."""
    need("mujoco")
    found = verify(known_twin(), "mujoco", settings=Settings(step_s=step_s))
    assert found.settings["step_s"] == step_s
    assert found.is_close, found.summary()


def test_radius_of_one_plugin_wheel_is_compared(need, write_world):
    """slip = compliance |w| / N with w = wheel_radius omega: twice the radius slips twice as much."""
    need("ode")
    path = write_world()
    path.write_text(path.read_text().replace("<wheel_radius>0.11<", "<wheel_radius>0.22<", 1))
    told = next(a for a in verify(known_twin(), "ode", model=path).artefacts if a.kind is Kind.MODEL)
    assert told.found == "WheelSlip's wheel_radius [m] 0.22 instead of 0.11"


def changed_p3at(**changes):
    return Robot.from_mapping(find_robot("p3at").to_mapping() | changes, where="changed")


def wheels_at(*at_m):
    return find_robot("p3at").to_mapping()["wheels"] | {"at_m": [list(at) for at in at_m]}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_robot_whose_origin_is_its_rear_axle_agrees(engine, need):
    """The same robot, told from another origin: the path is of that origin in engines too."""
    need(engine)
    four = wheels_at((0.25, 0.201), (0.25, -0.201), (0.0, 0.201), (0.0, -0.201))
    found = verify(known_twin(changed_p3at(wheels=four, centre_of_mass_m=[0.125, 0.0, 0.152])), engine)
    assert found.is_good, found.summary()
    assert found.free.share < (0.005 if engine == "mujoco" else 0.001)


@pytest.mark.parametrize("engine", SDF_ENGINES)
def test_mass_off_centre_both_ways_has_determined_loads(engine, need):
    """Statics tells sums of axles and sides only; how a diagonal shares its sum is the engine's."""
    need(engine)
    found = verify(known_twin(changed_p3at(centre_of_mass_m=[0.05, 0.04, 0.152])), engine)
    assert Kind.LOADS not in kinds(found), found.summary()


def test_six_wheels_have_determined_loads_and_no_spin_where_motors_stall(need):
    """2 N m hold a spin of four wheels amid 0.25 m, not of six amid 0.55 m."""
    need("ode")
    six = wheels_at(*((x, y) for x in (0.3, 0.05, -0.25) for y in (0.201, -0.201)))
    found = verify(known_twin(changed_p3at(wheels=six, powertrain={"kind": "speed_loop", "torque_limit_nm": 2.0})), "ode")
    assert found.ratio is None
    assert found.is_good, found.summary()
    assert any("no steady spin" in note for note in found.notes)


def test_a_twin_whose_grip_runs_out_is_compared_with_its_own_spin(need):
    """Eq. 3 reads 20.75 (closed form in tests/unit/verification/test_measures) where c_lat / c_long is 2, in both."""
    need("ode")
    data = known_twin(changed_p3at(powertrain={"kind": "speed_loop", "torque_limit_nm": 50.0}), 0.001, 0.002).to_mapping()
    data["grounds"]["floor"]["parameters"]["mu"] = {"value": 0.6, "status": "converged", "source": "known"}
    found = verify(Twin.from_mapping(data, where="gripping"), "ode")
    assert found.is_good, found.summary()
    assert found.ratio.found == pytest.approx(20.75, rel=5e-3)


def test_a_twin_on_ice_is_compared_with_itself(need):
    """mu = 0.05: it slides down the slope while parked, and its speed step says nothing of c_long; ODE does the same."""
    need("ode")
    data = known_twin().to_mapping()
    data["grounds"]["floor"]["parameters"]["mu"] = {"value": 0.05, "status": "converged", "source": "known"}
    found = verify(Twin.from_mapping(data, where="ice"), "ode")
    assert not found.artefacts, found.summary()
    assert abs(found.c_long.share) < 0.02
    assert any("slides down a side slope" in note for note in found.notes)


def test_stiff_ground_has_no_directions_of_friction_to_find(need, write_world):
    """c_lat = 1e-9: the slope carries the twin by nanometres, and engines by what their contacts give way. The motors are too
    weak for a spin there."""
    need("ode")
    found = verify(known_twin(c_long=1e-9, c_lat=1e-9), "ode")
    assert not kinds(found) & {Kind.FDIR1, Kind.HEADING}, found.summary()
    assert any("carries the twin by" in note for note in found.notes)
    found = verify(known_twin(c_long=1e-9, c_lat=1e-9), "ode", model=write_world(fdir1=""))
    assert "there is no <fdir1> (by the file" in next(a for a in found.artefacts if a.kind is Kind.FDIR1).found


def test_advice_on_contacts_is_the_engines_own(need, write_world):
    """docs/howto/engines: kp acts in ODE only. Half the twin's mass aside shows in every engine."""
    for engine, advice in (("ode", "kp near 1e+06"), ("gz-physics", "centres of mass")):
        need(engine)
        told = verify(known_twin(changed_p3at(centre_of_mass_m=[0.05, 0.0, 0.152])), engine, model=write_world())
        assert advice in next(a for a in told.artefacts if a.kind is Kind.LOADS).setting


def test_quick_has_a_line_for_each_installed_engine(need):
    need("ode")
    lines = quick(known_twin())
    assert any(line.startswith("ODE") and "c_lat / c_long 9.999" in line for line in lines)
