"""slipfit drive: what a user types and reads."""

import builtins
import json
import os
import pty
import signal
import tty
from functools import partial
from pathlib import Path

import pytest

from controllers import controlled_twin, simulated_controller
from known_twins import known_twin
from slipfit.hardware import Controller, SimulatedPort, open_port, run
from slipfit.hardware.port import SerialPort
from slipfit.logs import DriveLog, read_log
from slipfit.twin import Twin
from virtual_link import PatientClock, VirtualPort

pytestmark = pytest.mark.usefixtures("sim_in_virtual_time")

DRIVE = ("drive", "plan.csv", "--twin", "a.twin.yaml")


@pytest.fixture(autouse=True)
def files(slipfit):
    """Depends on the fixture that changes into an empty folder."""
    controlled_twin().save("a.twin.yaml")
    known_twin().save("bare.twin.yaml")
    write()


def write(duration_s=0.5, v=0.1, rate=0.1):
    Path("plan.csv").write_text(f"time_s,v_mps,yaw_rate_radps\n0,{v},{rate}\n{duration_s},{v},{rate}\n")


@pytest.fixture
def under_way(monkeypatch):
    """Have something happen after ten commands, before the next one goes out."""
    tell = Controller.tell

    def arrange(happens, *arguments):
        told = []

        def counted(controller, first, second):
            told.append(first)
            if len(told) == 10:
                happens(*arguments)
            tell(controller, first, second)

        monkeypatch.setattr(Controller, "tell", counted)

    return arrange


def test_a_drive_on_the_simulated_controller(slipfit):
    result = slipfit(*DRIVE, "--port", "sim", "--log", "run.mcap")
    assert result.code == 0
    assert "the plan was driven to its end" in result.out
    assert "radius off by up to 6.2 % (1.000 m wanted, 1.062 m driven with channels 8 and 3)" in result.out
    assert "by the simulator" in result.out
    assert {"commands", "encoders", "counters", "pose"} <= set(read_log("run.mcap").channels)


def test_json_is_one_document(slipfit):
    document = json.loads(slipfit(*DRIVE, "--port", "sim", "--log", "run", "--json").out)
    assert document["ending"] == "finished"
    assert document["effect"]["radius_driven_m"] == pytest.approx(1.062, abs=1e-3)
    assert document["written"] == ["run"]


def test_sim_is_a_terminal(slipfit, monkeypatch):
    """Not in virtual time for once: the driver opens a real pseudo-terminal, and each answer is waited for."""
    monkeypatch.setattr(run, "SimulatedPort", partial(SimulatedPort, clock=PatientClock()))
    result = slipfit(*DRIVE, "--port", "sim", "--log", "run.mcap")
    assert result.code == 0
    assert "the plan was driven to its end" in result.out
    assert {"commands", "encoders", "counters", "pose"} <= set(read_log("run.mcap").channels)


def test_a_late_answer_is_reported_and_the_drive_goes_on(slipfit, monkeypatch):
    late = partial(VirtualPort, late_s=lambda line, now_s: 0.4 if 0.2 < now_s < 0.22 else 0.0)
    monkeypatch.setattr(run, "SimulatedPort", late)
    write(3.0)
    result = slipfit(*DRIVE, "--port", "sim")
    assert result.code == 0
    assert "the plan was driven to its end" in result.out
    assert "late (more than 0.1 s), the longest after 0.4" in result.out
    document = json.loads(slipfit(*DRIVE, "--port", "sim", "--json").out)
    assert document["ending"] == "finished"
    assert document["late_answers"] >= 1
    assert document["longest_answer_s"] == pytest.approx(0.4, abs=0.01)


