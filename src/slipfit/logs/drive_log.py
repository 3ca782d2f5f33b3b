"""What sensors said during a drive, real or simulated: channels with their own stamps, never resampled."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from slipfit.errors import LogError
from slipfit.logs.channels import SEGMENTS

if TYPE_CHECKING:
    from slipfit.logs.provenance import PoseSource, PoseTruth
    from slipfit.logs.topics import TopicUse

NANOSECONDS = 1_000_000_000

#: Numbers of pieces of a recording are below this; beyond it floats skip whole numbers.
_LARGEST_SEGMENT = 2.0**53

#: Names become files and topics.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, eq=False, slots=True)
class Channel:
    """One sensor. Stamps are integer nanoseconds, values have shape (T, columns), columns are named with their units."""

    name: str
    stamps_ns: np.ndarray
    values: np.ndarray
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise LogError(f"a channel cannot be called {self.name[:80]!r}; expected a-z, 0-9 and _ after a first letter")
        if self.values.shape != (len(self.stamps_ns), len(self.columns)):
            raise LogError(
                f"channel {self.name}: values of shape {self.values.shape} do not fit {len(self.stamps_ns)} stamps "
                f"and {len(self.columns)} columns"
            )
        if not len(self.stamps_ns):
            raise LogError(f"channel {self.name} has no samples; leave it out of the log")
        if len(set(self.columns)) < len(self.columns) or "stamp_ns" in self.columns:
            raise LogError(f"channel {self.name}: columns {', '.join(self.columns)}; expected names that differ, and no stamp_ns")

    @property
    def time_s(self) -> np.ndarray:
        """Seconds since the first stamp."""
        return np.asarray((self.stamps_ns - self.stamps_ns[0]) / NANOSECONDS)

    @property
    def rate_hz(self) -> float:
        """Mean rate."""
        span_ns = int(self.stamps_ns[-1]) - int(self.stamps_ns[0])
        return (len(self.stamps_ns) - 1) * NANOSECONDS / span_ns if span_ns else float("nan")

    def column(self, name: str) -> np.ndarray:
        """One column, shape (T,)."""
        if name not in self.columns:
            raise LogError(f"channel {self.name} has no column '{name}'; it has {', '.join(self.columns)}")
        return np.asarray(self.values[:, self.columns.index(name)])


@dataclass(frozen=True, eq=False, slots=True)
class DriveLog:
    """All channels of one drive, by name, and where they come from.

    `source` is the name of the file or folder that was read, `digest` its sha256 (of a folder: see `read_log`), `notes`
    say what the reader chose, left out or changed. `poses` are all pose-like topics as they were recorded, `truth` says which of
    them is the channel `pose`, and why (None: not looked at yet). `mounts_m` are positions of sensors on the robot where the log
    has their frames, `topics` those of a bag with their use.
    """

    channels: Mapping[str, Channel] = field(default_factory=dict)
    about: str = ""
    source: str = ""
    digest: str = ""
    notes: tuple[str, ...] = ()
    poses: tuple["PoseSource", ...] = ()
    truth: "PoseTruth | None" = None
    topics: tuple["TopicUse", ...] = ()
    mounts_m: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Channel:
        if name not in self.channels:
            where = f"{self.source}: " if self.source else ""
            raise LogError(f"{where}the log has no channel '{name}'; it has {', '.join(sorted(self.channels)) or 'none'}")
        return self.channels[name]

    def __contains__(self, name: str) -> bool:
        return name in self.channels

    @property
    def duration_s(self) -> float:
        """From the first stamp of any channel to the last of any."""
        if not self.channels:
            return 0.0
        first = min(int(c.stamps_ns.min()) for c in self.channels.values())
        last = max(int(c.stamps_ns.max()) for c in self.channels.values())
        return (last - first) / NANOSECONDS

    def segment_at(self, stamps_ns: np.ndarray) -> np.ndarray:
        """Number of the piece of the recording at each stamp; zero where the log is in one piece."""
        if SEGMENTS not in self:
            return np.zeros(len(stamps_ns), dtype=int)
        pieces = self[SEGMENTS]
        at = np.searchsorted(pieces.stamps_ns, stamps_ns, side="right") - 1
        number = pieces.values[np.clip(at, 0, len(pieces.stamps_ns) - 1), 0]
        is_number = np.abs(number) < _LARGEST_SEGMENT  # a damaged file has others: they are a piece of their own
        return np.where(is_number, number, -1.0).astype(int)

    def having(self, *channels: Channel) -> Self:
        """The same log with these channels added, or in place of those of the same name."""
        return replace(self, channels={**self.channels, **{c.name: c for c in channels}})

    def truth_line(self, *, named: bool = False) -> str:
        """What served as truth and why; `named` with the log's name before it."""
        said = (self.truth.sentence() if self.truth is not None else "") or "no pose"
        return f"{self.source or self.about or 'log'}: {said}" if named else said

    def truth_document(self) -> dict[str, Any] | None:
        """What served as truth and why, and every pose source with its origin, for programs; None where nobody looked yet."""
        return None if self.truth is None else self.truth.to_document()

    def summary(self) -> str:
        """One line per channel: samples, rate, columns; then the notes."""
        rows = [self.about] if self.about else []
        if self.source:
            rows.append(f"{self.source}, {self.duration_s:.1f} s, sha256 {self.digest[:12]}")
        for c in self.channels.values():
            rate = f"{c.rate_hz:>8.1f} Hz" if np.isfinite(c.rate_hz) else 11 * " "
            rows.append(f"  {c.name:<16}{len(c.stamps_ns):>8} samples {rate}  {', '.join(c.columns)}")
        return "\n".join([*rows, *(f"  note: {note}" for note in self.notes)])

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a ROS 2 file (.mcap), a ROS 1 file (.bag), or, for a name without ending, a folder of CSV files."""
        from slipfit.logs.bag_writer import write_bag1, write_mcap

        match Path(path).suffix:
            case ".mcap":
                write_mcap(self, path, force=force)
            case ".bag":
                write_bag1(self, path, force=force)
            case "":
                self.save_csv(path, force=force)
            case suffix:
                raise LogError(f"{path}: cannot write '{suffix}'; expected .mcap, .bag, or a folder's name for CSV files")

    @classmethod
    def load(cls, path: Path | str) -> "DriveLog":
        """Read a log; `read_log` with topics and columns left to be found."""
        from slipfit.logs.read import read_log

        return read_log(path)

    def save_csv(self, folder: Path | str, *, force: bool = False) -> list[Path]:
        """One CSV file per channel, named after it; floats are written so that the same bits come back."""
        from slipfit.logs.csv_table import write_channels

        return write_channels(self.channels, Path(folder), force=force)
