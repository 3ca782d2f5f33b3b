"""Patched models: the twin's numbers in the right places, every other byte as before."""

import difflib
import os
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from known_twins import known_twin
from patience import HANG_S
from slipfit.errors import ExportError, ParameterError
from slipfit.exporters import check_text
from slipfit.exporters.dialects import CLASSIC, GZ
from slipfit.exporters.patch import patch, patch_bytes
from slipfit.exporters.xml_spans import parse_document
from slipfit.twin import Twin
from unit.exporters.own_models import WHEELS, sdf, urdf

TWIN = known_twin()


def patched(text, dialect=GZ, **options):
    return patch_bytes(TWIN, text.encode(), dialect, **options)


def removed_lines(before, after):
    return [line[2:] for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line.startswith("- ")]


def test_sdf_gets_friction_and_plugin():
    """The collision is turned by a quarter about x, so that the axle y of the link is z of the collision, with its sign."""
    root = ET.fromstring(patched(sdf()).data)
    assert check_text(ET.tostring(root, encoding="unicode")).is_good
    for name in WHEELS:
        surface = root.find(f"model/link[@name='{name}_wheel_link']/collision/surface")
        assert surface.findtext("friction/ode/mu") == "10.0"
        assert surface.findtext("friction/ode/mu2") == "10.0"
        assert surface.findtext("friction/ode/fdir1") == "0 0 -1"
        assert surface.findtext("contact/ode/kp") == "1000000.0"
        assert surface.findtext("contact/ode/kd") == "1000.0"
    wheels = root.findall("model/plugin[@filename='gz-sim-wheel-slip-system']/wheel")
    assert [w.get("link_name") for w in wheels] == [f"{name}_wheel_link" for name in WHEELS]
    for wheel in wheels:
        assert float(wheel.findtext("slip_compliance_lateral")) / float(wheel.findtext("wheel_normal_force")) == 0.05


def test_every_other_byte_stays():
    """Of the file's lines only those with the first wheel's surface and the empty <surface/> change."""
    before = sdf()
    after = patched(before).data.decode()
    assert [line.strip() for line in removed_lines(before, after)] == [
        "<surface><friction><ode><mu>0.5</mu></ode></friction></surface>",
        "<surface/>",
    ]
    assert "räder > 3" in after
    assert "<my:unknown xmlns:my=\"urn:x\" a='1>0'/>" in after
    assert '\t<!-- the drive -->\n    <plugin name="drive" filename="libMine.so"><speed>  1 </speed></plugin>\n' in after


@pytest.mark.parametrize("make", [sdf, urdf])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("dialect", [GZ, CLASSIC])
def test_twice_is_once(make, newline, dialect):
    once = patched(make().replace("\n", newline), dialect)
    again = patched(once.data.decode(), dialect)
    assert again.data == once.data
    assert again.changes == ()
    assert once.data.decode().replace("\r\n", "").count("\n") == (0 if newline == "\r\n" else once.data.count(b"\n"))


@pytest.mark.parametrize(
    ("leaf", "after"),
    [
        ("<mu>0.5<!-- keep --></mu>", "<mu>10.0<!-- keep --></mu>"),
        ("<mu><!-- a > b -->0.5<!-- keep --></mu>", "<mu><!-- a > b -->10.0<!-- keep --></mu>"),
        ("<mu>0<!-- keep -->.5</mu>", "<mu>10.0<!-- keep --></mu>"),
        ("<mu><!-- to be measured: <mu>0.7</mu> --></mu>", "<mu>10.0<!-- to be measured: <mu>0.7</mu> --></mu>"),
        ("<mu><![CDATA[0.5]]><?keep this?></mu>", "<mu>10.0<?keep this?></mu>"),
        ("<mu>\n  0.5  <!-- keep -->\n</mu>", "<mu>\n  10.0  <!-- keep -->\n</mu>"),
        ("<mu a='>'>0.5<!-- keep --></mu>", "<mu>10.0<!-- keep --></mu>"),
        ("<mu><b c='>'>0.5</b><!-- keep --></mu>", "<mu>10.0<!-- keep --></mu>"),
        ("<mu/>", "<mu>10.0</mu>"),
    ],
)
def test_comments_in_a_value_stay(leaf, after):
    """XML: text is what is outside of markup; only that is replaced. Attributes go, they would be read instead."""
    surface = f"<surface><friction><ode>{leaf}</ode></friction></surface>"
    once = patched(sdf(surface=surface)).data.decode()
    assert after in once
    assert patched(once).data.decode() == once


