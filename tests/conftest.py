"""One kernel cache for all test processes, filled once before they start; in CI a skipped test is a failure."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Hypothesis fails an example that takes 200 ms, and data that are slow to draw: on a busy machine anything is.
settings.register_profile("any_load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_load")

ROOT = Path(__file__).parent.parent
os.environ.setdefault("SLIPFIT_CACHE", str(ROOT / "build" / "kernels"))


def pytest_configure(config):
    """Compile what the tests run before workers could compile the same things at the same time."""
    is_worker = hasattr(config, "workerinput")
    if is_worker or not getattr(config.option, "numprocesses", None) or config.option.collectonly:
        return
    if subprocess.run([sys.executable, ROOT / "tests" / "warm_up.py"], check=False).returncode:
        raise pytest.UsageError("the kernels do not compile: see above")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("SLIPFIT_NO_SKIPS") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be skipped: {report.longrepr}"


@pytest.fixture
def sim_in_virtual_time(monkeypatch):
    """`--port sim` without a pseudo-terminal: time passes only where driver and controller wait, whatever the machine's load."""
    from slipfit.hardware import run
    from virtual_link import VirtualPort

    monkeypatch.setattr(run, "SimulatedPort", VirtualPort)
