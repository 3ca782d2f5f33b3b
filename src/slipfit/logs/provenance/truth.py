"""Which pose of a log serves as truth, and why: one that is independent of the wheels, or none.

Wheel odometry is never the truth. Of a fused pose only the heading may be used, and only where the log has no gyro: it adds
nothing to the gyro that made it. `--truth TOPIC` and `--truth none` overrule all of this.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from slipfit.errors import LogError
from slipfit.logs import channels as names
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog
from slipfit.logs.provenance.classify import NOT_COMPARED, SMOOTH, Classified, Doubt, classify, is_isotropic
from slipfit.logs.provenance.evidence import evidence_of
from slipfit.logs.provenance.motion import are_at_rest, gyro_of, tracks_of, turned_wheels
from slipfit.logs.provenance.source import Origin, PoseSource
from slipfit.logs.topics import ABOARD, EXACT_TYPE, OUTSIDE, words_of

#: What `--truth` is where no pose is to be used.
NONE = "none"

#: What tells of slip, for logs in which nothing does.
POSES_TO_RECORD = "a pose from motion capture, lidar, camera or RTK GNSS"
WHAT_TO_RECORD = f"record an IMU, or {POSES_TO_RECORD}"


@dataclass(frozen=True, eq=False, slots=True)
class PoseTruth:
    """All pose sources of a log with their origin, and which of them is the truth."""

    poses: tuple[Classified, ...] = ()
    name: str = ""  # of the chosen source; empty for none
    part: str = ""  # pose, or heading
    why: str = ""
    is_given: bool = False  # by the user

    @property
    def chosen(self) -> Classified | None:
        """The source that serves as truth."""
        return next((pose for pose in self.poses if pose.name == self.name), None)

    @property
    def is_doubtful(self) -> bool:
        """Whether a pose is used that was not found to be independent by its data."""
        return self.chosen is not None and not (self.chosen.origin is Origin.INDEPENDENT and self.chosen.is_by_data)

    @property
    def refused(self) -> tuple[Classified, ...]:
        """Sources that follow the wheels, and are not used."""
        return tuple(p for p in self.poses if p.origin in (Origin.WHEELS, Origin.FUSED) and p.name != self.name)

    def sentence(self) -> str:
        """What served as truth and why, in one line; empty where a log has no pose at all."""
        if not self.name:
            return self.why if self.poses or self.is_given else ""
        part = "" if self.part == "pose" else f"the {self.part} of "
        return f"{part}{self.name}: {self.why}"

    def table(self) -> str:
        """One line per pose source: name, rate, origin, use, reason."""
        rows = []
        for pose in self.poses:
            use = self.part if pose.name == self.name else "not used"
            rows.append(f"  {pose.name:<28}{pose.source.channel.rate_hz:>7.3g} Hz  {pose.origin.value:<15}{use:<9} {pose.reason}")
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "channel": self.name or None,
            "part": self.part or None,
            "why": self.why,
            "given": self.is_given,
            "poses": [pose.to_document() for pose in self.poses],
        }


def classified_poses(log: DriveLog) -> tuple[Classified, ...]:
    """Origin of every pose source of a log."""
    sources = log.poses or _of_channels(log)
    if not sources:
        return ()
    origin_ns = min(int(c.stamps_ns.min()) for c in log.channels.values()) if log.channels else 0
    wheels, gyro = turned_wheels(log, origin_ns), gyro_of(log, origin_ns)
    found = []
    for source in sources:
        if wheels is None or not set(names.POSE_COLUMNS) <= set(source.channel.columns):
            found.append(classify(source, None, Doubt.AT_REST if wheels is None and are_at_rest(log) else Doubt.NO_WHEELS))
            continue
        tracks = tracks_of(source, log, origin_ns)
        seen = [e for track in tracks if (e := evidence_of(track, wheels, gyro)) is not None]
        best = min(seen, key=lambda e: e.lateral_m, default=None)
        found.append(classify(source, best, Doubt.NO_MOTION if tracks else Doubt.NO_POSES))
    return tuple(found)


def with_truth(log: DriveLog, truth: str | None = None) -> DriveLog:
    """The log with the pose that serves as truth in its channel `pose`, or without one, and `log.truth` to say why.

    `truth` is the name of a pose source (a topic, or pose or odometry in a CSV file), or "none"; without it the independent
    source with the best name is taken. A log whose truth was chosen before stays as it is unless `truth` is given.
    """
    if log.truth is not None and truth is None:
        return log
    sources = log.poses or _of_channels(log)
    poses = classified_poses(log)
    chosen = _chosen(log, poses, truth)
    channels = {name: channel for name, channel in log.channels.items() if name != names.POSE}
    source = chosen.chosen
    if source is not None and chosen.part == "pose":
        rest = source.source.channel
        keep = [c for c in rest.columns if c in names.POSE_COLUMNS] if rest.name == names.ODOMETRY else list(rest.columns)
        values = rest.values if len(keep) == len(rest.columns) else np.column_stack([rest.column(c) for c in keep])
        channels[names.POSE] = Channel(names.POSE, rest.stamps_ns, values, tuple(keep))
    elif source is not None:
        channels[names.IMU] = _heading_as_gyro(source.source.channel)
    order = [*(n for n in log.channels if n in channels), *(n for n in channels if n not in log.channels)]
    return replace(log, channels={n: channels[n] for n in order}, truth=chosen, poses=sources)


def _of_channels(log: DriveLog) -> tuple[PoseSource, ...]:
    """Pose sources of a log that was not read from a bag: its channels pose and odometry."""
    has = [n for n in (names.POSE, names.ODOMETRY) if n in log and set(names.POSE_COLUMNS) <= set(log[n].columns)]
    if names.POSE in log and names.POSE not in has:
        has = [names.POSE, *has]  # without a heading, or in parts: what it is, its readers say
    return tuple(PoseSource(name, log[name]) for name in has)


def _chosen(log: DriveLog, poses: tuple[Classified, ...], truth: str | None) -> PoseTruth:
    if truth == NONE:
        return PoseTruth(poses, why="no pose is used, as specified (--truth none)", is_given=True)
    if truth is not None:
        return _given(log, poses, truth)
    usable = [pose for pose in poses if _is_usable(pose)]
    if usable:
        best = max(usable, key=_rank)
        return PoseTruth(poses, best.name, "pose", f"{best.origin.value}: {best.reason}")
    has_gyro = names.IMU in log and "gyro_z_radps" in log[names.IMU].columns
    fused = [p for p in poses if p.origin is Origin.FUSED and p.is_by_data]
    if fused and not has_gyro:
        why = f"fused: {fused[0].reason}; the log has no gyro, so its heading is used, and its position is not"
        return PoseTruth(poses, fused[0].name, "heading", why)
    if not poses:
        return PoseTruth(why="the log has no pose")
    return PoseTruth(poses, why=f"no pose is independent of the wheels: {'; '.join(_short(p) for p in poses[:3])}")


def _is_usable(pose: Classified) -> bool:
    """Independent, or of unknown origin and not called odometry: without wheels to compare it with; or where somebody mapped
    columns to the pose, and it is no dead reckoning as far as can be seen (a short run, white noise)."""
    if pose.evidence is not None and not pose.evidence.has_heading:
        return False
    if pose.origin is Origin.INDEPENDENT:
        return True
    is_pose = pose.source.channel.name == names.POSE and pose.source.hint not in (Origin.WHEELS, Origin.FUSED)
    if pose.origin is not Origin.UNKNOWN or not is_pose:
        return False
    is_mapped, e = pose.source.type in ("", EXACT_TYPE), pose.evidence
    is_noisy = e is not None and e.smoothness < SMOOTH and is_isotropic(e)
    if pose.doubt in NOT_COMPARED:
        return True
    return is_mapped and (pose.doubt is Doubt.NO_MOTION or (pose.doubt is Doubt.UNCLEAR and is_noisy))


def _rank(pose: Classified) -> tuple[bool, int, int]:
    words = "_" + "_".join(words_of(pose.name)) + "_"
    outside, aboard = (any(f"_{word}_" in words for word in known) for known in (OUTSIDE, ABOARD))
    return pose.is_by_data or outside, 2 * outside + aboard, len(pose.source.channel.stamps_ns)


def _short(pose: Classified) -> str:
    return f"{pose.name} is {pose.origin.value} ({pose.reason})"


def _given(log: DriveLog, poses: Sequence[Classified], truth: str) -> PoseTruth:
    of_channel = [pose for pose in poses if pose.source.channel.name == truth]
    for spelled in (truth, f"/{truth}", truth.removeprefix("/"), of_channel[0].name if len(of_channel) == 1 else truth):
        match = next((pose for pose in poses if pose.name == spelled), None)
        if match is not None:
            doubt = "" if match.origin is Origin.INDEPENDENT else f", although it is {match.origin.value}: {match.reason}"
            return PoseTruth(tuple(poses), match.name, "pose", f"as specified (--truth){doubt}", is_given=True)
    where = f"{log.source}: " if log.source else ""
    known = ", ".join(pose.name for pose in poses)
    has = f"the log has {known}: pass one of them" if known else "the log has no pose: leave --truth out"
    raise LogError(f"{where}--truth {truth}: there is no such pose; {has}, or pass --truth {NONE} to use no pose")


def _heading_as_gyro(channel: Channel) -> Channel:
    """Yaw rate between poses, stamped in the middle."""
    order = np.argsort(channel.stamps_ns, kind="stable")
    stamps = channel.stamps_ns[order]
    order = order[np.diff(stamps, prepend=stamps[0] - 1) > 0]
    stamps, yaw = channel.stamps_ns[order], np.unwrap(channel.column("yaw_rad")[order])
    rate = np.diff(yaw) / (np.diff(stamps) / NANOSECONDS)
    return Channel(names.IMU, stamps[:-1] + np.diff(stamps) // 2, rate[:, None], ("gyro_z_radps",))
