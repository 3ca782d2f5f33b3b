"""What is wrong with a drive log, and the log as it should have been."""

from typing import TYPE_CHECKING

from slipfit.logs.inspection.record import Finding, Inspection, Severity
from slipfit.on_demand import names_on_demand

if TYPE_CHECKING:
    from slipfit.logs.inspection.inspect import inspect_log, inspect_stamps

__all__ = ["Finding", "Inspection", "Severity", "inspect_log", "inspect_stamps"]

# Readers of logs classify poses by the signals that are defined here, and inspect nothing.
__getattr__ = names_on_demand(__name__, {"inspect_log": "inspect", "inspect_stamps": "inspect"})
