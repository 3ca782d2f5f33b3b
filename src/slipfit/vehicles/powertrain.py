"""What turns a wheel: an ideal speed loop with or without a torque limit, or a DC motor.

A powertrain answers two questions for one wheel and one step. Before the contact force is known: how fast would the wheel
turn at the end of the step without any (`free_speed`), and how much does one N·m of contact torque take from that (`mobility`):

    omega' = free_speed - mobility · torque of the contact

After the step: the new effort (N·m of a speed loop, A of a motor).
"""

from typing import NamedTuple

from slipfit.kernels import chosen_by_type, part, where


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


class Prescribed(NamedTuple):
    """Turns as commanded, whatever torque that takes."""

    inertia: float  # kg m^2, wheel and gear about the axle


class HeldWheel(NamedTuple):
    """A speed loop, made ready for one step size."""

    per_step: float  # rad/s that one N m adds in a step
    inverse: float  # and back
    torque_limit: float


class PrescribedWheel(NamedTuple):
    """A wheel that turns as commanded, made ready for one step size."""

    inverse: float  # N m for each rad/s in a step


class DrivenWheel(NamedTuple):
    """A motor, made ready for one step size: current' = kept · current + per_volt · voltage - per_speed · omega'."""

    mobility: float  # rad/s that one N m adds in a step, against friction and back-EMF
    momentum: float  # J / dt
    torque_constant: float
    kept: float
    per_volt: float
    per_speed: float
    voltage_limit: float


@chosen_by_type
def prepared(powertrain, dt):
    """The powertrain with everything worked out that does not change from step to step."""
    raise NotImplementedError("a powertrain registers its own preparation")


@chosen_by_type
def free_wheel(wheel, command, speed, effort, torque):
    """(free_speed, mobility) of a wheel; `torque` is the best guess of the contact's torque on it."""
    raise NotImplementedError("a powertrain registers its own wheel")


@chosen_by_type
def new_effort(wheel, command, speed, speed_after, effort, torque):
    """Effort at the end of a step that took the wheel from `speed` to `speed_after` against `torque`."""
    raise NotImplementedError("a powertrain registers its own effort")


@chosen_by_type
def is_misjudged(wheel, command, speed, torque, mobility):
    """Whether, now that the contact's torque is known, the wheel behaves otherwise than `free_wheel` took it to. Motors never."""
    return mobility != mobility


@chosen_by_type
def gives_way(wheel):
    """Whether a contact's torque can change the speed. Where none can, the vehicle saves the arithmetic."""
    return True


@prepared.of(Prescribed)
def _(powertrain, dt):
    return PrescribedWheel(powertrain.inertia / dt)


@gives_way.of(PrescribedWheel)
def _(wheel):
    return False


@free_wheel.of(PrescribedWheel)
def _(wheel, command, speed, effort, torque):
    return command, 0.0 * wheel.inverse


@new_effort.of(PrescribedWheel)
def _(wheel, command, speed, speed_after, effort, torque):
    return wheel.inverse * (speed_after - speed) + torque


@prepared.of(SpeedLoop)
def _(powertrain, dt):
    return HeldWheel(dt / powertrain.inertia, powertrain.inertia / dt, powertrain.torque_limit)


@free_wheel.of(HeldWheel)
def _(wheel, command, speed, effort, torque):
    needed = (command - speed) * wheel.inverse + torque
    holds = abs(needed) <= wheel.torque_limit
    pushed = speed + wheel.per_step * max(-wheel.torque_limit, min(wheel.torque_limit, needed))
    return where(holds, command, pushed), where(holds, 0.0, wheel.per_step)


@is_misjudged.of(HeldWheel)
def _(wheel, command, speed, torque, mobility):
    could_hold = abs((command - speed) * wheel.inverse + torque) <= wheel.torque_limit * (1.0 + 1e-9)
    return could_hold ^ (mobility == 0.0)


@new_effort.of(HeldWheel)
def _(wheel, command, speed, speed_after, effort, torque):
    return wheel.inverse * (speed_after - speed) + torque


@prepared.of(DcMotor)
def _(powertrain, dt):
    motor = powertrain
    per_circuit = 1.0 / (motor.inductance + dt * motor.resistance)
    drag = motor.friction + motor.torque_constant * motor.back_emf * dt * per_circuit
    return DrivenWheel(
        mobility=dt / (motor.inertia + dt * drag),
        momentum=motor.inertia / dt,
        torque_constant=motor.torque_constant,
        kept=motor.inductance * per_circuit,
        per_volt=dt * per_circuit,
        per_speed=motor.back_emf * dt * per_circuit,
        voltage_limit=motor.voltage_limit,
    )


@part
def _blocked_current(wheel, command, effort):
    """Current at the end of the step if the wheel stood still."""
    voltage = max(-wheel.voltage_limit, min(wheel.voltage_limit, command))
    return wheel.kept * effort + wheel.per_volt * voltage


@free_wheel.of(DrivenWheel)
def _(wheel, command, speed, effort, torque):
    drive = wheel.torque_constant * _blocked_current(wheel, command, effort)
    return wheel.mobility * (wheel.momentum * speed + drive), wheel.mobility


@new_effort.of(DrivenWheel)
def _(wheel, command, speed, speed_after, effort, torque):
    return _blocked_current(wheel, command, effort) - wheel.per_speed * speed_after
