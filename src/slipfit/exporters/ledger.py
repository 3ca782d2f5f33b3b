"""What an export dropped, approximated or chose: told to the user, and kept in the file as a comment."""

from collections.abc import Iterable
from dataclasses import dataclass

from slipfit.library.ground import STANDARD_GRAVITY

#: Width of the comment in exported files.
_WIDTH = 118

#: What worlds have where nobody says otherwise; Gazebo's own 9.8 is the same to a thousandth.
EARTH_MPS2 = STANDARD_GRAVITY.value
_SAME_GRAVITY_MPS2 = 0.0101


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that the target does not say as the twin does. Sentences are plain ASCII: they stand in the user's files."""

    what: str
    why: str
    remedy: str = ""

    def text(self) -> str:
        """One line: what, why, what to do."""
        return f"{self.what}: {self.why}" + (f"; {self.remedy}" if self.remedy else "")


@dataclass(frozen=True, slots=True)
class Ledger:
    """All entries of one export, in the order of their weight."""

    entries: tuple[Entry, ...] = ()

    def __add__(self, other: "Ledger") -> "Ledger":
        return Ledger(self.entries + other.entries)

    def lines(self) -> list[str]:
        """Wrapped lines for a comment; continuation lines are indented."""
        from textwrap import wrap

        return [line for e in self.entries for line in wrap(f"- {e.text()}", _WIDTH, subsequent_indent="  ")]

    def summary(self) -> str:
        """What the user reads."""
        return "\n".join(f"  {e.what}: {e.why}" + (f"\n    {e.remedy}" if e.remedy else "") for e in self.entries)

    def to_document(self) -> list[dict[str, str]]:
        """For --json."""
        return [{"what": e.what, "why": e.why, "remedy": e.remedy} for e in self.entries]


def ledger(*entries: Entry | None) -> Ledger:
    """Of the entries that apply."""
    return Ledger(tuple(e for e in entries if e is not None))


def gravity_entry(twin_mps2: float, world_mps2: float | None = None) -> Entry | None:
    """A model without a world falls as the world says into which it is put, 9.81 m/s2 where nobody says."""
    if abs(twin_mps2 - (world_mps2 or EARTH_MPS2)) <= _SAME_GRAVITY_MPS2:
        return None
    found = f"a model does not say it, and worlds have {EARTH_MPS2:.4g} of themselves"
    if world_mps2 is not None:
        found = f"the file's world has {world_mps2:.4g}"
    return Entry(f"gravity of {twin_mps2:.4g} m/s2", found, f"give the world <gravity>0 0 {-twin_mps2:.6g}</gravity>")


def heading(lines: Iterable[str], book: Ledger) -> list[str]:
    """First lines of an exported file's comment, and the ledger below."""
    told = book.lines()
    return [*lines, *(["", "What this file does not say as the twin does:", *told] if told else [])]
