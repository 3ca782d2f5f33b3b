"""SDF is read as the format's documentation says; what is not understood is told in a sentence."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from known_twins import known_twin
from slipfit.engines.rigid_parts import parts_of, spin_inertias, whole_centre, yaw_inertia
from slipfit.engines.sdf_model import read_sdf
from slipfit.engines.sdf_xml import parse_xml, pose_of, rotation_rpy
from slipfit.errors import SimulationError
from slipfit.exporters.bodies import bodies
from slipfit.exporters.dialects import GZ
from slipfit.exporters.sdf import export_sdf

sys.path.insert(0, str(Path(__file__).parents[2] / "engines"))

from p3at_files import model_sdf, world_sdf


def read(tmp_path, text):
    path = tmp_path / "model.sdf"
    path.write_text(text, encoding="utf-8")
    return read_sdf(path)


def test_the_p3at_is_what_its_file_says(tmp_path):
    """Numbers of p3at_files, whose source is the public Gazebo model."""
    model = read(tmp_path, world_sdf(effort_nm=2.0))
    assert model.mass_kg == pytest.approx(20.0)
    assert [wheel.link.name for wheel in model.wheels] == ["front_left", "front_right", "rear_left", "rear_right"]
    np.testing.assert_allclose(model.wheels[3].at_m, [-0.125, -0.201, 0.0], atol=1e-12)
    wheel = model.wheels[0]
    assert (wheel.radius_m, wheel.half_width_m, wheel.forward, wheel.joint.effort_nm) == (0.11, 0.0, 1.0, 2.0)
    np.testing.assert_allclose(wheel.joint.axis, [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(wheel.collision.surface.fdir1, [0.0, 0.0, 1.0])
    assert (wheel.collision.surface.mu, wheel.collision.surface.kp_n_per_m, wheel.collision.surface.kd_ns_per_m) == (
        10.0,
        1e5,
        100.0,
    )
    assert (wheel.slip.compliance_longitudinal, wheel.slip.compliance_lateral, wheel.slip.normal_force_n) == (0.005, 0.05, 1.0)
    assert (model.ground.mu, model.gravity_mps2, model.notes) == (100.0, (0.0, 0.0, -9.81), ())
    np.testing.assert_allclose(whole_centre(model), [0.0, 0.0, 14.0 * 0.06 / 20.0], atol=1e-12)


def test_cylinders_and_their_width(tmp_path):
    assert read(tmp_path, world_sdf(width_m=0.075)).wheels[0].half_width_m == 0.0375


def test_what_a_file_does_not_say_is_sdf_s_default(tmp_path):
    """sdformat: mu 1, kp 1e12, kd 1, gravity 0 0 -9.8, no limit of effort; a zero fdir1 is none."""
    text = f'<sdf version="1.7">{model_sdf(fdir1="<fdir1>0 0 0</fdir1>")}</sdf>'
    for tag in ("friction", "contact"):
        text = text.replace(f"<{tag}>", f"<no_{tag}>").replace(f"</{tag}>", f"</no_{tag}>")
    model = read(tmp_path, text)
    surface = model.wheels[0].collision.surface
    assert (surface.mu, surface.mu2, surface.kp_n_per_m, surface.kd_ns_per_m, surface.fdir1) == (1.0, 1.0, 1e12, 1.0, None)
    assert model.gravity_mps2 == (0.0, 0.0, -9.8)
    assert model.wheels[0].joint.effort_nm == math.inf


def test_poses_relative_to_other_frames(tmp_path):
    """SDF 1.7 pose frame semantics: a wheel given in a joint's frame that is given in the base stands where it stood before."""
    plain = read(tmp_path, world_sdf()).wheels[0]
    moved = world_sdf().replace(
        '<link name="front_left"><pose>0.125 0.201 0 -1.5707963267948966 0 0</pose>',
        '<frame name="hub" attached_to="base"><pose>0.125 0 0 0 0 0</pose></frame>'
        '<link name="front_left"><pose relative_to="hub" degrees="true">0 0.201 0 -90 0 0</pose>',
    )
    found = read(tmp_path, moved).wheels[0]
    np.testing.assert_allclose(found.at_m, plain.at_m, atol=1e-12)
    np.testing.assert_allclose(found.joint.axis, plain.joint.axis, atol=1e-12)


