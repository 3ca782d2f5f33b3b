"""Which frame of a transform tree is the body, which a world, and whether they are connected."""

import numpy as np
import pytest

from slipfit.errors import LogError
from slipfit.logs.frame_names import BODIES, ODOMETRY_WORLDS, POSE_WORLDS, known_as
from slipfit.logs.transforms import TransformTree
from unit.logs.written_transforms import circle, moving, static, tree_of

AT_S = np.arange(0.0, 2.0, 0.02)


def test_a_world_that_is_not_connected_to_the_body_is_a_gap(tmp_path):
    tree = tree_of(tmp_path, static("map", "dock"), moving("odom", "base_link", AT_S, circle(AT_S)), static("base_link", "imu"))
    assert tree.pieces == (("base_link", "imu", "odom"), ("dock", "map"))
    assert tree.chain("map", "base_link") is None
    said = tree.gap("base_link")
    assert "frames map and base_link are not connected: map is in a tree of dock, map;" in said
    with pytest.raises(LogError, match="not connected"):
        tree.planar("map", "base_link")
    assert tree.static_between("map", "base_link") is None


def test_a_connected_world_is_no_gap(tmp_path):
    tree = tree_of(tmp_path, static("map", "odom"), moving("odom", "base_link", AT_S, circle(AT_S)))
    assert tree.gap("base_link") is None
    assert tree.body() == "base_link"
    assert tree.worlds("base_link") == ("map",)
    assert tree.worlds("base_link", ODOMETRY_WORLDS) == ("odom",)


@pytest.mark.parametrize(
    ("frame", "names", "expected"),
    [
        ("base_link", BODIES, (0, "")),
        ("Base_Link", BODIES, (0, "")),
        ("robot1/base_footprint", BODIES, (1, "robot1")),
        ("robot1_base_link", BODIES, (0, "robot1")),
        ("fleet/a200_base_link", BODIES, (0, "fleet/a200")),
        ("camera_base", BODIES, None),
        ("robot1_odom", ODOMETRY_WORLDS, (0, "robot1")),
        ("odom_combined", ODOMETRY_WORLDS, (1, "")),
        ("robot1/map", POSE_WORLDS, (0, "robot1")),
        ("odom", POSE_WORLDS, None),
    ],
)
def test_frames_are_known_by_name_and_namespace(frame, names, expected):
    assert known_as(frame, names) == expected


def test_an_arm_and_a_dock_are_not_the_body(tmp_path):
    tree = tree_of(
        tmp_path,
        moving("odom", "base_footprint", AT_S, circle(AT_S)),
        static("base_footprint", "base_link", (0.0, 0.0, 0.1)),
        static("base_link", "arm_base_link"),
        static("map", "dock/base_link"),
        static("map", "odom"),
    )
    assert tree.body() == "base_link"
    assert tree.bodies == ("base_link", "base_footprint", "dock/base_link")


@pytest.mark.parametrize("mark", ["/", "_"])
def test_several_robots_need_a_choice_and_have_worlds_of_their_own(tmp_path, mark):
    parts = []
    for robot in ("robot1", "robot2"):
        odom, base = f"{robot}{mark}odom", f"{robot}{mark}base_link"
        parts += [static("map", odom), moving(odom, base, AT_S, circle(AT_S))]
    tree = tree_of(tmp_path, *parts)
    with pytest.raises(LogError, match=r"bodies of 2 robots \(robot1.base_link, robot2.base_link\); .* specify the frame"):
        tree.body()
    assert tree.worlds(f"robot2{mark}base_link", ODOMETRY_WORLDS) == (f"robot2{mark}odom",)
    assert tree.worlds(f"robot2{mark}base_link") == ("map",)


def test_a_tree_without_transforms_has_no_body():
    tree = TransformTree({}, "run")
    tree.check()
    assert tree.body() is None
    assert tree.frames == tree.roots == tree.pieces == ()
