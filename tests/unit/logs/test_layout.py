"""Numbers taken out of many messages at once are those that rosbags decodes one by one."""

import contextlib

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from slipfit.logs.layout import LayoutError, group
from slipfit.logs.messages import Messages

DEFINITION = """std_msgs/Header header
bool flag
float64 first
uint8 small
string note
int16 medium
float32 single
string[] names
float64[] values
uint8[3] three
Part[] parts
Part[2] pair
int64 last
================================================================================
MSG: t_msgs/Part
uint8 kind
float64 number
string text
"""
TYPE = "t_msgs/msg/Whole"


def store(is_ros1):
    types = get_typestore(Stores.ROS1_NOETIC if is_ros1 else Stores.ROS2_HUMBLE)
    types.register(get_types_from_msg(DEFINITION, TYPE))
    return types


def message(types, draw, *, is_ros1, names, parts):
    new = types.types
    stamp = new["builtin_interfaces/msg/Time"](int(draw.integers(2**31)), int(draw.integers(10**9)))
    frame = "x" * int(draw.integers(5))
    header = new["std_msgs/msg/Header"](*((7,) if is_ros1 else ()), stamp, frame)

    def part():
        return new["t_msgs/msg/Part"](int(draw.integers(256)), float(draw.standard_normal()), "p" * int(draw.integers(4)))

    return new[TYPE](
        header, bool(draw.integers(2)), float(draw.standard_normal()), int(draw.integers(256)), "n" * int(draw.integers(9)),
        int(draw.integers(-(2**15), 2**15)), float(np.float32(draw.standard_normal())), names, draw.standard_normal(len(names)),
        draw.integers(0, 256, 3).astype(np.uint8), [part() for _ in range(parts)], [part(), part()],
        int(draw.integers(-(2**53), 2**53)),
    )  # fmt: skip


@pytest.mark.parametrize(("is_ros1", "little"), [(True, True), (False, True), (False, False)])
def test_columns_agree_with_one_by_one(is_ros1, little):
    draw, types = np.random.default_rng(3), store(is_ros1)
    joints = (["a", "bc"], [], ["left", "right", "third"])
    sent = [message(types, draw, is_ros1=is_ros1, names=joints[k % 3], parts=k % 2) for k in range(60)]
    raws = [bytes(types.serialize_ros1(m, TYPE) if is_ros1 else types.serialize_cdr(m, TYPE, little_endian=little)) for m in sent]
    messages = Messages(np.arange(60), group(raws, TYPE, types.fielddefs, is_ros1=is_ros1))
    assert messages.stamps_ns().tolist() == [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in sent]
    for path in ("flag", "first", "small", "medium", "single", "last"):
        assert messages.column(path).tolist() == [float(getattr(m, path)) for m in sent], path
    assert messages.column("three[2]").tolist() == [m.three[2] for m in sent]
    assert messages.column("pair[1].number").tolist() == [m.pair[1].number for m in sent]
    for got, m in zip(messages.column("values[1]"), sent, strict=True):
        assert got == m.values[1] if len(m.values) > 1 else np.isnan(got)
    for one in messages.groups:
        assert all(list(one.layout.texts["names"]) == sent[k].names for k in one.rows)


@pytest.mark.parametrize("is_ros1", [True, False])
def test_messages_that_do_not_fit_their_definition_are_refused(is_ros1):
    """Cut anywhere, lengthened, and with a length that claims four thousand million entries."""
    types = store(is_ros1)
    m = message(types, np.random.default_rng(0), is_ros1=is_ros1, names=["a"], parts=1)
    raw = bytes(types.serialize_ros1(m, TYPE) if is_ros1 else types.serialize_cdr(m, TYPE))
    for cut in range(len(raw)):
        with pytest.raises(LayoutError, match="message 1: "):
            group([raw[:cut]], TYPE, types.fielddefs, is_ros1=is_ros1)
    with pytest.raises(LayoutError):
        group([raw + bytes(8)], TYPE, types.fielddefs, is_ros1=is_ros1)
    for at in range(len(raw) - 4):
        with contextlib.suppress(LayoutError):  # where a number stands, anything fits
            group([raw[:at] + b"\xff" * 4 + raw[at + 4 :]], TYPE, types.fielddefs, is_ros1=is_ros1)
