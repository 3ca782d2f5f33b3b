"""Tracked robots for tests: the plain climber of the step oracle, and its slow climbs."""

import numpy as np

from slipfit.kernels import as_batch
from slipfit.library import TrackedRobot, find_tracked_robot
from slipfit.simulate import climb as climbs
from slipfit.simulate.climb_scenario import ClimbScenario
from slipfit.vehicles import track_verdict, tracked
from slipfit.vehicles.step_climb import ClimberShape

#: SPEC 5, PackBot geometry.
SHAPE = ClimberShape(0.089, 0.508, 0.254, 0.075)


def plain_climber(**changed):
    """packbot without cleats, flippers, belly and losses, with strong motors and hard contacts (dents below 0.1 mm)."""
    data = find_tracked_robot("packbot").to_mapping()
    for key in ("cleat_height_m", "cleat_share", "cleat_taper"):
        del data["tracks"][key]
    del data["flippers"], data["belly"]
    for key in ("belt_loss_share", "belt_loss_n_s_per_m", "belt_tension_n"):
        data["powertrain"][key] = 0.0
    data["powertrain"]["torque_limit_nm"] = 500.0
    # At 10 mm/s the library's gains would take seconds to build up the force that a wall needs.
    data["powertrain"]["speed_gain_n_s_per_m"], data["powertrain"]["integral_gain_n_per_m"] = 2e4, 1e5
    data["contact"]["contact_stiffness_n_per_m_p"] = 3e8
    for path, value in changed.items():
        part, key = path.split("__")
        data[part][key] = value
    return TrackedRobot.from_mapping(data, where="tests")


def slow_climb(height_m, edge_radius_m, *, step_s=1e-3, distance_m=0.005):
    return ClimbScenario(
        obstacle={"kind": "curb", "height_m": height_m, "edge_radius_m": edge_radius_m, "distance_m": distance_m},
        mu_static=1.0, speed_mps=0.01, ramp_s=0.2, duration_s=90.0, patience_s=4.0, step_s=step_s,
    )  # fmt: skip


def dropped(height_m):
    """Total energy (J) over time, every 10 ms, of the robot let go this far above level hard ground, nose a little up."""
    robot, scenario = plain_climber(), ClimbScenario(mu_static=0.8, speed_mps=0.0, duration_s=1.0)
    values, _ = climbs._varied(robot, scenario, {})
    one = as_batch(climbs._runs(robot, scenario, values, 1, 0.01, 100), 1)
    begin = one.begin._replace(z=one.begin.z + height_m, pitch_up=one.begin.pitch_up + 0.1)
    out, status = np.empty((1, 101, len(tracked.TRACK_COLUMNS))), np.empty(1)
    tracked.one_by_one(one._replace(begin=begin), 0, 1, 10, 10, 1e-3, out, status)
    return out[0, :, tracked.TRACK_COLUMNS.index("energy_j")]


def has_climbed(height_m, edge_radius_m, mu, *, nose_on_edge):
    """Which of the frictions suffice, climbing at 10 mm/s from level ground, or with the nose laid on the edge before."""
    robot, scenario, mu = plain_climber(), slow_climb(height_m, edge_radius_m), np.asarray(mu, dtype=float)
    values, n = climbs._varied(robot, scenario, {"mu_static": mu})
    hold = 10
    steps = round(scenario.duration_s / scenario.step_s)
    batch = as_batch(climbs._runs(robot, scenario, values, n, hold * scenario.step_s, steps // hold), n)
    if nose_on_edge:
        batch = batch._replace(begin=as_batch(_laid_on_edge(height_m, edge_radius_m, float(batch.rules.goal[0])), n))
    out, status = np.empty((n, 2, len(tracked.TRACK_COLUMNS))), np.empty(n)
    tracked.in_lanes(batch, 0, n, hold, steps, scenario.step_s, out, status)
    return status == track_verdict.CLIMBED


def _laid_on_edge(height, edge, goal):
    """Rear sprocket on the ground, the underside on the edge just behind the front axle."""
    radius, length, ahead, above = SHAPE
    touch = 0.98 * length
    low, high = 0.0, 1.5
    for _ in range(60):
        th = 0.5 * (low + high)
        is_low = touch * np.sin(th) + (radius + edge) * (1.0 - np.cos(th)) < height
        low, high = (th, high) if is_low else (low, th)
    # The edge's centre is where the underside touches, a radius further out; the rear axle follows from it.
    corner_xi = goal - 0.5 * radius  # centre of the edge, as the climb's goal counts
    rear_x = corner_xi - (touch * np.cos(th) + (radius + edge) * np.sin(th))
    x = rear_x + ahead * np.cos(th) - (above - radius) * np.sin(th)
    z = radius + ahead * np.sin(th) + (above - radius) * np.cos(th)
    return tracked.Begin(x, 0.0, z, th, 0.0, 0.0)


def friction_found(expected, height_m, edge_radius_m, *, nose_on_edge, within=0.08, count=16):
    """Friction at which climbing begins: middle of the bracket among `count` values around what is expected."""
    mu = expected * np.linspace(1.0 - within, 1.0 + within, count)
    climbed = has_climbed(height_m, edge_radius_m, mu, nose_on_edge=nose_on_edge)
    first = int(np.argmax(climbed))
    assert first > 0, f"no change between {mu[0]:.3f} and {mu[-1]:.3f}: {climbed}"
    assert climbed[first:].all(), f"more friction does not help: {climbed}"
    return 0.5 * (mu[first - 1] + mu[first])
