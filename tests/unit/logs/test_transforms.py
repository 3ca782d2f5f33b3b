"""Transform trees: chains composed over time against closed forms, and what is said about broken trees."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from slipfit.errors import LogError
from slipfit.logs.links import Link
from slipfit.logs.rigid import Rigid, imu_in_body, to_body
from slipfit.logs.transforms import TransformTree
from unit.logs.written_transforms import (
    Sent,
    about_z,
    assert_same_poses,
    circle,
    moving,
    ns,
    planar_product,
    static,
    tree_of,
)

AT_S = np.arange(0.0, 10.0, 0.02)


# --- closed forms -----------------------------------------------------------------------------------------------------


def test_a_circle_through_frames_off_center(tmp_path):
    """The body drives a circle about (0, r). A sensor at (a, b) in the body moves on a circle about the same center, of radius
    sqrt(a² + (r - b)²)."""
    r, a, b = 2.0, 0.7, -0.3
    tree = tree_of(
        tmp_path,
        moving("odom", "base_link", AT_S, circle(AT_S, radius_m=r)),
        static("base_link", "mast", (a, 0.0, 0.4), about_z(np.pi / 2)),
        static("mast", "sensor", (b, 0.0, 0.6)),  # the mast's x axis is the body's y
    )
    series = tree.series("odom", "sensor")
    assert series.stamps_ns.tolist() == [ns(t) for t in AT_S]
    assert (series.dropped_outside, series.dropped_in_gaps) == (0, 0)
    away = series.translation[:, :2] - [0.0, r]
    np.testing.assert_allclose(np.hypot(*away.T), np.hypot(a, r - b), rtol=1e-12)
    np.testing.assert_allclose(series.translation[:, 2], 1.0, rtol=1e-12)
    expected = planar_product(circle(AT_S, radius_m=r), [[a, b, np.pi / 2]])
    stamps, rows = tree.planar("odom", "sensor")
    assert_same_poses(rows, expected)
    assert stamps.tolist() == series.stamps_ns.tolist()
    mount = tree.static_between("sensor", "base_link")
    assert_same_poses(to_body(rows, mount), circle(AT_S, radius_m=r))
    assert_same_poses(to_body(series, mount).planar(), circle(AT_S, radius_m=r))


def test_a_tilted_sensor_on_a_level_body_shows_the_body(tmp_path):
    """A lidar pitched by 30° and yawed by 40°: planar rows of its x axis give the body's pose, because Rz(ψ) Rz(40°) Ry(30°) x̂
    has the heading ψ + 40°."""
    turn = Rotation.from_euler("ZY", [40.0, 30.0], degrees=True).as_quat()
    tree = tree_of(
        tmp_path,
        moving("odom", "base_link", AT_S, circle(AT_S)),
        static("base_link", "lidar", (0.3, 0.1, 0.8), tuple(turn)),
    )
    _, rows = tree.planar("odom", "lidar")
    np.testing.assert_allclose(rows[0, 2], np.radians(40.0))
    assert_same_poses(to_body(rows, tree.static_between("lidar", "base_link")), circle(AT_S))


def test_two_sensors_are_connected_over_their_common_ancestor(tmp_path):
    """imu at (1, 0) turned by 90°; antenna at (0, 2): in the imu's axes the antenna is at R(-90°)(-1, 2) = (2, 1)."""
    tree = tree_of(
        tmp_path,
        moving("odom", "base", AT_S, circle(AT_S)),
        static("base", "imu", (1.0, 0.0, 0.0), about_z(np.pi / 2)),
        static("base", "antenna", (0.0, 2.0, 0.0)),
    )
    steps = tree.chain("imu", "antenna")
    assert [(step.link.name, step.is_inverse) for step in steps] == [("base->imu", True), ("base->antenna", False)]
    found = tree.static_between("imu", "antenna")
    np.testing.assert_allclose(found.translation, [2.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.yaw_rad, -np.pi / 2)
    np.testing.assert_allclose(found.apply(np.zeros(3)), found.translation)
    assert tree.static_between("odom", "imu") is None
    assert len(tree.series("base", "base")) == 0
    assert tree.static_between("base", "base").translation.tolist() == [0.0, 0.0, 0.0]


def test_an_imu_upside_down_feels_gravity_up_in_the_body():
    """At rest on level ground an accelerometer shows +g upward. Rolled by 180° it shows -g on its z axis, and the y axes of
    both are opposite."""
    mount = Rigid(np.array([0.1, 0.0, -0.2]), np.array([1.0, 0.0, 0.0, 0.0]))
    found = imu_in_body(np.array([[0.0, 0.5, -9.81]]), np.array([[0.0, 0.0, -0.3]]), np.array([[1.0, 0.0, 0.0, 0.0]]), mount)
    np.testing.assert_allclose(found.acceleration, [[0.0, -0.5, 9.81]], atol=1e-12)
    np.testing.assert_allclose(found.angular_velocity, [[0.0, 0.0, 0.3]], atol=1e-12)
    np.testing.assert_allclose(np.abs(found.orientation), [[0.0, 0.0, 0.0, 1.0]], atol=1e-12)
    assert found.lever_arm_m.tolist() == [0.1, 0.0, -0.2]


def test_an_imu_without_orientation_has_none_in_the_body():
    mount = Rigid(np.zeros(3), np.array(about_z(0.3)))
    assert imu_in_body(np.zeros((2, 3)), np.zeros((2, 3)), None, mount).orientation is None
    some = imu_in_body(np.zeros((2, 3)), np.zeros((2, 3)), np.array([[0.0, 0, 0, 0], about_z(0.3)]), mount).orientation
    assert np.isnan(some[0]).all()
    np.testing.assert_allclose(some[1], [0.0, 0.0, 0.0, 1.0], atol=1e-12)


def test_a_slower_link_is_interpolated_along_line_and_arc(tmp_path):
    """A turntable at 5 Hz turns and lifts at constant rates: linear interpolation and slerp are exact."""
    slow = np.arange(0.0, 10.1, 0.2)
    sent = [Sent("world", "table", t, (0.0, 0.0, 0.1 * t), about_z(0.4 * t)) for t in slow]
    tree = tree_of(tmp_path, sent, moving("table", "base_link", AT_S, np.column_stack([AT_S, 0 * AT_S, 0 * AT_S])))
    series = tree.series("world", "base_link")
    assert series.stamps_ns.tolist() == [ns(t) for t in AT_S]  # of the faster link
    expected = np.column_stack([AT_S * np.cos(0.4 * AT_S), AT_S * np.sin(0.4 * AT_S), 0.4 * AT_S])
    assert_same_poses(series.planar(), expected)
    np.testing.assert_allclose(series.translation[:, 2], 0.1 * AT_S, atol=1e-12)
    back = tree.series("base_link", "world")
    np.testing.assert_allclose(back.inverse().translation, series.translation, atol=1e-12)


finite = st.floats(-1e3, 1e3)
quaternions = arrays(float, 4, elements=st.floats(-1.0, 1.0)).filter(lambda q: np.linalg.norm(q) > 0.1)


@given(st.lists(st.tuples(arrays(float, 3, elements=finite), quaternions, st.booleans()), min_size=1, max_size=6))
def test_a_chain_and_its_inverse_are_the_identity(sent):
    """T T⁻¹ = 1 for chains of any links, up and down; 1e-9 m over some kilometers is a rounding of 1e-13."""
    links, frame = {}, "f0"
    for k, (translation, quaternion, is_down) in enumerate(sent):
        is_up = not is_down and all(parent != frame for parent, _ in links) and not any(c == frame for _, c in links)
        pair = (f"f{k + 1}", frame) if is_up else (frame, f"f{k + 1}")
        unit = quaternion / np.linalg.norm(quaternion)
        links[pair] = Link(*pair, np.array([5]), np.array([5]), translation[None], unit[None], True, True, ("/tf_static",))
        frame = f"f{k + 1}"
    tree = TransformTree(links)
    there, back = tree.static_between("f0", frame), tree.static_between(frame, "f0")
    for product in (there.then(back), back.then(there), there.then(there.inverse())):
        np.testing.assert_allclose(product.translation, 0.0, atol=1e-9)
        np.testing.assert_allclose(np.abs(product.quaternion), [0.0, 0.0, 0.0, 1.0], atol=1e-7)


# --- gaps and ends ----------------------------------------------------------------------------------------------------


def test_rows_beyond_a_link_and_in_its_gaps_are_dropped_and_counted(tmp_path):
    """The map link at 10 Hz is from 1 s to 9 s, without messages between 4 s and 5 s: a gap above 0.5 s."""
    times = np.round(np.arange(1.0, 9.05, 0.1), 3)
    times = times[(times <= 4.0) | (times >= 5.0)]
    odom = np.round(np.arange(0.0, 10.0, 0.05), 3)
    poses = np.column_stack([times, 0 * times, 0 * times])
    tree = tree_of(tmp_path, moving("map", "odom", times, poses), moving("odom", "base_link", odom, circle(odom)))
    series = tree.series("map", "base_link")
    kept = (odom >= 1.0) & (odom <= 9.0) & ~((odom > 4.0) & (odom < 5.0))
    assert series.stamps_ns.tolist() == [ns(t) for t in odom[kept]]
    assert series.dropped_outside == int(((odom < 1.0) | (odom > 9.0)).sum())
    assert series.dropped_in_gaps == int(((odom > 4.0) & (odom < 5.0)).sum())


def test_slow_publishers_are_not_silent_between_two_messages(tmp_path):
    """At 0.5 Hz five usual periods are 10 s."""
    slow = np.arange(0.0, 10.1, 2.0)
    tree = tree_of(
        tmp_path,
        moving("map", "odom", slow, np.column_stack([slow, 0 * slow, 0 * slow])),
        moving("odom", "base_link", AT_S, circle(AT_S)),
    )
    assert len(tree.series("map", "base_link")) == len(AT_S)


def test_stamps_that_differ_by_rounding_are_not_beyond_the_end(tmp_path):
    tree = tree_of(
        tmp_path,
        moving("odom", "base_footprint", AT_S, circle(AT_S)),
        [Sent("base_footprint", "base_link", t + 1e-6, (0.0, 0.0, 0.1 + 0.01 * np.sin(t))) for t in AT_S],
    )
    series = tree.series("odom", "base_link", np.array([ns(t) for t in AT_S]))
    assert len(series) == len(AT_S)


# --- what is static ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ros1", [True, False])
def test_a_transform_repeated_on_tf_is_static(tmp_path, ros1):
    """static_transform_publisher of ROS 1 repeats on /tf, with slashes in front of frames; q and -q are one rotation."""
    repeated = [Sent("/base_link", "/imu", t, (0.1, 0.2, 0.3), (0.0, 0.0, 0.0, (-1.0) ** k)) for k, t in enumerate(AT_S[::5])]
    tree = tree_of(tmp_path, moving("odom", "base_link", AT_S, circle(AT_S)), repeated, ros1=ros1)
    assert tree.frames == ("base_link", "imu", "odom")
    assert tree.roots == ("odom",)
    assert tree.links["base_link", "imu"].is_static
    assert not tree.links["odom", "base_link"].is_static
    assert tree.static_between("/base_link", "imu").translation.tolist() == [0.1, 0.2, 0.3]
    assert_same_poses(tree.series("odom", "/base_link").planar(), circle(AT_S))


def test_a_latched_transform_that_changes_holds_until_then(tmp_path):
    """Two values on /tf_static: at 0 s and at 5 s."""
    late = Sent("base_link", "camera", 5.0, (2.0, 0.0, 0.0), topic="/robot1/tf_static")
    first = [s._replace(topic="/robot1/tf_static") for s in static("base_link", "camera", (1.0, 0.0, 0.0))]
    straight = np.column_stack([0.1 * AT_S, 0 * AT_S, 0 * AT_S])
    tree = tree_of(tmp_path, moving("odom", "base_link", AT_S, straight), [*first, late])
    assert tree.static_between("base_link", "camera") is None
    series = tree.series("odom", "camera")
    np.testing.assert_allclose(series.translation[:, 0] - 0.1 * AT_S, np.where(AT_S < 5.0, 1.0, 2.0), atol=1e-12)


def test_many_transforms_in_one_message_are_separated():
    """Two transforms and more in each message, in changing order, as robot_state_publisher sends them."""
    from slipfit.logs.layout import group
    from slipfit.logs.messages import Messages
    from unit.logs.written_transforms import STORE2, TF, message

    raws = []
    for k in range(20):
        pair = [Sent("odom", "base_link", 0.1 * k, (k, 0.0, 0.0)), Sent("base_link", "wheel", 0.1 * k, (0.0, 0.1 * k, 0.0))]
        raws.append(bytes(STORE2.serialize_cdr(message(STORE2, TF, pair[:: 1 if k % 3 else -1]), TF)))
    received = np.array([ns(0.1 * k) for k in range(20)])
    tree = TransformTree.from_messages({"/tf": Messages(received, group(raws, TF, STORE2.fielddefs, is_ros1=False))}, "run")
    assert tree.links["odom", "base_link"].translation[:, 0].tolist() == list(range(20))
    np.testing.assert_allclose(tree.series("odom", "wheel").translation[:, 1], 0.1 * np.arange(20))


# --- broken trees -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frames", ["ab", "abc", "abcd"])
def test_a_loop_is_an_error_for_those_who_pass_it(tmp_path, frames):
    loop = [Sent(p, c, 0.0) for p, c in zip(frames, frames[1:] + frames[0], strict=True)]
    tree = tree_of(tmp_path, loop, static("base", "imu"), static("a", "below"))
    with pytest.raises(LogError, match=r"run: the transforms .* form a loop; expected a tree"):
        tree.series("a", "b")
    said = tree.problems["a"].split(" form")[0].removeprefix("run: the transforms ").split(" -> ")
    assert said[0] == said[-1]
    assert set(pairwise(said)) == {(one.parent, one.child) for one in loop}
    with pytest.raises(LogError, match="loop"):
        tree.check()
    assert tree.static_between("base", "imu") is not None
    assert tree.static_between("a", "below") is not None
    mended = tree.without((frames[-1], "a"))
    mended.check()
    assert mended.roots == ("a", "base")


def test_two_parents_are_an_error_that_names_both(tmp_path):
    tree = tree_of(
        tmp_path,
        moving("odom", "base_link", AT_S, circle(AT_S)),
        moving("world", "base_link", AT_S, circle(AT_S), topic="/truth/tf"),
        static("base_link", "imu"),
    )
    with pytest.raises(LogError, match=r"base_link has 2 parents, odom \(/tf, 500 stamps\) and world \(/truth/tf, 500 stamps\)"):
        tree.series("odom", "base_link")
    assert tree.static_between("base_link", "imu") is not None  # does not pass its parents
    assert len(tree.without(("/world", "base_link")).series("odom", "imu")) == 500
    with pytest.raises(LogError, match=r"no transform map->base_link; expected one of odom->base_link"):
        tree.without(("map", "base_link"))


@pytest.mark.parametrize("bad", [(0.0, 0.0, 0.0, 0.0), (0.0, 0.0, np.nan, 1.0), (0.0, np.inf, 0.0, 1.0), (1e200, 0.0, 0.0, 1.0)])
def test_quaternions_that_mean_nothing_are_an_error(tmp_path, bad):
    sent = [Sent("odom", "base_link", 0.1 * k, (k, 0.0, 0.0), bad if k % 2 else about_z(0.1)) for k in range(20)]
    tree = tree_of(tmp_path, sent)
    with pytest.raises(LogError, match=r"odom->base_link .* length zero in 10 of 20 messages; expected .* unit quaternions"):
        tree.series("odom", "base_link")


def test_a_few_bad_values_are_ignored_as_tf2_does(tmp_path):
    sent = moving("odom", "base_link", AT_S, circle(AT_S))
    sent[3] = sent[3]._replace(translation=(np.nan, 0.0, 0.0))
    tree = tree_of(tmp_path, sent)
    assert tree.notes == ("transform odom->base_link: 1 of 500 messages ignored (non-finite or zero-length quaternion)",)
    assert_same_poses(tree.series("odom", "base_link").planar(), np.delete(circle(AT_S), 3, axis=0))


def test_late_and_repeated_messages_are_sorted_and_merged(tmp_path):
    sent = moving("odom", "base_link", AT_S, circle(AT_S))
    sent[10] = sent[10]._replace(received_s=AT_S[11] + 0.001)
    again = sent[20]._replace(received_s=AT_S[20] + 0.001)
    tree = tree_of(tmp_path, sent, [again])
    assert_same_poses(tree.series("odom", "base_link").planar(), circle(AT_S))
    assert tree.notes == ("transform odom->base_link: 1 messages out of order (sorted), 1 with the stamp of another (merged)",)


def test_a_clock_that_is_set_back_is_an_error(tmp_path):
    """A recording played twice: after 500 messages the stamps are 9.98 s back."""
    twice = [s._replace(received_s=s.at_s + 10.0) for s in moving("odom", "base_link", AT_S, circle(AT_S))]
    tree = tree_of(tmp_path, moving("odom", "base_link", AT_S, circle(AT_S)), twice)
    with pytest.raises(LogError, match=r"backwards in time: after message 500 the stamps jump back by 10\.0 s .* 4\d\d messages"):
        tree.series("odom", "base_link")


def test_headers_that_were_never_filled_do_not_count(tmp_path):
    sent = [s._replace(at_s=-1.7e9, received_s=s.at_s) for s in moving("odom", "base_link", AT_S, circle(AT_S))]
    tree = tree_of(tmp_path, sent)
    assert tree.series("odom", "base_link").stamps_ns.tolist() == [ns(t) for t in AT_S]
    assert "stamped when received" in tree.notes[0]


def test_a_transform_of_a_frame_to_itself_is_ignored(tmp_path):
    tree = tree_of(tmp_path, static("map", "/map"), static("", "x"), static("map", "odom"))
    assert tree.frames == ("map", "odom")
    assert len(tree.notes) == 2


def test_unknown_frames_are_named_with_those_that_exist(tmp_path):
    tree = tree_of(tmp_path, moving("odom", "base_link", AT_S, circle(AT_S)))
    assert tree.chain("map", "base_link") is None
    with pytest.raises(LogError, match=r"run: there is no frame map in its transforms; expected one of base_link, odom"):
        tree.series("map", "base_link")
