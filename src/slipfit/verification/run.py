"""Verify a twin in a physics engine: export it, drive it there and here through the same manoeuvres, compare, find artefacts."""

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.engines import EngineRun, Settings, find_engine
from slipfit.engines.registry import Engine
from slipfit.engines.sdf_model import read_sdf
from slipfit.errors import SimulationError
from slipfit.exporters import Settings as ExportSettings
from slipfit.exporters import export
from slipfit.exporters.bodies import torque_limit_nm
from slipfit.library import Ground, SkidSteerRobot
from slipfit.twin import SkidSteerTwin
from slipfit.verification.artefacts import RATIO_SHARE, SLOPE_DRIFT_MPS, Evidence, cone_note, find_artefacts
from slipfit.verification.manoeuvres import REST_S, Manoeuvre, free_drive, short_drive, short_spin, side_slope, speed_step, spin
from slipfit.verification.measures import (
    Apart,
    is_steady_spin,
    is_whole,
    paths,
    rate_by_heading,
    rest,
    spin_reading,
    step_reading,
)
from slipfit.verification.record import WANTED, Reading, Verification

#: What each engine runs: the dialect whose formulae it has.
TARGETS = {"ode": "gazebo-classic", "gz-physics": "fortress", "mujoco": "mjcf"}

#: Engines whose servos give way: the twin's wheels follow those that the engine's reached.
SOFT_SERVOS = ("mujoco",)

#: Headings at which the robot drives across the slope.
SLOPE_HEADINGS_RAD = (0.0, 0.5 * math.pi)

WHEEL_SLIP_LAWS = ("wheel_slip", "wheel_slip_cone")

#: Ways (m) that tell something: a hundredth of the free drive, and a tenth of the way down the slope, have to be more than
#: contacts give way by themselves, hundredths of a millimetre.
LEAST_DRIVE_M, LEAST_CARRIED_M = 0.01, 1e-4


class Course:
    """A twin's own drives, made once for all engines."""

    def __init__(self, twin: SkidSteerTwin, ground: str | None = None) -> None:
        self.twin, self.ground_name = twin, twin.ground_name(ground)
        self.robot: SkidSteerRobot = twin.robot
        self.ground: Ground = twin.ground(self.ground_name)
        if self.ground.law not in WHEEL_SLIP_LAWS:
            raise SimulationError(
                f"ground {self.ground_name} has the law {self.ground.law}; engines are verified with wheel_slip: calibrate with "
                f"--law wheel_slip"
            )
        values = self.ground.values()
        self.c_long, self.c_lat, self.mu = values["c_long_per_n"], values["c_lat_per_n"], values.get("mu", math.inf)
        if not (self.c_long > 0.0 and self.c_lat > 0.0):
            raise SimulationError(
                f"ground {self.ground_name}: c_long = {self.c_long:g}, c_lat = {self.c_lat:g} 1/N; "
                f"verification needs both above zero"
            )
        self._made: dict[str, Manoeuvre] = {}
        way_m = self[free_drive].motion.distance_m
        if not way_m >= LEAST_DRIVE_M:
            raise SimulationError(
                f"{self.robot.name} on {self.ground_name}: the twin itself moves {1e3 * way_m:.2g} mm in the free drive of 20 s; "
                f"expected {1e3 * LEAST_DRIVE_M:g} mm or more: check its mu ({self.mu:g}) and the motors' torque limit "
                f"({torque_limit_nm(self.robot):g} N m)"
            )

    def __getitem__(self, make: Callable[..., Manoeuvre]) -> Manoeuvre:
        if make.__name__ not in self._made:
            self._made[make.__name__] = make(self.robot, self.ground)
        return self._made[make.__name__]

    def spin_ratio(self, make: Callable[..., Manoeuvre] = spin) -> float | None:
        """What eq. 3 reads in the twin's own spin: c_lat / c_long below Coulomb's limit; None where there is no steady spin."""
        motion = self[make].motion
        return spin_reading(motion, self.robot, self.c_long) if is_steady_spin(motion) else None

    def step_c_long(self) -> float:
        """What a speed step should read: c_long, or what the twin's own reads where its wheels reach Coulomb's limit."""
        motion = self[speed_step].motion
        at_limit = np.abs(motion.force_x_n) >= 0.999 * self.mu * motion.load_n
        return step_reading(motion, self.robot) if at_limit.any() else self.c_long

    def slides(self) -> bool:
        """Whether the twin slides down the side slope while it is parked."""
        motion = self[side_slope].motion
        still = motion.time_s <= 0.95 * REST_S
        return bool(np.ptp(motion.y_m[still]) > SLOPE_DRIFT_MPS * REST_S)

    def carried_m(self) -> float | None:
        """How far the side slope carries the twin to its left as it drives; None where that tells nothing of slip."""
        way = float(self[side_slope].motion.y_m[-1])
        return way if way >= LEAST_CARRIED_M and not self.slides() else None

    def export(self, engine: str, folder: Path, settings: ExportSettings | None = None) -> Path:
        """The file that an engine runs, with a world around it where there can be one."""
        target = TARGETS[engine]
        chosen = replace(settings or ExportSettings(), world=target != "mjcf")
        done = export(self.twin, target, ground=self.ground_name, settings=chosen)
        path = folder / f"{self.robot.name}{done.ending}"
        done.save(path, force=True)
        return path


