"""Whole drives on the simulated controller: the path, the log, and every way to end. In virtual time, or by handshakes."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from controllers import COUNTS_PER_TURN, TYRE_M, controlled_twin, simulated_controller
from patience import HANG_S, until
from slipfit.control import Rounding
from slipfit.errors import DriveError
from slipfit.hardware import SIM, DrivePlan, Ending, Settings, SimulatedPort, drive, run
from slipfit.logs import read_log
from slipfit.signals import Asked
from virtual_link import HandClock, PatientClock, VirtualPort, counted

BAUD = 115200

pytestmark = pytest.mark.usefixtures("sim_in_virtual_time")


def plan(duration_s=1.0, v=0.3, rate=0.0):
    return DrivePlan("p.csv", np.array([0.0, duration_s]), np.array([v, v]), np.array([rate, rate]))


def test_a_drive_and_its_log(tmp_path):
    """.3 m/s is 24.47 setpoints, told as 24: rims run at 24 x .304 / 24.8 = .2942 m/s while it is told, by both counters."""
    done = drive(plan(), controlled_twin(), SIM)
    assert done.ending is Ending.FINISHED
    assert done.is_stop_acknowledged
    assert done.driven_s == pytest.approx(1.0, abs=0.005)  # the last command is on the line for 3 ms
    log = done.log
    told = log["commands"].values
    assert told[1:-1] == pytest.approx(24 * 2.0 / 24.8)
    setpoints = log["setpoints"].values
    assert set(map(tuple, setpoints[1:-1])) == {(24.0, 0.0)}
    for end in (0, -1):  # everything sent is logged, the zeros at both ends too
        assert not np.concatenate([setpoints[end], told[end], log["plan"].values[end]]).any()
    told_s = (log["setpoints"].stamps_ns[-1] - log["setpoints"].stamps_ns[1]) * 1e-9
    assert told_s == pytest.approx(1.0, abs=0.005)
    assert done.acknowledged == 2 * len(setpoints)
    rolled_m = np.ptp(log["counters"].values, axis=0) * np.pi * TYRE_M / COUNTS_PER_TURN
    assert rolled_m == pytest.approx(told_s * 24 * TYRE_M / 24.8, abs=0.01 * 0.2942)  # commands are under way for a few ms
    assert log["encoders"].values[-1] == pytest.approx(log["counters"].values[-1] * 2.0 * np.pi / COUNTS_PER_TURN)
    x, y, heading = log["pose"].values[-1]
    assert x == pytest.approx(rolled_m[0], abs=0.02)  # it slips while it starts and stops
    assert (y, heading) == pytest.approx((0.0, 0.0), abs=1e-6)
    truth, read = log["pose"], log["encoders"]
    there_m = np.interp(read.stamps_ns, truth.stamps_ns, truth.values[:, 0])
    assert there_m == pytest.approx(read.values[:, 0] * 0.5 * TYRE_M, abs=0.02)  # one clock: 20 mm are 70 ms, slip included
    log.save(tmp_path / "run.mcap")
    again = read_log(tmp_path / "run.mcap")
    for name in ("commands", "encoders", "counters", "setpoints", "plan", "pose"):
        assert np.array_equal(again[name].values, log[name].values)
        assert np.array_equal(again[name].stamps_ns, log[name].stamps_ns)


def test_dither_drives_the_mean():
    """.3 m/s is 24.474 setpoints: 24 and 25 by turns, 47 % of them 25."""
    told = drive(plan(), controlled_twin(), SIM, Settings(rounding=Rounding.DITHER)).log["setpoints"].values[1:-1, 0]
    assert set(told) == {24.0, 25.0}
    assert told.mean() == pytest.approx(0.3 * 24.8 / 0.304, abs=0.5 / len(told) + 1e-9)


def test_best_pair_takes_the_time_it_needs():
    """.1 m/s and .1 rad/s is told as (10, 4), 1.2265 times as fast: the plan is over after 1 / 1.2265 of its time."""
    done = drive(plan(3.0, 0.1, 0.1), controlled_twin(), SIM, Settings(rounding=Rounding.BEST_PAIR))
    assert set(map(tuple, done.log["setpoints"].values[1:-1])) == {(10.0, 4.0)}
    assert done.driven_s == pytest.approx(3.0 / 1.2265, abs=0.005)  # the last command is on the line for 3 ms


def test_a_drive_through_a_terminal():
    """The same drive through the operating system's serial stack, by handshakes: what the controller heard is what is logged."""
    far = simulated_controller()
    with SimulatedPort(far, clock=PatientClock()) as port:
        done = drive(plan(), controlled_twin(), port, Settings(baud=BAUD))
    assert done.ending is Ending.FINISHED
    assert done.is_stop_acknowledged
    assert (done.repeated, done.late_answers) == (0, 0)
    assert far.channels == [0, 0]
    assert far.watchdog_times_s == []
    heard = [v for c, v in zip(far.told_channels, far.told_values, strict=True) if c == 1]
    assert list(done.log["setpoints"].values[:, 0]) == heard
    assert set(heard) == {0, 24}


