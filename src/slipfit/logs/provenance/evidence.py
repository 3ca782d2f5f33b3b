"""How much of a pose wheels and gyro explain, and what is left: numbers, and no verdict.

Changes of heading and forward displacement are regressed on the wheels' angles at three delays, so that any radius, track,
multiplier, delay and smoothing fits. Lateral displacement is regressed on what dead reckoning can have of it: an origin off the
wheels' center (change of heading), integration in steps and unequal delays of heading and position (forward times change of
heading, also of the neighbors), rollers (the wheels' angles). What remains is sideways slip and measurement noise, and dead
reckoning has neither.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from slipfit.library.deviation import robust_std
from slipfit.logs.provenance.motion import Gyro, Intervals, Reckoned, Track, Turned, intervals_of, reckoned

#: Delays of a pose behind the wheels that are searched (s), and the steps of the search.
EARLIEST_S, LATEST_S, COARSE_S, FINE_S = -0.3, 0.6, 0.03, 0.005

#: Where the best delay lies at an end of that range, clocks of two computers may be apart: it is searched this far (s).
FARTHEST_S = 2.0

#: Delays on either side of the best one at which wheels count too: filters spread motion over time.
TAP_S = 0.05

#: Fewer intervals, meters and radians than this say nothing about a pose.
FEWEST_INTERVALS, LEAST_PATH_M, LEAST_TURN_RAD = 12, 0.5, 0.3

#: Residuals are added up over this long (s), where a log has so many times that; and over intervals of at most this share of it.
SUM_S, FEWEST_SUMS, SHORT_SHARE = 5.0, 6, 0.2

#: Delays around the found one at which dead reckoning may use the wheels or the gyro when residuals are added up (s): filters.
FILTER_TAPS_S = (-1.0, -0.6, -0.3, -0.1, 0.0, 0.1, 0.3, 0.6, 1.0)

#: Headings of the pose itself are averaged over this long (s).
SMOOTHED_S = 0.8

#: A gyro determines the scale of a heading that swings by this much (rad) about its trend.
LEAST_SWING_RAD = 0.5

#: Grid on which the direction of motion is averaged over an interval (s).
BEND_S = 0.1

#: Path direction is compared with wheels and gyro over windows of this length (s), each with a heading offset of its own.
WINDOW_S = 5.0

#: Ratios of the heading that positions follow over the pose's own that are searched: multipliers of public configurations
#: reach from 1 to 2.
_RATIOS = np.geomspace(0.4, 2.5, 45)


#: Second differences over shorter spans than this are noise of the encoders (s).
INTERVAL_FLOOR_S = 0.1


@dataclass(frozen=True, slots=True)
class Evidence:
    """Residuals of a pose. Robust standard deviations (1.48 times the median deviation) per interval unless named otherwise."""

    intervals: int
    interval_s: float
    path_m: float
    turn_rad: float  # all changes of heading added up
    step_m: float  # root mean square displacement per interval
    late_s: float  # delay behind the wheels
    radius_m: float | None  # that its distance was computed with, if from the wheels
    forward_m: float  # not explained by the wheels
    forward_share: float  # the same over the displacement, by root mean squares of whole seconds
    yaw_wheels_rad: float
    yaw_wheels_share: float  # not explained by the wheels, over the change of heading
    yaw_gyro_rad: float | None  # not explained by the gyro; None without one
    yaw_gyro_share: float | None
    yaw_gyro_free_share: float | None  # the same where the gyro's scale is free, too
    gyro_scale: float | None  # of the pose's heading over the gyro's: 1 of a measured one; None where turns do not determine it
    lateral_m: float
    lateral_rms_m: float  # root mean square, where jumps count
    lateral_long_m: float  # root mean square of sums over a second, without the largest twentieth: slip in turns adds up
    smoothness: float  # correlation of lateral motion of neighboring intervals: -0.5 of white noise, towards 1 of slip alone
    floor_m: float  # lateral motion that resolution and rates of the sensors alone can make
    heading: str  # what the positions follow: its own heading, the wheels' or the gyro's
    rest_m: float | None  # lateral, while the wheels stand; None where they never do
    is_delay_found: bool = True  # False where no delay within reach is better than all others
    is_sided: bool = True  # False of robots without a left and a right side, on omni wheels
    growth: float | None = None  # residuals added up over seconds, over single ones: 1 of noise on dead reckoning, more of drift
    has_heading: bool = True  # False where the heading stays while the wheels turn the robot


def evidence_of(track: Track, wheels: Turned, gyro: Gyro | None) -> Evidence | None:
    """None where there is too little motion to compare."""
    steps, late, is_delay_found = _aligned(track, wheels)
    if steps is None or len(steps) < FEWEST_INTERVALS:
        return None
    path, turn = float(np.abs(steps.moved_m).sum()), float(np.abs(steps.turned_rad).sum())
    if path < LEAST_PATH_M:
        return None
    by_wheels, shape = _yaw_by_wheels(steps, wheels, late)
    seen = reckoned(steps, wheels, shape, late)
    taps = _taps(steps, wheels, late)
    forward_design = np.column_stack([seen.predicted.real, taps])
    forward = _residual(forward_design, seen.forward_m)
    lateral, heading = _lateral(steps, wheels, gyro, seen, late, shape)
    by_gyro, by_free_gyro, turned_by_gyro = _yaw_by_gyro(steps, gyro)
    turned_rms = _rms(steps.turned_rad)
    return Evidence(
        intervals=len(steps),
        interval_s=steps.usual_s,
        path_m=path,
        turn_rad=turn,
        step_m=_rms(np.abs(steps.moved_m)),
        late_s=late,
        radius_m=_slope(seen.predicted.real, seen.forward_m),
        forward_m=robust_std(forward),
        forward_share=_long_share(steps, forward, seen.forward_m),
        yaw_wheels_rad=robust_std(by_wheels),
        yaw_wheels_share=_long_share(steps, by_wheels, steps.turned_rad) if turned_rms > 0.0 else 1.0,
        yaw_gyro_rad=None if by_gyro is None else robust_std(by_gyro),
        yaw_gyro_share=None if by_gyro is None else _long_share(steps, by_gyro, turned_by_gyro),
        yaw_gyro_free_share=None if by_free_gyro is None else _long_share(steps, by_free_gyro, turned_by_gyro),
        gyro_scale=None if by_gyro is None or gyro is None else _gyro_scale(steps, gyro),
        lateral_m=robust_std(lateral, about=0.0),
        lateral_rms_m=_rms(lateral),
        lateral_long_m=robust_or_rms(_sums(steps, lateral)),
        smoothness=_smoothness(steps, lateral),
        floor_m=_floor(track, wheels, steps, shape, seen, late),
        heading=heading,
        rest_m=_at_rest(steps, wheels, seen.lateral_m, late),
        is_delay_found=is_delay_found,
        is_sided=bool(wheels.left),
        growth=_growth(steps, wheels, gyro, shape, late),
        has_heading=turn > 1e-6 or float(np.abs(np.diff(wheels.difference)).sum()) < 1.0,
    )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0


def _slope(x: np.ndarray, y: np.ndarray) -> float | None:
    power = float(x @ x)
    return float(x @ y) / power if power > 0.0 else None


def _residual(design: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Of least squares with scaled columns, widened by the freedom that the columns take."""
    scale = np.sqrt((design**2).mean(axis=0))
    used = scale > 1e-12 * max(float(scale.max(initial=0.0)), 1e-30)
    scaled = design[:, used] / scale[used]
    if not scaled.shape[1]:
        return values
    found, _, rank, _ = np.linalg.lstsq(scaled, values, rcond=1e-7)
    return np.asarray((values - scaled @ found) * np.sqrt(len(values) / max(len(values) - rank, 1)))


