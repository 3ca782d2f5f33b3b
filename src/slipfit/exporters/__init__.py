"""Twins as text for simulators and controllers: pure functions, each with a ledger of what the target cannot say."""

from slipfit.exporters.check import Check, Finding, check_file, check_text
from slipfit.exporters.ledger import Entry, Ledger
from slipfit.exporters.patch import Patch, patch
from slipfit.exporters.record import Export, Settings
from slipfit.exporters.targets import TARGETS, Target, export, find_target

__all__ = [
    "TARGETS",
    "Check",
    "Entry",
    "Export",
    "Finding",
    "Ledger",
    "Patch",
    "Settings",
    "Target",
    "check_file",
    "check_text",
    "export",
    "find_target",
    "patch",
]
