"""Serial motor controllers, real and simulated: plans in engineering units go out, drive logs come back."""

from slipfit.drive.clock import Clock
from slipfit.drive.controller import Controller
from slipfit.drive.plan import DrivePlan
from slipfit.drive.port import Port, open_port
from slipfit.drive.record import Drive, Ending
from slipfit.drive.run import SIM, Settings, drive, foreseen_effect, prepare
from slipfit.drive.simulated import SimulatedController, SimulatedPort
from slipfit.drive.simulated_motors import Motors, SideMotor

__all__ = [
    "SIM",
    "Clock",
    "Controller",
    "Drive",
    "DrivePlan",
    "Ending",
    "Motors",
    "Port",
    "Settings",
    "SideMotor",
    "SimulatedController",
    "SimulatedPort",
    "drive",
    "foreseen_effect",
    "open_port",
    "prepare",
]
