"""The Open Dynamics Engine with Gazebo's formulae around it: what Gazebo Classic does with a model, without Gazebo.

    soft_erp = h kp / (h kp + kd),    soft_cfm = 1 / (h kp + kd)
    slip_i = n (slip_i of wheel + slip_i of ground),    slip of a wheel = r |omega| compliance / wheel_normal_force

Symbols    h step · kp of wheel and ground in series, kd their sum · n contact points of the wheel, so that all together yield as
           one · r, omega radius and joint speed of the wheel
Reference  Gazebo Classic, ODEPhysics and WheelSlipPlugin
Differs    friction pyramid only (the cone is in Gazebo's fork); no surface layer and no limit of the correcting velocity
"""

import ctypes
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from slipfit.engines import ode_library
from slipfit.engines.engine_run import BODY_COLUMNS, WHEEL_COLUMNS, EngineRun, rotations
from slipfit.engines.ode_library import Contact, JointFeedback, Mass, Matrix3
from slipfit.engines.rigid_parts import Part, measures_of, parts_of
from slipfit.engines.sdf_model import BOX, SPHERE, Collision, SdfModel, Surface, Wheel, read_sdf
from slipfit.engines.sdf_xml import Frame, rotation_rpy
from slipfit.engines.settings import DEFAULT_ITERATIONS, DEFAULT_STEP_S, Settings, WheelCommands
from slipfit.engines.stepping import check_wheels, drive
from slipfit.errors import SimulationError

#: Most points at which a wheel can touch; ODE gives three for a cylinder on a plane.
_MOST_CONTACTS = 8

_CONTACT_BYTES = ctypes.sizeof(Contact)

#: Of joints: Gazebo's default share of an error that a step mends, and no softness.
_JOINT_ERP, _JOINT_CFM = 0.2, 0.0

#: Torque of a motor without limit (N m): far beyond any wheel's, yet finite in the solver.
_UNLIMITED_NM = 1e6


class Ode:
    """The engine `ode`."""

    name = "ode"
    reads = ".sdf"

    def problem(self) -> str:
        """Why it cannot run here and what to do, or nothing."""
        try:
            ode_library.load()
        except SimulationError as error:
            return str(error)
        return ""

    def version(self) -> str:
        ode_library.load()
        return "ODE 0.16, double precision"

    def run(self, path: Path | str, commands: WheelCommands, settings: Settings | None = None) -> EngineRun:
        """Drive a model of an SDF file."""
        model = read_sdf(path)
        used = _filled(settings or Settings(), model)
        check_wheels(commands, len(model.wheels), model.name)
        ode_library.messages.clear()
        stepper = OdeStepper(model, used)
        try:
            rows = stepper.base_rows(drive(stepper, commands, used.settle_s))
        finally:
            stepper.close()
        said = sorted(set(ode_library.messages))
        notes = [*model.notes, *(f"ODE says: {message}" for message in said[:3])]
        return EngineRun.from_rows(
            rows,
            step_s=stepper.step_s,
            engine=self.version(),
            settings=used,
            notes=tuple(notes),
            **measures_of(model),
        )


def _filled(settings: Settings, model: SdfModel) -> Settings:
    """Settings with what the file says where they say nothing."""
    surface = model.wheels[0].collision.surface
    return Settings(
        step_s=settings.step_s or model.step_s or DEFAULT_STEP_S,
        iterations=settings.iterations or model.iterations or DEFAULT_ITERATIONS,
        kp_n_per_m=settings.kp_n_per_m or surface.kp_n_per_m,
        kd_ns_per_m=surface.kd_ns_per_m if settings.kd_ns_per_m is None else settings.kd_ns_per_m,
        gravity_mps2=settings.gravity_mps2 or model.gravity_mps2,
        heading_rad=settings.heading_rad,
        settle_s=settings.settle_s,
    )


def _matrix(rotation: np.ndarray) -> ctypes.Array[ctypes.c_double]:
    """ODE's three rows of four."""
    return Matrix3(*np.hstack([rotation, np.zeros((3, 1))]).ravel().tolist())


def _view(pointer: object, count: int) -> ctypes.Array[ctypes.c_double]:
    """Numbers of the library as they change from step to step."""
    return (ctypes.c_double * count).from_address(ctypes.addressof(pointer.contents))  # type: ignore[attr-defined]


