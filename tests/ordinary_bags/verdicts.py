"""What slipfit calls the poses of a bag, beside what they are."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from ordinary_bags.cases import Case
from ordinary_bags.writing import write
from slipfit.logs import read_log

CALLED = ("independent", "wheel odometry", "fused", "unknown")


def verdicts(case: Case) -> list[tuple[str, str, str]]:
    """Name, truth and verdict of every pose source of a bag; transforms that repeat a topic are no sources of their own."""
    with TemporaryDirectory() as folder:
        log = read_log(write(case, Path(folder)))
    poses = {pose.name: pose.origin.value for pose in log.truth.poses}
    rows = []
    for name, truth in case.truth.items():
        parent, _, child = name.removeprefix("/tf[").removesuffix("]").partition("->")
        own = f"/tf#{parent}:{child}" if child else name
        verdict = poses.get(own) or poses.get(own.replace("base_footprint", "base_link"))
        if verdict is not None:
            rows.append((name, truth, verdict))
    return rows


def confusion(cases: Iterable[Case]) -> tuple[Counter[tuple[str, str]], list[str]]:
    """How often what is called what, and a line for each mistake."""
    found: Counter[tuple[str, str]] = Counter()
    mistakes = []
    for case in cases:
        for name, truth, verdict in verdicts(case):
            found[truth, verdict] += 1
            if truth != verdict:
                mistakes.append(f"{case.name}: {name} is {truth}, called {verdict}")
    return found, mistakes


def called_independent(found: Counter[tuple[str, str]]) -> tuple[int, float]:
    """How many derived poses are called independent, and the share of independent ones that are recognized."""
    wrong = found["wheel odometry", "independent"] + found["fused", "independent"]
    count = sum(found["independent", word] for word in CALLED)
    return wrong, found["independent", "independent"] / max(count, 1)
