"""Replays for the rerun viewer: the one place that writes .rrd files. A scene holds plain arrays; what is in it, others say."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from slipfit.errors import ParameterError
from slipfit.library.files import check_target, write_through

REPLAY_FORMATS = (".rrd",)

#: Name of the time axis, in seconds from the start.
TIMELINE = "time"


class Surface(NamedTuple):
    """Triangles: corners (n, 3) in m, and which three make one (k, 3)."""

    corners_m: np.ndarray
    triangles: np.ndarray
    rgba: tuple[int, int, int, int]


class Strips(NamedTuple):
    """Lines, each (n, 3) in m."""

    lines_m: list[np.ndarray]
    rgba: tuple[int, int, int, int]


class Motion(NamedTuple):
    """Where a body is and how it is turned, at every time of the scene."""

    places_m: np.ndarray  # (T, 3)
    quats_xyzw: np.ndarray  # (T, 4)


@dataclass(frozen=True, eq=False)
class Scene:
    """What is seen, by path: things that stand still, bodies that move (things below their path move along), lines that change at
    some of the times, and numbers over time, whose names end in their units."""

    name: str
    time_s: np.ndarray
    still: dict[str, Surface | Strips]
    bodies: dict[str, Motion]
    numbers: dict[str, np.ndarray]  # (T,) each
    changing: dict[str, list[tuple[float, Strips]]] = field(default_factory=dict)
    about: str = ""


def check_replay(path: Path, *, force: bool) -> None:
    """Stop before any work is done when a replay could not be written."""
    check_target(path, force=force, formats=REPLAY_FORMATS)
    _rerun(path)


def write_replay(scene: Scene, path: Path, *, force: bool = False) -> None:
    """Write a .rrd file: `rerun FILE` opens it, and plays."""
    rr = _rerun(path)
    write_through(path, lambda target: _fill(rr, scene, target), force=force, formats=REPLAY_FORMATS)


def _rerun(path: Path) -> Any:
    try:
        import rerun
    except ImportError:
        raise ParameterError(
            f"{path}: replays need the package rerun-sdk, which is not installed; pip install 'slipfit[replay]'"
        ) from None
    return rerun


def _fill(rr: Any, scene: Scene, target: Path) -> None:
    recording = rr.RecordingStream("slipfit")
    recording.save(target)
    recording.send_recording_name(scene.name)
    recording.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    if scene.about:
        recording.log("about", rr.TextDocument(scene.about), static=True)
    for place, thing in scene.still.items():
        recording.log(place, _drawn(rr, thing), static=True)
    times = rr.TimeColumn(TIMELINE, duration=scene.time_s)
    for place, motion in scene.bodies.items():
        columns = rr.Transform3D.columns(translation=motion.places_m, quaternion=motion.quats_xyzw)
        recording.send_columns(place, indexes=[times], columns=columns)
    for place, values in scene.numbers.items():
        recording.send_columns(place, indexes=[times], columns=rr.Scalars.columns(scalars=values))
    for place, moments in scene.changing.items():
        for time_s, strips in moments:
            recording.set_time(TIMELINE, duration=time_s)
            recording.log(place, _drawn(rr, strips))
    recording.flush()
    recording.disconnect()


def _drawn(rr: Any, thing: Surface | Strips) -> Any:
    if isinstance(thing, Surface):
        colours = np.tile(np.array(thing.rgba, dtype=np.uint8), (len(thing.corners_m), 1))
        return rr.Mesh3D(vertex_positions=thing.corners_m, triangle_indices=thing.triangles, vertex_colors=colours)
    return rr.LineStrips3D(thing.lines_m, colors=[thing.rgba] * len(thing.lines_m))