class Rig:
    """One engine with one model and its settings."""

    def __init__(self, engine: Engine, path: Path, course: Course, settings: Settings) -> None:
        self.engine, self.path, self.course, self.settings = engine, path, course, settings

    def drive(self, manoeuvre: Manoeuvre, heading_rad: float = 0.0, **changed: Any) -> EngineRun:
        """The manoeuvre from another heading, gravity turned along; with some settings changed."""
        g = self.course.ground.gravity_mps2.value
        x, y = manoeuvre.gravity_mps2
        c, s = math.cos(heading_rad), math.sin(heading_rad)
        down = -g * math.cos(manoeuvre.scenario.ground.slope_rad)
        gravity = (g * (c * x - s * y), g * (s * x + c * y), down)
        settings = replace(self.settings, gravity_mps2=gravity, heading_rad=heading_rad, **changed)
        return self.engine.run(self.path, manoeuvre.commands, settings)


def verify(
    twin: SkidSteerTwin,
    engine: str,
    *,
    ground: str | None = None,
    model: Path | str | None = None,
    settings: Settings | None = None,
    within_share: float | None = None,
    within_deg: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Verification:
    """Drive the twin in an engine and say how far it moves from the twin's own simulation, and why.

    Parameters
    ----------
    engine : ode, gz-physics or mujoco
    model : a model of one's own (SDF, or MJCF that slipfit exported) in place of the export
    settings : step, iterations, stiffness in place of the file's
    within_share, within_deg : what counts as close; 1 % and 1°, in MuJoCo 2 % and 2°
    """
    return verify_on(Course(twin, ground), engine, model, settings, within_share, within_deg, progress)


def verify_on(
    course: Course,
    name: str,
    model: Path | str | None = None,
    settings: Settings | None = None,
    within_share: float | None = None,
    within_deg: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Verification:
    """The same for drives that are made already."""
    started = time.perf_counter()
    engine = find_engine(name)
    with tempfile.TemporaryDirectory(prefix="slipfit-verify-") as folder:
        # MuJoCo's contacts and servos are made for the file's step.
        made_for = ExportSettings() if settings is None or settings.step_s is None else ExportSettings(step_s=settings.step_s)
        path = Path(model) if model is not None else course.export(name, Path(folder), made_for)
        if path.suffix not in (engine.reads, ".world" if engine.reads == ".sdf" else engine.reads):
            remedy = "choose another engine, or convert the model"
            if path.suffix == ".urdf" and engine.reads == ".sdf":
                remedy = f"make SDF of it: 'gz sdf -p {path.name} > {path.stem}.sdf' ('ign sdf -p' in Fortress)"
            raise SimulationError(f"{path}: {name} reads {engine.reads} files; {remedy}")
        rig = Rig(engine, path, course, settings or Settings())
        share, deg = WANTED[name]
        found = _verified(rig, name, progress)
    return replace(
        found,
        wanted_share=share if within_share is None else within_share,
        wanted_deg=deg if within_deg is None else within_deg,
        model=path.name,
        took_s=time.perf_counter() - started,
    )


def _verified(rig: Rig, name: str, progress: Callable[[str], None]) -> Verification:
    course, robot = rig.course, rig.course.robot
    soft = name in SOFT_SERVOS
    runs = {}
    for make in (spin, speed_step, free_drive):
        progress(f"{name}: {course[make].name}")
        runs[make] = rig.drive(course[make])
    progress(f"{name}: side slope")
    slope = course[side_slope]
    slopes = {heading: rig.drive(slope, heading) for heading in SLOPE_HEADINGS_RAD}
    all_runs = (*runs.values(), *slopes.values())
    spun = runs[spin]
    twin_reading = course.spin_ratio()
    evidence = Evidence(
        engine=name,
        robot=robot,
        gravity_mps2=course.ground.gravity_mps2.value,
        c_long_per_n=course.c_long,
        c_lat_per_n=course.c_lat,
        twin_reading=twin_reading,
        model=read_sdf(rig.path) if rig.engine.reads == ".sdf" else None,
        spin=spun,
        told_radps=float(np.abs(course[spin].commands.rows_radps[-1]).mean()),
        rest=rest(spun, course[spin]),
        slope_rest=rest(slopes[0.0], slope),
        carried_m={heading: _carried(run, slope, robot, course.ground, soft) for heading, run in slopes.items()},
        carried_by_twin_m=course.carried_m(),
        twin_slides=course.slides(),
        twin_swing=rate_by_heading(course[spin].motion),
        all_runs=all_runs,
        spin_with=lambda changed: rig.drive(course[short_spin], **changed),
    )
    progress(f"{name}: artefacts")
    whole = all(is_whole(run) for run in all_runs)
    both = paths(course[free_drive], runs[free_drive], robot, course.ground, reached=soft)
    nan = math.nan
    used = spun.settings
    said = {"step_s": used.step_s, "iterations": used.iterations, "kp_n_per_m": used.kp_n_per_m, "kd_ns_per_m": used.kd_ns_per_m}
    thin = slice(None, None, max(1, len(spun.time_s) // 400))
    return Verification(
        engine=name,
        version=spun.engine,
        robot=robot.name,
        ground=course.ground_name,
        model=rig.path.name,
        settings={key: float(value) for key, value in said.items() if value is not None},
        free=Apart.of(both) if whole else Apart(both.distance_m, nan, nan, nan),
        ratio=None if twin_reading is None else Reading(evidence.reading if whole else nan, twin_reading),
        c_long=Reading(step_reading(runs[speed_step], robot) if whole else nan, course.step_c_long()),
        rest=evidence.rest,
        artefacts=find_artefacts(evidence),
        wanted_share=0.0,
        wanted_deg=0.0,
        paths=both,
        yaw_rate=(tuple(spun.heading_rad[thin].tolist()), tuple(spun.yaw_rate_radps[thin].tolist())),
        took_s=0.0,
        notes=(
            *_about_spin(course),
            *_about_step(course),
            *_about_slope(course),
            *filter(None, [cone_note(evidence)]),
            *dict.fromkeys(note for run in all_runs for note in run.notes),
        ),
    )


def _about_spin(course: Course) -> list[str]:
    """Why the twin's own spin does not tell c_lat / c_long, if it does not."""
    motion, read = course[spin].motion, course.spin_ratio()
    if read is None:
        at_limit = motion.at_effort_limit_s >= 0.1 * float(motion.time_s[-1])
        why = f": its motors are at their limit of {motion.effort_limit:g} N m" if at_limit else ""
        return [f"the twin itself has no steady spin{why}; c_lat / c_long is not read, and artefacts of spins are not looked for"]
    ratio = course.c_lat / course.c_long
    if abs(read / ratio - 1.0) <= RATIO_SHARE:
        return []
    return [f"eq. 3 reads {read:.4g} in the twin's own spin, where c_lat / c_long is {ratio:.4g}: as at Coulomb's limit"]


def _about_step(course: Course) -> list[str]:
    """Why the twin's own speed step does not tell c_long, if it does not."""
    read = course.step_c_long()
    if abs(read / course.c_long - 1.0) <= RATIO_SHARE:
        return []
    return [f"the speed step reads {read:.4g} 1/N in the twin, where c_long is {course.c_long:.4g}: wheels reach Coulomb's limit"]


def _about_slope(course: Course) -> list[str]:
    """Why the side slope does not tell the directions of friction, if it does not."""
    if course.carried_m() is not None:
        return []
    if course.slides():
        return ["the twin itself slides down a side slope of 5°; drift and directions of friction are not looked for there"]
    way = 1e3 * float(course[side_slope].motion.y_m[-1])
    return [f"a side slope of 5° carries the twin by {way:.2g} mm only; directions of friction are not looked for there"]


def _carried(run: EngineRun, slope: Manoeuvre, robot: SkidSteerRobot, ground: Ground, soft: bool) -> float:
    """How far to its left the slope carried the robot, in the axes of its start."""
    return float(paths(slope, run, robot, ground, reached=soft).engine_m[-1, 1])


def quick(twin: SkidSteerTwin, ground: str | None = None) -> list[str]:
    """One line for each engine that is installed, in a few seconds: spin and a drive of 10 s, no search for artefacts."""
    from slipfit.engines import available

    course = Course(twin, ground)
    lines = []
    for engine in available():
        if not engine.is_installed:
            continue
        with tempfile.TemporaryDirectory(prefix="slipfit-verify-") as folder:
            rig = Rig(find_engine(engine.name), course.export(engine.name, Path(folder)), course, Settings(settle_s=0.5))
            spun, drive = rig.drive(course[short_spin]), course[short_drive]
            run = rig.drive(drive)
            both = paths(drive, run, course.robot, course.ground, reached=engine.name in SOFT_SERVOS)
            read, own = spin_reading(spun, course.robot, course.c_long), course.spin_ratio(short_spin)
            told = f"{read:.4g} (twin {own:.4g})" if own is not None else "not read: the twin has no steady spin"
            lines.append(f"{run.engine}: drive within {Apart.of(both).text()} of the twin, c_lat / c_long {told}")
    return lines
