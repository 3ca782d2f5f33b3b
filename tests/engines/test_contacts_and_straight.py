"""Loads, sinkage, slopes and the longitudinal test in real engines."""

import math

import numpy as np
import pytest
from p3at_files import RADIUS_M, model_sdf, world_sdf

from known_twins import known_twin
from slipfit.engines import Finding, Settings, WheelCommands, find_engine, read_run
from slipfit.exporters.mjcf import export_mjcf

pytestmark = pytest.mark.engine

LOAD_N = 20.0 * 9.81 / 4.0
SDF_ENGINES = ["ode", "gz-physics"]
PARKED = WheelCommands.held([0.0] * 4, 1.0)


def straight(speed_mps, for_s):
    return WheelCommands.held([speed_mps / RADIUS_M] * 4, for_s)


def step_test():
    """0.2 m/s, then 1.0 m/s."""
    rows = np.repeat([[0.2 / RADIUS_M] * 4, [1.0 / RADIUS_M] * 4], [1000, 2500], axis=0)
    return WheelCommands(rows)


@pytest.mark.parametrize("kp", [1e3, 1e5])
def test_sinkage_is_load_over_stiffness(kp, need, write_world):
    """ENGINES: N/(n kp), 49 mm at 1e3 and 0.49 mm at 1e5."""
    need("ode")
    run = find_engine("ode").run(write_world(), PARKED, Settings(kp_n_per_m=kp, settle_s=3.0))
    np.testing.assert_allclose(run.sinkage_m[-1], LOAD_N / kp, rtol=0.01)
    np.testing.assert_allclose(run.normal_n[-1], LOAD_N, rtol=0.01)


def test_gazebos_default_stiffness_makes_loads_indeterminate(need, write_world):
    """ENGINES: with kp = 1e12 four rigid contacts share the weight as the solver likes; each should carry 49.05 N."""
    need("ode")
    path = write_world()
    rigid = find_engine("ode").run(path, PARKED, Settings(kp_n_per_m=1e12, kd_ns_per_m=1.0))
    soft = find_engine("ode").run(path, PARKED)
    assert np.abs(rigid.normal_n[-100:].mean(axis=0) - LOAD_N).max() > 1.0
    np.testing.assert_allclose(soft.normal_n[-100:].mean(axis=0), LOAD_N, rtol=1e-3)


@pytest.mark.parametrize("engine", SDF_ENGINES)
def test_c_long_comes_back_from_the_longitudinal_test(engine, need, write_world):
    """SPEC section 1: a = n (v_r - v)/(c v_r m), so c = n ∫(v_r - v) dt / (m ∫ v_r a dt). ENGINES: 0.00499, slip 12.5 mm."""
    need(engine)
    run = find_engine(engine).run(write_world(effort_nm=1.0), step_test())
    after = run.time_s >= 1.0
    rim, v, h = run.wheel_speed_radps[after].mean(axis=1) * RADIUS_M, run.velocity_mps[after, 0], run.step_s
    accel = np.diff(v) / h
    slipped = np.sum(rim[1:] - v[1:]) * h
    assert 4.0 * slipped / (20.0 * np.sum(rim[1:] * accel) * h) == pytest.approx(0.005, rel=0.01)
    assert slipped == pytest.approx(0.0125, rel=0.05)
    assert v[-1] == pytest.approx(1.0, abs=1e-3)


def test_c_long_in_mujoco(need, tmp_path):
    """ENGINES: 0.004995, of the exported file as it is. MuJoCo's slip lags by 1/b (s' + b s = R F); the file keeps b at 1 / step.
    With b smaller by the impratio of 0.005 and an impedance of 0.9 the same test reads 0.0058."""
    need("mujoco")
    path = tmp_path / "p3at.xml"
    export_mjcf(known_twin()).save(path)
    run = find_engine("mujoco").run(path, step_test())
    after = run.time_s >= 1.0
    rim, v = run.wheel_speed_radps[after].mean(axis=1) * RADIUS_M, run.velocity_mps[after, 0]
    assert 4.0 * np.sum(rim[1:] - v[1:]) * run.step_s / (20.0 * np.sum(rim[1:] * np.diff(v))) == pytest.approx(0.005, rel=0.01)


@pytest.mark.parametrize("engine", SDF_ENGINES)
def test_a_parked_robot_holds_on_a_side_slope(engine, need, write_world):
    """SPEC section 0: a standing wheel_slip wheel holds. Gravity tilted by 10° to the side, as the slope would; loads shift to
    the lower wheels by m g sin(10°) h / track, h = 0.152 m."""
    need(engine)
    slope = math.radians(10.0)
    gravity = (0.0, -9.81 * math.sin(slope), -9.81 * math.cos(slope))
    run = find_engine(engine).run(write_world(), WheelCommands.held([0.0] * 4, 2.0), Settings(gravity_mps2=gravity))
    assert np.linalg.norm(run.position_m[-1] - run.position_m[0]) < 1e-4
    shift = 20.0 * 9.81 * math.sin(slope) * 0.152 / 0.402
    left, right = run.normal_n[-1, [0, 2]].sum(), run.normal_n[-1, [1, 3]].sum()
    assert right - left == pytest.approx(2.0 * shift, rel=0.02)
    assert run.trajectory().slope_rad == pytest.approx(slope)


