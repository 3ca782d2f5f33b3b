"""Exact wheel slip in MuJoCo for a model that slipfit exported. Needs mujoco and numpy only; put it beside the model and call

    import mujoco
    from p3at_updater import SlipUpdater        # this file; it is exported under the model's name

    model = mujoco.MjModel.from_xml_path("p3at.xml")
    data = mujoco.MjData(model)
    slip = SlipUpdater(model)
    while data.time < 10.0:
        data.ctrl[:] = 4.5                       # wheel speeds in rad/s, in the order of the file's <actuator>
        slip.step(data)                          # instead of mujoco.mj_step(model, data)

The order of the wheels is that of the file: front before rear, left before right. The updater writes to the model and remembers
the servos: give every MjData its own model and updater. After mujoco.mj_resetData it starts afresh by itself, because the time
goes back; call reset() where you set a state without that.

What it does. A friction row with regularisation R and damping b slides with s = (R / b) F: MuJoCo's contacts are compliant.
wheel_slip wants s = c |w| F with the rim speed w of each wheel, and so before every step

    b = 1 / (c_lat |w| sum 1 / R_lat)    over the contacts of the wheel,

which makes c_long right too, because R goes with 1 / friction^2 and the file has friction_long / friction_lat =
sqrt(c_lat / c_long). Without updates b belongs to the one speed that the file was written for.

b is at most 1 / timestep, where MuJoCo is stable. A slow wheel wants more; for it R is lowered instead, through the impedance d
of its contact, R = (1 - d) / d · (inverse weight) / impratio, up to d = 0.9999. A standing wheel has that last compliance, which
`creep_per_newton` tells (m/s/N): some hundredths of a millimetre per second on a slope.

Servos sag: at a torque tau a wheel turns tau / kv slower than told. `step` adds to the speeds that it hands on what has been
missing so far, SAGGING of it each step, unless a servo is at its limit; `data.ctrl` stays as you set it. Servos are <velocity>
actuators of the wheels' joints; all others, as motors of your own, are left alone.

Constants (c_lat) stand in the model as <custom><numeric name="slipfit_c_lat_per_n" .../>; contact pairs of the wheels
are named slip_<wheel>, their joints <wheel>_wheel_joint. The floor is a plane, on which a wheel has two contacts at most, and
the step is the file's or a smaller one: servos and contacts are made for it and shake in larger ones.
"""

from typing import Any

import mujoco
import numpy as np

MOST_IMPEDANCE = 0.9999  # MuJoCo's own bound
SAGGING = 0.1  # share of a missing speed that is made up for in a step
AT_LIMIT = 0.999  # of its torque


