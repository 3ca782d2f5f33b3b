"""Recordings of real robots. They are not part of the project: the folder is named by SLIPFIT_DATA."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def recordings():
    """The folder of recordings; its README says what is in it."""
    folder = Path(os.environ.get("SLIPFIT_DATA", BESIDE))
    if not (folder / "README.md").exists():
        pytest.skip(f"there are no recordings in {folder}; name their folder with SLIPFIT_DATA")
    return folder
