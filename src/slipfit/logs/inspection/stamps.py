"""Stamps and numbers of each channel by itself: values that are none, order, repetition, gaps, jitter, rate."""

from dataclasses import replace

import numpy as np

from slipfit.library.deviation import robust_std
from slipfit.logs import channels as names
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog
from slipfit.logs.inspection.record import Finding, Severity, Step, spans

#: A pause is a gap from this many median periods on, and from this long: two lost samples of a slow channel are no event.
GAP_PERIODS = 3.5
GAP_S = 0.05

#: Spread of the period (1.48 times the median deviation) over the period, above which stamps say little about sampling.
JITTER = 0.25

#: Of a sensor that two publishers send on, half the rows are doubled; beyond, and from so many rows on, stamps are no times.
MOST_REPEATED, LEAST_ROWS = 0.55, 20

#: A clock was set back where so many rows in a row are farther behind than this (s): transport delays a message, not all of them.
RESET_S, RESET_ROWS = 1.0, 20

#: No sensor says more, in any unit; squares of it are still numbers.
LARGEST = 1e30

#: Rates below which slip is hard to see: body motion changes within tenths of a second. Poses can be rare, they do not drift.
LOWEST_RATE_HZ = {names.ENCODERS: 5.0, names.IMU: 15.0, names.POSE: 1.0}


def drop_bad_numbers(log: DriveLog, _: object = None) -> Step:
    """Rows with NaN, infinity or what no sensor says are left out of the channels that calibration reads; columns that never
    say anything else too, and channels of which nothing remains."""
    findings, corrections, kept = [], [], dict(log.channels)
    for name in (n for n in LOWEST_RATE_HZ if n in log):
        channel = log[name]
        fine = np.abs(channel.values) < LARGEST
        speaks = fine.any(axis=0)
        silent = [column for column, says in zip(channel.columns, speaks, strict=True) if not says]
        bad = ~fine[:, speaks].all(axis=1)
        if not silent and not bad.any():
            continue
        if bad.all() or not speaks.any():
            found = f"every row has NaN or infinity{' (' + ', '.join(silent) + ')' if silent else ''}"
            findings.append(_not_finite(name, found, "find out what the driver says with it; the channel is left out", 1.0))
            corrections.append(f"{name}, which is not finite")
            del kept[name]
            continue
        if silent:
            found = f"{', '.join(silent)} never say{'s' if len(silent) == 1 else ''} anything but NaN or infinity"
            findings.append(_not_finite(name, found, "find out what the driver says with it; they are left out", 1.0))
            corrections.append(f"columns of {name} that are not finite")
        if bad.any():
            when = (channel.stamps_ns[np.argmax(bad)] - channel.stamps_ns[0]) / NANOSECONDS
            found = f"{bad.sum()} of {len(bad)} rows have NaN or infinity, the first at {when:.2f} s"
            remedy = "find out what the driver says with it; these rows are left out"
            findings.append(_not_finite(name, found, remedy, float(bad.mean())))
            corrections.append(f"{bad.sum()} rows of {name} that are not finite")
        columns = tuple(column for column in channel.columns if column not in silent)
        kept[name] = replace(channel, stamps_ns=channel.stamps_ns[~bad], values=channel.values[~bad][:, speaks], columns=columns)
    return Step(replace(log, channels=kept) if findings else log, tuple(findings), tuple(corrections))


def _not_finite(channel: str, found: str, remedy: str, share: float) -> Finding:
    severity = Severity.WARNING if share < 0.1 else Severity.ERROR
    return Finding(severity, channel, "not finite", found, remedy, share, is_corrected=True)


