"""Scenarios, sensors and the runs they make."""

from slipfit.simulate.run import Batch, simulate, simulate_many
from slipfit.simulate.scenario import Command, Scenario
from slipfit.simulate.trajectory import RunStatus, Trajectory

__all__ = ["Batch", "Command", "RunStatus", "Scenario", "Trajectory", "simulate", "simulate_many"]