def test_silence_beyond_the_watchdog_ends_with_2(slipfit, monkeypatch):
    """And stays ended when the controller is back, here after 1.5 s."""
    ports = []

    def silent(far, *, baud):
        ports.append(VirtualPort(far, baud=baud, late_s=lambda line, now_s: None if 0.2 < now_s < 1.7 else 0.0))
        return ports[0]

    monkeypatch.setattr(run, "SimulatedPort", silent)
    write(5.0)
    result = slipfit(*DRIVE, "--port", "sim", "--log", "run.mcap", "--json")
    assert result.code == 2
    assert "within 1 s, sent 3 times" in result.err
    assert "the log up to there is in run.mcap" in result.err
    document = json.loads(result.out)
    assert document["ending"] == "failed"
    assert "no answer to '" in document["problem"]
    last_s = 0.2 + 1.0 + 0.1  # the watchdog's second after a question that began at the latest 0.1 s later
    assert all(b"!A00" in line or b"!B00" in line or b"?Q" in line for at_s, line in ports[0].sent if at_s > last_s)
    assert ports[0].controller.channels == [0, 0]


def test_dry_run_opens_nothing(slipfit):
    result = slipfit(*DRIVE, "--port", "/dev/there_is_none", "--dry-run", "--rounding", "best_pair")
    assert result.code == 0
    assert "0.7968 m effective" in result.out
    assert "so that yaw rates are reached, turns take 1.59 times the wheel speeds that 0.5 m between the wheels" in result.out
    assert "best_pair: radius off by up to 0.4 %" in result.out


def test_stop_file_is_an_answer_of_no(slipfit, under_way):
    write(5.0)
    under_way(Path("stop").absolute().touch)
    result = slipfit(*DRIVE, "--port", "sim", "--log", "run.mcap", "--stop-file", "stop")
    assert result.code == 1
    assert "stopped by the stop file" in result.out
    assert read_log("run.mcap").duration_s < 0.7  # ten of 50 commands a second, and coming to rest


def test_ctrl_c_leaves_a_log(slipfit, under_way):
    write(5.0)
    under_way(os.kill, os.getpid(), signal.SIGINT)
    result = slipfit(*DRIVE, "--port", "sim", "--log", "run.mcap")
    assert result.code == 130
    assert "stopped by Ctrl-C" in result.out
    assert result.said == ["slipfit: stopped by Ctrl-C; zero acknowledged; the log up to there is in run.mcap"]
    assert "commands" in read_log("run.mcap")


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("home", "at"), [(run, "poses_of"), (DriveLog, "save")])
def test_a_second_signal_does_not_lose_the_log(slipfit, monkeypatch, under_way, second, home, at):
    """After the drive, while its log is made or written: the first signal ended the drive, the second one changes nothing."""
    work = getattr(home, at)

    def hit(*args, **kwargs):
        os.kill(os.getpid(), second)
        return work(*args, **kwargs)

    monkeypatch.setattr(home, at, hit)
    write(5.0)
    under_way(os.kill, os.getpid(), signal.SIGINT)
    result = slipfit(*DRIVE, "--port", "sim", "--log", "run.mcap", "--json")
    assert result.code == 130
    assert json.loads(result.out)["ending"] == "interrupted"
    assert json.loads(result.out)["written"] == ["run.mcap"]
    assert {"commands", "pose"} <= set(read_log("run.mcap").channels)


def test_ctrl_c_before_the_port_is_opened(slipfit, monkeypatch):
    """Between the command's first line and the port: nothing moves, and no stack trace."""
    load = Twin.load

    def hit(path):
        os.kill(os.getpid(), signal.SIGINT)
        return load(path)

    monkeypatch.setattr(Twin, "load", hit)
    result = slipfit(*DRIVE, "--port", "/dev/there_is_none", "--log", "run.mcap")
    assert result.code == 130
    assert result.said == ["slipfit: stopped by Ctrl-C; nothing was sent, the port was not opened; no log was written"]
    assert not Path("run.mcap").exists()


def test_a_port_that_vanishes_leaves_a_log(slipfit, under_way, monkeypatch):
    write(5.0)
    with SimulatedPort(simulated_controller(), clock=PatientClock()) as port:
        under_way(port.unplug)
        monkeypatch.setattr(run, "SerialPort", partial(SerialPort, clock=PatientClock()))
        result = slipfit(*DRIVE, "--port", port.path, "--baud", 115200, "--log", "run.mcap")
    assert result.code == 2
    assert len(result.said) == 1
    assert "the port vanished" in result.err
    assert "zero not acknowledged: the watchdog stops the motors; the log up to there is in run.mcap" in result.err
    assert "commands" in read_log("run.mcap")


