"""Real physics engines that run an exported twin: ODE, MuJoCo, gz-physics.

run = find_engine("ode").run("p3at.gz.sdf", WheelCommands.held([4.5] * 4, for_s=2.0))
print(run.summary())
log = read_run(run, sensors, seed=1)
"""

from slipfit.engines.engine_run import EngineRun as EngineRun
from slipfit.engines.engine_run import Finding as Finding
from slipfit.engines.readings import read_run as read_run
from slipfit.engines.registry import ENGINES as ENGINES
from slipfit.engines.registry import Availability as Availability
from slipfit.engines.registry import Engine as Engine
from slipfit.engines.registry import available as available
from slipfit.engines.registry import engine_names as engine_names
from slipfit.engines.registry import find_engine as find_engine
from slipfit.engines.settings import Settings as Settings
from slipfit.engines.settings import WheelCommands as WheelCommands
