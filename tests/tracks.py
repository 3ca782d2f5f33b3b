"""Tracked robots for tests: the plain climber of the step oracle, and its slow climbs."""

import numpy as np
from scipy.optimize import brentq

from slipfit.kernels import Shared, as_batch
from slipfit.library import TrackedRobot, find_robot
from slipfit.simulation import Scenario
from slipfit.simulation import climb as climbs
from slipfit.vehicles import track_verdict, tracked
from slipfit.vehicles.step_climb import ClimberShape

#: SPEC 5, PackBot geometry.
SHAPE = ClimberShape(0.089, 0.508, 0.254, 0.075)


def plain_climber(**changed):
    """packbot without cleats, flippers, belly and losses, with strong motors and hard contacts (dents below 0.1 mm)."""
    data = find_robot("packbot").to_mapping()
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


def climb(**keys):
    """A drive of a tracked robot, by the flat keys of slipfit/climb/1: obstacle, soil, mu_static, speed_mps, duration_s, ..."""
    return Scenario.from_mapping({"schema": "slipfit/climb/1", **keys}, where="tests")


def slow_climb(height_m, edge_radius_m, *, step_s=1e-3, distance_m=0.005):
    return climb(
        obstacle={"kind": "curb", "height_m": height_m, "edge_radius_m": edge_radius_m, "distance_m": distance_m},
        mu_static=1.0, speed_mps=0.01, ramp_s=0.2, duration_s=90.0, patience_s=4.0, step_s=step_s,
    )  # fmt: skip


def mass_above_lowest_m(pitch_up_rad, roll_rad):
    """Height of the plain climber's centre of mass above the lowest place of its sprockets' rims."""
    radius, length, ahead, above = SHAPE
    up = (np.sin(pitch_up_rad), np.cos(pitch_up_rad) * np.sin(roll_rad), np.cos(pitch_up_rad) * np.cos(roll_rad))
    reach = radius * np.hypot(up[0], up[2])
    axles = [(x, y) for x in (-ahead, length - ahead) for y in (-0.17, 0.17)]
    return np.max([reach - up[0] * x - up[1] * y - up[2] * (radius - above) for x, y in axles], axis=0)


def dropped(mass_height_m, pitch_up_rad, roll_rad, *, are_belts_held=True, mu=0.8):
    """Total energy (J) after each step of 1 ms for 1 s, a row per drop: the robot let go with its mass this far above level hard
    ground. NaN once it has tipped over. Belts are held by their loops, told to stand still, or have motors without torque."""
    n, steps, step_s = len(mass_height_m), 1000, 1e-3
    robot, scenario = plain_climber(), climb(mu_static=mu, speed_mps=0.0, duration_s=step_s * steps)
    values, _ = climbs.varied_numbers(robot, scenario, {"mu_static": np.full(n, mu)})
    runs = climbs.climb_runs(robot, scenario, values, n, step_s, steps)
    begin = runs.begin._replace(z=np.asarray(mass_height_m), pitch_up=np.asarray(pitch_up_rad), roll=np.asarray(roll_rad))
    belt = runs.belt if are_belts_held else runs.belt._replace(kp=0.0, ki=0.0)
    runs = as_batch(runs._replace(begin=begin, belt=belt), n)
    out, status = np.empty((n, steps + 1, len(tracked.TRACK_COLUMNS))), np.empty(n)
    tracked.in_lanes(runs, 0, n, 1, 1, step_s, out, status)
    energy, verdict, *speeds = (
        out[..., tracked.TRACK_COLUMNS.index(name)] for name in ("energy_j", "verdict", "belt_left_mps", "belt_right_mps")
    )
    if are_belts_held:
        energy = energy + sum(_stored_by_loop(belt, speed, step_s) for speed in speeds)
    return np.where((verdict == track_verdict.RUNNING) | (verdict == track_verdict.TIMED_OUT), energy, np.nan)


def track_step_s(scenario):
    """Of a scenario that no drive type has filled in."""
    return scenario.in_steps_of(0.0005, 0.02).time_step_s


