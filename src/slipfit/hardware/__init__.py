"""Serial motor controllers, real and simulated: plans in engineering units go out, drive logs come back."""

from slipfit.hardware.clock import Clock
from slipfit.hardware.controller import Controller
from slipfit.hardware.plan import DrivePlan
from slipfit.hardware.port import Port, open_port
from slipfit.hardware.record import Drive, Ending
from slipfit.hardware.run import SIM, Settings, drive, foreseen_effect, prepare
from slipfit.hardware.simulated import SimulatedController, SimulatedPort
from slipfit.hardware.simulated_motors import Motors, SideMotor

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
