"""How far end poses at a 1 ms step lie from those at 20 µs: the table of docs/theory/stepping.md.

python benchmarks/accuracy.py
"""

import math

import numpy as np

from slipfit.contact import LAWS
from slipfit.library import Ground, Parameter, Robot, find_ground, find_robot
from slipfit.simulation import Command, Scenario, simulate
from slipfit.simulation.scenario import standard_drive
from slipfit.simulation.scenario_ground import ScenarioGround
from slipfit.simulation.showcase import COMMANDS

FINE_S, COARSE_S = 2e-5, 1e-3


def random_commands(profile: str) -> list[Command]:
    """Ten velocities up to ±1 m/s and ±1.5 rad/s, 2 s each."""
    draw = np.random.default_rng(5).uniform(-1.0, 1.0, (10, 2))
    return [Command(for_s=2.0, v_mps=v, yaw_rate_radps=1.5 * r, profile=profile) for v, r in draw.tolist()]


KINDS = {
    "ramps": [COMMANDS, random_commands("quintic")],
    "jumps": [standard_drive().commands, random_commands("step")],
}


def ground(law: str, **values: float) -> Ground:
    """A ground with a law's example constants, some replaced."""
    data = {"schema": Ground.kind(), "name": "example", "law": law, "parameters": dict(LAWS[law].example) | values}
    return Ground.from_mapping(data, where="example")


def strong(robot: Robot) -> Robot:
    drive = robot.powertrain.model_copy(update={"torque_limit_nm": Parameter("torque_limit_nm", 10.0)})
    return robot.model_copy(update={"powertrain": drive})


def end(robot: Robot, surface: Ground, commands: list[Command], slope_rad: float, step_s: float) -> np.ndarray:
    place = ScenarioGround(slope_rad=slope_rad, uphill_rad=0.6)
    drive = simulate(robot, Scenario(commands=commands, ground=place, step_s=step_s, record_s=0.1), ground=surface)
    return np.array([drive.x_m[-1], drive.y_m[-1], drive.heading_rad[-1]])


def main() -> None:
    p3at = find_robot("p3at")
    cases = [
        ("p3at", p3at, "wheel_slip, μ = 1", ground("wheel_slip", mu=1.0)),
        ("p3at", p3at, "viscous_slip (`lubricated`)", find_ground("lubricated")),
        ("p3at with 10 N m", strong(p3at), "wheel_slip, μ = 1", ground("wheel_slip", mu=1.0)),
        ("p3at with 10 N m", strong(p3at), "coulomb, μ = 0.3", ground("coulomb", mu_long=0.3, mu_lat=0.3)),
        ("p3at with 10 N m", strong(p3at), "coulomb, μ = 0.8", ground("coulomb")),
        ("p3at with 10 N m", strong(p3at), "magic_formula, μ = 0.8", ground("magic_formula")),
        ("lynxmotion_4wd3", find_robot("lynxmotion_4wd3"), "magic_formula (`rover_tyre`)", find_ground("rover_tyre")),
    ]
    print("| robot | law | ramps | jumps |\n|---|---|---|---|")
    for name, robot, law, surface in cases:
        cells = []
        for commands_of_kind in KINDS.values():
            worst = np.zeros(3)
            for commands in commands_of_kind:
                for slope in (0.0, math.radians(10.0)):
                    ends = [end(robot, surface, commands, slope, step) for step in (COARSE_S, FINE_S)]
                    worst = np.maximum(worst, np.abs(ends[0] - ends[1]))
            cells.append(f"{1e3 * math.hypot(worst[0], worst[1]):.1f} mm, {1e3 * worst[2]:.1f} mrad")
        print(f"| {name} | {law} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
