"""Do commands get lost? `python benchmarks/serial_link.py [--commands 1000000] [--rate 50]`. Ends with 1 if one does.

A driver and a simulated controller talk through a pseudo-terminal and the operating system's serial stack. Each command is
acknowledged before the next is sent. What the controller understood is compared with what was sent, command by command.
A command whose answer took more than 0.1 s is sent again and then arrives twice: that is reported, and counts as a failure here.
Without --rate as fast as the link takes them; with it in real time, the line as slow as its baud rate.
"""

import argparse
import sys
import time

import numpy as np

from slipfit.hardware import Controller, Motors, SideMotor, SimulatedController, SimulatedPort, open_port
from slipfit.hardware.roboteq import WATCHDOG_S

BAUD = 115200
SEED = 1


def wanted(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Channels by turns, values at random: a lost, doubled or swapped command shows."""
    values = np.random.default_rng(SEED).integers(-127, 128, count)
    return 1 + np.arange(count) % 2, values


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commands", type=int, default=1_000_000)
    parser.add_argument("--rate", type=float, default=None, help="commands a second; else as fast as they go")
    options = parser.parse_args()
    motors = Motors(SideMotor(0.08), SideMotor(0.08))
    far = SimulatedController(motors, limits=(-126.0, 127.0), watchdog_s=WATCHDOG_S)
    channels, values = wanted(options.commands)
    late_s = 0.0
    with (
        SimulatedPort(far, baud=BAUD if options.rate else None) as port,
        Controller(open_port(port.path, baud=BAUD)) as controller,
    ):
        before = len(far.told_values)
        began_s = time.monotonic()
        for k, (channel, value) in enumerate(zip(channels.tolist(), values.tolist(), strict=True)):
            if options.rate:
                due_s = began_s + k / options.rate
                time.sleep(max(0.0, due_s - time.monotonic()))
                late_s = max(late_s, time.monotonic() - due_s)
            controller.command(channel, value)
        lasted_s = time.monotonic() - began_s
        heard = np.array(far.told_channels[before:]), np.array(far.told_values[before:])
        repeated, stops = controller.link.repeated, len(far.watchdog_times_s)
    is_same = np.array_equal(heard[0], channels) and np.array_equal(heard[1], values)
    print(f"{options.commands} commands in {lasted_s:.1f} s, {options.commands / lasted_s:.0f} a second, {BAUD} baud asked for")
    order = "in order, the same" if is_same else "NOT THE SAME"
    print(f"arrived {len(heard[1])}, {order}; {repeated} repeated, {stops} watchdog stops")
    if options.rate:
        print(f"latest command {1000.0 * late_s:.1f} ms after its time")
    return 0 if is_same and not repeated and not stops else 1


if __name__ == "__main__":
    sys.exit(main())
