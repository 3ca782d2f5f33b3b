"""Drive logs: read from bags and CSV files, written back to them."""

from slipfit.logs.bag_writer import write_bag1, write_bag2, write_mcap
from slipfit.logs.column_map import ColumnMap
from slipfit.logs.drive_log import Channel, DriveLog
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
