"""MuJoCo with a model that slipfit exported (MJCF) and the updater script that lies beside it.

The model names its wheels: contact pairs `slip_<wheel>`, joints `<wheel>_wheel_joint`, one velocity servo per joint. The
script `<model>_updater.py` has a class `SlipUpdater(model)` with `step(data)`, which sets the contacts' damping from the
wheels' speeds and then steps. It is run as it stands: load models of yours only.
"""

import runpy
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.engines.engine_run import BODY_COLUMNS, WHEEL_COLUMNS, EngineRun, rotations
from slipfit.engines.sdf_xml import read_xml
from slipfit.engines.settings import Settings, WheelCommands
from slipfit.engines.stepping import check_wheels, drive
from slipfit.errors import SimulationError
from slipfit.library.files import module_name

INSTALL = 'pip install "slipfit[engines]", or pip install mujoco'

_PAIR, _JOINT = "slip_", "_wheel_joint"


class MuJoCo:
    """The engine `mujoco`. Its contacts follow the file: kp and kd do not act."""

    name = "mujoco"
    reads = ".xml"

    def problem(self) -> str:
        """Why it cannot run here and what to do, or nothing."""
        return "" if find_spec("mujoco") else f"MuJoCo: the Python package mujoco is not installed; install it with: {INSTALL}"

    def version(self) -> str:
        self._check()
        import mujoco

        return f"MuJoCo {mujoco.__version__}"

    def _check(self) -> None:
        if sentence := self.problem():
            raise SimulationError(sentence)

    def run(self, path: Path | str, commands: WheelCommands, settings: Settings | None = None) -> EngineRun:
        """Drive a model of an MJCF file."""
        self._check()
        import mujoco

        path, given = Path(path), settings or Settings()
        stepper = MuJoCoStepper(path, given)
        check_wheels(commands, len(stepper.wheels), path.name)
        notes = list(stepper.notes)
        if (given.kp_n_per_m, given.kd_ns_per_m) != (None, None):
            notes.append("kp and kd do not act in MuJoCo: the file's solref and solimp say how stiff contacts are")
        said: list[str] = []
        mujoco.set_mju_user_warning(said.append)  # else MuJoCo writes a log file into the user's folder
        try:
            rows = _with_world_rates(drive(stepper, commands, given.settle_s))
        finally:
            mujoco.set_mju_user_warning(None)
        notes += [f"MuJoCo says: {text.splitlines()[0]}" for text in sorted(set(said))[:3]]
        option = stepper.model.opt
        used = Settings(
            step_s=stepper.step_s,
            iterations=int(option.iterations),
            gravity_mps2=(float(option.gravity[0]), float(option.gravity[1]), float(option.gravity[2])),
            heading_rad=given.heading_rad,
            settle_s=given.settle_s,
        )
        return EngineRun.from_rows(
            rows,
            step_s=stepper.step_s,
            engine=self.version(),
            model=stepper.name,
            settings=used,
            wheels_at_m=stepper.wheels_at_m,
            wheel_radius_m=stepper.radius_m,
            centre_of_mass_m=stepper.centre_of_mass_m,
            notes=tuple(notes),
        )


def updater_beside(path: Path) -> Path:
    """Where the updater of a model lies: p3at.xml has p3at_updater.py, my-robot.xml my_robot_updater.py."""
    return path.with_name(f"{module_name(path.stem)}_updater.py")


def _with_world_rates(rows: np.ndarray) -> np.ndarray:
    """MuJoCo tells the turning rate in the body's axes; records have it in the world's."""
    out = rows.copy()
    out[:, 10:13] = np.einsum("tij,tj->ti", rotations(rows[:, 3:7]), rows[:, 10:13])
    return out