@pytest.mark.parametrize("engine", SDF_ENGINES)
@pytest.mark.parametrize("heading", [0.7, -2.0])
def test_motion_turns_with_the_heading(engine, heading, need, write_world):
    """With fdir1 nothing depends on the heading."""
    need(engine)
    commands = WheelCommands.held([3.0, 5.0, 3.0, 5.0], 1.0)
    path = write_world()
    plain, turned = (find_engine(engine).run(path, commands, Settings(heading_rad=h)) for h in (0.0, heading))
    assert turned.heading_rad[-1] - plain.heading_rad[-1] == pytest.approx(heading, abs=1e-4)
    moved, expected = (run.position_m[-1, :2] - run.position_m[0, :2] for run in (turned, plain))
    c, s = math.cos(heading), math.sin(heading)
    np.testing.assert_allclose(moved, [[c, -s], [s, c]] @ expected, atol=1e-4)


@pytest.mark.parametrize("engine", SDF_ENGINES)
def test_order_and_sign_of_wheels_do_not_depend_on_the_file(engine, need, tmp_path):
    """Left wheels whose joints turn the other way, and wheels named in another order in the plugin."""
    need(engine)
    text = world_sdf()
    other = text
    for name in ("front_left", "rear_left"):
        start = other.index(f'<joint name="{name}_joint"')
        other = other[:start] + other[start:].replace("<xyz>0 0 1</xyz>", "<xyz>0 0 -1</xyz>", 1)
    first, last = other.index('<wheel link_name="front_left"'), other.index('<wheel link_name="rear_right"')
    other = other[:first] + other[last : other.index("</plugin>")] + other[first:last] + other[other.index("</plugin>") :]
    commands = WheelCommands.held([3.0, 5.0, 3.5, 5.5], 0.5)
    runs = []
    for k, content in enumerate((text, other)):
        path = tmp_path / f"{k}.sdf"
        path.write_text(content, encoding="utf-8")
        runs.append(find_engine(engine).run(path, commands))
    np.testing.assert_allclose(runs[1].position_m[-1], runs[0].position_m[-1], atol=1e-5)
    np.testing.assert_allclose(runs[1].wheel_angle_rad[-1], runs[0].wheel_angle_rad[-1], atol=1e-4)
    assert runs[0].position_m[-1, 0] > 0.1


def test_fixed_links_are_part_of_the_body_that_holds_them(need, tmp_path):
    """5 kg on a mast, fixed to the base 0.1 m ahead: loads by statics, x_com = 5 · 0.1 / 25."""
    need("ode")
    mast = """<link name="mast"><pose>0.1 0 0.2 0 0 0.3</pose><inertial><mass>5</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy>
    <izz>0.01</izz></inertia></inertial></link><joint name="m" type="fixed"><parent>base</parent><child>mast</child></joint>"""
    path = tmp_path / "mast.sdf"
    path.write_text(world_sdf().replace("<plugin", mast + "<plugin", 1), encoding="utf-8")
    run = find_engine("ode").run(path, PARKED)
    front = 25.0 * 9.81 * (0.125 + 0.02) / 0.25 / 2.0
    np.testing.assert_allclose(run.normal_n[-1], [front, front, 25 * 9.81 / 2 - front, 25 * 9.81 / 2 - front], rtol=1e-3)
    assert run.centre_of_mass_m[0] == pytest.approx(0.02)


def test_a_model_without_a_world_stands_on_our_plane(need, tmp_path):
    for engine in SDF_ENGINES:
        need(engine)
        path = tmp_path / "model.sdf"
        path.write_text(f'<sdf version="1.7">{model_sdf()}</sdf>', encoding="utf-8")
        run = find_engine(engine).run(path, straight(0.5, 1.0))
        assert run.position_m[-1, 0] == pytest.approx(0.5, abs=0.02)
        assert "no <world>" in run.notes[0]


def test_too_much_torque_lifts_wheels_and_is_found(need, write_world):
    """ENGINES: at 5 N m the front wheels of a P3AT lift in a speed step."""
    need("ode")
    run = find_engine("ode").run(write_world(effort_nm=5.0), straight(1.5, 0.5))
    assert Finding.LIFTED in run.findings


@pytest.mark.parametrize("engine", SDF_ENGINES)
def test_logs_agree_with_the_motion(engine, need, write_world):
    """Standing: gravity upwards. Driving: the integral of specific force is the speed, that of the gyro the heading."""
    need(engine)
    rows = np.repeat([[0.0] * 4, [2.0, 4.0, 2.0, 4.0]], [500, 2500], axis=0)
    run = find_engine(engine).run(write_world(effort_nm=2.0), WheelCommands(rows))
    log = read_run(run)
    imu, pose = log["imu"], log["pose"]
    np.testing.assert_allclose(imu.values[:40, 2], 9.81, atol=0.02)
    assert np.sum(imu.column("gyro_z_radps")) * 0.01 == pytest.approx(pose.column("yaw_rad")[-1], rel=0.01)
    motion = run.trajectory()
    turn = imu.column("accel_x_mps2") + np.interp(imu.time_s, motion.time_s, motion.vy_mps * motion.yaw_rate_radps)
    assert np.sum(turn) * 0.01 == pytest.approx(motion.vx_mps[-1], rel=0.05)
    assert log["encoders"].values[-1] == pytest.approx(run.wheel_angle_rad[-1], abs=1e-6)