def _increments(steps: Intervals, wheels: Turned, late_s: float) -> np.ndarray:
    """Angles of the wheels over the intervals, (N, W)."""
    return np.asarray(wheels.at(steps.end_s - late_s) - wheels.at(steps.begin_s - late_s))


def _sides(wheels: Turned, increments: np.ndarray) -> np.ndarray:
    if not wheels.left:
        return increments
    return np.column_stack([increments[:, list(wheels.left)].mean(axis=1), increments[:, list(wheels.right)].mean(axis=1)])


def _taps(steps: Intervals, wheels: Turned, late_s: float) -> np.ndarray:
    """Wheels over each interval, and both sides a little before and after."""
    around = [_sides(wheels, _increments(steps, wheels, late_s + shift)) for shift in (-2 * TAP_S, -TAP_S, TAP_S, 2 * TAP_S)]
    return np.column_stack([_increments(steps, wheels, late_s), *around])


def _aligned(track: Track, wheels: Turned) -> tuple[Intervals | None, float, bool]:
    """Intervals, the delay behind the wheels, and whether it lies within what was searched."""
    steps = intervals_of(track, wheels, LATEST_S)
    if steps is None or len(steps) < FEWEST_INTERVALS:
        return None, 0.0, False
    late = _delay(steps, wheels, EARLIEST_S, LATEST_S)
    if EARLIEST_S + COARSE_S < late < LATEST_S - COARSE_S:
        return steps, late, True
    wide = intervals_of(track, wheels, FARTHEST_S)
    if wide is None or len(wide) < FEWEST_INTERVALS:
        return steps, late, False
    late = _delay(wide, wheels, -FARTHEST_S, FARTHEST_S)
    return wide, late, abs(late) < FARTHEST_S - COARSE_S


