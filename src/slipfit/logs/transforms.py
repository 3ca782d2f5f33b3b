"""The transform tree of a bag: links of all TF topics, and chains of them composed over time.

`chain`, `series` and `static_between` use the order of tf2's `lookup_transform(target, source)`: the result is the pose of
the second frame in the first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from slipfit.errors import LogError
from slipfit.logs.frame_names import BODIES, ODOMETRY_WORLDS, POSE_WORLDS, known_as
from slipfit.logs.links import Link, frame_name, read_links
from slipfit.logs.rigid import Rigid, TransformSeries, compose, invert

if TYPE_CHECKING:
    from slipfit.logs.messages import Messages

#: Links that change at least at this share of the highest rate count as equally fast; the one nearest to the child is taken.
_AS_FAST = 0.8


class Step(NamedTuple):
    """A link of a chain, and whether it is passed from child to parent."""

    link: Link
    is_inverse: bool

    def at(self, stamps_ns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Translation, quaternion, and whether each row is outside the link's time or in a gap of it."""
        translation, quaternion, is_outside, is_in_gap = self.link.sample(stamps_ns)
        if self.is_inverse:
            translation, quaternion = invert(translation, quaternion)
        return translation, quaternion, is_outside, is_in_gap

    def constant(self) -> Rigid:
        """The only value of a static link."""
        return self.link.constant().inverse() if self.is_inverse else self.link.constant()


