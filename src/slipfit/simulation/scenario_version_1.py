"""Files of version 1, of which there were two kinds: slipfit/scenario/1 for robots on wheels, whose keys version 2 still has, and
slipfit/climb/1 for tracked robots. What a file of version 1 holds becomes what one of version 2 holds, before it is validated.
"""

from collections.abc import Mapping
from typing import Any

from slipfit.errors import ParameterError
from slipfit.library.files import nearest

_SCENARIO, _CLIMB, _NOW = "slipfit/scenario/1", "slipfit/climb/1", "slipfit/scenario/2"

#: Defaults of climbs that version 2 has no word for, or another default.
_SPEED_MPS, _RAMP_S, _DURATION_S, _RUN_M, _GRAVITY_MPS2 = 0.3, 0.5, 9.0, 0.28, 9.81

#: Keys of a climb that are now those of the ground, and of an obstacle that were for terrains.
_GROUND = ("surface", "mu_static", "mu_dynamic", "fading_speed_mps", "soil", "soil_depth_m", "gravity_mps2")
_FIELD = ("terrain", "start_m", "heading_rad")
_CLIMB_KEYS = {
    "schema", "about", *_GROUND, "obstacle", "speed_mps", "yaw_rate_radps", "ramp_s", "starts_rolling", "flipper_angle_rad",
    "duration_s", "patience_s", "step_s", "record_s",
}  # fmt: skip
_OBSTACLE_KEYS = {"kind", "height_m", "edge_radius_m", "yaw_rad", "grip", "distance_m", "steps", "run_m", "slope_rad", *_FIELD}


def in_version_2(data: Any, *, where: str) -> Any:
    """The same drive as version 2 writes it; whatever is of no earlier version stays as it is."""
    kind = data.get("schema") if isinstance(data, Mapping) else None
    if kind == _SCENARIO:
        return {**data, "schema": _NOW}
    return _from_climb(dict(data), where) if kind == _CLIMB else data


def _from_climb(climb: dict[str, Any], where: str) -> dict[str, Any]:
    _check_keys(climb, _CLIMB_KEYS, "", where)
    given = climb.get("obstacle", {})
    if not isinstance(given, Mapping):
        return {"schema": _NOW, "ground": {"shape": "obstacle", "obstacle": given}}  # whose validation says what is wrong
    obstacle = dict(given)
    _check_keys(obstacle, _OBSTACLE_KEYS, "obstacle.", where)
    kind = obstacle.get("kind", "none")
    ground = {key: climb[key] for key in _GROUND if climb.get(key) is not None}
    ground.setdefault("gravity_mps2", _GRAVITY_MPS2)  # of a climb, whatever its surface's file says
    start = {"rolling": climb["starts_rolling"]} if climb.get("starts_rolling") else {}
    start |= {"flipper_angle_rad": climb["flipper_angle_rad"]} if climb.get("flipper_angle_rad") is not None else {}
    if kind == "field":
        if climb.get("yaw_rate_radps", 0.0):
            raise ParameterError(
                f"{where}: yaw_rate_radps = {climb['yaw_rate_radps']} on a terrain cannot be converted from {_CLIMB}, its path "
                f"is no straight drive; write a {_NOW} with `straight: {{speed_mps, distance_m}}`, or with `commands:` on a plane"
            )
        ground |= {"shape": "terrain", "terrain": obstacle.get("terrain")}
        start |= _start_on_terrain(obstacle)
    elif kind != "none":
        stray = next((key for key in _FIELD if obstacle.get(key) is not None), None)
        if stray:
            raise ParameterError(
                f"{where}: obstacle.{stray} belongs to terrains, and its kind is {kind}; write a {_NOW} with `ground: {{shape: "
                f"terrain}}`, or leave it out"
            )
        ground |= {"shape": "obstacle", "obstacle": obstacle}
    found: dict[str, Any] = {"schema": _NOW} | {key: climb[key] for key in ("about", "step_s", "record_s") if key in climb}
    if start:
        found["start"] = start
    return found | {"ground": ground} | _task(climb, kind, obstacle)


def _start_on_terrain(obstacle: dict[str, Any]) -> dict[str, Any]:
    at = obstacle.get("start_m", [0.0, 0.0])
    start: dict[str, Any] = dict(zip(("x_m", "y_m"), at, strict=False)) if isinstance(at, list | tuple) else {"x_m": at}
    if "heading_rad" in obstacle:
        start["heading_rad"] = obstacle["heading_rad"]
    return start


def _task(climb: dict[str, Any], kind: Any, obstacle: dict[str, Any]) -> dict[str, Any]:
    """A straight drive to the goal; where there is none, or the robot turns, one command."""
    duration_s, stop = climb.get("duration_s", _DURATION_S), {key: climb[key] for key in ("patience_s",) if key in climb}
    speed, turn, ramp_s = (
        climb.get(key, default) for key, default in (("speed_mps", _SPEED_MPS), ("yaw_rate_radps", 0.0), ("ramp_s", _RAMP_S))
    )
    if kind == "none" or turn:
        command = {"for_s": duration_s, "v_mps": speed, "yaw_rate_radps": turn}
        return {"commands": [command | _ramp(ramp_s, duration_s, command)]} | ({"stop": stop} if stop else {})
    straight = {"speed_mps": speed, "ramp_s": ramp_s}
    straight |= {"distance_m": obstacle.get("run_m", _RUN_M)} if kind == "field" else {}
    return {"straight": straight, "stop": {"after_s": duration_s, **stop}}


def _ramp(ramp_s: Any, duration_s: Any, command: dict[str, Any]) -> dict[str, Any]:
    """A linear ramp. One that the drive ends before was of lower speeds that are reached at the end."""
    if isinstance(ramp_s, int | float) and isinstance(duration_s, int | float) and ramp_s > duration_s > 0.0:
        share = duration_s / ramp_s
        lower = {key: share * command[key] for key in ("v_mps", "yaw_rate_radps") if isinstance(command[key], int | float)}
        return {"profile": "linear", "ramp_s": duration_s} | lower
    return {"profile": "linear", "ramp_s": ramp_s} if ramp_s else {"profile": "step"}


def _check_keys(found: Mapping[str, Any], known: set[str], within: str, where: str) -> None:
    for key in found:
        if key not in known:
            raise ParameterError(f"{where}: unknown key '{within}{key}' of {_CLIMB}; {nearest(str(key), known)}")
