"""What sensors said during a drive, real or simulated: channels with their own stamps, never resampled."""

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from slipfit.errors import LogError
from slipfit.library.files import check_folder, make_folder, write_through

NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, eq=False, slots=True)
class Channel:
    """One sensor. Stamps are integer nanoseconds, values have shape (T, columns), columns are named with their units."""

    name: str
    stamps_ns: np.ndarray
    values: np.ndarray
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.stamps_ns), len(self.columns)):
            raise LogError(
                f"channel {self.name}: values of shape {self.values.shape} do not fit {len(self.stamps_ns)} stamps "
                f"and {len(self.columns)} columns"
            )

    @property
    def time_s(self) -> np.ndarray:
        """Seconds since the first stamp."""
        return np.asarray((self.stamps_ns - self.stamps_ns[0]) / NANOSECONDS)

    @property
    def rate_hz(self) -> float:
        """Mean rate."""
        span_ns = int(self.stamps_ns[-1] - self.stamps_ns[0]) if len(self.stamps_ns) > 1 else 0
        return (len(self.stamps_ns) - 1) * NANOSECONDS / span_ns if span_ns else float("nan")

    def column(self, name: str) -> np.ndarray:
        """One column, shape (T,)."""
        if name not in self.columns:
            raise LogError(f"channel {self.name} has no column '{name}'; it has {', '.join(self.columns)}")
        return np.asarray(self.values[:, self.columns.index(name)])


@dataclass(frozen=True, eq=False, slots=True)
class DriveLog:
    """All channels of one drive, by name."""

    channels: Mapping[str, Channel] = field(default_factory=dict)
    about: str = ""

    def __getitem__(self, name: str) -> Channel:
        if name not in self.channels:
            raise LogError(f"the log has no channel '{name}'; it has {', '.join(sorted(self.channels)) or 'none'}")
        return self.channels[name]

    def summary(self) -> str:
        """One line per channel: samples, rate, columns."""
        rows = [self.about] if self.about else []
        for c in self.channels.values():
            rows.append(f"  {c.name:<16}{len(c.stamps_ns):>8} samples {c.rate_hz:>8.1f} Hz  {', '.join(c.columns)}")
        return "\n".join(rows)

    def save_csv(self, folder: Path | str, *, force: bool = False) -> list[Path]:
        """One CSV file per channel, named after it; floats are written so that the same bits come back."""
        folder = Path(folder)
        paths = [folder / f"{name}.csv" for name in self.channels]
        check_folder(folder, [path.name for path in paths], force=force)
        make_folder(folder)
        for path, channel in zip(paths, self.channels.values(), strict=True):
            write_through(path, functools.partial(_write_csv, channel), force=force)
        return paths


def _write_csv(channel: Channel, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("stamp_ns", *channel.columns))
        for stamp, row in zip(channel.stamps_ns.tolist(), channel.values.tolist(), strict=True):
            writer.writerow((stamp, *map(repr, row)))
