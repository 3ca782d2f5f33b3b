"""A run in a few lines, made of what was recorded."""

import numpy as np

from slipfit.simulation.outcome import Outcome
from slipfit.simulation.quantities import GRIP_WINDOW_S, Quantities


def summary_of(t: Quantities) -> str:
    """Lines for people: of a tracked robot's run; or of a drive on wheels, with route, slip and energy where it has them."""
    if t.has_tracks:
        rows, notes = _tracked_rows(t), t.notes
    else:
        rows, notes = _wheeled_rows(t), t.notes if t.has_failed_at_once else t.all_notes
    return "\n".join([*rows, *(f"  note     {note}" for note in notes)])


def _tracked_rows(t: Quantities) -> list[str]:
    heading = t.heading_rad
    ahead = np.cos(heading[0]) * (t.x_m[-1] - t.x_m[0]) + np.sin(heading[0]) * (t.y_m[-1] - t.y_m[0])
    up = t["z_m"][-1] - t["z_m"][0]
    margin = "" if t.margin is None else f", margin {t.margin:+.3f}"
    rows = [
        f"{t.robot}, {t.scenario}",
        f"  verdict  {t.outcome.value} ({t.stopped_at_s:.2f} s{margin})",
        f"  place    {ahead:z.3f} m ahead, {up:+z.3f} m up, heading {np.degrees(heading[-1]):z.1f}°",
        f"  nose     up to {np.degrees(t.pitch_up_rad.max()):.1f}° up",
    ]
    if np.nanmax(t["deepest_m"]) > 0.0:
        rows.append(f"  sinkage  up to {1e3 * t['deepest_m'].max():.1f} mm")
    rows.append(f"  drive    up to {np.abs([t['drive_left_n'], t['drive_right_n']]).max():.0f} N on a belt")
    return rows


def _wheeled_rows(t: Quantities) -> list[str]:
    turned = float(t.heading_rad[-1] - t.heading_rad[0])
    asked = f" of {np.degrees(t.commanded_turn_rad):z.1f}° commanded" if np.isfinite(t.commanded_turn_rad) else ""
    slope = f" at {np.degrees(t.slope_rad):.3g}°" if t.slope_rad else ""
    first = (
        f"{t.robot} on {t.ground}{slope}: {t.time_s[-1]:.4g} s, {t.distance_m:.3f} m, turned {np.degrees(turned):z.1f}°{asked}"
    )
    rows = [first, *_outcome_rows(t)]
    if t.has_failed_at_once:
        return rows
    rows += _motion_rows(t) + _wheel_rows(t)
    return rows + _balance_rows(t) if t.has_energy_balance else rows


def _outcome_rows(t: Quantities) -> list[str]:
    """How it ended, if not as it should."""
    when = f" It happened at {t.stopped_at_s:.3f} s." if np.isfinite(t.stopped_at_s) else ""
    return [] if t.outcome.is_success else [f"  status   {t.outcome.value}{when}"]


def _motion_rows(t: Quantities) -> list[str]:
    return [
        f"  end      x {t.x_m[-1]:z.4f} m  y {t.y_m[-1]:z.4f} m  heading {np.degrees(t.heading_rad[-1]):z.2f}°",
        f"  speed    {t['vx_mps'].min():z.3f} to {t['vx_mps'].max():z.3f} m/s ahead, {np.abs(t['vy_mps']).max():.3f} m/s "
        f"sideways, {np.abs(t['yaw_rate_radps']).max():.3f} rad/s at most",
    ]


def _wheel_rows(t: Quantities) -> list[str]:
    share, names = t.largest_grip_used, t.wheel_names
    grip = f"{share:.3f} of the load used (|F|/N, kept for {GRIP_WINDOW_S:g} s)" if np.isfinite(share) else "unknown"
    lifted = ", ".join(f"{names[w]} at {when:.2f} s" for w, when in t.lifted_wheels.items())
    stayed = "all on the ground throughout" if np.isfinite(t["load_n"]).all() else "unknown"
    rows = [f"  grip     {grip}", f"  wheels   left the ground: {lifted}" if lifted else f"  wheels   {stayed}"]
    if t.at_effort_limit_s > 0.0:
        rows.append(
            f"  drive    at its torque limit of {t.effort_limit:g} N m for {t.at_effort_limit_s:.3g} s of "
            f"{t.time_s[-1]:.3g} s: the wheels did not follow their commands then"
        )
    return rows


def _balance_rows(t: Quantities) -> list[str]:
    """What drives with an energy balance show besides."""
    rows = []
    if t.waypoints_m:
        rows.append(f"  route    {_reached(t)}, at most {t.largest_cross_track_m:.3f} m beside the path")
    tilt = np.degrees([np.abs(t["roll_rad"]).max(), np.abs(t["pitch_rad"]).max(), t.smallest_tip_over_margin_rad])
    if t.shape == "terrain":
        rows.append(f"  tilt     roll up to {tilt[0]:.1f}°, pitch up to {tilt[1]:.1f}°")
    rows.append(f"  tip-over {tilt[2]:.1f}° left at the least")
    slip, angle = np.quantile(np.abs(t.slip), (0.5, 0.95)), np.degrees(np.quantile(np.abs(t.slip_angle_rad), 0.95))
    rows.append(f"  slip     median {slip[0]:.3f}, 95 % of the time below {slip[1]:.3f}; slip angle below {angle:.1f}°")
    if t.is_on_soil:
        middle, deepest = 1e3 * np.median(t["sinkage_m"]), 1e3 * t["sinkage_m"].max()
        rows.append(f"  sinkage  median {middle:.1f} mm, at most {deepest:.1f} mm")
    return [*rows, t.energy.summary()]


def _reached(t: Quantities) -> str:
    if t.outcome is Outcome.ARRIVED:
        return f"all {len(t.waypoints_m)} waypoints reached after {t.arrived_at_s:.2f} s"
    return f"{int(t['waypoint'][-1])} of {len(t.waypoints_m)} waypoints reached"