def test_comments_in_urdf_tags_and_plugin_entries_stay():
    tags = '  <gazebo reference="front_left_wheel"><mu1 value="0.3"><!-- keep --></mu1><kp>1e12<!-- why --></kp></gazebo>\n'
    once = patched(urdf(gazebo=tags)).data.decode()
    assert "<mu1>10.0<!-- keep --></mu1><kp>1000000.0<!-- why --></kp>" in once
    wheel = next(line for line in once.splitlines() if "<slip_compliance_lateral>" in line)
    noted = once.replace(wheel, wheel.replace("</", "<!-- measured --></"), 1)
    other = patch_bytes(known_twin(c_lat=0.03), noted.encode(), GZ).data.decode()
    assert other.count("<!-- measured --></slip_compliance_lateral>") == 1
    assert patch_bytes(TWIN, other.encode(), GZ).data.decode() == noted


def test_another_twin_replaces_the_numbers_and_nothing_else():
    """From one twin's patch to another's is the same as patching the original."""
    other = known_twin(c_long=0.004, c_lat=0.03)
    straight = patch_bytes(other, sdf().encode(), GZ)
    over = patch_bytes(other, patched(sdf()).data, GZ)
    assert over.data == straight.data
    said = [change.split(": ")[1] for change in over.changes]
    assert said[0] == "comment of the WheelSlip plugin brought up to date"
    assert [words.split()[0] for words in said[1:]] == ["slip_compliance_lateral", "slip_compliance_longitudinal"] * 4


def test_old_plugin_is_replaced_and_foreign_wheels_stay():
    """A caster that the user's block had slips on as it did."""
    block = """    <plugin filename='libWheelSlipPlugin.so' name='old'>
      <wheel link_name='caster'>
        <slip_compliance_lateral>1</slip_compliance_lateral>
      </wheel>
      <wheel link_name='rear_left_wheel_link'><wheel_normal_force>0</wheel_normal_force></wheel>
    </plugin>
"""
    before = sdf().replace("  </model>", block + "  </model>")
    once = patched(before)
    wheels = ET.fromstring(once.data).findall("model/plugin[@filename='gz-sim-wheel-slip-system']/wheel")
    assert [w.get("link_name") for w in wheels] == [*(f"{name}_wheel_link" for name in WHEELS), "caster"]
    assert b"libWheelSlipPlugin" not in once.data
    assert patched(once.data.decode()).data == once.data


ROS_PLUGIN = """    <plugin name="ws" filename="libgazebo_ros_wheel_slip.so"><ros><namespace>/r</namespace></ros>
      <wheel link_name="front_left_wheel_link"><slip_compliance_lateral>0</slip_compliance_lateral></wheel>
      <wheel link_name="caster"><slip_compliance_lateral>1</slip_compliance_lateral></wheel>
      <!-- keep me -->
    </plugin>
"""


