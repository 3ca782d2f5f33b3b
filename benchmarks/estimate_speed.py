"""How fast the slip filter is: `python benchmarks/estimate_speed.py`.

A million steps (predict, and a pose of three readings) on one core, and the online class with rims and gyro at 1 kHz and a pose
at 20 Hz that comes 0.2 s late, after which 400 readings are run again. Processor time, so that a busy machine counts little: by
the clock on the wall the slowest milliseconds of a busy machine are those in which it does something else.
"""

import time

import numpy as np

from slipfit.estimation.motion import sides
from slipfit.estimation.online import OnlineSlipFilter
from slipfit.estimation.settings import FilterSettings
from slipfit.library import find_robot
from slipfit.vehicles import slip_filter as kernel
from slipfit.vehicles.slip_filter import AT_INPUTS, BOOK, NEVER, POSE, RECORD, N

STEPS, PART = 1_000_000, 100_000

#: Goals: seconds for a million steps, and microseconds for one millisecond of readings online, 99 of 100 times.
GOAL_S, GOAL_US = 2.0, 1000.0


def million_s() -> float:
    """Seconds of processor time for a million steps."""
    motion, settings = sides(0.555), FilterSettings()
    rows = motion.inputs(np.tile([0.5, 0.6], (PART, 1)))
    values, stds = np.zeros((PART, 3)), np.full((PART, 3), 1e6)
    kinds, out = np.full(PART, POSE), np.empty((PART, RECORD))
    state, cov = np.zeros(N), np.diag([1e-4] * 6 + [0.0] * 5)
    book = np.zeros(BOOK)
    book[1], book[2], book[AT_INPUTS:] = 1.0, NEVER, rows[0]
    noise, none = settings.noise(), (np.empty((0, N)), np.empty((0, N, N)))
    time_s = np.arange(1, PART + 1) * 0.01

    def run() -> None:
        kernel.run(motion.model, noise, time_s + book[0], kinds, values, stds, rows, state, cov, book, out, *none)

    run()
    begun = time.process_time()
    for _ in range(STEPS // PART):
        run()
    return time.process_time() - begun


def online_us(seconds: float = 5.0) -> tuple[np.ndarray, np.ndarray]:
    """Processor time (µs) that each millisecond's readings take: those without a late pose, and those with one."""
    online, took, late = OnlineSlipFilter(find_robot("husky")), [], []
    for k in range(int(seconds * 1000)):
        t = k * 1e-3
        has_pose = k % 50 == 0 and k >= 300
        begun = time.process_time()
        online.rims(t, 0.5, 0.5)
        online.gyro(t, 0.0)
        if has_pose:
            online.pose(t - 0.2, 0.5 * (t - 0.2), 0.0, 0.0)
        took.append(1e6 * (time.process_time() - begun))
        late.append(has_pose)
    warm, is_late = np.array(took[500:]), np.array(late[500:])
    return warm[~is_late], warm[is_late]


def main() -> int:
    whole = million_s()
    print(f"10^6 filter steps: {whole:.2f} s (goal {GOAL_S:g} s)")
    plain, late = online_us()
    both = np.concatenate([plain, late])
    slow = float(np.quantile(both, 0.99))
    tail = f"99 % below {slow:.0f} µs (goal {GOAL_US:g}), most {both.max():.0f}"
    print(f"online, 1 kHz: {both.mean():.0f} µs for each millisecond, {tail}")
    print(f"    median {np.median(plain):.0f} µs, with a late pose {np.median(late):.0f} µs")
    return 0 if whole < GOAL_S and slow < GOAL_US else 1


if __name__ == "__main__":
    raise SystemExit(main())
