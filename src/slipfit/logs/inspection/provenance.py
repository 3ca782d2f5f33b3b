"""Findings about the poses of a log: which serves as truth, which only repeat the wheels."""

from collections.abc import Iterator

from slipfit.logs import channels as names
from slipfit.logs.drive_log import DriveLog
from slipfit.logs.inspection.record import NO_REMEDY, Finding, Severity
from slipfit.logs.provenance import Origin

#: Kinds of these findings.
TRUTH, NOT_TRUTH = "truth", "not ground truth"


def truth_findings(log: DriveLog) -> Iterator[Finding]:
    """One for the pose in use, one for each that is not; warnings where the choice is doubtful or nothing is left."""
    truth = log.truth
    if truth is None:
        return
    chosen = truth.chosen
    if chosen is not None:
        remedy = "check what publishes it; --truth none does without" if truth.is_doubtful else NO_REMEDY
        yield Finding(Severity.WARNING if truth.is_doubtful else Severity.INFO, names.POSE, TRUTH, truth.sentence(), remedy)
    for pose in truth.poses:
        if pose is chosen:
            continue
        is_missed = chosen is None and not truth.is_given
        found = f"{pose.name} is {pose.origin.value}: {pose.reason}"
        remedy = f"nothing is fitted to it; if it is independent of the wheels, pass --truth {pose.name}"
        if pose.origin is Origin.INDEPENDENT:
            found, remedy = f"{pose.name} is independent, too: {pose.reason}", f"--truth {pose.name} uses it instead"
        yield Finding(Severity.WARNING if is_missed else Severity.INFO, names.POSE, NOT_TRUTH, found, remedy)
