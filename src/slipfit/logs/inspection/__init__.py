"""What is wrong with a drive log, and the log as it should have been."""

from slipfit.logs.inspection.inspect import inspect_log, inspect_stamps
from slipfit.logs.inspection.record import Finding, Inspection, Severity

__all__ = ["Finding", "Inspection", "Severity", "inspect_log", "inspect_stamps"]
