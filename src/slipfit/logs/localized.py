"""Poses of a localizer out of the transform tree: those it measured, without the odometry between them.

A localizer (AMCL, slam_toolbox, RTAB-Map) does not publish map->base. It publishes the correction map->odom that makes
map->odom->base agree with what it measured at one moment, and repeats this correction until it measures again. A TF lookup of
map->base therefore follows odometry between two corrections, and its increments there contain no information about slip. The
localizer's own pose is

    T_map_base(t) = T_map_odom(new) T_odom_base(t)

at the moment t for which the correction was computed, one pose for each change of it. An error in t costs little, because the
pose moves on with odometry: only the drift of odometry within that error.

Post-dating: these localizers stamp map->odom later than the measurement, so that others can look it up without waiting (AMCL:
time of the scan plus `transform_tolerance`, 0.1 to 1 s). The times of receipt reveal it, because `stamp - received` of a link
is its post-dating minus its latency. For each message of the correction, the same difference of odometry, interpolated at the
time of receipt, is subtracted. This cancels a recorder's clock that differs from the clock of the stamps, also a simulation
slower than real time. The median of the result is the post-dating, less the time that the localizer takes longer than odometry.
It is subtracted from the stamps of the correction. Values below 20 ms are latency and jitter, and are not corrected.
"""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.frame_names import ODOMETRY_WORLDS, known_as
from slipfit.logs.links import Link
from slipfit.logs.rigid import Rigid, TransformSeries
from slipfit.logs.transforms import Step, TransformTree, compose_steps, fastest

#: A correction that changes with this share of its messages is measured anew for each of them.
_NEARLY_EVERY = 0.8

#: Less than this is no post-dating.
_SHORTEST_POST_DATING_NS = 20_000_000


class Rows(Enum):
    """What the rows of a localized pose are."""

    DIRECT = "Each message measures the body: one link between world and body moves, and nothing else."
    EVERY_MESSAGE = "The correction changes with nearly every message: each message is a measurement."
    UPDATES = "The correction changes now and then: one row per change."
    ODOMETRY_ONLY = "The correction never changes: the chain holds no measurement of the pose beyond odometry."


@dataclass(frozen=True, eq=False, slots=True)
class Localized:
    """Poses that a localizer or a tracking system measured.

    `series` has no rows where they would be odometry only. `correction` is the link that was measured, `odometry` the one
    that it was composed with; `messages` counts the correction's stamps, `changes` those with another value than the one before.
    """

    series: TransformSeries
    rows: Rows
    correction: str = ""
    odometry: str = ""
    post_dated_s: float = 0.0
    messages: int = 0
    changes: int = 0

    @property
    def is_independent(self) -> bool:
        """Whether the poses hold more than odometry."""
        return self.rows is not Rows.ODOMETRY_ONLY

    def then(self, other: Rigid) -> "Localized":
        """The same for a frame that is fixed to the child, as `to_body` does for a series."""
        return replace(self, series=self.series.then(other))


def localized(tree: TransformTree, world: str, body: str, *, post_dated_s: float | None = None) -> Localized:
    """Poses of the body in the world at the moments at which they were measured.

    Links below a frame that is called odom are odometry, and the changing link nearest above it is the correction; in chains
    without such a frame the changing link nearest to the world is the correction. If the world itself is called odom, the
    caller vouches that odom->body is measured by more than the wheels. `post_dated_s` is the post-dating of the correction's
    stamps where it is known (AMCL's `transform_tolerance`); else it is estimated as the module's docstring describes.
    """
    steps = tree.connected(world, body)
    before, correction, odometry = _split(steps)
    if correction is None or not correction.link.is_changed.any():
        none = TransformSeries(np.empty(0, dtype=np.int64), np.empty((0, 3)), np.empty((0, 4)))
        only = fastest(steps)
        return Localized(none, Rows.ODOMETRY_ONLY, odometry=only.name if only else "")
    link, reference = correction.link, fastest(odometry)
    is_changed = link.is_changed
    counts = len(is_changed), int(is_changed.sum())
    if reference is None:
        shift_ns = round((post_dated_s or 0.0) * NANOSECONDS)
        rows, kept = Rows.DIRECT, np.ones(len(is_changed), dtype=bool)
    else:
        shift_ns = post_dating_ns(link, reference) if post_dated_s is None else round(post_dated_s * NANOSECONDS)
        is_every = counts[1] >= _NEARLY_EVERY * (counts[0] - 1)
        rows = Rows.EVERY_MESSAGE if is_every else Rows.UPDATES
        kept = np.ones(len(is_changed), dtype=bool) if is_every else is_changed
    dated = replace(link, stamps_ns=link.stamps_ns - shift_ns)
    series = compose_steps((*before, Step(dated, correction.is_inverse), *odometry), dated.stamps_ns[kept])
    return Localized(series, rows, link.name, reference.name if reference else "", shift_ns / NANOSECONDS, *counts)


def _split(steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], Step | None, tuple[Step, ...]]:
    """The chain before the correction, the correction, and odometry; no correction where only odometry changes."""
    ends = [step.link.parent if step.is_inverse else step.link.child for step in steps]
    odom = next((k + 1 for k, frame in enumerate(ends[:-1]) if known_as(frame, ODOMETRY_WORLDS)), None)
    moving = [k for k, step in enumerate(steps) if not step.link.is_static]
    above = moving[:1] if odom is None else [k for k in moving if k < odom][-1:]
    return (steps[: above[0]], steps[above[0]], steps[above[0] + 1 :]) if above else (steps, None, ())


def post_dating_ns(correction: Link, reference: Link) -> int:
    """By how much the stamps of a link are later than those of another that were received at the same time; not negative."""
    # Integers first: floats hold nanoseconds of days, not of decades.
    zero = int(min(correction.received_ns.min(), reference.received_ns.min()))
    usual_ns = int(reference.stamps_ns[0]) - int(reference.received_ns[0])
    order = np.argsort(reference.received_ns, kind="stable")
    usual = np.interp(
        (correction.received_ns - zero).astype(float),
        (reference.received_ns[order] - zero).astype(float),
        ((reference.stamps_ns - reference.received_ns)[order] - usual_ns).astype(float),
    )
    lead = correction.stamps_ns - correction.received_ns - usual_ns
    found = float(np.median(lead - usual))
    return round(found) if found >= _SHORTEST_POST_DATING_NS else 0
