"""Record what the simulators do with the whole library, and compare two such recordings: one engine, the same numbers.

    python tools/compare_engines.py record OLD.npz                   in the old checkout
    python tools/compare_engines.py record NEW.npz --like OLD.npz    in the new one: the same cases and variations
    python tools/compare_engines.py compare OLD.npz NEW.npz          a table; exit code 1 where a goal is missed

A case is a robot of the library, a scenario of the library, and a ground: the scenario's own where the pair is
allowed, dry_sand for a few scenarios of skid-steer robots, ohio_paper for omnidirectional robots where the scenario's
surface is not for rollers. Twins with a fitted powertrain (lag, delay, dead band) are cases too. Each case is run

  once with nominal numbers: all columns, at most ROWS rows of them, and a digest of every row;
  RUNS times in one batch with 3 to 6 numbers varied by up to 10 %: the state after 1 s of motion, the end state, the outcome;
  once as `slipfit simulate --json` (JSON documents are compared number by number).

Whatever calls slipfit stands in "the old API" below, one small function each. After the change of the API only those differ;
cases, variations and twins come from the old recording (--like), so that no list of names has to agree.

No scenario is shortened. About 200 cases; compiling the kernels comes on top where they were never run on this machine.
"""

import argparse
import contextlib
import hashlib
import io
import json
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

#: Runs of a batch, and how far a number is varied; where a number so far off is refused, all of them come closer.
RUNS, SPREADS = 20, (0.1, 0.03, 0.01)

#: Rows of a nominal run that are kept, evenly spaced; the digest tells whether all others are the same bits too.
ROWS = 200

#: A robot moves from this speed on, m/s or rad/s of its body; the state is taken so much later, s.
MOVES_FROM, AFTER_S = 1e-3, 1.0

#: What issue 25 asks for: largest difference after 1 s of motion, and at the end.
GOAL_AFTER, GOAL_END = 1e-12, 1e-8

#: Scenarios on soil besides, and who drives them: commands by all (None), a route on a plane and a terrain by one robot each.
#: All robots on both would take eight minutes more, half a minute each; the code that differs is the same for all of them.
ON_SAND = {"step_and_spin": None, "serpentine_flat": "husky", "crater_rim": "jackal"}
SAND, ROLLERS = "dry_sand", "ohio_paper"

#: Columns of a state: pose, velocities, speeds of wheels or belts.
STATE = (
    "x_m", "y_m", "z_m", "heading_rad", "roll_rad", "pitch_rad", "qw", "qx", "qy", "qz", "vx_mps", "vy_mps", "vz_mps",
    "roll_rate_radps", "pitch_rate_radps", "yaw_rate_radps", "wheel_speed_radps", "belt_left_mps", "belt_right_mps",
)  # fmt: skip

#: Fitted powertrains of the twins, per side: what `sf.simulate` makes of lag, delay and dead band.
POWERTRAINS = {
    "lag": {"lag_s": 0.1, "delay_s": 0.2},
    "dead_band": {"lag_s": 0.05, "second_lag_s": 0.02, "dead_band_setpoint": 0.5, "saturation_radps": 8.0},
}
TWINS = ("p3at", "husky")


@dataclass(frozen=True)
class Case:
    """Who drives what, and where; `ground` is None for the scenario's own."""

    robot: str
    scenario: str
    ground: str | None = None

    @property
    def key(self) -> str:
        return "|".join((self.robot, self.scenario, self.ground or ""))


# --- the old API: all calls into slipfit --------------------------------------------------------------------------------------


def is_tracked(robot: str) -> bool:
    return robot in ("packbot", "maxxii")


def drive_many(robot: str, case: Case, vary: dict[str, np.ndarray]) -> list[tuple[dict[str, np.ndarray], str]]:
    """Columns by name and the outcome of each run; `robot` is a name, or a twin's file."""
    import slipfit as sf

    batch = sf.simulate_many(robot, case.scenario, vary, ground=case.ground)
    runs = [batch.run(i) for i in range(len(batch))]
    return [(dict(run.columns), outcome.name) for run, outcome in zip(runs, batch.outcomes, strict=True)]