def put_in_order(log: DriveLog, _: object = None) -> Step:
    """Stamps that run backward are sorted; of rows with the same stamp the first stays."""
    findings, corrections, channels = [], [], []
    for channel in log.channels.values():
        steps = np.diff(channel.stamps_ns)
        backward = int((steps < 0).sum())
        reset = _clock_reset(channel) if channel.name in LOWEST_RATE_HZ else None
        if reset is not None:
            findings.append(reset)
        elif backward:
            findings.append(
                Finding(
                    Severity.ERROR,
                    channel.name,
                    "backward stamps",
                    f"time runs backward {backward} times, by up to {-steps.min() / 1e9:.3f} s",
                    "record with one clock; rows are sorted by their stamps",
                    float(backward),
                    is_corrected=True,
                )
            )
            corrections.append(f"order of {channel.name}")
        order = np.argsort(channel.stamps_ns, kind="stable")
        is_first = np.diff(channel.stamps_ns[order], prepend=np.iinfo(np.int64).min // 2) > 0
        doubled = int((~is_first).sum())
        is_clock = doubled <= MOST_REPEATED * len(is_first)
        if channel.name in LOWEST_RATE_HZ and not is_clock and len(is_first) >= LEAST_ROWS:
            found = f"{doubled} of {len(is_first)} rows repeat the stamp of another: these are no times of samples"
            remedy = "stamp each sample in the driver (header.stamp), or name another column as time"
            findings.append(Finding(Severity.FATAL, channel.name, "stamps", found, remedy, float(doubled)))
        elif doubled:
            findings.append(
                Finding(
                    Severity.WARNING,
                    channel.name,
                    "duplicated stamps",
                    f"{doubled} of {len(is_first)} rows repeat the stamp of the row before",
                    "check for two publishers; the first row of each stamp stays",
                    float(doubled),
                    is_corrected=True,
                )
            )
            corrections.append(f"{doubled} duplicated rows of {channel.name}")
        if backward or doubled:
            channels.append(rows_of(channel, order[is_first]))
    return Step(log.having(*channels), tuple(findings), tuple(corrections))


def _clock_reset(channel: Channel) -> Finding | None:
    """A clock that was set back during the recording: a run of rows far behind what came before them, not rows out of order."""
    stamps = channel.stamps_ns
    behind = np.maximum.accumulate(stamps) - stamps > RESET_S * NANOSECONDS
    runs = spans(behind)
    longest = max(runs, key=lambda run: run[1] - run[0], default=None)
    if longest is None or longest[1] - longest[0] + 1 < RESET_ROWS:
        return None
    first = longest[0]
    back_s = float(stamps[:first].max() - stamps[first]) / NANOSECONDS
    found = f"time runs backward by {back_s:.2f} s at row {first + 1} of {len(stamps)} and stays behind: the clock was set back"
    remedy = "split the recording there and use one part, or record again with one clock"
    return Finding(Severity.FATAL, channel.name, "clock reset", found, remedy, back_s)


def look_at_rates(log: DriveLog, _: object = None) -> Step:
    """Rate, gaps and jitter of the channels that calibration reads."""
    findings = []
    for name, lowest_hz in LOWEST_RATE_HZ.items():
        if name not in log or len(log[name].stamps_ns) < 3:
            continue
        periods = np.diff(log[name].stamps_ns) / NANOSECONDS
        median = float(np.median(periods))
        is_slow = 1.0 / median < lowest_hz
        findings.append(
            Finding(
                Severity.WARNING if is_slow else Severity.INFO,
                name,
                "rate",
                f"{1.0 / median:.4g} Hz, {len(periods) + 1} samples in {periods.sum():.4g} s",
                f"record at {lowest_hz:g} Hz or more" if is_slow else "nothing",
                1.0 / median,
            )
        )
        findings += _gaps(log[name], periods, median)
        jitter = robust_std(periods, about=median) / median
        if jitter > JITTER:
            findings.append(
                Finding(
                    Severity.WARNING,
                    name,
                    "jitter",
                    f"the period of {median * 1e3:.3g} ms varies by {100 * jitter:.0f} %",
                    "stamp in the driver, not where the message is received",
                    jitter,
                )
            )
    return Step(log, tuple(findings))


def _gaps(channel: Channel, periods: np.ndarray, median: float) -> list[Finding]:
    gaps = gap_places(periods)
    if not len(gaps):
        return []
    longest = gaps[np.argmax(periods[gaps])]
    lost = periods[gaps].sum() / max(periods.sum(), 1e-9)
    count = f"{len(gaps)} gap{'s' if len(gaps) > 1 else ''}"
    return [
        Finding(
            Severity.WARNING if periods[longest] > 0.5 or lost > 0.02 else Severity.INFO,
            channel.name,
            "gaps",
            f"{count}, the longest {periods[longest]:.3f} s at {channel.time_s[longest]:.2f} s "
            f"(period {median * 1e3:.3g} ms), {100 * lost:.1f} % of the time",
            "check the load of the recording computer; nothing is filled in",
            float(periods[longest]),
        )
    ]


def gap_places(periods: np.ndarray) -> np.ndarray:
    """Places of periods that are gaps."""
    return np.flatnonzero((periods > GAP_PERIODS * np.median(periods)) & (periods > GAP_S))


def rows_of(channel: Channel, rows: np.ndarray) -> Channel:
    """The channel with some of its rows, by mask or by number."""
    return replace(channel, stamps_ns=channel.stamps_ns[rows], values=channel.values[rows])