def _delay(steps: Intervals, wheels: Turned, earliest_s: float, latest_s: float) -> float:
    """Where wheels explain heading and distance best: smallest sum of log residuals, coarse and then fine."""
    length = np.abs(steps.moved_m)

    def cost(late_s: float) -> float:
        sides = _sides(wheels, _increments(steps, wheels, late_s))
        rows = [_residual(sides, steps.turned_rad), _residual(np.abs(sides), length)]
        return sum(float(np.log(np.mean(r**2) + 1e-18)) for r in rows)

    grid = np.arange(earliest_s, latest_s + 1e-9, COARSE_S)
    best = float(grid[int(np.argmin([cost(late) for late in grid]))])
    fine = np.clip(best + np.arange(-COARSE_S, COARSE_S + 1e-9, FINE_S), earliest_s, latest_s)
    return float(fine[int(np.argmin([cost(late) for late in fine]))])


def _yaw_by_wheels(steps: Intervals, wheels: Turned, late_s: float) -> tuple[np.ndarray, Gyro]:
    """Change of heading that the wheels leave unexplained, and the running heading that all wheels together explain best:
    whatever their order, their signs, and however one of them slips."""
    columns = _increments(steps, wheels, late_s)
    scale = np.sqrt((columns**2).mean(axis=0)) + 1e-30
    found = np.linalg.lstsq(columns / scale, steps.turned_rad, rcond=1e-3)[0] / scale
    left = _residual(np.column_stack([columns, _taps(steps, wheels, late_s)]), steps.turned_rad)
    return left, Gyro(wheels.time_s, wheels.angle_rad @ found)


def _yaw_by_gyro(steps: Intervals, gyro: Gyro | None) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray]:
    """Change of heading that the gyro leaves unexplained; delay, smoothing and bias are free. Its scale is not: odometry of
    wheels that turn the robot by a constant share of what they say would be explained, too. Second, the same with a free scale;
    last, the changes of heading that both refer to."""
    nothing = None, None, np.empty(0)
    if gyro is None or gyro.time_s[0] > steps.begin_s[-1] or gyro.time_s[-1] < steps.end_s[0]:
        return nothing
    inside = (steps.begin_s >= gyro.time_s[0]) & (steps.end_s <= gyro.time_s[-1])
    if inside.sum() < FEWEST_INTERVALS:
        return nothing
    begin, end, turned = steps.begin_s[inside], steps.end_s[inside], steps.turned_rad[inside]

    def increments(late_s: float) -> np.ndarray:
        ends = [np.interp(when - late_s, gyro.time_s, gyro.angle_rad) for when in (begin, end)]
        return np.asarray(ends[1] - ends[0])

    def left(late_s: float) -> np.ndarray:
        early, now, late = (increments(late_s + shift) for shift in (-TAP_S, 0.0, TAP_S))
        return _residual(np.column_stack([early - now, late - now, end - begin]), np.asarray(turned - now))

    def freely(late_s: float) -> np.ndarray:
        taps = [increments(late_s + k * TAP_S) for k in (-2, -1, 0, 1, 2)]
        return _residual(np.column_stack([*taps, end - begin]), turned)

    grid = np.arange(EARLIEST_S, LATEST_S + 1e-9, COARSE_S)
    best = min(grid, key=lambda late: float(np.mean(left(float(late)) ** 2)))
    # With a free scale its own delay counts: a gyro with the other sign, or of another computer, has another one.
    clocks = np.arange(-FARTHEST_S, FARTHEST_S + 1e-9, COARSE_S)
    free = min((freely(float(late)) for late in clocks), key=lambda r: float(np.mean(r**2)))
    return left(float(best)), free, turned


