"""Drive logs."""

from slipfit.logs.drive_log import Channel, DriveLog

__all__ = ["Channel", "DriveLog"]
