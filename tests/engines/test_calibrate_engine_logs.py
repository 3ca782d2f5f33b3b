"""c_long from each engine's log by `calibrate`: a truth that is not ours (issue 4: within 1 %)."""

import pytest

from known_twins import known_twin
from slipfit.calibrate.run import calibrate
from slipfit.engines import Settings, find_engine, read_run
from slipfit.engines.readings import CLEAN
from slipfit.simulate import Command
from slipfit.verify.manoeuvres import manoeuvre
from slipfit.verify.run import Course, Rig

pytestmark = pytest.mark.engine


def calibration_drive(robot, ground):
    """Two speed steps and two spins, with rests."""
    legs = [
        (1.0, 0.0, 0.0),
        (1.5, 0.2, 0.0),
        (2.0, 1.0, 0.0),
        (1.0, 0.0, 0.0),
        (4.0, 0.0, 1.0),
        (1.0, 0.0, 0.0),
        (3.0, 0.0, -0.8),
    ]
    legs += [(1.0, 0.0, 0.0), (1.5, 0.3, 0.0), (2.0, 0.9, 0.0), (1.0, 0.0, 0.0)]
    ramps = {"profile": "linear", "ramp_s": 0.6}
    return manoeuvre("calibration", robot, ground, [Command(for_s=t, v_mps=v, yaw_rate_radps=w, **ramps) for t, v, w in legs])


@pytest.mark.parametrize("engine", ["ode", "gz-physics", "mujoco"])
def test_calibrate_finds_the_constants_of_an_engines_log(engine, need, tmp_path):
    """Sensors without noise; c_long and c_lat / c_long within 1 %."""
    need(engine)
    course = Course(known_twin())
    rig = Rig(find_engine(engine), course.export(engine, tmp_path), course, Settings())
    fit = calibrate(read_run(rig.drive(course[calibration_drive]), CLEAN), robot="p3at")
    c_long, c_lat = (fit.parameters[name].value for name in ("c_long_per_n", "c_lat_per_n"))
    assert c_long == pytest.approx(0.005, rel=0.01)
    assert c_lat / c_long == pytest.approx(10.0, rel=0.01)
