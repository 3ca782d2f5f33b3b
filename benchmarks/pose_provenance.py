"""Confusion matrix of pose provenance on simulated ordinary bags: `python benchmarks/pose_provenance.py [count]`.

The bags are those of tests/ordinary_bags: wheel odometry with right and wrong constants, rates, delays and filters, fused
odometry, motion capture, lidar, GNSS, simulators' truth, nav2's transforms. Exit code 1 when wheel or fused odometry is called
independent, or fewer than 95 % of independent poses are recognized.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from ordinary_bags import confusion_cases
from ordinary_bags.verdicts import CALLED, called_independent, confusion


def main(count: int) -> int:
    cases = confusion_cases()
    found, mistakes = confusion(cases[:: max(1, len(cases) // count)])
    print("\n".join(mistakes))
    print(f"{'':<16}" + "".join(f"{word:>16}" for word in CALLED))
    for truth in CALLED[:3]:
        print(f"{truth:<16}" + "".join(f"{found[truth, word]:>16}" for word in CALLED))
    wrong, share = called_independent(found)
    print(f"wheel or fused odometry called independent: {wrong} (goal 0)")
    print(f"independent poses recognized: {100 * share:.1f} % (goal 95)")
    return int(wrong > 0 or share < 0.95)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 150))
