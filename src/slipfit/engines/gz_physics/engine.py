"""The engine `gz-physics`: prepares the job, calls the runner, reads its record."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from slipfit.engines.engine_run import BODY_COLUMNS, WHEEL_COLUMNS, EngineRun, rotations, row_width
from slipfit.engines.gz_physics import build
from slipfit.engines.gz_physics.world import world_text
from slipfit.engines.rigid_parts import measures_of
from slipfit.engines.sdf_model import SdfModel, Wheel, read_sdf
from slipfit.engines.settings import DEFAULT_STEP_S, Settings, WheelCommands
from slipfit.engines.stepping import check_wheels
from slipfit.errors import SimulationError

#: The runner takes some 0.2 ms for a step; hundred times that, and a minute for the start, means that it hangs.
_START_LIMIT_S, _STEP_LIMIT_S = 60.0, 0.02


class GzPhysics:
    """gz-physics 5 with the dartsim plugin. DART's contacts are rigid: kp, kd and iterations do not act."""

    name = "gz-physics"
    reads = ".sdf"

    def problem(self) -> str:
        """Why it cannot run here and what to do, or nothing. The runner is built at its first run."""
        return build.missing()

    def version(self) -> str:
        return build.runner()[1]

    def run(self, path: Path | str, commands: WheelCommands, settings: Settings | None = None) -> EngineRun:
        """Drive a model of an SDF file."""
        model = read_sdf(path)
        wheels = model.wheels
        check_wheels(commands, len(wheels), model.name)
        given = settings or Settings()
        used = Settings(
            step_s=given.step_s or model.step_s or DEFAULT_STEP_S,
            gravity_mps2=given.gravity_mps2 or model.gravity_mps2,
            heading_rad=given.heading_rad,
            settle_s=given.settle_s,
        )
        notes = list(model.notes)
        if (given.iterations, given.kp_n_per_m, given.kd_ns_per_m) != (None, None, None):
            notes.append("kp, kd and iterations do not act in gz-physics: DART's contacts are rigid and solved directly")
        program, version = build.runner()
        step_s = float(used.step_s or DEFAULT_STEP_S)
        table = commands.at_steps(step_s) * np.array([wheel.forward for wheel in wheels])
        with tempfile.TemporaryDirectory(prefix="slipfit-gz-") as folder:
            rows = _call(program, Path(folder), model, wheels, table, used, step_s)
        return EngineRun.from_rows(
            _in_wheel_axes(rows, model, wheels),
            step_s=step_s,
            engine=version,
            settings=used,
            notes=tuple(notes),
            **measures_of(model),
        )


def _wheel_line(wheel: Wheel) -> str:
    """A wheel as the runner reads it: compliance for each rad/s of joint speed."""
    slip = wheel.slip
    if slip is None:
        return f"wheel {wheel.joint.name} {wheel.link.name} 0 0 0"
    per_compliance = (slip.radius_m or wheel.radius_m) / slip.normal_force_n
    along, across = per_compliance * slip.compliance_longitudinal, per_compliance * slip.compliance_lateral
    return f"wheel {wheel.joint.name} {wheel.link.name} 1 {across!r} {along!r}"


def _call(
    program: Path, folder: Path, model: SdfModel, wheels: tuple[Wheel, ...], table: np.ndarray, used: Settings, step_s: float
) -> np.ndarray:
    blank = next((name for wheel in wheels for name in (wheel.joint.name, wheel.link.name) if len(name.split()) != 1), None)
    if blank is not None:
        raise SimulationError(f"{model.where}: '{blank}' has blanks; gz-physics needs names of wheels and joints without")
    world, commands, record, job = (folder / name for name in ("world.sdf", "commands.bin", "record.bin", "job.txt"))
    settle = max(1, round(used.settle_s / step_s))
    assert used.gravity_mps2 is not None
    world.write_text(world_text(model, used.gravity_mps2, step_s, used.heading_rad), encoding="utf-8")
    np.ascontiguousarray(table, dtype=np.float64).tofile(commands)
    lines = [
        f"world {world}",
        f"model {model.name}",
        f"base {model.base.name}",
        f"step {step_s!r}",
        f"settle {settle}",
        f"steps {len(table)}",
        f"commands {commands}",
        f"record {record}",
        *(_wheel_line(wheel) for wheel in wheels),
    ]
    job.write_text("\n".join(lines) + "\n", encoding="utf-8")
    limit_s = _START_LIMIT_S + _STEP_LIMIT_S * (len(table) + settle)
    try:
        done = subprocess.run([program, job], capture_output=True, text=True, timeout=limit_s, check=False, errors="replace")
    except subprocess.TimeoutExpired:
        raise SimulationError(
            f"gz-physics: the runner did not finish within {limit_s:.0f} s; try fewer or larger steps"
        ) from None
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise SimulationError(f"{model.where}: gz-physics stopped: {said[:500]}")
    rows = np.fromfile(record, dtype=np.float64)
    width = row_width(len(wheels))
    if rows.size != width * (len(table) + 1):
        raise SimulationError(f"{model.where}: gz-physics wrote {rows.size} numbers; expected {len(table) + 1} rows of {width}")
    return rows.reshape(-1, width)


def _in_wheel_axes(rows: np.ndarray, model: SdfModel, wheels: tuple[Wheel, ...]) -> np.ndarray:
    """Forces in the world's axes become normal, along the heading, across; angles and speeds positive forward."""
    out = rows.copy()
    turn = rotations(rows[:, 3:7])
    first, width = len(BODY_COLUMNS), len(WHEEL_COLUMNS)
    for k, wheel in enumerate(wheels):
        at = first + k * width
        axle = turn @ (wheel.forward * model.base.frame.rotation.T @ wheel.joint.axis)
        level = axle[:, :2] / np.linalg.norm(axle[:, :2], axis=1, keepdims=True)
        fx, fy, fz = rows[:, at + 4 : at + 7].T
        out[:, at : at + 2] *= wheel.forward
        out[:, at + 4] = fz
        out[:, at + 5] = fx * level[:, 1] - fy * level[:, 0]
        out[:, at + 6] = fx * level[:, 0] + fy * level[:, 1]
    return out