def test_a_plugin_that_works_keeps_all_but_its_wheels_numbers():
    """gazebo_ros's plugin in Classic: name, file, <ros>, comments and a caster stay; numbers come in, missing wheels too."""
    once = patched(sdf().replace("  </model>", ROS_PLUGIN + "  </model>"), CLASSIC)
    plugins = [p for p in ET.fromstring(once.data).findall("model/plugin") if p.get("name") != "drive"]
    assert [p.get("filename") for p in plugins] == ["libgazebo_ros_wheel_slip.so"]
    assert plugins[0].findtext("ros/namespace") == "/r"
    for kept in (b'<plugin name="ws" filename="libgazebo_ros_wheel_slip.so">', b"<!-- keep me -->"):
        assert kept in once.data
    wheels = {w.get("link_name"): w for w in plugins[0].findall("wheel")}
    assert set(wheels) == {"caster", *(f"{name}_wheel_link" for name in WHEELS)}
    assert wheels["caster"].findtext("slip_compliance_lateral") == "1"
    for name in WHEELS:
        wheel = wheels[f"{name}_wheel_link"]
        assert float(wheel.findtext("slip_compliance_lateral")) / float(wheel.findtext("wheel_normal_force")) == 0.05
    assert b", by slipfit " in once.data
    assert patched(once.data.decode(), CLASSIC).data == once.data
    assert {finding.line for finding in check_text(once.data.decode()).findings} == {
        1 + next(k for k, row in enumerate(once.data.decode().splitlines()) if "caster" in row)
    }


def test_what_a_plugin_of_another_generation_loses_is_told():
    done = patched(sdf().replace("  </model>", ROS_PLUGIN + "  </model>"), GZ)
    told = next(entry.why for entry in done.ledger.entries if entry.what == "your WheelSlip plugin")
    assert "libgazebo_ros_wheel_slip.so (ws) is not the one of gz" in told
    assert told.endswith("gone with it: <ros>, 1 comment(s)")


@pytest.mark.parametrize("inside", ["", " ", "\n    ", "<!-- mine -->", "<my>1</my>"])
@pytest.mark.parametrize("empty_tag", [True, False])
def test_plugins_without_wheels_get_them(inside, empty_tag):
    start = "<plugin filename='gz-sim-wheel-slip-system' name='gz::sim::systems::WheelSlip'"
    block = f"{start}/>" if empty_tag else f"{start}>{inside}</plugin>"
    once = patched(sdf().replace("  </model>", f"    {block}\n  </model>"))
    assert len(ET.fromstring(once.data).findall("model/plugin/wheel")) == 4
    assert empty_tag or inside.encode() in once.data
    assert patched(once.data.decode()).data == once.data


def test_urdf_gets_tags_and_plugin():
    root = ET.fromstring(patched(urdf()).data)
    for name in WHEELS:
        tags = root.find(f"gazebo[@reference='{name}_wheel']")
        assert {tag.tag: tag.text for tag in tags} == {
            "mu1": "10.0",
            "mu2": "10.0",
            "fdir1": "0 0 -1",
            "kp": "1000000.0",
            "kd": "1000.0",
        }
    wheels = root.findall("gazebo/plugin/wheel")
    assert [w.get("link_name") for w in wheels] == [f"{name}_wheel" for name in WHEELS]


def test_urdf_tags_that_are_there_are_changed():
    """In attributes, in several blocks and in one line; what slipfit does not set stays."""
    gazebo = """  <gazebo reference="front_left_wheel"><mu1 value="0.3"/><material>Gazebo/Black</material></gazebo>
  <gazebo reference="front_left_wheel"><kp>1e12</kp></gazebo>
  <gazebo reference="front_right_wheel"/>
"""
    once = patched(urdf(gazebo=gazebo))
    left = ET.fromstring(once.data).findall("gazebo[@reference='front_left_wheel']")
    assert [tag.text for tag in left[0].iter("mu1")] == ["10.0"]
    assert left[0].find("mu1").attrib == {}
    assert left[0].findtext("material") == "Gazebo/Black"
    assert [g.findtext("kp") for g in left] == [None, "1000000.0"]
    assert b'<gazebo reference="front_right_wheel">' in once.data
    assert patched(once.data.decode()).data == once.data


def with_tyres(rpy, tags=""):
    """The URDF with collisions on tyres that are fixed to the wheels' links, turned by rpy; collisions are not turned."""
    text = urdf(gazebo=tags)
    for name in WHEELS:
        collision = '<collision><origin xyz="0 0 0" rpy="1.5707 0 0"/><geometry><sphere radius="0.11"/></geometry></collision>'
        before, after = text.split(f'<link name="{name}_wheel">')
        tyre = (
            f'<link name="{name}_tyre">{collision.replace("1.5707", "0")}</link><joint name="{name}_fix" type="fixed">'
            f'<parent link="{name}_wheel"/><child link="{name}_tyre"/><origin rpy="{rpy}"/></joint>'
        )
        text = f'{before}{tyre}<link name="{name}_wheel">{after.replace(collision, "", 1)}'
    return text