def numbers_of(case: Case) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """What can be varied: nominal numbers and bounds by name. Only where a recording is made without --like."""
    from slipfit.simulation.run import resolve

    found = resolve(case.robot, case.scenario, case.ground)
    where = (found.robot, found.ground, found.scenario)
    return found.vehicle.numbers(*where), found.vehicle.bounds(*where)


def possible_cases() -> Iterator[Case]:
    """Every pair of the library that may be driven; those that are refused are sorted out by trying."""
    from slipfit.library import find_robot, robot_names
    from slipfit.simulation.scenario import scenario_names

    for robot in robot_names():
        for scenario in scenario_names():
            yield Case(robot, scenario)
            if is_tracked(robot):
                continue
            if find_robot(robot).drive == "omni":
                yield Case(robot, scenario, ROLLERS)
            elif scenario in ON_SAND and ON_SAND[scenario] in (None, robot):
                yield Case(robot, scenario, SAND)


def twin_file(robot: str, powertrain: dict[str, float], name: str) -> str:
    """A twin of a library robot with a fitted powertrain, as a file in the current folder."""
    from slipfit.library import find_robot

    found = {"status": "converged", "source": "known"}
    side = {key: {"value": value, **found} for key, value in powertrain.items()}
    side["setpoint_per_radps"] = {"value": 1.0, **found}
    slip = {"c_long": 0.005, "c_lat": 0.05, "mu": 0.8}
    data = {
        "schema": "slipfit/twin/1",
        "robot": find_robot(robot).to_mapping(),
        "grounds": {"floor": {"law": "wheel_slip", "parameters": {k: {"value": v, **found} for k, v in slip.items()}}},
        "powertrain": {"left": side, "right": side, "setpoint_unit": "radps"},
        "provenance": {"slipfit": "0.1.0", "made": "2026-11-15T20:00:00Z", "logs": []},
    }
    Path(f"{name}.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return f"{name}.yaml"


def command_json(robot: str, case: Case) -> str:
    """What `slipfit simulate --json` prints, or its refusal."""
    from slipfit.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    sys.argv = ["slipfit", "simulate", robot, "--scenario", case.scenario, "--json"]
    sys.argv += ["--ground", case.ground] if case.ground else []
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    return out.getvalue() or json.dumps({"exit": code, "error": err.getvalue()})


def refusal() -> type[Exception]:
    """What slipfit raises where a pair or a number is not allowed."""
    from slipfit import SlipfitError

    return SlipfitError


# --- recording ----------------------------------------------------------------------------------------------------------------


def moves_at(columns: dict[str, np.ndarray]) -> int:
    """The record 1 s after the robot began to move, or the last."""
    speeds = np.abs([columns[name] for name in ("vx_mps", "vy_mps", "yaw_rate_radps")]).max(axis=0)
    times, moving = columns["time_s"], np.flatnonzero(speeds > MOVES_FROM)
    begins_s = times[max(0, moving[0] - 1)] if len(moving) else 0.0
    return int(min(np.searchsorted(times, (begins_s + AFTER_S) * (1.0 - 1e-9)), len(times) - 1))


def state(columns: dict[str, np.ndarray], row: int) -> np.ndarray:
    return np.concatenate([np.atleast_1d(columns[name][row]) for name in STATE if name in columns])


def variation(case: Case, spread: float) -> dict[str, np.ndarray]:
    """Three to six numbers of a case, each of RUNS runs, from the case's own seed."""
    nominal, bounds = numbers_of(case)
    rng = np.random.default_rng(zlib.crc32(case.key.encode()))
    names = sorted(name for name, value in nominal.items() if np.ndim(value) == 0 and np.isfinite(value) and value)
    chosen = sorted(rng.choice(names, size=int(rng.integers(3, 7)), replace=False).tolist())
    found = {}
    for name in chosen:
        lower, upper = bounds.get(name, (-np.inf, np.inf))
        found[name] = np.clip(nominal[name] * (1.0 + spread * rng.uniform(-1.0, 1.0, RUNS)), lower, upper)
    return found


def recorded(robot: str, case: Case, old: dict[str, Any] | None) -> dict[str, Any] | None:
    """One case; None where it is refused. `old` is the same case of the recording to follow."""
    try:
        ((nominal, outcome),) = drive_many(robot, case, {})
    except refusal() as error:
        return None if old is None else {"refused": str(error)}
    row = moves_at(nominal)
    found: dict[str, Any] = {"outcome": outcome, "after_s": nominal["time_s"][row], "rows": len(nominal["time_s"])}
    some = np.unique(np.linspace(0, len(nominal["time_s"]) - 1, ROWS).round().astype(int))
    for name, column in nominal.items():
        found[f"column.{name}"] = column[some]
        found[f"digest.{name}"] = hashlib.sha256(np.ascontiguousarray(column).tobytes()).hexdigest()
    found["json"] = command_json(robot, case)
    if robot != case.robot:
        return found  # a twin
    for spread in SPREADS:
        vary = variation(case, spread) if old is None else {k[5:]: v for k, v in old.items() if k.startswith("vary.")}
        try:
            runs = drive_many(robot, case, vary)
            break
        except refusal() as error:
            if old is not None or spread == SPREADS[-1]:
                raise RuntimeError(f"{case.key}: the variation of {', '.join(vary)} is refused: {error}") from error
    found |= {f"vary.{name}": values for name, values in vary.items()}
    found["outcomes"] = [outcome for _, outcome in runs]
    found["after"] = np.array([state(columns, min(row, len(columns["time_s"]) - 1)) for columns, _ in runs])
    found["end"] = np.array([state(columns, -1) for columns, _ in runs])
    found["end_s"] = np.array([columns["time_s"][-1] for columns, _ in runs])
    return found


def record(path: Path, like: Path | None) -> None:
    began, old = time.perf_counter(), read(like) if like else None
    found: dict[str, Any] = {}
    path = path.absolute()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        twins = {f"twin_{r}_{n}": (r, p) for r in TWINS for n, p in POWERTRAINS.items()}
        for case in possible_cases() if old is None else (Case(*_parts(key)) for key in old):
            robot = case.robot
            if robot in twins:
                robot = twin_file(*twins[robot], robot)
            _record_case(found, robot, case, old)
        for name, (robot, powertrain) in twins.items() if old is None else ():
            file = twin_file(robot, powertrain, name)
            for scenario in ("step_and_spin", "serpentine_flat"):
                _record_case(found, file, Case(name, scenario), old)
    arrays = {f"{key}::{name}": np.asarray(value) for key, entries in found.items() for name, value in entries.items()}
    np.savez_compressed(path, **arrays)
    took = time.perf_counter() - began
    print(f"{len(found)} cases in {took:.0f} s, {path.stat().st_size / 1e6:.1f} MB: {path}")


def _record_case(found: dict[str, Any], robot: str, case: Case, old: dict[str, Any] | None) -> None:
    began = time.perf_counter()
    entries = recorded(robot, case, old[case.key] if old else None)
    if entries is not None:
        found[case.key] = entries
        took = time.perf_counter() - began
        print(f"{took:7.2f} s  {case.key}  {entries.get('outcome', 'refused')}", file=sys.stderr, flush=True)


def _parts(key: str) -> tuple[str, str, str | None]:
    robot, scenario, ground = key.split("|")
    return robot, scenario, ground or None


# --- comparing ----------------------------------------------------------------------------------------------------------------


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Entries by case."""
    found: dict[str, dict[str, Any]] = {}
    with np.load(path) as stored:
        for key, value in stored.items():
            case, name = key.split("::")
            found.setdefault(case, {})[name] = value
    return found


def _as_now(cases: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """A recording of the engines before there was one: columns of energy stood in two groups of their own."""
    grouped = re.compile(r"^(column|digest)\.(flows|stores)\.")
    return {key: {grouped.sub(r"\1.", name): value for name, value in entries.items()} for key, entries in cases.items()}


def difference(old: np.ndarray, new: np.ndarray) -> float:
    """The largest |a - b| / max(1, |a|): relative above 1, absolute below. Infinite where shapes or NaNs differ."""
    if old.shape != new.shape:
        return np.inf
    both = np.isnan(old) & np.isnan(new)
    gap = np.where(both | (old == new), 0.0, np.abs(old - new) / np.maximum(1.0, np.abs(old)))
    return float(np.nan_to_num(gap, nan=np.inf).max(initial=0.0))


def json_difference(old: Any, new: Any, where: str = "") -> list[tuple[float, str]]:
    """Differences of two documents, largest first: numbers by `difference`, everything else infinite. New keys are fine."""
    if isinstance(old, dict) and isinstance(new, dict):
        parts = [json_difference(old[k], new.get(k), f"{where}.{k}" if where else k) for k in old]
        return sorted((gap for part in parts for gap in part), reverse=True)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        parts = [json_difference(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(old, new, strict=True))]
        return sorted((gap for part in parts for gap in part), reverse=True)
    if isinstance(old, int | float) and isinstance(new, int | float):
        return [(difference(np.array(float(old)), np.array(float(new))), where)]
    return [(0.0 if old == new else np.inf, where)]


def compare(old_path: Path, new_path: Path) -> int:
    old, new = _as_now(read(old_path)), read(new_path)
    print("largest difference |a - b| / max(1, |a|) of pose, velocities and wheel or belt speeds; `all` of every nominal column")
    print(f"{'robot':<24}{'scenario':<28}{'ground':<12}{'after 1 s':>10}{'end':>10}{'all':>10}{'bits':>8}{'json':>10}  outcomes")
    missed = 0
    for key, was in old.items():
        robot, scenario, ground = key.split("|")
        if key not in new:
            print(f"{robot:<24}{scenario:<28}{ground:<12}  not in {new_path}")
            missed += 1
            continue
        now = new[key]
        if "refused" in now:
            print(f"{robot:<24}{scenario:<28}{ground:<12}  refused now: {now['refused']}")
            continue
        columns = [name for name in was if name.startswith("column.")]
        lost = [name[7:] for name in columns if name not in now]
        kept = [name for name in columns if name in now]
        whole = max((difference(was[name], now[name]) for name in kept), default=np.inf)
        digests = [name.replace("column.", "digest.", 1) for name in kept]
        bits = sum(str(was[name]) == str(now[name]) for name in digests)
        after, end = (difference(was[name], now[name]) if name in was else np.nan for name in ("after", "end"))
        same = str(was["outcome"]) == str(now["outcome"])
        if "outcomes" in was:
            same = same and was["outcomes"].tolist() == now["outcomes"].tolist() and difference(was["end_s"], now["end_s"]) < 1e-9
        gaps = json_difference(json.loads(str(was["json"])), json.loads(str(now["json"])))
        apart, where = gaps[0] if gaps else (0.0, "")
        is_good = same and not after > GOAL_AFTER and not end > GOAL_END and whole <= GOAL_END and apart <= GOAL_END and not lost
        missed += not is_good
        remarks = ["equal" if same else "DIFFERENT"]
        remarks += [f"columns gone: {', '.join(lost)}"] if lost else []
        remarks += [f"json: {where}"] if apart > GOAL_END else []
        print(
            f"{robot:<24}{scenario:<28}{ground:<12}{after:>10.1e}{end:>10.1e}{whole:>10.1e}{bits:>4}/{len(columns):<3}"
            f"{apart:>10.1e}  {'; '.join(remarks)}{'' if is_good else '  <-- goal missed'}"
        )
    more = [key for key in new if key not in old]
    print(f"{len(old)} cases, {missed} miss a goal ({GOAL_AFTER:g} after 1 s, {GOAL_END:g} at the end, outcomes equal)")
    if more:
        print(f"only in {new_path}: {', '.join(more)}")
    return 1 if missed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="drive everything and write down how it went")
    recording.add_argument("file", type=Path)
    recording.add_argument("--like", type=Path, help="take cases and variations from this recording")
    comparing = commands.add_parser("compare", help="print the differences of two recordings")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    given = parser.parse_args()
    if given.command == "record":
        record(given.file, given.like)
        return 0
    return compare(given.old, given.new)


if __name__ == "__main__":
    sys.exit(main())