class _Touching:
    """One collision on the plane: its contacts of the step, made anew each time."""

    def __init__(self, stepper: "OdeStepper", part: Part, collision: Collision, frame: Frame, wheel: Wheel | None) -> None:
        ode = stepper.ode
        self.stepper, self.part, self.wheel = stepper, part, wheel
        size = collision.size.tolist()
        create = (
            ode.dCreateBox if collision.shape == BOX else ode.dCreateSphere if collision.shape == SPHERE else ode.dCreateCylinder
        )
        self.geom = create(None, *size)
        self.body = stepper.bodies[part.root]
        ode.dGeomSetBody(self.geom, self.body)
        ode.dGeomSetOffsetPosition(self.geom, *frame.position_m.tolist())
        ode.dGeomSetOffsetRotation(self.geom, _matrix(frame.rotation))
        self.contacts = (Contact * _MOST_CONTACTS)()
        self.feedback = (JointFeedback * _MOST_CONTACTS)()
        self.first_geom = ctypes.addressof(self.contacts) + Contact.geom.offset
        self.count = 0
        self._set_surface(collision.surface, frame)

    def _set_surface(self, own: Surface, frame: Frame) -> None:
        """What does not change: mu the smaller, kp in series, kd summed."""
        ground, used = self.stepper.model.ground, self.stepper.settings
        is_wheel = self.wheel is not None
        kp = used.kp_n_per_m if is_wheel and used.kp_n_per_m else own.kp_n_per_m
        kd = used.kd_ns_per_m if is_wheel and used.kd_ns_per_m is not None else own.kd_ns_per_m
        kp, kd = 1.0 / (1.0 / kp + 1.0 / ground.kp_n_per_m), kd + ground.kd_ns_per_m
        h = self.stepper.step_s
        mode = ode_library.MU2 | ode_library.SOFT_ERP | ode_library.SOFT_CFM | ode_library.APPROX1
        self.fdir1: list[float] | None = None
        self.fdir1_axes = Matrix3()
        if own.fdir1 is not None:
            mode |= ode_library.FDIR1
            self.fdir1 = own.fdir1.tolist()
            ode = self.stepper.ode
            # The collision's axes in the world, or those of the body of the named link.
            axes = ode.dGeomGetRotation(self.geom)
            if own.fdir1_link:
                part = self.stepper.part_of(own.fdir1_link)
                axes = ode.dBodyGetRotation(self.stepper.bodies[part.root])
                self.fdir1 = (part.frames[own.fdir1_link].rotation @ own.fdir1).tolist()
            self.fdir1_axes = _view(axes, 12)
        self.slip = (own.slip1_mps_per_n + ground.slip1_mps_per_n, own.slip2_mps_per_n + ground.slip2_mps_per_n)
        if self.wheel is not None and self.wheel.slip is not None:
            # The plugin replaces what the wheel's own surface says.
            self.slip = (ground.slip1_mps_per_n, ground.slip2_mps_per_n)
        self.at = [
            (ctypes.addressof(contact), ctypes.addressof(back))
            for contact, back in zip(self.contacts, self.feedback, strict=True)
        ]
        for contact in self.contacts:
            s = contact.surface
            s.mode = mode | ode_library.SLIP1 | ode_library.SLIP2
            s.mu, s.mu2 = min(own.mu, ground.mu), min(own.mu2, ground.mu2)
            s.soft_erp, s.soft_cfm = h * kp / (h * kp + kd), 1.0 / (h * kp + kd)

    def touch(self, speed_radps: float) -> None:
        """Contacts of the coming step, with the slip that belongs to the wheel's speed."""
        stepper, ode = self.stepper, self.stepper.ode
        count = ode.dCollide(self.geom, stepper.plane, _MOST_CONTACTS, self.first_geom, _CONTACT_BYTES)
        self.count = count
        if not count:
            return
        slip1, slip2 = self.slip
        if self.wheel is not None and (plugin := self.wheel.slip) is not None:
            per_compliance = (plugin.radius_m or self.wheel.radius_m) * abs(speed_radps) / plugin.normal_force_n
            slip1 += per_compliance * plugin.compliance_lateral
            slip2 += per_compliance * plugin.compliance_longitudinal
        slip1, slip2 = count * slip1, count * slip2
        for k in range(count):
            contact, (at, back) = self.contacts[k], self.at[k]
            surface = contact.surface
            surface.slip1, surface.slip2 = slip1, slip2
            if self.fdir1 is not None:
                self._point_fdir1(contact, self.fdir1)
            joint = ode.dJointCreateContact(stepper.world, stepper.group, at)
            ode.dJointAttach(joint, self.body, None)
            ode.dJointSetFeedback(joint, back)

    def _point_fdir1(self, contact: Contact, fdir1: list[float]) -> None:
        """fdir1 of the file, in the world and within the plane of contact."""
        (x, y, z), r = fdir1, self.fdir1_axes
        wx, wy = r[0] * x + r[1] * y + r[2] * z, r[4] * x + r[5] * y + r[6] * z  # the plane's normal is z
        length = math.sqrt(wx * wx + wy * wy)
        if length > 1e-6:
            contact.fdir1[:] = wx / length, wy / length, 0.0, 0.0

    def told(self, axle: Sequence[float]) -> tuple[float, float, float, float]:
        """Sinkage, and force on the wheel: normal to the plane, along the heading and across; `axle` points left."""
        depth = normal = fx = fy = 0.0
        for k in range(self.count):
            depth = max(depth, self.contacts[k].geom.depth)
            force = self.feedback[k].f1
            fx, fy, normal = fx + force[0], fy + force[1], normal + force[2]
        length = math.hypot(axle[0], axle[1]) or 1.0
        ax, ay = axle[0] / length, axle[1] / length
        return depth, normal, fx * ay - fy * ax, fx * ax + fy * ay