@pytest.mark.parametrize(("rpy", "fdir1"), [("1.5708 0 0", "0 0 -1"), ("0 0 0", "0 1 0"), ("0 0 1.5708", "1 0 0")])
def test_collisions_on_links_fixed_to_the_wheels(rpy, fdir1):
    """sdformat lumps the tyre into the wheel and hands its tags to the tyre's collision; the axle y is seen from there."""
    once = patched(with_tyres(rpy))
    root = ET.fromstring(once.data)
    for name in WHEELS:
        assert root.find(f"gazebo[@reference='{name}_wheel']") is None
        assert root.findtext(f"gazebo[@reference='{name}_tyre']/fdir1") == fdir1
    assert [w.get("link_name") for w in root.findall("gazebo/plugin/wheel")] == [f"{name}_wheel" for name in WHEELS]
    assert patched(once.data.decode()).data == once.data


@pytest.mark.engine
def test_sdformat_hands_friction_to_lumped_collisions(tmp_path):
    if not shutil.which("ign"):
        pytest.skip("needs sdformat's command ign")
    inertial = '<inertial><mass value="0.1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    text = with_tyres("1.5708 0 0").replace('_tyre"><collision>', f'_tyre">{inertial}<collision>')
    text = text.replace('<mass value="14"/>', '<mass value="14"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>')
    (tmp_path / "robot.urdf").write_bytes(patched(text).data)
    shown = subprocess.run(
        ["ign", "sdf", "-p", str(tmp_path / "robot.urdf")], capture_output=True, text=True, check=True, timeout=HANG_S
    )
    model = ET.fromstring(shown.stdout[shown.stdout.index("<sdf") :])
    found = {link.get("name"): link.findtext("collision/surface/friction/ode/fdir1") for link in model.iter("link")}
    assert {name: found[f"{name}_wheel"] for name in WHEELS} == dict.fromkeys(WHEELS, "0 0 -1")


@pytest.mark.parametrize("tag", ["preserveFixedJoint", "disableFixedJointLumping"])
def test_tyres_that_stay_links_of_their_own_are_refused(tag):
    with pytest.raises(ExportError, match=f"<{tag}> keeps a collision of a wheel on a link of its own"):
        patched(with_tyres("0 0 0", f'<gazebo reference="rear_left_fix"><{tag}>true</{tag}></gazebo>'))


def other_law(law, **values):
    data = TWIN.to_mapping()
    parameters = {key: {"value": value, "status": "converged", "source": "x"} for key, value in values.items()}
    data["grounds"] = {"f": {"law": law, "parameters": parameters}}
    return Twin.from_mapping(data, where="x")


def test_viscous_slip_has_no_tags_in_urdf():
    viscous = other_law("viscous_slip", k_long_mps_per_n=0.001, k_lat_mps_per_n=0.002)
    with pytest.raises(ExportError, match=r"viscous_slip needs slip1 and slip2 of SDF.*patch that"):
        patch_bytes(viscous, urdf().encode(), GZ)
    assert b"<slip1>0.002</slip1>" in patch_bytes(viscous, sdf().encode(), GZ).data


def test_slip_of_the_model_goes_where_the_twin_has_none():
    """A Coulomb twin: what the model slips by itself is set to zero, and no other byte of a zero is touched."""
    surface = "<surface><friction><ode><mu>0.5</mu><slip1>0.5</slip1><slip2>0.00</slip2></ode></friction></surface>"
    done = patch_bytes(other_law("coulomb_pyramid", mu=0.8), sdf(surface=surface).encode(), GZ)
    assert b"<slip1>0</slip1><slip2>0.00</slip2>" in done.data