def test_a_drive_that_failed_has_its_document(slipfit, under_way, monkeypatch):
    write(5.0)
    with SimulatedPort(simulated_controller(), clock=PatientClock()) as port:
        under_way(port.unplug)
        monkeypatch.setattr(run, "SerialPort", partial(SerialPort, clock=PatientClock()))
        result = slipfit(*DRIVE, "--port", port.path, "--baud", 115200, "--json")
    assert result.code == 2
    document = json.loads(result.out)
    assert document["ending"] == "failed"
    assert document["is_stop_acknowledged"] is False
    assert "the port vanished" in document["problem"]


def test_a_plan_beyond_the_limits(refused):
    write(v=2.0)
    assert "at 0 s the plan asks for 2 m/s and 0.1 rad/s; the left setpoint would be 159.9" in refused(*DRIVE, "--port", "sim")


def test_a_port_that_does_not_answer(refused):
    near, far = pty.openpty()
    tty.setraw(far)
    line = refused(*DRIVE, "--port", os.ttyname(far), "--log", "run.mcap")
    assert "no answer to '!A00' within 1 s, sent 3 times" in line
    assert "9600 baud 7E1" in line
    os.close(near)
    os.close(far)


def test_a_second_process_on_the_port(refused):
    with (
        SimulatedPort(simulated_controller(), clock=PatientClock()) as port,
        Controller(open_port(port.path, baud=115200), clock=PatientClock()),
    ):
        assert "is used by another process" in refused(*DRIVE, "--port", port.path)


def test_without_pyserial(refused, monkeypatch):
    imported = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "serial":
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(run, "SimulatedPort", SimulatedPort)
    monkeypatch.setattr(builtins, "__import__", without)
    assert "pip install 'slipfit[drive]'" in refused(*DRIVE, "--port", "sim")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--port", "sim", "--rounding", "half_evn"), "--rounding is 'half_evn'; did you mean 'half_even'"),
        (("--port", "sim", "--mode", "mix"), "--mode is 'mix'; did you mean 'mixed'"),
        (("--port", "sim", "--framing", "9X1"), "framing is '9X1'; expected 7E1"),
        (("--port", "sim", "--rate", "0.5"), "the rate is 0.5 Hz"),
        (("--port", "sim", "--baud", "1200"), "50 commands a second do not fit 1200 baud"),
        (("--port", "sim", "--log", "run.txt"), "cannot write '.txt'"),
        (("--port", "sim", "--log", "a.twin.yaml"), "cannot write '.yaml'"),
        (("--port", "sim", "--stop-file", "a.twin.yaml"), "the stop file is already there"),
        (("--port", "sim", "--stop-file", "s" * 300), "cannot be looked for"),
        (("--port", "sim", "--baud", "0"), "the line is to have 0 baud; expected 1 to"),
        (("--port", "sim", "--baud", "-9600"), "the line is to have -9600 baud"),
        (("--port", "sim", "--ground", "ice"), "has no ground 'ice'"),
        (("--port", "/dev/ttyUSB0", "--ground", "ice"), "has no ground 'ice'"),
    ],
)
@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["drive", "dry_run"])
def test_what_is_refused(refused, arguments, sentence, dry):
    """By a dry run as well."""
    assert sentence in refused(*DRIVE, *arguments, *dry)


def test_a_port_that_is_not_there(refused):
    """Which only opening it tells."""
    assert "there is no such port" in refused(*DRIVE, "--port", "/dev/there_is_none")


def test_dry_run_looks_at_the_moments_that_are_sent(slipfit):
    """Rows of a ramp from 0 to .0307 rad/s are 0 and 1 setpoints, both right; half of the moments in between lose their turn."""
    Path("plan.csv").write_text("time_s,v_mps,yaw_rate_radps\n0,0.3,0\n1,0.3,0.0307\n")
    document = json.loads(slipfit(*DRIVE, "--port", "sim", "--dry-run", "--json").out)
    assert document["effect"]["lost_rotation"] == pytest.approx(0.5, abs=0.03)


def test_a_twin_without_powertrain(refused):
    assert "has no powertrain" in refused("drive", "plan.csv", "--twin", "bare.twin.yaml", "--port", "sim")
