"""Poses of localizers out of map->odom: measurements at the moments when they were taken, without odometry between them."""

import numpy as np
import pytest

from slipfit.logs.localized import Rows, localized, post_dating_ns
from slipfit.logs.rigid import to_body
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

ODOM_S = np.round(np.arange(0.0, 20.0, 0.02), 3)
SCAN_S = np.round(np.arange(0.1, 19.95, 0.1), 3)


def odometry(at_s):
    """Wheels that slip: odometry turns faster and goes further than the robot."""
    return circle(at_s, radius_m=2.3, yaw_rate_radps=0.55)


def correction(at_s):
    """map->odom that makes odometry agree with the circle that the robot drives: T_map_base T_odom_base⁻¹."""
    x, y, yaw = odometry(at_s).T
    back = np.column_stack([-np.cos(yaw) * x - np.sin(yaw) * y, np.sin(yaw) * x - np.cos(yaw) * y, -yaw])
    return planar_product(circle(at_s), back)


def amcl(at_s, *, every, tolerance_s, latency_s=0.01, jitter_s=None):
    """nav2's AMCL: published for each scan, stamped with the scan's time plus the tolerance, updated with some of the scans."""
    measured = np.repeat(correction(at_s[::every]), every, axis=0)[: len(at_s)]
    latency = latency_s if jitter_s is None else latency_s + jitter_s
    sent = moving("map", "odom", at_s, measured, later_s=tolerance_s)
    return [one._replace(received_s=t + d) for one, t, d in zip(sent, at_s, np.broadcast_to(latency, len(at_s)), strict=True)]


def wheels(**more):
    return moving("odom", "base_footprint", ODOM_S, odometry(ODOM_S), latency_s=0.01, **more)


