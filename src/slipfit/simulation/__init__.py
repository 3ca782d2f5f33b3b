"""Scenarios, sensors and the runs they make."""

from slipfit.simulation.batch import Batch
from slipfit.simulation.run import simulate, simulate_many
from slipfit.simulation.scenario import Command, Scenario
from slipfit.simulation.trajectory import RunStatus, Trajectory

__all__ = ["Batch", "Command", "RunStatus", "Scenario", "Trajectory", "simulate", "simulate_many"]