@pytest.mark.parametrize(
    ("pose", "joint", "axis", "version", "fdir1"),
    [
        ("0 0 0 0 0 0", "", "<xyz>0 1 0</xyz>", "1.7", "0 1 0"),
        ("0 0 0 0 0 1.5707963", "", "<xyz>0 1 0</xyz>", "1.7", "1 0 0"),
        ("0 0 0 0 0 0", "<pose>0 0 0 1.5708 0 0</pose>", "<xyz>0 1 0</xyz>", "1.7", "0 0 1"),
        ("0 0 0 0 0 0", "", "<xyz expressed_in='__model__'>0 1 0</xyz>", "1.7", "0 1 0"),
        ("0 0 0 0 0 0", "<pose>0 0 0 1.5708 0 0</pose>", "<xyz>0 1 0</xyz>", "1.4", "0 1 0"),
        ("0 0 0 0 0 0", "", "<xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame>", "1.6", "0 1 0"),
        ("0 0 0 0 0 0", "", "<xyz>1 1 0</xyz>", "1.7", "0.707106781 0.707106781 0"),
    ],
)
def test_fdir1_is_the_axle_in_the_collisions_frame(pose, joint, axis, version, fdir1):
    """SDF: axes are in the joint's frame from 1.5 on, in the model's before; two elements say otherwise."""
    text = sdf(version=version).replace("0 0 0 1.5707963 0 0", pose)
    text = text.replace("<axis><xyz>0 1 0</xyz></axis>", f"{joint}<axis>{axis}</axis>")
    found = ET.fromstring(patched(text).data).findall("model/link/collision/surface/friction/ode/fdir1")
    assert [f.text for f in found] == [fdir1] * 4


def test_wheels_by_name_of_the_user():
    text = sdf()
    for k, name in enumerate(WHEELS):
        text = text.replace(f"{name}_wheel_link", f"roue{k}").replace(f"{name}_joint", f"axe{k}")
    with pytest.raises(ExportError, match=r"roue0, roue1, roue2, roue3.*--wheels front_left=LINK"):
        patched(text.replace("roue", "wheel_x").replace("wheel_x", "roue").replace("axe", "moyeu"))
    given_links = {name: f"roue{k}" for k, name in enumerate(WHEELS)}
    root = ET.fromstring(patched(text, wheels=given_links).data)
    assert [w.get("link_name") for w in root.findall("model/plugin/wheel")] == list(given_links.values())


def test_what_differs_from_the_twin_is_told():
    """The model's cylinders are 75 mm wide; with a mass of 30 kg it is another robot than the twin's 20 kg."""
    done = patched(sdf().replace("<mass>14</mass>", "<mass>24</mass>"))
    told = {entry.what: entry.why for entry in done.ledger.entries}
    assert "75 mm" in told["wide wheels"]
    assert told["mass"] == "the model weighs 30 kg, the twin 20 kg"
    assert b"the model weighs 30 kg" in done.data


@pytest.mark.parametrize(
    ("world", "told"),
    [
        ("", "worlds have 9.81"),
        ("<gravity>0 0 -9.8</gravity>", "the file's world has 9.8"),
        ("<gravity>0 0 -1.62</gravity>", None),
    ],
)
def test_gravity_of_another_world_is_told(world, told):
    data = TWIN.to_mapping()
    data["grounds"]["floor"]["gravity_mps2"] = 1.62
    text = sdf()
    if world:
        text = text.replace("<model name", f"<world name='w'>{world}<model name").replace("</model>", "</model></world>")
    entries = patch_bytes(Twin.from_mapping(data, where="x"), text.encode(), GZ).ledger.entries
    found = [entry.why for entry in entries if entry.what.startswith("gravity of 1.62")]
    assert len(found) == (told is not None)
    assert told is None or told in found[0]


