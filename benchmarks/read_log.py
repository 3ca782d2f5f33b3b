"""What `read_log` costs beside rosbags: `python benchmarks/read_log.py [--seconds 600]`. Exits 1 if a ratio exceeds 1.3.

rosbags opens the bag, iterates over the same topics and deserialises every message; `read_log` does the same, computes the
digest and builds a drive log. Both are measured in turns, and the fastest of all rounds counts.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rosbags.highlevel import AnyReader

from goals import at_most, report
from slipfit.logs import Channel, DriveLog, read_log, write_bag1, write_bag2, write_mcap
from slipfit.logs import channels as names

ASKED = 1.3
ROUNDS = 5

#: What a robot records, and at which rates: wheels and IMU fast, pose and commands slower.
RATES_HZ = {names.ENCODERS: 100.0, names.IMU: 100.0, names.ODOMETRY: 50.0, names.POSE: 20.0, names.COMMANDS: 20.0}
COLUMNS = {
    names.ENCODERS: names.rotation_columns(("angle", "speed"), 4),
    names.IMU: names.IMU_COLUMNS,
    names.ODOMETRY: names.ODOMETRY_COLUMNS,
    names.POSE: names.POSE_COLUMNS,
    names.COMMANDS: names.COMMAND_COLUMNS,
}
#: Standard messages, not the exact copies that our own bags hold as well.
TOPICS = {
    names.ENCODERS: "/joint_states",
    names.IMU: "/imu/data",
    names.ODOMETRY: "/odom",
    names.POSE: "/ground_truth/odom",
    names.COMMANDS: "/cmd_vel",
}


def drive(seconds: float) -> DriveLog:
    """A log of random numbers: decoding does not look at them."""
    draw = np.random.default_rng(1)
    channels = {}
    for name, rate_hz in RATES_HZ.items():
        count = int(seconds * rate_hz)
        stamps = 1_700_000_000_000_000_000 + np.round(np.arange(count) * (1e9 / rate_hz)).astype(np.int64)
        channels[name] = Channel(name, stamps, draw.standard_normal((count, len(COLUMNS[name]))), COLUMNS[name])
    return DriveLog(channels)


def by_rosbags(path: Path) -> None:
    with AnyReader([path]) as reader:
        wanted = [c for c in reader.connections if c.topic in TOPICS.values()]
        for connection, _, raw in reader.messages(wanted):
            reader.deserialize(raw, connection.msgtype)


def by_slipfit(path: Path) -> None:
    read_log(path, topics=TOPICS)


def cpu_s(work: Callable[[Path], None], path: Path) -> float:
    begin_s = time.process_time()
    work(path)
    return time.process_time() - begin_s


def ratio(path: Path) -> tuple[float, float]:
    """Fastest of all rounds: ours over theirs, and ours in seconds."""
    theirs, ours = [], []
    for _ in range(ROUNDS):
        theirs.append(cpu_s(by_rosbags, path))
        ours.append(cpu_s(by_slipfit, path))
    return min(ours) / min(theirs), min(ours)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="length of the drive")
    seconds = parser.parse_args().seconds
    log = drive(seconds)
    messages = sum(len(c.stamps_ns) for c in log.channels.values())
    print(f"{messages} messages of a drive of {seconds:g} s")
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (("run.bag", write_bag1), ("run", write_bag2), ("run.mcap", write_mcap)):
            path = Path(folder) / name
            write(log, path)
            over, ours_s = ratio(path)
            figures.append(at_most(f"read_log of {name}: time / rosbags", over, ASKED))
            print(f"{name:<10} {over:5.2f} times rosbags, {ours_s:.3f} s")
    return report(figures)


if __name__ == "__main__":
    sys.exit(main())