def driven(robot, scenario, vary=None, *, seconds=None, alone=False, begin=None):
    """Records after each step of climbs that are not looked at beforehand (a start inside the ground is not refused), and their
    verdicts; side by side, or each by itself. `begin` has fields to replace."""
    values, n = climbs.varied_numbers(robot, scenario, vary or {})
    steps, hold = round((seconds or scenario.duration_s) / track_step_s(scenario)), 10
    runs = climbs.climb_runs(robot, scenario, values, n, hold * track_step_s(scenario), steps // hold + 1)
    # A record after each step asks for a command for each step.
    share = np.repeat(runs.told.share.array, hold)
    runs = runs._replace(told=runs.told._replace(share=Shared(share)), begin=runs.begin._replace(**(begin or {})))
    out, status = np.empty((n, steps + 1, len(tracked.TRACK_COLUMNS))), np.empty(n)
    kernel = tracked.one_by_one if alone else tracked.in_lanes
    kernel(as_batch(runs, n), 0, n, 1, 1, track_step_s(scenario), out, status)
    return out, status


def gained_beyond_motors(records, step_s):
    """What each step adds to the energy of robots beyond the work of their motors (J), a row per run; 0 after the verdict."""
    energy, verdict, *drives = (
        records[..., tracked.TRACK_COLUMNS.index(name)]
        for name in ("energy_j", "verdict", "drive_left_n", "drive_right_n", "belt_left_mps", "belt_right_mps")
    )
    work = step_s * (drives[0] * drives[2] + drives[1] * drives[3])
    return np.where(verdict[:, :-1] == track_verdict.RUNNING, np.diff(energy, axis=1) - work[:, 1:], 0.0)


def _stored_by_loop(belt, speed_mps, step_s):
    """What the integral I of a loop that is told to stand still stores, I^2 / (2 ki): it is a spring. At the limit it rests."""
    push, stored = np.zeros(len(speed_mps)), np.zeros_like(speed_mps)
    for k in range(1, speed_mps.shape[1]):
        is_free = np.abs(push - belt.kp * speed_mps[:, k]) < belt.limit
        push = np.where(is_free, push - belt.ki * step_s * speed_mps[:, k], push)
        stored[:, k] = push**2 / (2.0 * belt.ki)
    return stored


def has_climbed(height_m, edge_radius_m, mu, *, nose_on_edge):
    """Which of the frictions suffice, climbing at 10 mm/s from level ground, or with the nose laid on the edge before."""
    robot, scenario, mu = plain_climber(), slow_climb(height_m, edge_radius_m), np.asarray(mu, dtype=float)
    values, n = climbs.varied_numbers(robot, scenario, {"mu_static": mu})
    hold = 10
    steps = round(scenario.duration_s / track_step_s(scenario))
    batch = as_batch(climbs.climb_runs(robot, scenario, values, n, hold * track_step_s(scenario), steps // hold), n)
    if nose_on_edge:
        batch = batch._replace(begin=as_batch(_laid_on_edge(height_m, edge_radius_m, float(batch.rules.goal[0])), n))
    out, status = np.empty((n, 2, len(tracked.TRACK_COLUMNS))), np.empty(n)
    tracked.in_lanes(batch, 0, n, hold, steps, track_step_s(scenario), out, status)
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


def own_rest_m(cleats_m=0.0, share=0.0, layer_m=1.0):
    """Sinkage of 311.66 N on two belts of 36 segments in dry sand: 12 flat ones of 42.3 mm, and those halves of the sprockets'
    arcs' segments, each 15 degrees of 89 mm, that are deep enough; p = k z^n along each one's normal, cleats deeper by their
    height, the rigid base below the layer upwards with 1e9 Pa/m. SPEC 5(a), its root by brentq."""
    k, angles = 1e3 * (0.99 / 0.07 + 1528.43), np.radians(np.arange(7.5, 90.0, 15.0))

    upward = np.concatenate([[1.0], np.cos(angles)])
    area = 2.0 * 0.07 * np.concatenate([[0.508], np.full(len(angles), 2.0 * 0.089 * np.pi / 12.0)])

    def pressure(z):
        return upward * k * np.maximum(z, 0.0) ** 1.1 + 1e9 * np.maximum(z - layer_m, 0.0)

    def carried(z):
        depth = np.concatenate([[z], z - 0.089 * (1.0 - np.cos(angles))])
        return np.sum(area * ((1.0 - share) * pressure(depth) + share * pressure(depth + cleats_m)))

    return brentq(lambda z: carried(z) - 31.77 * 9.81, -cleats_m, 0.02, xtol=1e-14)