def test_a_plugin_without_a_task_is_told():
    """A Coulomb twin sets friction only; what WheelSlip does in the model stays, and the ledger says so."""
    data = TWIN.to_mapping()
    data["grounds"] = {
        "f": {"law": "coulomb_pyramid", "parameters": {"mu": {"value": 0.8, "status": "converged", "source": "x"}}}
    }
    done = patch_bytes(Twin.from_mapping(data, where="x"), patched(sdf()).data, GZ)
    assert b"<mu>0.8</mu>" in done.data
    assert "WheelSlip plugin" in [entry.what for entry in done.ledger.entries]


BOMB = '<?xml version="1.0"?>\n<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<sdf version="1.7">&b;</sdf>'
FIXED = "<link name='t'><collision/></link><joint type='fixed'><parent link='rear_left_wheel'/><child link='t'/></joint>"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (sdf().replace("rear_right_wheel_link", "w4").replace("rear_right_joint", "j4"), "line 4: .*do not tell 4 wheels"),
        (sdf(collision="<collision name='d'/>"), "rear_right_wheel_link' has 2 collisions"),
        (sdf().replace("collision", "visual"), "has 0 collisions"),
        (sdf().replace("</model>", ""), r"line \d+: not well-formed XML \(mismatched tag\)"),
        ("", "not well-formed XML"),
        ("<html/>", "found <html>; expected <sdf>"),
        (BOMB, "line 2: found a document type"),
        (BOMB.replace("&b;", ""), "document type"),
        ('<!DOCTYPE sdf SYSTEM "http://example.com/x.dtd"><sdf/>', "document type"),
        (sdf().replace("0.11 0 0 0", "${z} 0 0 0"), r"line \d+: found xacro \(.*run 'xacro FILE"),
        (urdf(extra="<xacro:wheel name='x'/>"), "found xacro"),
        (urdf(extra="<gazebo><plugin><parameters>$(find x)/y.yaml</parameters></plugin></gazebo>"), "found xacro"),
        (urdf(extra=FIXED), "rear_left_wheel' has 2 collisions"),
        (sdf().replace("<xyz>0 1 0</xyz>", "<xyz>0 nan 0</xyz>"), "holds '0 nan 0'; expected 3 numbers"),
        (sdf().replace("<xyz>0 1 0</xyz>", "<xyz>0 0 0</xyz>"), "axle has the length 0"),
        (sdf().replace("<xyz>0 1 0</xyz>", "<xyz>1e308 1e308 0</xyz>"), "expected a direction"),
        (sdf().replace("<pose>0 0 0 1.57", "<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 0</pose><pose>"), "quaternion is"),
        (sdf().replace("<axis><xyz>0 1 0</xyz></axis>", ""), "has no <axis><xyz>"),
        (sdf().replace("<xyz>", "<xyz expressed_in='nowhere'>"), "refers to a frame 'nowhere'"),
        ('<sdf version="1.7"><world name="w"><include/></world></sdf>', "an <include> is not followed"),
        (sdf().replace("</model>", 2 * "<plugin filename='gz-sim-wheel-slip-system'/>" + "</model>"), "second WheelSlip"),
    ],
)  # fmt: skip
def test_bad_models_are_refused_in_a_sentence(text, said):
    with pytest.raises(ExportError, match=said):
        patched(text)


@pytest.mark.parametrize(
    "data", [sdf().encode("utf-16"), sdf().replace("utf-8", "utf-16").encode(), b"\xff\xfe\x00", b"<sdf>\xff</sdf>"]
)
def test_bytes_that_are_no_text_are_refused(data):
    with pytest.raises(ExportError, match=r"UTF-8|not well-formed"):
        patch_bytes(TWIN, data, GZ)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1"])
def test_encodings_stay(encoding):
    declared = sdf().replace("utf-8", encoding.removesuffix("-sig"))
    once = patch_bytes(TWIN, declared.encode(encoding), GZ)
    assert "räder" in once.data.decode(encoding)
    assert patch_bytes(TWIN, once.data, GZ).data == once.data


