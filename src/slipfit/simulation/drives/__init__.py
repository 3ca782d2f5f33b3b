"""One adapter for each drive type: what the engine asks of a vehicle (`engine.Vehicle`). A new one joins with a line."""

from slipfit.simulation.drives.differential import Differential
from slipfit.simulation.drives.omni import Omni
from slipfit.simulation.drives.skid_steer import SkidSteer
from slipfit.simulation.drives.tracked import Tracked
from slipfit.simulation.engine import Vehicle

#: Adapters by what a robot's `drive` says.
VEHICLES: dict[str, Vehicle] = {
    "skid_steer": SkidSteer(),
    "differential": Differential(),
    "omni": Omni(),
    "tracked": Tracked(),
}