@dataclass(frozen=True, eq=False)
class TransformTree:
    """All links of a recording by (parent, child).

    What is wrong with single frames (`problems`, by frame) stops only the chains that pass them; `check` raises the first.
    `notes` say what was ignored, sorted or merged.
    """

    links: Mapping[tuple[str, str], Link]
    path: object = ""
    notes: tuple[str, ...] = ()
    unusable: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def from_messages(cls, topics: "Mapping[str, Messages]", path: object) -> "TransformTree":
        """The tree of the messages of all TF topics (tf2_msgs/TFMessage, tf/tfMessage), given by topic."""
        links, unusable, notes = read_links(topics, path)
        return cls(links, path, notes, unusable)

    # --- structure ---------------------------------------------------------------------------------------------------

    @cached_property
    def _parents(self) -> dict[str, list[str]]:
        """Parents of each child; a tree has one."""
        parents: dict[str, list[str]] = {}
        for parent, child in sorted({*self.links, *self.unusable}):
            parents.setdefault(child, []).append(parent)
        return parents

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """All frames by name."""
        return tuple(sorted({frame for pair in (*self.links, *self.unusable) for frame in pair}))

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Frames without a parent."""
        return tuple(frame for frame in self.frames if frame not in self._parents)

    @cached_property
    def pieces(self) -> tuple[tuple[str, ...], ...]:
        """Frames that are connected with each other, the largest piece first."""
        neighbors: dict[str, list[str]] = {frame: [] for frame in self.frames}
        for parent, child in (*self.links, *self.unusable):
            neighbors[parent].append(child)
            neighbors[child].append(parent)
        pieces, left = [], set(self.frames)
        for frame in self.frames:
            if frame in left:
                piece, front = {frame}, [frame]
                while front:
                    front = [other for one in front for other in neighbors[one] if other not in piece]
                    piece.update(front)
                left -= piece
                pieces.append(tuple(sorted(piece)))
        return tuple(sorted(pieces, key=lambda piece: (-len(piece), piece)))

    @cached_property
    def problems(self) -> Mapping[str, str]:
        """One sentence per frame that no chain can pass: a loop, two parents, values that mean nothing, a clock set back."""
        problems = {child: said for (_, child), said in self.unusable.items()}
        for child, parents in self._parents.items():
            if len(parents) > 1:
                said = " and ".join(f"{parent} ({self._published(parent, child)})" for parent in parents)
                problems[child] = (
                    f"{self.path}: frame {child} has {len(parents)} parents, {said}; expected one, because TF frames are a tree; "
                    f"record with one publisher only, or leave all but one of these transforms out"
                )
        for loop in self._loops(set(problems)):
            said = " -> ".join([*loop, loop[0]])
            for frame in loop:
                problems[frame] = (
                    f"{self.path}: the transforms {said} form a loop; expected a tree; "
                    f"record without one of their publishers, or leave one of these transforms out"
                )
        return problems

    def _published(self, parent: str, child: str) -> str:
        link = self.links.get((parent, child))
        return f"{', '.join(link.topics)}, {len(link.stamps_ns)} stamps" if link else "unusable"

    def _loops(self, stops: set[str]) -> Iterator[list[str]]:
        """Loops of frames, each from parent to child. No chain passes `stops`, so that loops through them do no harm."""
        seen = set(stops)
        for child in self._parents:
            line: dict[str, None] = {}
            frame = child
            while frame in self._parents and frame not in seen:
                seen.add(frame)
                line[frame] = None
                frame = self._parents[frame][0]
            if frame in line:
                upward = list(line)
                yield upward[upward.index(frame) :][::-1]

    def check(self) -> None:
        """Raise the first of the problems, if there are any."""
        for said in self.problems.values():
            raise LogError(said)

    def without(self, *pairs: tuple[str, str]) -> "TransformTree":
        """The tree without some links, given as (parent, child): the way out of loops and second parents."""
        pairs = tuple((frame_name(parent), frame_name(child)) for parent, child in pairs)
        for parent, child in pairs:
            if (parent, child) not in self.links and (parent, child) not in self.unusable:
                self._unknown_link(parent, child)
        kept = {pair: link for pair, link in self.links.items() if pair not in pairs}
        return TransformTree(kept, self.path, self.notes, {k: v for k, v in self.unusable.items() if k not in pairs})

    def _unknown_link(self, parent: str, child: str) -> NoReturn:
        known = ", ".join(f"{p}->{c}" for p, c in (*self.links, *self.unusable))
        raise LogError(f"{self.path}: there is no transform {parent}->{child}; expected one of {known[:400] or 'none'}")

    def ancestors(self, frame: str) -> Iterator[str]:
        """The parent of a frame, its parent, and so on; each once, also in loops and where a frame has several."""
        seen, front = {frame}, [frame]
        while front:
            front = [parent for one in front for parent in self._parents.get(one, ()) if parent not in seen]
            seen.update(front)
            yield from dict.fromkeys(front)

    # --- chains ------------------------------------------------------------------------------------------------------

    def chain(self, parent: str, child: str) -> tuple[Step, ...] | None:
        """The links from one frame to another, over their nearest common ancestor; None where they are not connected."""
        ups, downs = (self._way_up(frame_name(frame)) for frame in (parent, child))
        common = next((frame for frame in ups if frame in downs), None)
        if common is None:
            for last in (downs[-1], ups[-1]):
                if last in self.problems:
                    raise LogError(self.problems[last])
            return None
        up, down = ups[: ups.index(common) + 1], downs[: downs.index(common) + 1]
        inverse = [Step(self.links[above, below], True) for below, above in pairwise(up)]
        forward = [Step(self.links[above, below], False) for below, above in pairwise(down)]
        return (*inverse, *reversed(forward))

    def _way_up(self, frame: str) -> list[str]:
        """A frame and its ancestors, up to the root or to a frame with a problem."""
        way = [frame]
        while way[-1] in self._parents and way[-1] not in self.problems:
            way.append(self._parents[way[-1]][0])
        return way

    def connected(self, parent: str, child: str) -> tuple[Step, ...]:
        """The chain between two frames; an error where a frame is missing or they are not connected."""
        for frame in (parent, child):
            if frame_name(frame) not in self.frames:
                raise LogError(
                    f"{self.path}: there is no frame {frame} in its transforms; expected one of "
                    f"{', '.join(self.frames)[:400] or 'none, it has no transforms'}"
                )
        steps = self.chain(parent, child)
        if steps is None:
            raise LogError(self._apart(frame_name(parent), frame_name(child)))
        return steps

    def _apart(self, first: str, second: str) -> str:
        pieces = [", ".join(next(piece for piece in self.pieces if frame in piece))[:200] for frame in (first, second)]
        return (
            f"{self.path}: frames {first} and {second} are not connected: {first} is in a tree of {pieces[0]}; {second} is in "
            f"one of {pieces[1]}; expected a chain of transforms between them; record what connects them on /tf or /tf_static"
        )

    def static_between(self, parent: str, child: str) -> Rigid | None:
        """The constant pose of one frame in another; None where they are not connected, or move against each other."""
        steps = self.chain(parent, child)
        if steps is None or not all(step.link.is_static for step in steps):
            return None
        result = Rigid.identity()
        for step in steps:
            result = result.then(step.constant())
        return result

    def series(self, parent: str, child: str, at_ns: np.ndarray | None = None) -> TransformSeries:
        """The pose of one frame in another over time, as a TF lookup gives it.

        Rows are at `at_ns` (ascending), or else at the stamps of the link that changes most often, of equally fast ones the
        nearest to the child. Other links are interpolated there, linearly and by slerp. Rows outside the time of a link, or in a
        gap of it longer than 0.5 s and than five usual periods, are dropped and counted.
        """
        steps = self.connected(parent, child)
        return compose_steps(steps, _rows_of(steps) if at_ns is None else at_ns)

    def planar(self, parent: str, child: str) -> tuple[np.ndarray, np.ndarray]:
        """Stamps (N,) and x [m], y [m], yaw [rad] (N, 3) of one frame in another."""
        found = self.series(parent, child)
        return found.stamps_ns, found.planar()

    # --- worlds and bodies -------------------------------------------------------------------------------------------

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """Frames that are a robot's body by name, the preferred first.

        A body below another robot's or part's body is none (arm_base_link on base_link). Bodies that move are preferred to
        those that do not (a charging station).
        """
        known = {frame: found for frame in self.frames if (found := known_as(frame, BODIES))}
        own = {
            frame: found
            for frame, found in known.items()
            if all(known[above].namespace == found.namespace for above in self.ancestors(frame) if above in known)
        }
        return tuple(sorted(own, key=lambda frame: (not self._moves(frame), own[frame].rank, own[frame].namespace)))

    def _moves(self, frame: str) -> bool:
        """Whether a link above the frame changes."""
        line = {frame, *self.ancestors(frame)}
        return any(not link.is_static for (_, child), link in self.links.items() if child in line)

    def body(self) -> str | None:
        """The body of the robot; None without one, an error where several robots are in the recording."""
        bodies = [frame for frame in self.bodies if self._moves(frame)] or list(self.bodies)
        spaces = {found.namespace for frame in bodies if (found := known_as(frame, BODIES))}
        if len(spaces) > 1:
            raise LogError(
                f"{self.path}: its transforms have the bodies of {len(spaces)} robots ({', '.join(bodies)[:300]}); expected one; "
                f"specify the frame or the robot, as --topic encoders=/robot1/joint_states, or --topic pose=/tf#{bodies[0]}"
            )
        return bodies[0] if bodies else None

    def worlds(self, body: str, names: tuple[str, ...] = POSE_WORLDS) -> tuple[str, ...]:
        """Frames above the body that are a world by name (`POSE_WORLDS`, `ODOMETRY_WORLDS`), the preferred first.

        Without any above it, those connected to it otherwise: some drivers publish the world as a child of the robot.
        """
        body = frame_name(body)
        above = [frame for frame in self.ancestors(body) if known_as(frame, names)]
        piece = next((piece for piece in self.pieces if body in piece), ())
        ranks = {frame: found.rank for frame in above or piece if frame != body and (found := known_as(frame, names))}
        return tuple(sorted(ranks, key=lambda frame: (ranks[frame], frame)))

    def gap(self, body: str) -> str | None:
        """A sentence where the recording has a world (or an odometry frame), but none that is connected to the body."""
        body = frame_name(body)
        for names in (POSE_WORLDS, ODOMETRY_WORLDS):
            known = {frame: found.rank for frame in self.frames if frame != body and (found := known_as(frame, names))}
            if known and not self.worlds(body, names):
                return self._apart(min(known, key=lambda frame: known[frame]), body)
        return None


def compose_steps(steps: tuple[Step, ...], at_ns: np.ndarray) -> TransformSeries:
    """A chain of links at given stamps; rows for which a link has no value are dropped and counted."""
    count = len(at_ns)
    translation, quaternion = np.zeros((count, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    is_outside, is_in_gap = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    for step in steps:
        moved, turned, outside, in_gap = step.at(at_ns)
        translation, quaternion = compose(translation, quaternion, moved, turned)
        is_outside |= outside
        is_in_gap |= in_gap
    kept = ~is_outside & ~is_in_gap
    lost = int(is_outside.sum()), int((is_in_gap & ~is_outside).sum())
    return TransformSeries(at_ns[kept], translation[kept], quaternion[kept], *lost)


def fastest(steps: tuple[Step, ...]) -> Link | None:
    """The link that changes most often, of equally fast ones the nearest to the end of the chain; None where all are static."""
    rates = [(step.link.changes_per_second, step.link) for step in steps if not step.link.is_static]
    highest = max((rate for rate, _ in rates), default=0.0)
    return next((link for rate, link in reversed(rates) if rate >= _AS_FAST * highest), None)


def _rows_of(steps: tuple[Step, ...]) -> np.ndarray:
    """Stamps of the fastest link; of a chain that never changes those of the link with the most messages."""
    link = fastest(steps) or max((step.link for step in steps), key=lambda link: len(link.stamps_ns), default=None)
    return link.stamps_ns if link else np.empty(0, dtype=np.int64)
