"""Recordings of real robots keep their truth: lidar, OptiTrack and an overhead camera are independent of the wheels.

The sources are each folder's SOURCE.md. Runs of a few decimeters cannot be compared with the wheels; their pose is used because
the column map calls it one.
"""

from pathlib import Path

import pytest

from slipfit.logs import read_log
from slipfit.logs.provenance import Origin

COLUMNS = Path(__file__).parents[2] / "examples" / "columns"


def drives(folder):
    return [
        (path, "drive_raw" if ".raw." in path.name else "drive")
        for path in sorted((folder / "drive_warthog_husky").glob("*.csv.gz"))
        if "authors" not in path.name
    ]


def optiodom(folder):
    return [
        (path, f"optiodom_{kind}")
        for kind in ("diff", "omni3", "omni4")
        for path in sorted((folder / "optiodom_umbmark" / kind).rglob("*_run-*.csv.gz"))[::8]
    ]


def robotino(folder):
    return [(path, "robotino") for path in sorted((folder / "robotino_slip" / "datasets").rglob("exp*.csv.gz"))[::15]]


@pytest.mark.parametrize(("files", "at_least"), [(drives, 1.0), (optiodom, 0.85), (robotino, 0.7)])
def test_every_recording_keeps_its_truth(recordings, files, at_least):
    poses = [read_log(path, columns=COLUMNS / f"{columns}.yaml").truth for path, columns in files(recordings)]
    assert len(poses) > 5
    assert all(truth.name == "pose" for truth in poses)
    by_data = [truth.chosen.origin is Origin.INDEPENDENT and truth.chosen.is_by_data for truth in poses]
    assert sum(by_data) / len(by_data) >= at_least
