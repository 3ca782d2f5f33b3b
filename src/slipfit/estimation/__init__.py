"""Slip, friction and soil from a robot's own sensors: filters and fits over logs, and the same functions online."""

from slipfit.estimation.from_log import estimate
from slipfit.estimation.record import SlipEstimate
from slipfit.estimation.settings import FilterSettings

__all__ = ["FilterSettings", "SlipEstimate", "estimate"]