def _long_share(steps: Intervals, residual: np.ndarray, values: np.ndarray) -> float:
    """Residual over value, root mean squares of sums over about a second: jitter of stamps cancels there, slip adds up."""
    return robust_or_rms(_sums(steps, residual)) / max(_rms(_sums(steps, values)), 1e-12)


def _sums(steps: Intervals, values: np.ndarray) -> np.ndarray:
    """Over about a second each; as they are where there are too few."""
    size = max(1, round(1.0 / steps.usual_s))
    count = len(values) // size
    return values if count < 3 else np.asarray(values[: count * size].reshape(count, size).sum(axis=1))


def robust_or_rms(values: np.ndarray) -> float:
    """Root mean square without the largest twentieth: a reset or a jump is no slip."""
    size = np.sort(np.abs(values))
    return _rms(size[: max(3, int(np.ceil(0.95 * len(size))))])


def _beside(steps: Intervals, values: np.ndarray, shift: int) -> np.ndarray:
    """Values of the interval before (-1) or after (1); zero where that is not the neighbor."""
    out = np.zeros(len(values))
    if shift > 0:
        out[:-1] = np.where(steps.is_next[1:], values[1:], 0.0)
    else:
        out[1:] = np.where(steps.is_next[1:], values[:-1], 0.0)
    return out


def _of_reckoning(steps: Intervals, wheels: Turned, forward: np.ndarray, turned: np.ndarray, late_s: float) -> np.ndarray:
    """What dead reckoning can have of lateral motion, columns of a regression; fewer where there are few intervals."""
    product = forward * turned
    columns = [turned, product, *_sides(wheels, _increments(steps, wheels, late_s)).T]
    if len(steps) >= 100:
        before, after = _beside(steps, turned, -1), _beside(steps, turned, 1)
        columns += [_beside(steps, product, -1), _beside(steps, product, 1), forward * (after - before), before, after]
        columns += list(_increments(steps, wheels, late_s).T)
    return np.column_stack(columns)


def _lateral(
    steps: Intervals, wheels: Turned, gyro: Gyro | None, seen: Reckoned, late_s: float, by_wheels: Gyro
) -> tuple[np.ndarray, str]:
    """Smallest lateral residual over the headings that positions may follow, and which heading that is."""
    found = []
    for shape in (None, gyro):
        here = seen if shape is None else reckoned(steps, wheels, shape, late_s)
        design = _of_reckoning(steps, wheels, here.forward_m, steps.turned_rad, late_s)
        left = _residual(np.column_stack([here.predicted.imag, design]), here.lateral_m)
        found.append((left, "its own heading"))
        if gyro is None:
            break
    if wheels.left:  # robots on omni wheels go in any direction: none of their headings says where
        found += _along_others(steps, wheels, gyro, late_s, by_wheels)
    return min(found, key=lambda entry: robust_std(entry[0], about=0.0))


def _along_others(
    steps: Intervals, wheels: Turned, gyro: Gyro | None, late_s: float, by_wheels: Gyro
) -> list[tuple[np.ndarray, str]]:
    """Lateral residuals where positions follow the heading of wheels or gyro, while the pose has a heading from elsewhere."""
    rolled = np.interp(steps.end_s - late_s, wheels.time_s, wheels.angle_rad.mean(axis=1))
    ahead = np.sign(rolled - np.interp(steps.begin_s - late_s, wheels.time_s, wheels.angle_rad.mean(axis=1)))
    window = np.floor((steps.begin_s - steps.begin_s[0]) / WINDOW_S).astype(int)

    directed = _directions(steps, wheels, late_s)

    def turned_by(heading: np.ndarray) -> np.ndarray:
        along = steps.moved_m * np.exp(-1j * heading)
        real, imag = (np.bincount(window, weights=part) for part in ((ahead * along).real, (ahead * along).imag))
        return np.asarray(along * np.exp(-1j * np.arctan2(imag, real))[window], dtype=complex)

    def best_of(shape: Gyro, ratios: np.ndarray) -> float:
        sizes = [robust_std(turned_by(directed(shape, float(ratio))).imag, about=0.0) for ratio in ratios]
        return float(ratios[int(np.argmin(sizes))])

    found, headings = [], []
    for shape in _wheel_headings(wheels, by_wheels):
        best = best_of(shape, np.concatenate([_RATIOS, -_RATIOS]))
        best = best_of(shape, best * np.linspace(0.96, 1.04, 33))
        headings.append(("the wheels' heading", directed(shape, best)))
    if gyro is not None:
        headings += [("the gyro's heading", directed(gyro, sign)) for sign in (1.0, -1.0)]
    for name, heading in headings:
        along = turned_by(heading)
        turned = np.gradient(heading)
        design = _of_reckoning(steps, wheels, along.real, turned, late_s)
        found.append((_residual(design, along.imag), name))
    return found


