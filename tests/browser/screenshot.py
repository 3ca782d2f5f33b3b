"""Picture of a report for the docs: `screenshot.py TARGET.png [REPORT.html]`; without a report, of the tests' example."""

import sys
import tempfile
from pathlib import Path

from chromium import take_picture

WIDTH_PX, HEIGHT_PX = 1100, 2460


def main(target: str, report: str = "") -> None:
    if report:
        take_picture(Path(report), Path(target), WIDTH_PX, HEIGHT_PX)
        return
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from slipfit.report.calibration_report import write_report
    from unit.report.fits import TRUTH, example_fit

    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        write_report(example_fit(), page, truth=TRUTH)
        take_picture(page, Path(target), WIDTH_PX, HEIGHT_PX)


if __name__ == "__main__":
    main(*sys.argv[1:])