class SlipUpdater:
    """Sets the damping of the wheels' contacts from their speeds, before each step, and keeps servos from sagging."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.c_lat_per_n = _numeric(model, "slipfit_c_lat_per_n")
        names = [model.pair(k).name for k in range(model.npair)]
        self.pairs = [k for k, name in enumerate(names) if name.startswith("slip_")]
        if not self.pairs:
            raise ValueError("the model has no contact pairs named slip_<wheel>; expected a file that slipfit exported")
        _check_floor(model, self.pairs)
        _check_step(model)
        joints = [model.joint(f"{names[k].removeprefix('slip_')}_wheel_joint") for k in self.pairs]
        self._speeds = [int(joint.dofadr[0]) for joint in joints]
        self._wheel_of = {int(model.pair_geom2[k]): n for n, k in enumerate(self.pairs)}
        self._radii = np.array([model.geom_size[model.pair_geom2[k], 0] for k in self.pairs])
        self._weight = np.array([_inverse_weight(model, k) for k in self.pairs])
        self._least_impedance = _numeric(model, "slipfit_least_impedance")
        servo_of = {int(model.actuator_trnid[a, 0]): a for a in range(model.nu) if _is_speed_servo(model, a)}
        self._servos = [servo_of[int(joint.id)] for joint in joints if int(joint.id) in servo_of]
        self._driven = [int(joint.dofadr[0]) for joint in joints if int(joint.id) in servo_of]
        self.reset()

    def reset(self) -> None:
        """Forget what servos have missed so far: a new run begins."""
        self._missing = np.zeros(len(self._servos))
        self._time_s = -np.inf

    @property
    def creep_per_newton(self) -> float:
        """Compliance across a standing wheel with one contact (m/s/N), the last that is left."""
        return float(_regularisation(MOST_IMPEDANCE, self._weight.max()) * self.model.opt.timestep)

    def update(self, data: Any) -> None:
        """Set impedance and damping for the step to come."""
        h = self.model.opt.timestep
        rim = np.abs(self._radii * data.qvel[self._speeds])
        wanted = self._contacts(data) * self.c_lat_per_n * rim  # R / b
        # The largest R for which b stays at 1 / timestep or below.
        d = np.clip(self._weight / (self._weight + wanted / h), self._least_impedance, MOST_IMPEDANCE)
        r = _regularisation(d, self._weight)
        b = r / np.maximum(wanted, r * h)
        self.model.pair_solimp[self.pairs, 0] = self.model.pair_solimp[self.pairs, 1] = d
        self.model.pair_solreffriction[self.pairs, 0] = -1.0
        self.model.pair_solreffriction[self.pairs, 1] = -b * d

    def _contacts(self, data: Any) -> Any:
        """Contacts of each wheel in the last step, one where it was in the air."""
        found = np.zeros(len(self.pairs))
        for geom in data.contact.geom[:, 1]:
            if (wheel := self._wheel_of.get(int(geom))) is not None:
                found[wheel] += 1.0
        return np.maximum(found, 1.0)

    def step(self, data: Any) -> None:
        """One step of the model, with the damping set before."""
        if data.time < self._time_s:  # mj_resetData, or a state of the past
            self.reset()
        self._time_s = data.time
        self.update(data)
        told = data.ctrl.copy()
        data.ctrl[self._servos] += self._lifted(data)
        mujoco.mj_step(self.model, data)
        data.ctrl[:] = told

    def _lifted(self, data: Any) -> Any:
        """What to add to the speeds told, so that servos reach them."""
        limit = self.model.actuator_forcerange[self._servos, 1]
        strong = np.abs(data.actuator_force[self._servos]) < AT_LIMIT * np.where(limit > 0.0, limit, np.inf)
        self._missing += np.where(strong, SAGGING * (data.ctrl[self._servos] - data.qvel[self._driven]), 0.0)
        return self._missing


def _numeric(model: Any, name: str) -> float:
    try:
        return float(model.numeric(name).data[0])
    except KeyError:
        raise ValueError(f"the model has no <numeric name='{name}'>; expected a file that slipfit exported") from None


def _check_floor(model: Any, pairs: list[int]) -> None:
    for k in pairs:
        floor = int(model.pair_geom1[k])
        if model.geom_type[floor] != mujoco.mjtGeom.mjGEOM_PLANE:
            raise ValueError(
                f"the floor '{model.geom(floor).name}' of the pair '{model.pair(k).name}' is no plane; expected one, on other "
                "shapes wheels have other contacts than the slip is made for"
            )


def _check_step(model: Any) -> None:
    made_for = _numeric(model, "slipfit_step_s")
    if model.opt.timestep > made_for * (1.0 + 1e-9):
        raise ValueError(
            f"the timestep is {model.opt.timestep:g} s; expected {made_for:g} s, for which servos and contacts are made, or "
            "less: export anew with another step"
        )


def _is_speed_servo(model: Any, actuator: int) -> bool:
    """Whether an actuator is <velocity> on a joint: force = kv (ctrl - speed), without gears and filters."""
    gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
    return bool(
        model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_JOINT
        and model.actuator_dyntype[actuator] == mujoco.mjtDyn.mjDYN_NONE
        and model.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_FIXED
        and model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_AFFINE
        and model.actuator_gear[actuator, 0] == 1.0
        and bias[0] == bias[1] == 0.0
        and gain[0] == -bias[2] > 0.0
    )


def _inverse_weight(model: Any, pair: int) -> float:
    """Of the bodies of a contact, over impratio: R of the friction row across the wheel is (1 - d) / d times this."""
    bodies = model.geom_bodyid[[model.pair_geom1[pair], model.pair_geom2[pair]]]
    return float(model.body_invweight0[bodies, 0].sum() / model.opt.impratio)


def _regularisation(d: Any, weight: Any) -> Any:
    return (1.0 - d) / d * weight
