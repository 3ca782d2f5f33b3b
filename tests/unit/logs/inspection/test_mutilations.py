"""Mistakes put into good simulated logs are found, named and undone; good logs are left alone."""

import numpy as np
import pytest

from drives import MUTILATIONS, cases, drive, every_pair, mirrored, turned
from slipfit.library import find_robot
from slipfit.logs import Severity, inspect_log

P3AT = find_robot("p3at")

#: Columns that tell something about a drive on a floor.
TOLD = {"encoders": slice(None), "imu": [0, 1, 2, 5], "pose": slice(None)}


def mutilated(log, names):
    draw = np.random.default_rng(sum(map(ord, "".join(names))))
    for name in names:
        log = MUTILATIONS[name][0](log, draw)
    return log


def differs(log, truth):
    """Largest difference of numbers (a whole turn of yaw is none), and of stamps in seconds."""
    numbers, stamps = [0.0], [0.0]
    for name in truth.channels:
        every = round(len(truth[name].stamps_ns) / len(log[name].stamps_ns))
        apart = (log[name].values - truth[name].values[::every])[:, TOLD[name]]
        if name == "pose":
            apart[:, 2] = np.arctan2(np.sin(apart[:, 2]), np.cos(apart[:, 2]))
        numbers.append(np.abs(apart).max())
        stamps.append(np.abs(log[name].stamps_ns - truth[name].stamps_ns[::every]).max() * 1e-9)
    return max(numbers), max(stamps)


def named(inspection, names):
    return [found for name in names for found in MUTILATIONS[name][1] if not inspection.of_kind(found[1], found[0])]


@pytest.mark.parametrize("names", cases(count=0), ids=" + ".join)
def test_mutilations_are_found_named_and_undone(good, names):
    """The truth is the log before: numbers to 1e-9, stamps to 10 ms, a fifth of what calibration can find itself."""
    inspection = inspect_log(mutilated(good, names), P3AT)
    numbers, stamps_s = differs(inspection.corrected, good)
    assert numbers < 1e-9, inspection.summary()
    assert stamps_s < 0.01
    # All wheels backward and the left ones once more: the right ones are, and that is what must be said.
    if set(names) != {"wheels backward", "left backward"}:
        assert not named(inspection, names), inspection.summary()


@pytest.mark.parametrize("names", cases(without=("pose",), count=0), ids=" + ".join)
def test_two_witnesses_are_brought_to_agree(without_pose, names):
    """Who of two is wrong cannot always be said. What remains is the log before, its mirror image or the robot turned by half:
    constants of a robot that is symmetric are the same for all four."""
    inspection = inspect_log(mutilated(without_pose, names), P3AT)
    images = [without_pose, mirrored(without_pose), turned(without_pose), mirrored(turned(without_pose))]
    told = [differs(inspection.corrected, image) for image in images]
    assert min(numbers for numbers, _ in told) < 1e-9, inspection.summary()
    assert told[0][1] < 0.01
    if len(names) == 1:
        assert not named(inspection, names), inspection.summary()


@pytest.mark.parametrize(
    "robot",
    ["p3at", "warthog", "atrv_jr", pytest.param("lynxmotion_4wd3", marks=pytest.mark.slow)],  # motors: a kernel of its own
)
@pytest.mark.parametrize(("noise", "bias"), [(0.05, 0.02), (0.2, 0.05)])
def test_good_logs_are_left_alone(robot, noise, bias):
    """Nothing but information; these robots keep their wheels down, as the simulator's loads say."""
    run = drive(robot, accel_noise_mps2=noise, accel_bias_mps2=bias)
    assert not run.lifted_wheels
    inspection = inspect_log(run.readings, find_robot(robot))
    assert inspection.worst is Severity.INFO, inspection.summary()
    assert inspection.corrections == ()
    for channel in run.readings.channels.values():
        assert inspection.corrected[channel.name].values is channel.values
        assert inspection.corrected[channel.name].stamps_ns is channel.stamps_ns


@pytest.mark.slow
def test_every_pair_of_mutilations_is_undone(good, without_pose):
    """As above; images of the robot are allowed only where a witness is missing."""
    for names in every_pair():
        assert differs(inspect_log(mutilated(good, names), P3AT).corrected, good)[0] < 1e-9, names
    images = [without_pose, mirrored(without_pose), turned(without_pose), mirrored(turned(without_pose))]
    for names in every_pair(without=("pose",)):
        corrected = inspect_log(mutilated(without_pose, names), P3AT).corrected
        assert min(differs(corrected, image)[0] for image in images) < 1e-9, names
