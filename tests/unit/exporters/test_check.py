"""Our look at the plugin block: each thing that makes wheels slip otherwise than meant is found, with its line."""

import pytest

from known_twins import known_twin
from slipfit.errors import ExportError
from slipfit.exporters import check_text, export

GOOD = export(known_twin(), "gz").text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "<slip_compliance_lateral>2.4525</slip_compliance_lateral>",
            "<slip_compliance_lat>2</slip_compliance_lat>",
            "unknown element",
        ),
        ("<wheel_normal_force>49.05<", "<wheel_normal_force>0<", "wheel_normal_force is 0"),
        ("<wheel_normal_force>49.05</wheel_normal_force>", "", "wheel_normal_force is missing"),
        ("<wheel_radius>0.11</wheel_radius>\n      </wheel>", "</wheel>", "wheel_radius is missing"),
        ("<slip_compliance_lateral>2.4525<", "<slip_compliance_lateral>-1<", "slip_compliance_lateral is -1"),
        ("<slip_compliance_lateral>2.4525<", "<slip_compliance_lateral>much<", "is 'much'"),
        ('link_name="rear_left_wheel"', 'link_name="rear_lef_wheel"', "did you mean 'rear_left_wheel'"),
        ('link_name="rear_left_wheel"', "", "no link_name"),
        ('link_name="rear_left_wheel"', 'link_name="rear_right_wheel"', "twice"),
        ("<fdir1>0 0 1</fdir1>", "", "has no fdir1"),
        ("<fdir1>0 0 1</fdir1>", "<fdir1>0 0 0</fdir1>", "fdir1 of 'front_left_wheel' is '0 0 0'"),
        ("<fdir1>0 0 1</fdir1>", "<fdir1>a b</fdir1>", "fdir1 of 'front_left_wheel' is 'a b'"),
        ("<fdir1>0 0 1</fdir1>", "<fdir1>0 0 1 0</fdir1>", "fdir1 of 'front_left_wheel' is '0 0 1 0'"),
        ("<fdir1>0 0 1</fdir1>", "<fdir1>0 0 nan</fdir1>", "is '0 0 nan'"),
        ("<fdir1>0 0 1</fdir1>", "<fdir1>0 1 0</fdir1>", "90 degrees beside the axle"),
        ("<fdir1>0 0 1</fdir1>", "<fdir1>0 1 1</fdir1>", "45 degrees beside the axle"),
        (
            '<collision name="front_left_collision">',
            '<collision name="x"/><collision name="front_left_collision">',
            "has 2 collisions",
        ),
        ("gz::sim::systems::WheelSlip", "gz::sim::systems::Wheelslip", "expected 'gz::sim::systems::WheelSlip'"),
        ("gz-sim-wheel-slip-system", "gz-sim8-wheel-slip-system", "did you mean 'gz-sim-wheel-slip-system'"),
        ("<child>rear_left_wheel</child>", "<child>rear_right_wheel</child>", "has 0 joints"),
    ],
)
def test_faults_are_found(old, new, said):
    assert old in GOOD
    found = check_text(GOOD.replace(old, new))
    assert not found.is_good
    assert any(said in finding.text() for finding in found.findings), found.summary()


@pytest.mark.parametrize("fdir1", ["0 0 -1", "0 0 2", "0 0.005 1"])
def test_either_way_along_the_axle_is_good(fdir1):
    """Friction directions have no sign; a third of a degree is what rounded angles leave."""
    assert check_text(GOOD.replace("<fdir1>0 0 1</fdir1>", f"<fdir1>{fdir1}</fdir1>")).is_good


def test_fdir1_in_another_frame_is_taken_as_it_is():
    assert check_text(GOOD.replace("<fdir1>0 0 1<", "<fdir1 expressed_in='base_link'>0 1 0<")).is_good


def test_lines_are_the_files():
    text = GOOD.replace("<wheel_normal_force>49.05<", "<wheel_normal_force>0<", 1)
    line = next(k for k, row in enumerate(text.splitlines(), 1) if "<wheel_normal_force>0<" in row)
    assert [finding.line for finding in check_text(text).findings] == [line]


def test_classic_finds_the_radius_by_itself():
    classic = export(known_twin(), "gazebo-classic").text
    without = "\n".join(row for row in classic.splitlines() if "wheel_radius" not in row)
    assert check_text(without).is_good


def test_no_plugin_is_a_finding_and_no_sdf_an_error():
    assert "there is no WheelSlip plugin" in check_text('<sdf version="1.9"><model name="a"/></sdf>').summary()
    with pytest.raises(ExportError, match="found <robot>; expected <sdf>"):
        check_text("<robot/>")