def _gyro_scale(steps: Intervals, gyro: Gyro) -> float | None:
    """Scale of the pose's running heading over the gyro's, with a free bias. Headings and not their changes are compared, so
    that filters do not count. A delay beyond the searched ones would be taken for a scale: clocks may be far apart."""
    turned = np.cumsum(steps.turned_rad)
    found: list[tuple[float, float, float]] = []
    for late_s in np.arange(-FARTHEST_S, FARTHEST_S + 1e-9, 2.0 * COARSE_S):
        ends = [np.interp(when - late_s, gyro.time_s, gyro.angle_rad) for when in (steps.begin_s, steps.end_s)]
        trend = np.column_stack([np.ones(len(steps)), np.cumsum(steps.end_s - steps.begin_s)])
        swing, own = (v - trend @ np.linalg.lstsq(trend, v, rcond=None)[0] for v in (np.cumsum(ends[1] - ends[0]), turned))
        scale = float(swing @ own / max(float(swing @ swing), 1e-12))
        found.append((_rms(own - scale * swing), scale, robust_std(swing, about=0.0)))
    _, best, swung_rad = min(found)  # of the delay that fits: at another one a swing that is too small may look large enough
    return best if swung_rad > LEAST_SWING_RAD else None


def _growth(steps: Intervals, wheels: Turned, gyro: Gyro | None, by_wheels: Gyro, late_s: float) -> float | None:
    """How residuals of dead reckoning grow when they are added up over `SUM_S`: the least over the headings that it may have.
    Noise on positions cancels between neighbors, so that sums are as large as single ones; slip and drift add up."""
    size = max(1, round(SUM_S / steps.usual_s))
    if len(steps) < FEWEST_SUMS * size or steps.usual_s > SHORT_SHARE * SUM_S:
        return None
    runs = np.cumsum(~steps.is_next)  # sums across a silence or a jump would miss what lies between
    is_whole = runs[size - 1 :] == runs[: len(runs) - size + 1]
    if is_whole.sum() < FEWEST_SUMS * size:
        return None

    def grown(shape: Gyro) -> float:
        forward, lateral = _along(steps, wheels, shape, late_s)
        sums = [np.convolve(part, np.ones(size), "valid")[is_whole] for part in (forward, lateral)]
        single = max(robust_std(forward, about=0.0), robust_std(lateral, about=0.0), 1e-9)
        return max(robust_or_rms(part) for part in sums) / single

    return min(grown(shape) for shape in (by_wheels, gyro, _smoothed_heading(steps)) if shape is not None)


