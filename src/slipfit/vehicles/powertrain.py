"""What turns a wheel: an ideal speed loop with a torque limit, or a DC motor.

A powertrain answers two questions for one wheel and one step. Before the contact force is known: how fast would the wheel
turn at the end of the step without any (`free_speed`), and how much does one N·m of contact torque take from that (`mobility`):

    omega' = free_speed - mobility · torque of the contact

After the step: the new effort (N·m of a speed loop, A of a motor).
"""

from typing import NamedTuple

from slipfit.kernels import chosen_by_type, where


class SpeedLoop(NamedTuple):
    """Holds the commanded wheel speed (rad/s) with whatever torque it takes, up to a limit.

        J (omega' - omega) / dt = tau - torque,    omega' = command while |tau| <= limit, else tau = ±limit

    Reference  ODE's motor with a maximum force, as in [Trimble2022] section 3
    """

    inertia: float  # kg m^2, wheel and gear about the axle
    torque_limit: float  # N m, may be infinite


class DcMotor(NamedTuple):
    """Voltage-driven motor, one per wheel, all constants on the wheel's side of the gear.

        L di/dt = V - R i - K_e omega,    J domega/dt = K_t i - b omega - torque

    Taken implicitly, so that any L (also zero) is stable at any step.
    Reference  [Shilliday2023] motor equations; implicit form derived in docs/theory/stepping, eq. (motor)
    """

    inertia: float  # kg m^2, rotor, gear and wheel
    resistance: float  # ohm
    inductance: float  # H
    torque_constant: float  # N m / A
    back_emf: float  # V s / rad
    friction: float  # N m s / rad
    voltage_limit: float  # V


@chosen_by_type
def free_wheel(powertrain, command, speed, effort, torque, dt):
    """(free_speed, mobility) of a wheel; `torque` is the best guess of the contact's torque on it."""
    raise NotImplementedError("a powertrain registers its own wheel")


@chosen_by_type
def new_effort(powertrain, command, speed, speed_after, effort, torque, dt):
    """Effort at the end of a step that took the wheel from `speed` to `speed_after` against `torque`."""
    raise NotImplementedError("a powertrain registers its own effort")


@free_wheel.of(SpeedLoop)
def _(powertrain, command, speed, effort, torque, dt):
    per_step = dt / powertrain.inertia
    needed = (command - speed) / per_step + torque
    limit = powertrain.torque_limit
    holds = abs(needed) <= limit
    pushed = speed + per_step * max(-limit, min(limit, needed))
    return where(holds, command, pushed), where(holds, 0.0, per_step)


@new_effort.of(SpeedLoop)
def _(powertrain, command, speed, speed_after, effort, torque, dt):
    return powertrain.inertia * (speed_after - speed) / dt + torque


@free_wheel.of(DcMotor)
def _(powertrain, command, speed, effort, torque, dt):
    motor = powertrain
    voltage = max(-motor.voltage_limit, min(motor.voltage_limit, command))
    per_circuit = 1.0 / (motor.inductance + dt * motor.resistance)
    blocked = (motor.inductance * effort + dt * voltage) * per_circuit  # current if the wheel stood still
    drag = motor.friction + motor.torque_constant * motor.back_emf * dt * per_circuit
    mobility = dt / (motor.inertia + dt * drag)
    free_speed = mobility * (motor.inertia * speed / dt + motor.torque_constant * blocked)
    return free_speed, mobility


@new_effort.of(DcMotor)
def _(powertrain, command, speed, speed_after, effort, torque, dt):
    motor = powertrain
    voltage = max(-motor.voltage_limit, min(motor.voltage_limit, command))
    flux = motor.inductance * effort + dt * (voltage - motor.back_emf * speed_after)
    return flux / (motor.inductance + dt * motor.resistance)