@pytest.mark.parametrize("tolerance_s", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("ros1", [True, False])
def test_updates_of_a_post_dating_localizer_are_the_truth(tmp_path, tolerance_s, ros1):
    """The robot's circle is recovered at each update and only there, however far ahead map->odom is stamped."""
    tree = tree_of(tmp_path, amcl(SCAN_S, every=7, tolerance_s=tolerance_s), wheels(), ros1=ros1)
    found = localized(tree, "map", "base_footprint")
    updates = SCAN_S[7::7]
    assert found.rows is Rows.UPDATES
    assert found.is_independent
    assert (found.correction, found.odometry) == ("map->odom", "odom->base_footprint")
    assert (found.messages, found.changes) == (len(SCAN_S), len(updates))
    assert found.post_dated_s == pytest.approx(tolerance_s, abs=1e-6)  # interpolated between receipts
    assert np.abs(found.series.stamps_ns - [ns(t) for t in updates]).max() < 1000
    assert_same_poses(found.series.planar(), circle(updates), atol=1e-6)


def test_a_tolerance_that_is_known_is_exact(tmp_path):
    tree = tree_of(tmp_path, amcl(SCAN_S, every=7, tolerance_s=1.0), wheels())
    found = localized(tree, "map", "base_footprint", post_dated_s=1.0)
    assert found.series.stamps_ns.tolist() == [ns(t) for t in SCAN_S[7::7]]
    assert_same_poses(found.series.planar(), circle(SCAN_S[7::7]), atol=1e-9)


def test_a_plain_lookup_mixes_old_corrections_with_new_odometry(tmp_path):
    """With stamps 1 s ahead a lookup uses the correction of up to 1.7 s before; the poses at updates are better."""
    tree = tree_of(tmp_path, amcl(SCAN_S, every=7, tolerance_s=1.0), wheels())
    stamps, rows = tree.planar("map", "base_footprint")
    away = np.hypot(*(rows - circle((stamps - ns(0.0)) / 1e9))[:, :2].T)
    assert away.max() > 0.1
    best = localized(tree, "map", "base_footprint").series
    assert np.hypot(*(best.planar() - circle((best.stamps_ns - ns(0.0)) / 1e9))[:, :2].T).max() < 1e-6


def test_latency_of_the_localizer_costs_only_the_drift_meanwhile(tmp_path):
    """A localizer that needs 80 ms longer than odometry, with jitter, seems post-dated by that much less. Its pose is carried on
    by odometry for 80 ms, which moves 0.265 m/s faster than the robot and turns 0.05 rad/s faster: below 0.03 m, not 0.1 m."""
    jitter = np.random.default_rng(1).uniform(-0.02, 0.02, len(SCAN_S))
    tree = tree_of(tmp_path, amcl(SCAN_S, every=5, tolerance_s=0.5, latency_s=0.09, jitter_s=jitter), wheels())
    found = localized(tree, "map", "base_footprint")
    assert found.post_dated_s == pytest.approx(0.42, abs=0.01)
    rows = found.series.planar()
    truth = circle((found.series.stamps_ns - ns(0.0)) / 1e9)
    assert np.hypot(*(rows - truth)[:, :2].T).max() < 0.03


def test_another_clock_of_the_recorder_drops_out(tmp_path):
    """A simulation at half of real time, recorded by the wall clock: receipts run twice as fast as stamps, and 1000 s ahead."""
    sent = [*amcl(SCAN_S, every=7, tolerance_s=0.5, latency_s=0.0), *moving("odom", "base_footprint", ODOM_S, odometry(ODOM_S))]
    tree = tree_of(tmp_path, [one._replace(received_s=1000.0 + 2.0 * one.received_s) for one in sent])
    found = localized(tree, "map", "base_footprint")
    assert found.post_dated_s == pytest.approx(0.5, abs=1e-6)
    assert_same_poses(found.series.planar(), circle(SCAN_S[7::7]), atol=1e-6)


def test_a_late_localizer_is_not_post_dated(tmp_path):
    """Stamped with the time of the scan and received 0.2 s later: the stamps are right as they are."""
    tree = tree_of(tmp_path, amcl(SCAN_S, every=7, tolerance_s=0.0, latency_s=0.2), wheels())
    found = localized(tree, "map", "base_footprint")
    assert found.post_dated_s == 0.0
    assert post_dating_ns(tree.links["map", "odom"], tree.links["odom", "base_footprint"]) == 0
    assert_same_poses(found.series.planar(), circle(SCAN_S[7::7]), atol=1e-9)


def test_a_correction_repeated_with_the_same_stamp_counts_once(tmp_path):
    """slam_toolbox repeats map->odom at 50 Hz with the stamp of the last scan; the first with a new stamp may still have the old
    value, and the value of the last counts."""
    sent = []
    for k, t in enumerate(SCAN_S[::5]):
        old, new = (correction([max(s, 0.1)])[0] for s in (t - 0.5, t))
        for n, (x, y, yaw) in enumerate([old, new, new, new]):
            sent.append(Sent("map", "odom", t + 0.2, (x, y, 0.0), about_z(yaw), t + 0.01 + 0.02 * n if k else t + 0.01))
    tree = tree_of(tmp_path, sent, wheels())
    found = localized(tree, "map", "base_footprint")
    assert found.rows is Rows.EVERY_MESSAGE
    assert found.post_dated_s == pytest.approx(0.2, abs=1e-6)
    assert_same_poses(found.series.planar(), circle(SCAN_S[::5]), atol=1e-6)


@pytest.mark.parametrize("topic", ["/tf", "/tf_static"])
def test_a_correction_that_never_changes_is_odometry(tmp_path, topic):
    at = SCAN_S if topic == "/tf" else SCAN_S[:1]
    tree = tree_of(tmp_path, moving("map", "odom", at, np.tile([1.0, 2.0, 0.3], (len(at), 1)), topic=topic), wheels())
    found = localized(tree, "map", "base_footprint")
    assert found.rows is Rows.ODOMETRY_ONLY
    assert not found.is_independent
    assert len(found.series) == 0
    assert found.odometry == "odom->base_footprint"
    assert "never changes" in found.rows.value
    assert_same_poses(tree.planar("map", "base_footprint")[1], planar_product([[1.0, 2.0, 0.3]], odometry(ODOM_S)))


def test_a_correction_with_each_scan_is_taken_row_by_row(tmp_path):
    tree = tree_of(
        tmp_path, amcl(SCAN_S, every=1, tolerance_s=0.1), wheels(), static("base_footprint", "base_link", (0.0, 0.0, 0.2))
    )
    found = localized(tree, "map", "base_link")
    assert found.rows is Rows.EVERY_MESSAGE
    assert_same_poses(found.series.planar(), circle(SCAN_S), atol=1e-6)
    np.testing.assert_allclose(found.series.translation[:, 2], 0.2)


def test_motion_capture_is_taken_row_by_row_and_moved_to_the_body(tmp_path):
    """A marker at (0.4, -0.2) in the body, turned by 90°, whose pose is published directly."""
    mount = [[0.4, -0.2, np.pi / 2]]
    tree = tree_of(
        tmp_path,
        moving("world", "marker", ODOM_S, planar_product(circle(ODOM_S), mount)),
        wheels(),
        static("base_footprint", "plate", (0.4, -0.2, 1.0), about_z(np.pi / 2)),
    )
    found = localized(tree, "world", "marker")
    assert found.rows is Rows.DIRECT
    assert found.series.stamps_ns.tolist() == [ns(t) for t in ODOM_S]
    plate = tree.static_between("plate", "base_footprint")
    assert_same_poses(to_body(found.series, plate).planar(), circle(ODOM_S))
    assert_same_poses(found.then(plate).series.planar(), circle(ODOM_S))
    assert "not connected" in tree.gap("base_footprint")


def test_odom_as_the_world_is_taken_at_the_callers_word(tmp_path):
    """Lidar odometry publishes odom->base_link directly."""
    tree = tree_of(tmp_path, moving("odom", "base_link", ODOM_S, circle(ODOM_S)))
    assert localized(tree, "odom", "base_link").rows is Rows.DIRECT


def test_a_correction_published_the_other_way_round(tmp_path):
    """odom->map, as some localizers publish: map is a child of odom."""
    sent = []
    for one in amcl(SCAN_S, every=7, tolerance_s=0.5):
        x, y, _ = one.translation
        yaw = 2.0 * np.arctan2(one.quaternion[2], one.quaternion[3])
        back = (-np.cos(yaw) * x - np.sin(yaw) * y, np.sin(yaw) * x - np.cos(yaw) * y, 0.0)
        sent.append(one._replace(parent="odom", child="map", translation=back, quaternion=about_z(-yaw)))
    tree = tree_of(tmp_path, sent, wheels())
    found = localized(tree, "map", "base_footprint")
    assert found.correction == "odom->map"
    assert_same_poses(found.series.planar(), circle(SCAN_S[7::7]), atol=1e-6)
    assert tree.worlds("base_footprint") == ("map",)


def test_updates_in_a_gap_of_odometry_are_dropped(tmp_path):
    quiet = (ODOM_S > 8.0) & (ODOM_S < 12.0)
    sent = [one for one, is_quiet in zip(wheels(), quiet, strict=True) if not is_quiet]
    tree = tree_of(tmp_path, amcl(SCAN_S, every=7, tolerance_s=0.1), sent)
    found = localized(tree, "map", "base_footprint", post_dated_s=0.1)
    updates = SCAN_S[7::7]
    kept = (updates <= 8.0) | (updates >= 12.0)
    assert found.series.stamps_ns.tolist() == [ns(t) for t in updates[kept]]
    assert found.series.dropped_in_gaps == int((~kept).sum())
