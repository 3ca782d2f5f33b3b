"""A Pioneer P3AT in MuJoCo, made as fast as we can: the yardstick our own simulator is timed against.

What MuJoCo solves here is the wheel_slip law: slip speed = c · (rim speed) · force, c_long and c_lat in 1/N.
Friction rows with regularisation R and damping b slide with compliance R/b, so b is set from the rim speed.
Wheels come in the order front-left, front-right, rear-left, rear-right; x forward, y left, yaw counter-clockwise.
"""

import math
import time

import mujoco

STEP_S = 0.001
CHASSIS_MASS_KG = 14.0
CHASSIS_INERTIA_KGM2 = "0.2288 0.3338 0.3978"  # roll, pitch, yaw, as MJCF writes them
CHASSIS_ABOVE_AXLES_M = 0.06
WHEEL_MASS_KG = 1.5
WHEEL_SPIN_INERTIA_KGM2 = 0.0091
WHEEL_TILT_INERTIA_KGM2 = 0.0052
WHEEL_RADIUS_M = 0.11
HALF_WHEELBASE_M = 0.125
HALF_TRACK_M = 0.201
TORQUE_LIMIT_NM = 2.0  # wheels lift at 5 N·m
SERVO_NMSPRAD = 100.0  # soft servo: the in-place turn runs 0.5 % under its commanded wheel speed

C_LONG_PER_N = 0.005
C_LAT_PER_N = 0.05
MU_LAT = 10.0
MU_LONG = MU_LAT * math.sqrt(C_LAT_PER_N / C_LONG_PER_N)  # R goes with 1/mu², and R/b is the compliance
IMPEDANCE = 0.9

# A capsule meets the plane at both its ends. This camber lifts one end by 20 µm, twice the sinkage, so each wheel
# has one contact instead of two (a sixth of the run time) and keeps the axle as the direction of its friction.
CAPSULE_HALF_LENGTH_M = 0.0005
CAMBER_RAD = 0.02

# Islands and warm starts cost more than they save: Newton needs one iteration here. A reset would hide a blow-up.
DISABLED = "island warmstart autoreset sensor equality limit frictionloss spring damper clampctrl filterparent midphase"


def _mjcf() -> str:
    """Smallest model that drives: one geom per wheel, explicit inertias, contacts only where pairs name them."""
    wheels = actuators = pairs = ""
    for name, ahead, side in (("fl", 1, 1), ("fr", 1, -1), ("rl", -1, 1), ("rr", -1, -1)):
        # The lower, inner end of the capsule stands at the half track; its rim runs at the nominal radius.
        y_m = side * (HALF_TRACK_M + CAPSULE_HALF_LENGTH_M)
        wheels += f"""
        <body pos="{ahead * HALF_WHEELBASE_M} {y_m} {-CHASSIS_ABOVE_AXLES_M}"
              zaxis="0 {math.cos(CAMBER_RAD)} {side * math.sin(CAMBER_RAD)}">
          <joint name="{name}" axis="0 0 1"/>
          <inertial pos="0 0 0" mass="{WHEEL_MASS_KG}"
                    diaginertia="{WHEEL_TILT_INERTIA_KGM2} {WHEEL_TILT_INERTIA_KGM2} {WHEEL_SPIN_INERTIA_KGM2}"/>
          <geom name="{name}" type="capsule" contype="0" conaffinity="0"
                size="{WHEEL_RADIUS_M / math.cos(CAMBER_RAD)} {CAPSULE_HALF_LENGTH_M}"/>
        </body>"""
        actuators += f"""
        <velocity joint="{name}" kv="{SERVO_NMSPRAD}" forcerange="{-TORQUE_LIMIT_NM} {TORQUE_LIMIT_NM}"/>"""
        pairs += f"""
        <pair geom1="floor" geom2="{name}" condim="3" friction="{MU_LAT} {MU_LONG} 0 0 0" solref="0.004 1"
              solimp="{IMPEDANCE} {IMPEDANCE} 0.001 0.5 2" solreffriction="-1 {-IMPEDANCE / STEP_S}"/>"""
    flags = " ".join(f'{name}="disable"' for name in DISABLED.split())
    return f"""
    <mujoco>
      <option timestep="{STEP_S}" integrator="implicitfast" cone="elliptic" impratio="0.005"
              solver="Newton" jacobian="dense" iterations="4" ls_iterations="10"><flag {flags}/></option>
      <worldbody>
        <geom name="floor" type="plane" size="0 0 1" contype="0" conaffinity="0"/>
        <body pos="0 0 {WHEEL_RADIUS_M + CHASSIS_ABOVE_AXLES_M}">
          <freejoint/>
          <inertial pos="0 0 0" mass="{CHASSIS_MASS_KG}" diaginertia="{CHASSIS_INERTIA_KGM2}"/>
          {wheels}
        </body>
      </worldbody>
      <contact>{pairs}</contact>
      <actuator>{actuators}</actuator>
    </mujoco>"""


def build() -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Robot standing still at the origin, settled so that a run starts with its loads in place."""
    model = mujoco.MjModel.from_xml_string(_mjcf())
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=round(0.5 / STEP_S))
    return model, data


def drive(
    model: mujoco.MjModel, data: mujoco.MjData, seconds: float, left_radps: float, right_radps: float
) -> tuple[float, float, float]:
    """Pose x, y in m and yaw in rad after driving on at these wheel speeds, all steps in one C call.

    The contact damping follows the commanded, not the measured speed: updating it each step would need Python
    between steps. Below a rim speed of 0.05 m/s it stops at its stable limit, 1/step, and slip is too large.
    """
    data.ctrl[:] = (left_radps, right_radps, left_radps, right_radps)
    r_lat = data.efc_R[1]  # rows of a contact: normal, along the axle, along the heading; the same for all wheels
    for wheel, speed_radps in enumerate(data.ctrl):
        b = r_lat / max(C_LAT_PER_N * WHEEL_RADIUS_M * abs(speed_radps), r_lat * STEP_S)
        model.pair_solreffriction[wheel] = (-1.0, -b * IMPEDANCE)
    mujoco.mj_step(model, data, nstep=round(seconds / STEP_S))
    x_m, y_m, _, qw, qx, qy, qz = data.qpos[:7].tolist()
    return x_m, y_m, math.atan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz))


def seconds_per_simulated_second(simulated_s: float = 10.0) -> float:
    """Wall time of one simulated second on a gentle curve; the best of three, for the others measure the machine."""
    model, data = build()
    walls_s = []
    for _ in range(3):
        start_s = time.perf_counter()
        drive(model, data, simulated_s, 4.0, 5.0)
        walls_s.append(time.perf_counter() - start_s)
    return min(walls_s) / simulated_s


if __name__ == "__main__":
    straight_radps = 0.5 / WHEEL_RADIUS_M
    turn_radps = HALF_TRACK_M / WHEEL_RADIUS_M
    x_m, y_m, yaw_rad = drive(*build(), 4.0, straight_radps, straight_radps)
    print(f"straight, 0.5 m/s for 4 s: x {x_m:.4f} m, y {y_m:.4f} m, yaw {yaw_rad:.4f} rad")
    x_m, y_m, yaw_rad = drive(*build(), 2.0, -turn_radps, turn_radps)
    print(f"in place, 1 rad/s for 2 s: x {x_m:.4f} m, y {y_m:.4f} m, yaw {yaw_rad:.4f} rad")
    wall_s = seconds_per_simulated_second()
    print(f"speed: {wall_s * 1e3:.2f} ms per simulated second, {1 / wall_s:.0f} times real time")