@pytest.mark.parametrize(
    ("version", "xyz"),
    [("1.7", '<xyz expressed_in="__model__">0 1 0</xyz>'), ("1.4", "<xyz>0 1 0</xyz>"), ("1.5", "<xyz>0 0 1</xyz>")],
)
def test_axes_are_in_the_frame_that_their_version_means(tmp_path, version, xyz):
    """SDF up to 1.4: model frame; 1.5 and 1.6: joint frame; from 1.7 on `expressed_in` may say otherwise."""
    text = world_sdf().replace('version="1.7"', f'version="{version}"').replace("<xyz>0 0 1</xyz>", xyz)
    np.testing.assert_allclose(read(tmp_path, text).wheels[0].joint.axis, [0.0, 1.0, 0.0], atol=1e-12)


def test_euler_angles_are_fixed_axis_roll_pitch_yaw():
    """SDF documentation: R_z(yaw) R_y(pitch) R_x(roll). Roll by 90° takes y to z, yaw by 90° x to y."""
    np.testing.assert_allclose(rotation_rpy(math.pi / 2, 0, 0) @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(rotation_rpy(0, 0, math.pi / 2) @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(rotation_rpy(math.pi / 2, 0, math.pi / 2) @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    quaternion = parse_xml('<link><pose rotation_format="quat_xyzw">1 2 3 0 0 1 1</pose></link>', "here")
    frame = pose_of(quaternion, "here")
    np.testing.assert_allclose(frame.rotation, rotation_rpy(0, 0, math.pi / 2), atol=1e-15)


def test_fixed_links_add_up_by_parallel_axes(tmp_path):
    """Two points of 1 kg, 2 m apart: 1 kg m² each about their middle on both axes across."""
    extra = """<link name="far"><pose>0 0 2.06 0 0 0</pose><inertial><mass>14</mass><inertia><ixx>0.1471</ixx><iyy>0.3350</iyy>
    <izz>0.3978</izz></inertia></inertial></link><joint name="f" type="fixed"><parent>base</parent><child>far</child></joint>"""
    part = next(p for p in parts_of(read(tmp_path, world_sdf().replace("<plugin", extra + "<plugin"))) if p.root == "base")
    assert part.mass_kg == 28.0
    np.testing.assert_allclose(np.diag(part.tensor_kgm2), [2 * 0.1471 + 28.0, 2 * 0.3350 + 28.0, 2 * 0.3978], rtol=1e-12)
    np.testing.assert_allclose(part.frame.position_m, [0.0, 0.0, 1.06], atol=1e-12)


BOMB = '<?xml version="1.0"?><!DOCTYPE sdf [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><sdf version="1.7">&b;</sdf>'
URDF = '<robot name="r" xmlns:xacro="x"><xacro:wheel/></robot>'
BOX = '</collision><collision name="d"><geometry><box><size>1 1 1</size></box></geometry></collision></link>'
CIRCLE = '<frame name="a"><pose relative_to="b"/></frame><frame name="b"><pose relative_to="a"/></frame><plugin'
OTHER = model_sdf().replace("p3at", "other") + "</world>"
EMPTY = '<sdf version="1.7"><world name="w"/></sdf>'

#: What is replaced (None: everything), by what, and what the sentence says.
BAD = {
    "bomb": (None, BOMB, "document type"),
    "malformed": ("</world>", "", "not valid XML at line"),
    "urdf with xacro": (None, URDF, "root element is <robot>; expected <sdf>"),
    "no robot": (None, EMPTY, "models that can move: none"),
    "two robots": ("</world>", OTHER, "p3at, other; expected exactly one"),
    "no wheel link": ('link_name="front_left"', 'link_name="nose"', "no link 'nose'"),
    "zero normal force": (">1</wheel_normal_force>", ">0</wheel_normal_force>", "expected more than zero"),
    "no normal force": ("wheel_normal_force", "wheel_normal", "<wheel_normal_force> is 0 N"),
    "negative compliance": (">0.05</slip_", ">-0.05</slip_", "a compliance is negative"),
    "word for a number": ("<mu>10.0</mu>", "<mu>ten</mu>", "<mu> is 'ten'; expected a finite number"),
    "nan": ("<kp>100000.0</kp>", "<kp>nan</kp>", "<kp> is 'nan'"),
    "joint to nothing": ("<child>rear_left</child>", "<child>tail</child>", "'tail'"),
    "prismatic": ('type="revolute"', 'type="prismatic"', "type 'prismatic'"),
    "negative mass": ("<mass>14</mass>", "<mass>-14</mass>", "expected a positive body"),
    "frame that is not there": (
        '<link name="base">',
        '<link name="base"><pose relative_to="q"/>',
        "frame 'q' is named but not there",
    ),
    "two collisions": ("</collision></link>", BOX, "has collisions: sphere, box; expected one sphere or cylinder"),
    "tilted plane": ("<normal>0 0 1</normal>", "<normal>0 0.1 1</normal>", "tilt gravity instead"),
}


def spoilt(old, new):
    text = world_sdf() if old else new
    assert old is None or old in text
    return text.replace(old, new) if old else text


def test_three_wheels(tmp_path):
    """Also: joints and links that the plugin does not name are no wheels."""
    text = world_sdf()
    with pytest.raises(SimulationError, match="2 wheels on the left and 1 on the right"):
        read(tmp_path, text[: text.index('<wheel link_name="rear_right"')] + text[text.index("</plugin>") :])


def test_frames_in_a_circle(tmp_path):
    text = spoilt('<link name="base">', '<link name="base"><pose relative_to="a"/>').replace("<plugin", CIRCLE)
    with pytest.raises(SimulationError, match="in a circle"):
        read(tmp_path, text)


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_sentences(tmp_path, case):
    old, new, sentence = BAD[case]
    with pytest.raises(SimulationError) as caught:
        read(tmp_path, spoilt(old, new))
    assert sentence in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_missing_file_is_a_sentence(tmp_path):
    with pytest.raises(SimulationError, match="no such file"):
        read_sdf(tmp_path / "nothing.sdf")


def test_what_does_not_act_is_noted(tmp_path):
    mesh = '<collision name="shell"><geometry><mesh><uri>x.dae</uri></mesh></geometry></collision>'
    text = world_sdf().replace("</inertial></link>", f"</inertial>{mesh}</link>", 1)
    text = text.replace(
        "</model></world>", '<plugin name="d" filename="libDrive.so"/></model><include><uri>model://house</uri></include></world>'
    )
    notes = read(tmp_path, text).notes
    assert any("'shell' is left out: mesh" in note for note in notes)
    assert any("libDrive.so" in note for note in notes)
    assert any("model://house" in note for note in notes)


def test_a_model_without_the_plugin_has_wheels_too(tmp_path):
    """Round things on turning joints; a static slip of the surface stays."""
    model = read(tmp_path, world_sdf(plugin=False, fdir1="<fdir1>0 0 1</fdir1><slip1>0.01</slip1><slip2>0.02</slip2>"))
    assert len(model.wheels) == 4
    surface = model.wheels[0].collision.surface
    assert (surface.slip1_mps_per_n, surface.slip2_mps_per_n, model.wheels[0].slip) == (0.01, 0.02, None)


def test_fdir1_may_name_a_link_without_declaring_a_namespace(tmp_path):
    model = read(tmp_path, world_sdf(fdir1='<fdir1 gz:expressed_in="base">0 1 0</fdir1>'))
    assert model.wheels[0].collision.surface.fdir1_link == "base"


@pytest.mark.parametrize("name", ["p3at", "husky", "jackal", "warthog", "atrv_jr", "lynxmotion_4wd3"])
def test_inertias_of_an_export_are_the_robots(name, tmp_path):
    """export.bodies: base and wheels together turn and balance as the robot's file says, wheels as the export chose."""
    twin = known_twin(name)
    path = tmp_path / "robot.sdf"
    export_sdf(twin, GZ).save(path)
    model, robot = read_sdf(path), twin.robot
    assert yaw_inertia(model) == pytest.approx(robot.yaw_inertia_kgm2.value, rel=1e-6)
    assert whole_centre(model) + np.array([0.0, 0.0, robot.wheels.radius_m.value]) == pytest.approx(
        robot.centre_of_mass_m.value, abs=1e-6
    )
    assert spin_inertias(model) == pytest.approx([bodies(robot, 9.81).wheel_spin_inertia_kgm2] * len(model.wheels), rel=1e-6)