def test_wheels_named_wrongly_are_refused():
    given_links = {name: f"{name}_wheel_link" for name in WHEELS}
    with pytest.raises(ExportError, match=r"no link 'front_lef_wheel_link'.*did you mean 'front_left_wheel_link'"):
        patched(sdf(), wheels=given_links | {"front_left": "front_lef_wheel_link"})
    with pytest.raises(ExportError, match="'base' has no revolute or continuous joint"):
        patched(sdf(), wheels=given_links | {"front_left": "base"})


def test_links_that_lead_to_themselves_and_pipes_are_refused(tmp_path):
    loop, pipe = tmp_path / "loop.sdf", tmp_path / "pipe.sdf"
    loop.symlink_to(loop)
    with pytest.raises((ExportError, ParameterError), match=r"loop\.sdf"):
        patched(sdf()).save(loop)
    if hasattr(os, "mkfifo"):
        os.mkfifo(pipe)
        with pytest.raises(ExportError, match=r"is not a file \(a folder, pipe or device\)"):
            patch(TWIN, pipe, GZ)
    with pytest.raises(ExportError, match="is not a file"):
        patch(TWIN, tmp_path, GZ)


def test_long_texts_are_read_in_pieces():
    """A megabyte of lines, each a piece of its own for the parser: at once, and whole."""
    text = "a&#10;" * 100_000
    assert parse_document(f"<sdf>{text}<x/>{text}</sdf>".encode(), "x").root.text == "a\n" * 200_000


def test_a_refused_file_is_untouched(tmp_path):
    path = tmp_path / "robot.sdf"
    path.write_text(sdf(collision="<collision name='d'/>"))
    before = path.read_bytes()
    with pytest.raises(ExportError, match=r"robot\.sdf, line"):
        patch(TWIN, path, GZ)
    assert path.read_bytes() == before
    with pytest.raises(ExportError, match="no such file"):
        patch(TWIN, tmp_path / "other.sdf", GZ)


@settings(max_examples=150)
@given(st.sampled_from([sdf(), urdf()]), st.integers(0, 4000), st.integers(0, 60), st.text("<>/\"'=a0 -\x00$", max_size=12))
def test_mutilated_files_are_patched_or_refused(text, at, length, inserted):
    """Whatever is cut out or put in: a file that parses and is the same after a second patch, or a sentence."""
    at = at % len(text)
    data = (text[:at] + inserted + text[at + length :]).encode()
    try:
        once = patch_bytes(TWIN, data, GZ)
    except ExportError:
        return
    parse_document(once.data, "patched")
    assert patch_bytes(TWIN, once.data, GZ).data == once.data


names = st.sampled_from(["a", "b:c", "räd", "x-1"])
texts = st.text(st.sampled_from("ab<>&'\" \n\tä"), max_size=8)


@st.composite
def trees(draw, depth=0):
    from xml.sax.saxutils import escape, quoteattr

    name, blank = draw(names), draw(st.sampled_from(["", " ", "\n"]))
    attributes = "".join(f" k{k}={quoteattr(draw(texts))}" for k in range(draw(st.integers(0, 2))))
    if draw(st.booleans()):
        return f"<{name}{attributes}{blank}/>"
    inside = "".join(draw(trees(depth + 1)) for _ in range(draw(st.integers(0, 3 - depth))) if depth < 3)
    extra = draw(st.sampled_from(["", "<!-- > <x -->", "<![CDATA[<a>]]>", "<?p <b> ?>"]))
    return f"<{name}{attributes}{blank}>{escape(draw(texts))}{extra}{inside}</{name}{blank}>"


@settings(max_examples=60)
@given(trees())
def test_spans_are_the_elements(text):
    """The bytes of every span are an element by themselves, with the same tag and attributes, children within their parents."""
    document = parse_document(text.encode(), "x")
    for node in document.root.walk():
        own = document.data[node.start : node.end].replace(b"b:c", b"bc")
        alone = ET.fromstring(own)
        assert alone.tag == node.tag.replace("b:c", "bc")
        assert alone.attrib == node.attributes
        assert len(alone) == len(node.children)
        for child in node.children:
            assert node.inner_start <= child.start < child.end <= node.inner_end
