"""The demo's story against what its commands add up to."""

import math

import numpy as np
import pytest

from slipfit.simulation.showcase import DRIVES, showcase


@pytest.fixture(scope="module")
def story():
    return showcase()


def test_without_slip_it_turns_as_commanded(story):
    """Ramps of one second count half: 0.4 + 2.4, then 0 - 2.4, - 0.4, and 0.5 + 3 + 0.5 rad: 4 in all."""
    assert story.without_slip[-1, 2] == pytest.approx(4.0, abs=1e-6)


def test_equal_slip_turns_less_by_track_over_diagonal(story):
    """[Haas2009]: T² / (T² + B²), here 0.402 and 0.25 m."""
    assert story.equal_slip[-1, 2] == pytest.approx(4.0 * 0.402**2 / (0.402**2 + 0.25**2), abs=1e-6)


def test_a_robot_that_slips_turns_less_than_it_is_told(story):
    """[Trimble2022] eq. (3): a steady spin on the spot has 1 / (1 + (l / b)² c_long / c_lat) of the commanded 1 rad/s."""
    drive = story.drives["slip_on_the_floor"]
    steady = np.argmin(np.abs(drive.time_s - 14.9))
    assert drive.yaw_rate_radps[steady] == pytest.approx(1 / (1 + (0.125 / 0.201) ** 2 * 0.005 / 0.05), rel=1e-4)


def test_on_a_side_slope_it_slides_downhill(story):
    """Uphill is to the left: the path on the slope ends further right."""
    floor, slope = (story.drives[name] for name in DRIVES)
    assert slope.y_m[-1] < floor.y_m[-1] - 0.1


def test_text_and_document_tell_the_same(story):
    heading = story.document()["end_poses"]["without_slip"]["heading_rad"]
    assert f"{math.degrees(heading):.1f}°" in story.summary()
    assert story.document()["end_poses"].keys() == {*DRIVES, "without_slip", "equal_slip"}
