"""Fill the kernel cache: `warm_up.py K N` compiles every Nth kernel that the tests run, from the Kth on."""

import sys

from robots import ground_with
from slipfit.contact import LAWS
from slipfit.library import find_any_robot, find_tracked_robot
from slipfit.simulate import Scenario, simulate
from slipfit.simulate.climb import climb_many
from slipfit.simulate.climb_scenario import find_climb
from slipfit.simulate.scenario import find_scenario
from tracks import driven

NOTHING = Scenario(commands=[{"for_s": 0.001, "v_mps": 0.0}], record_s=0.001)

JOBS = [("p3at", law) for law in LAWS] + [("lynxmotion_4wd3", "magic_formula")]
JOBS += [("ohio_omni", "arctan"), ("ohio_omni", "arctan_ellipse"), ("robotino", "arctan"), ("optiodom_mecanum", "arctan")]


#: Drives with books: by voltages and by waypoints, on a plane and over a terrain.
ROVERS = ["crater_rim", "bump_3cm", "serpentine_flat", "rover_voltages"]

#: Robots on soil: motors, and speed loops.
ON_SOIL = ["lynxmotion_4wd3", "husky"]

#: A climb over a terrain.
OVER_TERRAIN = {"mu_static": 0.8, "obstacle": {"kind": "field", "terrain": "bump_3cm", "run_m": 0.5}, "duration_s": 0.01}


if __name__ == "__main__":
    first, every = map(int, sys.argv[1:])
    for robot, law in JOBS[first::every]:
        simulate(find_any_robot(robot), NOTHING, ground=ground_with(law))
    for name in ROVERS[first::every]:
        simulate("lynxmotion_4wd3", find_scenario(name))
    for robot in ON_SOIL[first::every]:
        simulate(robot, NOTHING, ground="dry_sand")
    if first == 1 % every:
        climb_many("packbot", "curb_117mm", {}, ends_only=True)
        driven(find_tracked_robot("packbot"), find_climb("curb_117mm"), seconds=0.001, alone=True)
    if first == 0:
        climb_many("packbot", OVER_TERRAIN, {})