def _smoothed_heading(steps: Intervals) -> Gyro:
    """The pose's own heading, with less noise: of an IMU that was not recorded."""
    size = 1 + 2 * round(0.5 * SMOOTHED_S / steps.usual_s)
    padded = np.pad(np.cumsum(steps.turned_rad) - 0.5 * steps.turned_rad, size // 2, mode="edge")
    return Gyro(0.5 * (steps.begin_s + steps.end_s), np.convolve(padded, np.full(size, 1.0 / size), "valid"))


def _along(steps: Intervals, wheels: Turned, shape: Gyro, late_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Forward and lateral residuals along the heading that `shape` explains of the pose's: free of the noise of its own."""

    def around(when_s: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(when_s - late_s - tap, shape.time_s, shape.angle_rad) for tap in FILTER_TAPS_S])

    middle_s = 0.5 * (steps.begin_s + steps.end_s)
    columns = np.column_stack([around(middle_s), np.ones(len(steps)), middle_s - middle_s[0]])
    own = steps.yaw_rad + 0.5 * steps.turned_rad
    moved = steps.moved_m * np.exp(-1j * (own - _residual(columns, own)))
    rolled = np.column_stack([_sides(wheels, _increments(steps, wheels, late_s + tap)) for tap in FILTER_TAPS_S])
    turned = around(steps.end_s) - around(steps.begin_s)
    product = rolled.mean(axis=1)[:, None] * turned
    return _residual(rolled, moved.real), _residual(np.column_stack([turned, product, rolled]), moved.imag)


def _wheel_headings(wheels: Turned, by_wheels: Gyro) -> list[Gyro]:
    """Headings that odometry may have: of all wheels as they explain the pose, and of the difference of both sides."""
    difference = wheels.difference
    scale = float(np.ptp(by_wheels.angle_rad)) / max(float(np.ptp(difference)), 1e-12)
    return [by_wheels, Gyro(wheels.time_s, scale * difference)]


def _directions(steps: Intervals, wheels: Turned, late_s: float) -> Callable[[Gyro, float], np.ndarray]:
    """From a running heading and a ratio to the mean direction of motion over each interval."""
    share = np.linspace(0.0, 1.0, max(2, int(np.ceil(steps.usual_s / BEND_S)) + 1))
    at = steps.begin_s[:, None] + share * (steps.end_s - steps.begin_s)[:, None] - late_s
    speed = np.abs(np.diff(wheels.at(at.ravel()).reshape(*at.shape, -1), axis=1)).mean(axis=2)
    weight = speed + 1e-3 * speed.mean(axis=1, keepdims=True) + 1e-9

    def directed(shape: Gyro, ratio: float) -> np.ndarray:
        turned = ratio * np.interp(at, shape.time_s, shape.angle_rad)
        begin = turned[:, :1]
        middle = 0.5 * (turned[:, 1:] + turned[:, :-1]) - begin
        return np.asarray(begin[:, 0] + np.angle((np.exp(1j * middle) * weight).sum(axis=1)))

    return directed


def _smoothness(steps: Intervals, lateral: np.ndarray) -> float:
    """Correlation of neighbors, with what is larger than three robust standard deviations cut to that: a jump is one event."""
    bound = 3.0 * robust_std(lateral, about=0.0)
    cut = np.clip(lateral, -bound, bound)
    first, second = cut[:-1][steps.is_next[1:]], cut[1:][steps.is_next[1:]]
    power = float(cut @ cut) / max(len(cut), 1)
    return float(np.mean(first * second)) / power if len(first) > 3 and power > 0.0 else 0.0


def _floor(track: Track, wheels: Turned, steps: Intervals, shape: Gyro, seen: Reckoned, late_s: float) -> float:
    """Lateral motion that is none: positions and headings in steps, wheels that report too seldom to show how heading bends, and
    a quarter of what bending makes over intervals that are long."""
    written = track.position_step_m / np.sqrt(6.0)
    rounded = track.yaw_step_rad / np.sqrt(12.0) * _rms(np.abs(steps.moved_m))
    when = np.arange(wheels.time_s[0], wheels.time_s[-1], max(wheels.period_s, INTERVAL_FLOOR_S))
    rates = np.diff(np.interp(when, shape.time_s, shape.angle_rad), n=2)
    bent = _rms(rates) / 8.0 * (wheels.period_s / max(wheels.period_s, INTERVAL_FLOOR_S)) ** 2 * _rms(np.abs(steps.moved_m))
    radius = abs(_slope(seen.predicted.real, seen.forward_m) or 0.0)
    even = reckoned(steps, wheels, Gyro(np.array([0.0, 1.0]), np.zeros(2)), late_s)
    curved = 0.25 * radius * robust_std(seen.predicted.imag - even.predicted.imag, about=0.0)
    return float(np.sqrt(written**2 + rounded**2 + bent**2 + curved**2))


def _at_rest(steps: Intervals, wheels: Turned, lateral_m: np.ndarray, late_s: float) -> float | None:
    """Lateral noise per interval while no wheel turns: there the forward one still holds what a filter has to make up. A filter
    of seconds creeps on after the wheels have stopped, sideways, too: then only what changes from one interval to the next counts
    (of white noise on positions its variance is three times that of one displacement, of creeping next to nothing)."""
    margin = TAP_S + 0.1
    turned = np.abs(wheels.at(steps.end_s - late_s + margin) - wheels.at(steps.begin_s - late_s - margin)).max(axis=1)
    still = turned <= max(1.5 * wheels.step_rad, 1e-4)
    if still.sum() < 8:
        return None
    changes = np.diff(lateral_m)[still[1:] & still[:-1] & steps.is_next[1:]]
    level = robust_std(lateral_m[still], about=0.0)
    noise = robust_std(changes, about=0.0) / np.sqrt(3.0) if len(changes) >= 8 else level
    return level if noise > 0.5 * level else noise