class OdeStepper:
    """A model in ODE, between two steps."""

    def __init__(self, model: SdfModel, settings: Settings) -> None:
        self.ode = ode = ode_library.load()
        self.model, self.settings = model, settings
        self.step_s = float(settings.step_s or DEFAULT_STEP_S)
        ode.dRandSetSeed(0)  # the solver reorders its rows at random: the same in every run
        self.world = ode.dWorldCreate()
        self.group = ode.dJointGroupCreate(0)
        self.plane = ode.dCreatePlane(None, 0.0, 0.0, 1.0, 0.0)
        ode.dWorldSetGravity(self.world, *(settings.gravity_mps2 or model.gravity_mps2))
        ode.dWorldSetERP(self.world, _JOINT_ERP)
        ode.dWorldSetCFM(self.world, _JOINT_CFM)
        ode.dWorldSetQuickStepNumIterations(self.world, int(settings.iterations or DEFAULT_ITERATIONS))
        turned = Frame(np.zeros(3), rotation_rpy(0.0, 0.0, settings.heading_rad))
        self.start = Frame(model.frame.position_m, (turned @ model.frame).rotation)
        self.parts = parts_of(model)
        self.bodies = {part.root: self._body(part) for part in self.parts}
        self.wheels = model.wheels
        self.hinges = {joint.name: self._hinge(joint.name) for joint in model.joints if joint.kind == "revolute"}
        self.touching = self._touching()
        by_wheel = {touching.wheel.link.name: touching for touching in self.touching if touching.wheel}
        self.under = [by_wheel[wheel.link.name] for wheel in self.wheels]
        self.driven = [(self.hinges[wheel.joint.name], wheel.forward) for wheel in self.wheels]
        self.touching_with_hinge = [(t, self.hinges[t.wheel.joint.name] if t.wheel else None) for t in self.touching]
        base = self.bodies[self.part_of(model.base.name).root]
        self.views = [
            (_view(pointer, count), first)
            for pointer, count, first in (
                (ode.dBodyGetPosition(base), 3, 0),
                (ode.dBodyGetQuaternion(base), 4, 3),
                (ode.dBodyGetLinearVel(base), 3, 7),
                (ode.dBodyGetAngularVel(base), 3, 10),
            )
        ]
        # The axle in the world: the base body's rotation times the joint's axis, pointing left.
        self.base_axes = _view(ode.dBodyGetRotation(base), 12)
        root = model.link(self.part_of(model.base.name).root).frame.rotation
        self.axles = [(wheel.forward * root.T @ wheel.joint.axis).tolist() for wheel in self.wheels]

    def part_of(self, link: str) -> Part:
        """The rigid part that a link belongs to."""
        for part in self.parts:
            if link in part.frames:
                return part
        raise SimulationError(f"{self.model.where}: <fdir1> is expressed in '{link}', which is not a link of the model")

    def _body(self, part: Part) -> object:
        ode, mass = self.ode, Mass()
        t = part.tensor_kgm2
        ode.dMassSetParameters(
            ctypes.byref(mass), part.mass_kg, 0.0, 0.0, 0.0, t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]
        )
        body = ode.dBodyCreate(self.world)
        ode.dBodySetMass(body, ctypes.byref(mass))
        place = self.start @ part.frame
        ode.dBodySetPosition(body, *place.position_m.tolist())
        ode.dBodySetRotation(body, _matrix(place.rotation))
        return body

    def _hinge(self, name: str) -> object:
        ode = self.ode
        joint = next(joint for joint in self.model.joints if joint.name == name)
        hinge = ode.dJointCreateHinge(self.world, None)
        ends = [self.bodies[self.part_of(link).root] for link in (joint.child, joint.parent)]
        ode.dJointAttach(hinge, *ends)
        anchor = self.start.rotation @ joint.anchor_m + self.start.position_m
        ode.dJointSetHingeAnchor(hinge, *anchor.tolist())
        ode.dJointSetHingeAxis(hinge, *(self.start.rotation @ joint.axis).tolist())
        if any(wheel.joint.name == name for wheel in self.wheels):
            ode.dJointSetHingeParam(hinge, ode_library.PARAM_FMAX, min(joint.effort_nm, _UNLIMITED_NM))
        return hinge

    def _touching(self) -> list[_Touching]:
        wheels = {wheel.link.name: wheel for wheel in self.wheels}
        return [
            _Touching(self, part, collision, part.frames[link.name] @ collision.frame, wheels.get(link.name))
            for part in self.parts
            for link in self.model.links
            if link.name in part.frames
            for collision in link.collisions
        ]

    def command(self, speeds_radps: Sequence[float]) -> None:
        for (hinge, forward), speed in zip(self.driven, speeds_radps, strict=True):
            self.ode.dJointSetHingeParam(hinge, ode_library.PARAM_VEL, forward * speed)

    def step(self) -> None:
        ode = self.ode
        ode.dJointGroupEmpty(self.group)
        for touching, hinge in self.touching_with_hinge:
            touching.touch(ode.dJointGetHingeAngleRate(hinge) if hinge else 0.0)
        ode.dWorldQuickStep(self.world, self.step_s)

    def record(self, row: np.ndarray) -> None:
        for view, first in self.views:
            row[first : first + len(view)] = view
        r, k = self.base_axes, len(BODY_COLUMNS)
        for under, (hinge, forward), (x, y, z) in zip(self.under, self.driven, self.axles, strict=True):
            axle = (r[0] * x + r[1] * y + r[2] * z, r[4] * x + r[5] * y + r[6] * z)
            row[k] = forward * self.ode.dJointGetHingeAngle(hinge)
            row[k + 1] = forward * self.ode.dJointGetHingeAngleRate(hinge)
            row[k + 2] = under.count
            row[k + 3 : k + 7] = under.told(axle)
            k += len(WHEEL_COLUMNS)

    def base_rows(self, rows: np.ndarray) -> np.ndarray:
        """Rows of the base link's origin, from those of the body's centre of mass; angles without jumps."""
        part = self.part_of(self.model.base.name)
        inside = part.frames[self.model.base.name]
        out = rows.copy()
        arm = rotations(rows[:, 3:7]) @ inside.position_m
        out[:, 0:3] += arm
        out[:, 7:10] += np.cross(rows[:, 10:13], arm)
        out[:, 3:7] = _turned(rows[:, 3:7], inside.rotation)
        first, width = len(BODY_COLUMNS), len(WHEEL_COLUMNS)
        finite = np.isfinite(rows[:, 0])
        for column in range(first, rows.shape[1], width):
            out[finite, column] = np.unwrap(rows[finite, column])
        return out

    def close(self) -> None:
        """Give everything back to the library."""
        for touching in self.touching:
            self.ode.dGeomDestroy(touching.geom)
        self.ode.dGeomDestroy(self.plane)
        self.ode.dJointGroupDestroy(self.group)
        self.ode.dWorldDestroy(self.world)


def _turned(quat_wxyz: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Quaternions followed by a fixed rotation."""
    if np.allclose(rotation, np.eye(3)):
        return quat_wxyz
    from scipy.spatial.transform import Rotation

    both = Rotation.from_quat(np.roll(np.nan_to_num(quat_wxyz, nan=1.0), -1, axis=1)) * Rotation.from_matrix(rotation)
    return np.where(np.isfinite(quat_wxyz), np.roll(both.as_quat(), 1, axis=1), np.nan)
