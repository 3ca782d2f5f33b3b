"""Slip, friction and soil from a robot's own sensors: filters and fits over logs, and the same functions online."""

from slipfit.estimate.from_log import estimate
from slipfit.estimate.record import SlipEstimate
from slipfit.estimate.settings import FilterSettings

__all__ = ["FilterSettings", "SlipEstimate", "estimate"]