def test_stop_file(tmp_path):
    stop, port = tmp_path / "stop", VirtualPort(simulated_controller())
    port.clock.at(0.5, stop.touch)
    done = drive(plan(5.0), controlled_twin(), port, Settings(baud=BAUD, stop_file=stop))
    assert done.ending is Ending.STOP_FILE
    assert done.driven_s < 0.5 + 0.02  # the next command
    assert done.is_stop_acknowledged
    with pytest.raises(DriveError, match="the stop file is already there"):
        drive(plan(), controlled_twin(), SIM, Settings(stop_file=stop))


@pytest.mark.parametrize(
    ("number", "ending"),
    [(signal.SIGINT, Ending.INTERRUPTED), (signal.SIGTERM, Ending.TERMINATED), (signal.SIGHUP, Ending.HUNG_UP)],
)
def test_signals_end_the_drive_in_order(number, ending):
    before, port = signal.getsignal(number), VirtualPort(simulated_controller())
    port.clock.at(0.5, lambda: os.kill(os.getpid(), number))
    done = drive(plan(5.0), controlled_twin(), port, Settings(baud=BAUD))
    assert done.ending is ending
    assert done.is_stop_acknowledged
    assert done.driven_s < 1.0
    assert signal.getsignal(number) is before


def test_a_controller_that_falls_silent_ends_the_drive():
    """Three unanswered commands, and the log is complete up to there."""
    far = simulated_controller()
    port = VirtualPort(far)
    port.clock.at(0.4, lambda: setattr(far, "receive", lambda characters, now_s: b""))
    done = drive(plan(5.0), controlled_twin(), port, Settings(baud=BAUD))
    assert done.ending is Ending.FAILED
    assert "no answer to '" in done.problem
    assert not done.is_stop_acknowledged
    told = done.log["setpoints"].values[:, 0]
    heard = [v for c, v in zip(far.told_channels, far.told_values, strict=True) if c == 1]
    assert list(told[: len(heard)]) == heard
    assert len(told) - len(heard) in (1, 2)  # the zeros at the end, and perhaps the command that fell on deaf ears
    assert told[-1] == 0.0  # sent, not acknowledged, and said so
    assert "the last setpoints were not acknowledged" in done.log.notes


def test_a_port_that_vanishes_ends_the_drive_and_the_log_is_complete():
    """Issue 5: the terminal closes in mid-drive; what was acknowledged is what the controller heard, to the last command."""
    far = simulated_controller()
    with SimulatedPort(far, clock=PatientClock()) as port, counted(far, threading.Thread(target=port.unplug).start, at=40):
        done = drive(plan(60.0), controlled_twin(), port, Settings(baud=BAUD))
    assert done.ending is Ending.FAILED
    assert "the port vanished" in done.problem
    pairs = len(done.log["setpoints"].stamps_ns)
    assert 2 * pairs - done.acknowledged in (0, 1, 2)  # perhaps a last pair, or half of one, without an answer
    assert len(far.told_values) - done.acknowledged in (0, 1)  # perhaps one whose answer was lost


SCRIPT = """
import sys
from pathlib import Path
from slipfit.hardware import Settings, drive
from slipfit.hardware.port import SerialPort
from slipfit.twin import Twin
from virtual_link import PatientClock
port = SerialPort(sys.argv[1], PatientClock(is_real=True))
done = drive(Path("plan.csv"), Twin.load("a.twin.yaml"), port, Settings(baud=115200))
done.log.save("run")
print(done.ending, done.problem, flush=True)
"""


