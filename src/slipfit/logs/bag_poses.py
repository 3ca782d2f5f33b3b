"""Pose-like topics of a bag as pose sources, transform trees among them, and sensors moved to the body's origin and axes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from slipfit.errors import LogError
from slipfit.logs import channels as names
from slipfit.logs import topics as t
from slipfit.logs.drive_log import Channel
from slipfit.logs.frame_names import ODOMETRY_WORLDS, POSE_WORLDS
from slipfit.logs.links import frame_name
from slipfit.logs.localized import localized
from slipfit.logs.messages import Messages
from slipfit.logs.provenance.motion import resolution
from slipfit.logs.provenance.source import PoseSource
from slipfit.logs.rigid import Rigid, TransformSeries, imu_in_body, to_body
from slipfit.logs.topics import Choice
from slipfit.logs.transforms import TransformTree

#: Offsets and turns below these (m, rad) are no mounting: nothing is moved.
_NO_OFFSET_M, _NO_TURN_RAD = 1e-6, 1e-6

#: Two sources are compared where this share of their stamps is the same.
_SHARED = 0.5


def frames_of(choice: Choice, messages: Messages) -> tuple[str, str]:
    """Frame of a pose-like or IMU topic, and child frame where its messages have one."""
    return frame_name(messages.text("header.frame_id")), frame_name(messages.text("child_frame_id"))


def body_pose(source: PoseSource, tree: TransformTree | None, body: str | None) -> tuple[PoseSource, list[str]]:
    """The source with its poses moved from its child frame to the body, where static transforms connect both."""
    child = source.child_frame
    if tree is None or body is None or not child or child == body or {child, body} - set(tree.frames):
        return source, []
    mount = _static(tree, child, body)
    if mount is None or _is_level_identity(mount):
        return source, []
    columns = list(names.POSE_COLUMNS)
    moved = to_body(np.column_stack([source.channel.column(c) for c in columns]), mount)
    places = [source.channel.columns.index(c) for c in columns]
    values = source.channel.values.copy()
    values[:, places] = moved
    x, y = mount.inverse().translation[:2]
    note = f"{source.name}: moved from {child}, {x:.3f} m ahead and {y:.3f} m left of {body}, to {body}"
    step_m = max(resolution(source.channel.column(c)) for c in ("x_m", "y_m"))
    step_rad = resolution(source.channel.column("yaw_rad"))
    channel = replace(source.channel, values=values)
    return replace(source, channel=channel, child_frame=body, step_m=step_m, step_rad=step_rad), [note]


def body_imu(
    channel: Channel, frame: str, tree: TransformTree | None, body: str | None
) -> tuple[Channel, tuple[float, float, float] | None, list[str]]:
    """An IMU's readings along the body's axes, its position in the body, and what to say about it."""
    if tree is None or body is None or not frame or frame == body:
        return channel, None, []
    mount = None if {frame, body} - set(tree.frames) else _static(tree, body, frame)
    if mount is None:
        said = f"imu: no static transforms between {body} and {frame}; its axes are taken for those of the body"
        return channel, None, [said]
    x, y, z = (float(part) for part in mount.translation)
    turn = 2.0 * float(np.arcsin(min(1.0, float(np.linalg.norm(mount.quaternion[:3])))))
    said = f"imu: {frame} is {x:.3f} m ahead, {y:.3f} m left and {z:.3f} m above {body} by the transforms"
    if turn < _NO_TURN_RAD:
        return channel, (x, y, z), [said]
    accel, gyro = ([f"{kind}_{axis}_{unit}" for axis in "xyz"] for kind, unit in (("accel", "mps2"), ("gyro", "radps")))
    if not {*accel, *gyro} <= set(channel.columns):
        return channel, (x, y, z), [said]
    has = set(names.ORIENTATION_COLUMNS) <= set(channel.columns)
    turned = imu_in_body(
        np.column_stack([channel.column(c) for c in accel]),
        np.column_stack([channel.column(c) for c in gyro]),
        np.column_stack([channel.column(c) for c in names.ORIENTATION_COLUMNS]) if has else None,
        mount,
    )
    values = channel.values.copy()
    blocks = [(accel, turned.acceleration), (gyro, turned.angular_velocity)]
    if turned.orientation is not None:
        blocks.append((list(names.ORIENTATION_COLUMNS), turned.orientation))
    for columns, block in blocks:
        values[:, [channel.columns.index(c) for c in columns]] = block
    said += f", turned by {np.degrees(turn):.1f}°: its readings are turned to {body}"
    return replace(channel, values=values), (x, y, z), [said]


def _static(tree: TransformTree, parent: str, child: str) -> Rigid | None:
    try:
        return tree.static_between(parent, child)
    except LogError:
        return None  # frames that no chain can pass: what is wrong with them is said where a pose is read from them


def _is_level_identity(mount: Rigid) -> bool:
    return bool(np.abs(mount.translation[:2]).max() < _NO_OFFSET_M and abs(mount.yaw_rad) < _NO_TURN_RAD)


def tree_poses(tree: TransformTree, body: str | None, others: Sequence[PoseSource] = ()) -> tuple[list[PoseSource], list[str]]:
    """Poses of the body in a world (by a localizer) and in odom, and what to say about them; not what one of the `others`
    publishes as well."""
    if body is None:
        return [], []
    found, notes = [], []
    for world in tree.worlds(body, POSE_WORLDS)[:1]:
        fixed = localized(tree, world, body)
        if not fixed.is_independent:
            notes.append(f"/tf: {world}->{body} is {fixed.odometry} with a correction that never changes; it is not a pose")
            continue
        notes += _dropped(fixed.series, f"{world}->{body}")
        if fixed.odometry:
            late = f", stamps {fixed.post_dated_s:.2f} s ahead set back" if fixed.post_dated_s else ""
            said = f"{fixed.changes} corrections of {fixed.correction} are poses, odometry between them is not{late}"
            notes.append(f"/tf: {said}")
        if len(fixed.series) > 1:
            found.append(_source(fixed.series, world, body))
    for odom in tree.worlds(body, ODOMETRY_WORLDS)[:1]:
        series = tree.series(odom, body)
        notes += _dropped(series, f"{odom}->{body}")
        source = _source(series, odom, body) if len(series) > 1 else None
        same = next((other.name for other in others if source and _is_same(source, other)), None)
        if same is not None:
            notes.append(f"/tf: {odom}->{body} repeats {same}")
        elif source is not None:
            found.append(source)
    return found, notes


def _is_same(source: PoseSource, other: PoseSource) -> bool:
    """Whether two sources publish the same numbers; transforms may come a little more often or seldom than messages."""
    if other.frame != source.frame:
        return False
    mine, theirs = source.channel, other.channel
    order = np.argsort(theirs.stamps_ns, kind="stable")
    at = np.searchsorted(theirs.stamps_ns[order], mine.stamps_ns)
    at = np.minimum(at, len(order) - 1)
    shared = theirs.stamps_ns[order][at] == mine.stamps_ns
    if shared.mean() < _SHARED:
        return False
    apart = [np.abs(mine.column(c)[shared] - theirs.column(c)[order][at[shared]]).max() for c in ("x_m", "y_m")]
    return bool(max(apart) < 1e-6)


def tree_pose(tree: TransformTree, frames: str, channel: str) -> PoseSource:
    """The pose of a frame that was named, as base_link or map:base_link; without a parent, in the world it is connected to."""
    parent, _, child = frames.rpartition(":")
    child = frame_name(child)
    if child not in tree.frames:
        pairs = ", ".join(f"{parent}->{frame}" for parent, frame in tree.links)
        raise LogError(f"{tree.path}: its transforms have no frame {child}; expected one of {pairs[:300] or 'none'}")
    if not parent:
        worlds = (ODOMETRY_WORLDS, POSE_WORLDS) if channel == names.ODOMETRY else (POSE_WORLDS, ODOMETRY_WORLDS)
        known = [world for kinds in worlds for world in tree.worlds(child, kinds)]
        above = list(tree.ancestors(child))
        parent = known[0] if known else above[-1] if above else child
    return _source(tree.series(parent, child), frame_name(parent), child, channel)


def _source(series: TransformSeries, parent: str, child: str, channel: str = names.POSE) -> PoseSource:
    poses = Channel(channel, series.stamps_ns, series.planar(), names.POSE_COLUMNS)
    return PoseSource(f"/tf#{parent}:{child}", poses, t.TF, parent, child)


def _dropped(series: TransformSeries, name: str) -> list[str]:
    lost = series.dropped_in_gaps
    return [f"/tf: {lost} poses of {name} lie in gaps of a transform and are dropped"] if lost else []


def require_connected(tree: TransformTree, body: str | None) -> None:
    """A tree with a loop, a frame with two parents, or an odometry frame without connection to the body is an error."""
    tree.check()
    if body is None:
        return
    if not tree.worlds(body, POSE_WORLDS) and not tree.worlds(body, ODOMETRY_WORLDS):
        gap = tree.gap(body)
        if gap is not None:
            raise LogError(gap)


def robots_of(encoders: Sequence[str]) -> list[str]:
    """Namespaces of several robots: wheels under the same name in each, as /robot1/joint_states and /robot2/joint_states."""
    by_name: dict[str, list[str]] = {}
    for topic in encoders:
        space, _, name = topic.rpartition("/")
        by_name.setdefault(name, []).append(space)
    return next((sorted(spaces) for spaces in by_name.values() if len(set(spaces)) > 1), [])