class MuJoCoStepper:
    """A model in MuJoCo, between two steps."""

    def __init__(self, path: Path, settings: Settings) -> None:
        import mujoco

        read_xml(path)  # says what is wrong with the file in our words, and refuses document types
        try:
            self.model: Any = mujoco.MjModel.from_xml_path(str(path))
        except ValueError as error:
            raise SimulationError(f"{path}: MuJoCo cannot read it: {str(error).splitlines()[0]}") from None
        self._mujoco, self.notes = mujoco, list[str]()
        self.name = path.stem.split(".")[0]
        option = self.model.opt
        option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)  # a reset would hide a run that diverges
        option.timestep = settings.step_s or option.timestep
        option.iterations = settings.iterations or option.iterations
        if settings.gravity_mps2 is not None:
            option.gravity[:] = settings.gravity_mps2
        self.step_s = float(option.timestep)
        self.data: Any = mujoco.MjData(self.model)
        self._place(path, settings.heading_rad)
        self._find_wheels(path)
        self._advance = self._updater(path)

    def _place(self, path: Path, heading_rad: float) -> None:
        """The base: the body with a free joint, turned by the heading."""
        mujoco, model, data = self._mujoco, self.model, self.data
        free = [j for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE]
        if len(free) != 1 or model.jnt_qposadr[free[0]] != 0:
            raise SimulationError(f"{path}: {len(free)} free joints; expected one, on the body that carries the wheels")
        self.base = int(model.jnt_bodyid[free[0]])
        turn, turned = np.array([np.cos(heading_rad / 2.0), 0.0, 0.0, np.sin(heading_rad / 2.0)]), np.zeros(4)
        mujoco.mju_mulQuat(turned, turn, data.qpos[3:7])
        data.qpos[3:7] = turned
        mujoco.mj_forward(model, data)
        axes = data.xmat[self.base].reshape(3, 3)
        self.centre_of_mass_m = axes.T @ (data.subtree_com[self.base] - data.xpos[self.base])

    def _find_wheels(self, path: Path) -> None:
        model, data = self.model, self.data
        names = [model.pair(k).name for k in range(model.npair)]
        pairs = [k for k, name in enumerate(names) if name.startswith(_PAIR)]
        if not pairs:
            raise SimulationError(f"{path}: no contact pair is named {_PAIR}<wheel>; expected a model that slipfit exported")
        self.wheels = [names[k].removeprefix(_PAIR) for k in pairs]
        self.of_geom = {int(model.pair_geom2[k]): n for n, k in enumerate(pairs)}
        self.radius_m = np.array([float(model.geom_size[model.pair_geom2[k], 0]) for k in pairs])
        try:
            joints = [model.joint(f"{wheel}{_JOINT}") for wheel in self.wheels]
        except KeyError as error:
            raise SimulationError(f"{path}: {str(error.args[0]).splitlines()[0]}; expected a joint <wheel>{_JOINT}") from None
        self.angle_at = [int(joint.qposadr[0]) for joint in joints]
        self.speed_at = [int(joint.dofadr[0]) for joint in joints]
        self.joint_ids = [int(joint.id) for joint in joints]
        driven = {int(model.actuator_trnid[a, 0]): a for a in range(model.nu)}
        if not set(self.joint_ids) <= set(driven):
            raise SimulationError(f"{path}: not every wheel has an actuator; expected one velocity servo per wheel's joint")
        self.servo = [driven[joint] for joint in self.joint_ids]
        axes, at = data.xmat[self.base].reshape(3, 3), data.xpos[self.base]
        left = axes[:, 1]
        self.forward = np.array([1.0 if data.xaxis[joint] @ left > 0.0 else -1.0 for joint in self.joint_ids])
        self.wheels_at_m = (data.xanchor[self.joint_ids] - at) @ axes

    def _updater(self, path: Path) -> Callable[[Any], None]:
        script = updater_beside(path)
        if not script.is_file():
            self.notes.append(f"{script.name} is not beside the model: slip has its right size at one speed only")
            return lambda data: self._mujoco.mj_step(self.model, data)
        try:
            updater = runpy.run_path(str(script))["SlipUpdater"](self.model)
        except Exception as error:  # somebody's script: whatever it raises is about the script
            raise SimulationError(
                f"{script}: does not work as an updater ({type(error).__name__}: {error}); export anew"
            ) from None
        step: Callable[[Any], None] = updater.step
        return step

    def command(self, speeds_radps: Sequence[float]) -> None:
        self.data.ctrl[self.servo] = self.forward * np.asarray(speeds_radps)

    def step(self) -> None:
        self._advance(self.data)

    def record(self, row: np.ndarray) -> None:
        data, first, width = self.data, len(BODY_COLUMNS), len(WHEEL_COLUMNS)
        row[0:7], row[7:13] = data.qpos[:7], data.qvel[:6]
        row[first::width] = self.forward * data.qpos[self.angle_at]
        row[first + 1 :: width] = self.forward * data.qvel[self.speed_at]
        touch, force = self._contacts()
        row[first + 2 :: width], row[first + 3 :: width], row[first + 4 :: width] = touch[:, 0], touch[:, 1], force[:, 2]
        axle = self.forward[:, None] * data.xaxis[self.joint_ids][:, :2]
        level = axle / np.linalg.norm(axle, axis=1, keepdims=True)
        row[first + 5 :: width] = force[:, 0] * level[:, 1] - force[:, 1] * level[:, 0]
        row[first + 6 :: width] = force[:, 0] * level[:, 0] + force[:, 1] * level[:, 1]

    def _contacts(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each wheel: number of contacts and sinkage; force on it in the world's axes."""
        data, told = self.data, np.zeros(6)
        touch, force = np.zeros((len(self.wheels), 2)), np.zeros((len(self.wheels), 3))
        for k in range(data.ncon):
            contact = data.contact[k]
            wheel = self.of_geom.get(int(contact.geom2))
            if wheel is None or contact.efc_address < 0:
                continue
            self._mujoco.mj_contactForce(self.model, data, k, told)
            touch[wheel] = touch[wheel, 0] + 1.0, max(touch[wheel, 1], -contact.dist)
            force[wheel] += contact.frame.reshape(3, 3).T @ told[:3]
        return touch, force