def driver_under_way(folder, port, far):
    """A process that drives straight ahead at .5 m/s, after its first 40 commands. By its clock it is never slow."""
    controlled_twin().save(folder / "a.twin.yaml")
    (folder / "plan.csv").write_text("time_s,v_mps,yaw_rate_radps\n0,0.5,0\n3600,0.5,0\n")
    paths = os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])
    driver = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, port.path],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )
    until(lambda: len(far.told_values) >= 40 or driver.poll() is not None)
    return driver


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_a_driver_whose_terminal_is_closed(tmp_path, number):
    """Issue 5: the simulated robot stops within the watchdog's second, whether the driver can say good-bye or not."""
    far, clock = simulated_controller(), HandClock()
    with SimulatedPort(far, clock=clock) as port:
        driver = driver_under_way(tmp_path, port, far)
        clock.advance(0.5)
        assert far.motors.speeds_radps[-1, 0] == pytest.approx(41 * 2.0 / 24.8)  # .5 m/s is 40.8 setpoints
        driver.send_signal(number)
        out, _ = driver.communicate(timeout=HANG_S)
        clock.settle()
        assert far.watchdog_times_s == []
        clock.advance(1.1)
    speeds = far.motors.speeds_radps[:, 0]
    assert far.watchdog_times_s[-1] <= 0.5 + 1.0  # the last characters came at .5 s
    assert not speeds[1502:].any()
    if number == signal.SIGHUP:
        assert out.strip() == "hung_up"
        assert not speeds[502:].any()
        sent = read_log(tmp_path / "run")["setpoints"].values
        heard = [v for c, v in zip(far.told_channels, far.told_values, strict=True) if c == 1]
        assert list(sent[:, 0]) == heard
        assert (heard[0], heard[-1]) == (0, 0)


def test_a_driver_that_stood_still_does_not_drive_on(tmp_path):
    """The watchdog stopped the robot after a second; when the driver goes on, zero is all that it says. Its own clock, which
    does not see the pause here, is in test_late_answers."""
    far, clock = simulated_controller(), HandClock()
    with SimulatedPort(far, clock=clock) as port:
        driver = driver_under_way(tmp_path, port, far)
        driver.send_signal(signal.SIGSTOP)
        os.waitpid(driver.pid, os.WUNTRACED)
        clock.settle()
        told = len(far.told_values)
        clock.advance(1.1)
        assert far.watchdog_times_s == [1.0]
        driver.send_signal(signal.SIGCONT)
        out, _ = driver.communicate(timeout=HANG_S)
    assert out.startswith("failed")
    assert "the controller says W" in out
    assert [value for value in far.told_values[told:] if value][1:] == []  # perhaps the command that was on its way
    assert list(far.told_values[-2:]) == [0, 0]
    assert far.channels == [0, 0]


def test_a_signal_before_the_port_is_opened(monkeypatch):
    """Asked to end during imports or loading: no port is opened."""
    monkeypatch.setattr(run, "Controller", None)
    done = drive(plan(), controlled_twin(), SIM, asked=Asked("SIGINT"))
    assert done.ending is Ending.INTERRUPTED
    assert not done.log.channels
    assert "nothing was sent, the port was not opened" in done.summary()


def test_a_stop_file_that_cannot_be_looked_for(tmp_path, monkeypatch):
    """File names have 255 bytes at most. One that goes bad in mid-drive ends it: nobody could stop the robot with it."""
    with pytest.raises(DriveError, match="cannot be looked for"):
        drive(plan(), controlled_twin(), SIM, Settings(stop_file=tmp_path / ("s" * 300)))
    stop, looks = tmp_path / "stop", iter([False] * 10)

    def exists(path):
        if path == stop and next(looks, None) is None:
            raise PermissionError(13, "Permission denied")
        return False

    monkeypatch.setattr("pathlib.Path.exists", exists)
    done = drive(plan(5.0), controlled_twin(), SIM, Settings(stop_file=stop))
    assert done.ending is Ending.FAILED
    assert "Permission denied" in done.problem
    assert done.is_stop_acknowledged


@pytest.mark.parametrize("baud", [0, -9600, 10**12])
def test_baud_rates_that_cannot_be(baud):
    with pytest.raises(DriveError, match=f"the line is to have {baud} baud; expected 1 to 4000000"):
        Settings(baud=baud)


def test_settings_that_cannot_be():
    with pytest.raises(DriveError, match="the watchdog stops the motors in between"):
        Settings(rate_hz=1.0)
    with pytest.raises(DriveError, match="100 commands a second do not fit 9600 baud; take at most 53 Hz"):
        Settings(rate_hz=100.0).counters_every(9600)


@pytest.mark.parametrize(("baud", "every"), [(9600, 20), (115200, 1)])
def test_counters_are_read_as_often_as_the_line_carries(baud, every):
    """960 characters a second at 9600 baud, 80 % of them ours: 50 x 2 x 7 for commands leave 68, a reading takes 26."""
    assert Settings().counters_every(baud) == every
