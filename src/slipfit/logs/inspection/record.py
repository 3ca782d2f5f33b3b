"""What an inspection found: findings with severity and remedy, and the log as it should have been."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from slipfit.logs.drive_log import DriveLog
from slipfit.logs.topics import TopicUse

#: The remedy of what needs none.
NO_REMEDY = "nothing"


class Severity(Enum):
    """How much a finding matters; the value is what it means for calibration."""

    FATAL = "calibration cannot go on"
    ERROR = "results are wrong unless it is corrected"
    WARNING = "results suffer"
    INFO = "good to know"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about one channel: what it is, what was found, what to do. `value` is in the unit that `found` says."""

    severity: Severity
    channel: str
    kind: str
    found: str
    remedy: str
    value: float | None = None
    interval_90: tuple[float, float] | None = None
    is_corrected: bool = False

    def __str__(self) -> str:
        done = "; corrected" if self.is_corrected else "" if self.remedy == NO_REMEDY else f"; {self.remedy}"
        return f"{self.severity.word:<8}{self.channel + ', ' if self.channel else ''}{self.kind}: {self.found}{done}"

    def to_document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "severity": self.severity.word,
            "channel": self.channel,
            "kind": self.kind,
            "found": self.found,
            "remedy": self.remedy,
            "value": None if self.value is None else float(self.value),
            "interval_90": None if self.interval_90 is None else [float(bound) for bound in self.interval_90],
            "is_corrected": self.is_corrected,
        }


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """What one check gives back: its findings, the log with its corrections applied, and those in short words."""

    log: DriveLog
    findings: tuple[Finding, ...] = ()
    corrections: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Inspection:
    """A log, what is wrong with it, and the log with everything corrected that can be."""

    log: DriveLog
    corrected: DriveLog
    findings: tuple[Finding, ...] = ()
    corrections: tuple[str, ...] = ()
    lifted_s: tuple[tuple[float, float], ...] = field(default=())  # begin and end, seconds from the log's first stamp

    @property
    def fatal(self) -> Finding | None:
        """The finding that stops calibration, if there is one."""
        return next((f for f in self.findings if f.severity is Severity.FATAL), None)

    @property
    def worst(self) -> Severity | None:
        """Severity of the first finding; None where there is none."""
        return self.findings[0].severity if self.findings else None

    def of_kind(self, kind: str, channel: str = "") -> tuple[Finding, ...]:
        """Findings of one kind, of all channels or of one."""
        return tuple(f for f in self.findings if f.kind == kind and channel in ("", f.channel))

    def summary(self) -> str:
        """The channels, then the findings, worst first."""
        lines = [self.log.summary(), *_topic_rows(self.log)]
        if self.log.truth is not None and self.log.truth.poses:
            lines += ["poses", self.log.truth.table()]
        if not self.findings:
            return "\n".join([*lines, "nothing found"])
        for finding in self.findings:
            lines.append(f"{finding.severity.word:<8} {finding.channel or 'log':<9} {finding.kind}: {finding.found}")
            remedy = "corrected" if finding.is_corrected else finding.remedy
            if remedy != NO_REMEDY:
                lines.append(f"{'':<18} -> {remedy}")
        counts = [(s, sum(f.severity is s for f in self.findings)) for s in Severity]
        lines.append(", ".join(f"{count} {severity.word}" for severity, count in counts if count))
        return "\n".join(lines)

    def to_document(self) -> dict[str, Any]:
        """For programs: channels, findings, corrections."""
        channels = {
            c.name: {
                "samples": len(c.stamps_ns),
                "rate_hz": float(c.rate_hz),
                "duration_s": float((int(c.stamps_ns.max()) - int(c.stamps_ns.min())) / 1e9),
                "columns": list(c.columns),
            }
            for c in self.log.channels.values()
        }
        return {
            "source": self.log.source,
            "sha256": self.log.digest,
            "duration_s": float(self.log.duration_s),
            "channels": channels,
            "topics": [_topic_document(topic) for topic in self.log.topics],
            "truth": self.log.truth_document(),
            "worst": self.worst.word if self.worst else None,
            "findings": [f.to_document() for f in self.findings],
            "corrections": list(self.corrections),
            "lifted_s": [list(map(float, span)) for span in self.lifted_s],
        }


def _topic_document(topic: TopicUse) -> dict[str, Any]:
    rate = topic.rate_hz if np.isfinite(topic.rate_hz) else None
    return {"name": topic.name, "type": topic.type, "count": topic.count, "rate_hz": rate, "use": topic.use}


def _topic_rows(log: DriveLog) -> list[str]:
    if not log.topics:
        return []
    rows = ["topics"]
    for topic in log.topics:
        rate = f"{topic.rate_hz:.3g} Hz" if np.isfinite(topic.rate_hz) else "-"
        rows.append(f"  {topic.name:<32}{topic.type:<44}{topic.count:>7}{rate:>10}  {topic.use}")
    return rows


def worst_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """By severity; in the order they were found within one."""
    return tuple(sorted(findings, key=lambda f: f.severity.rank))


def spans(flags: np.ndarray) -> list[tuple[int, int]]:
    """First and last place of every unbroken run of True."""
    edges = np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8))
    return list(zip(np.flatnonzero(edges == 1).tolist(), (np.flatnonzero(edges == -1) - 1).tolist(), strict=True))
