"""Which joint of a ROS robot is which wheel."""

import re
from collections.abc import Sequence

from slipfit.logs.topics import words_of

_ROWS = {"front": 0, "middle": 1, "mid": 1, "center": 1, "centre": 1, "rear": 2, "back": 2}
_SIDES = {"left": 0, "right": 1}

#: Two letters, either way round: fl and lf are the front-left wheel; rl and lr both the rear-left one.
_PAIRS = {
    **{f"{row}{side}": (k, s) for row, k in (("f", 0), ("m", 1), ("r", 2), ("b", 2)) for side, s in (("l", 0), ("r", 1))},
    **{f"{side}{row}": (k, s) for row, k in (("f", 0), ("m", 1), ("b", 2)) for side, s in (("l", 0), ("r", 1))},
    "lr": (2, 0),
}

#: Joints that turn a wheel about the vertical, or no wheel at all.
_OTHER = {"steer", "steering", "caster", "castor", "suspension", "arm", "gripper", "pan", "tilt", "flipper", "finger"}

Place = tuple[int, int]  # row from the front (None is -1: only the side is known), side


def wheel_place(joint: str) -> Place | None:
    """Row and side of a wheel by the words of its joint's name; row -1 when only the side is told."""
    words = words_of(joint)
    if _OTHER & set(words):
        return None
    for word in words:
        if word in _PAIRS:
            return _PAIRS[word]
    row = next((_ROWS[word] for word in words if word in _ROWS), -1)
    side = next((_SIDES[word] for word in words if word in _SIDES), None)
    if side is None and ({"l", "r"} & set(words)):
        side = 0 if "l" in words else 1
    return None if side is None else (row, side)


def wheel_order(joints: Sequence[str]) -> tuple[list[int], int] | None:
    """Places of the wheels' joints in a message, in our order, and how many wheels there are; 0 for two sides.

    None where the names do not tell wheels, or not all of them.
    """
    places: dict[Place, int] = {}
    for k, joint in enumerate(joints):
        place = wheel_place(joint)
        if place is None:
            continue
        taken = places.get(place)
        if taken is None or ("wheel" in words_of(joint) and "wheel" not in words_of(joints[taken])):
            places[place] = k
    if set(places) == {(-1, 0), (-1, 1)}:
        return [places[-1, 0], places[-1, 1]], 0
    rows = sorted({row for row, _ in places})
    if rows and rows[0] >= 0 and len(rows) > 1 and len(places) == 2 * len(rows):
        return [places[row, side] for row in rows for side in (0, 1)], 2 * len(rows)
    return _numbered(joints)


def _numbered(joints: Sequence[str]) -> tuple[list[int], int] | None:
    """Joints called wheel_0_joint, wheel_1_joint …: their own order, as omni robots have it."""
    found = {}
    for k, joint in enumerate(joints):
        number = re.search(r"wheel_?(\d{1,2})(?!\d)", joint.lower())
        if number and not _OTHER & set(words_of(joint)):
            found[int(number[1])] = k
    first = min(found, default=0)
    if len(found) < 3 or first > 1 or sorted(found) != list(range(first, first + len(found))):
        return None
    return [found[number] for number in sorted(found)], len(found)


def joint_names(wheels: int) -> list[str]:
    """Names that `wheel_order` understands, for a robot of ours; 0 wheels for two sides."""
    if wheels == 0:
        return ["left_wheel_joint", "right_wheel_joint"]
    rows = {4: ("front", "rear"), 6: ("front", "middle", "rear")}.get(wheels)
    if rows is None:
        return [f"wheel_{k}_joint" for k in range(wheels)]
    return [f"{row}_{side}_wheel_joint" for row in rows for side in ("left", "right")]
