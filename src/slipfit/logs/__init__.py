"""Drive logs: read from bags and CSV files, written back to them."""

from typing import TYPE_CHECKING

from slipfit.logs.drive_log import Channel, DriveLog
from slipfit.on_demand import names_on_demand

if TYPE_CHECKING:
    from slipfit.logs.bag_writer import write_bag1, write_bag2, write_mcap
    from slipfit.logs.column_map import ColumnMap
    from slipfit.logs.inspection import Finding, Inspection, Severity, inspect_log
    from slipfit.logs.join import join_logs
    from slipfit.logs.read import read_log

__all__ = [
    "Channel",
    "ColumnMap",
    "DriveLog",
    "Finding",
    "Inspection",
    "Severity",
    "inspect_log",
    "join_logs",
    "read_log",
    "write_bag1",
    "write_bag2",
    "write_mcap",
]

# Simulated drives hold a log, and neither read nor inspect one.
__getattr__ = names_on_demand(
    __name__,
    {
        "ColumnMap": "column_map",
        "Finding": "inspection",
        "Inspection": "inspection",
        "Severity": "inspection",
        "inspect_log": "inspection",
        "join_logs": "join",
        "read_log": "read",
        "write_bag1": "bag_writer",
        "write_bag2": "bag_writer",
        "write_mcap": "bag_writer",
    },
)
