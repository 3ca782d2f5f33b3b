"""What turns a wheel: an ideal speed loop with or without a torque limit, or a DC motor (`motors` has further kinds).

A powertrain answers two questions for one wheel and one step. Before the contact force is known: how fast would the wheel
turn at the end of the step without any (`free_speed`), and how much does one N·m of contact torque take from that (`mobility`):

    omega' = free_speed - mobility · torque of the contact

After the step: what else turns or flows (`Spin`): the effort (N·m of a speed loop, A of a motor), the rotor behind a shaft.
"""

from typing import NamedTuple

from slipfit.kernels import chosen_by_type, part, where


class Spin(NamedTuple):
    """One wheel and what drives it, at one moment. Rotor and twist are those of a compliant shaft; others leave them alone."""

    speed: float  # rad/s
    effort: float  # N m of a speed loop, A of a motor
    rotor: float  # rad/s, on the wheel's side of the gear
    twist: float  # rad, rotor ahead of the wheel


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
def free_wheel(wheel, command, spin, torque):
    """(free_speed, mobility) of a wheel; `torque` is the best guess of the contact's torque on it."""
    raise NotImplementedError("a powertrain registers its own wheel")


@chosen_by_type
def after_step(wheel, command, spin, speed, torque):
    """The spin at the end of a step that took the wheel to `speed` against `torque`."""
    raise NotImplementedError("a powertrain registers what it does in a step")


@chosen_by_type
def current_of(wheel, spin, volts):
    """Current (A) at the end of a step in which the rotor keeps its speed, as held + per_volt V; and the power (W) that a motor
    at its current limit takes instead, whatever the bus: (held, per_volt, power). `volts` says about where V will be."""
    raise NotImplementedError("a motor registers its own current")


@chosen_by_type
def has_shaft(wheel):
    """Whether rotor and wheel turn by themselves. Where they do not, the vehicle saves the arithmetic."""
    return False


@chosen_by_type
def is_misjudged(wheel, command, spin, torque, mobility):
    """Whether, now that the contact's torque is known, the wheel behaves otherwise than `free_wheel` took it to. Motors never."""
    return mobility < mobility


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
def _(wheel, command, spin, torque):
    return command, 0.0 * wheel.inverse


@after_step.of(PrescribedWheel)
def _(wheel, command, spin, speed, torque):
    return Spin(speed, wheel.inverse * (speed - spin.speed) + torque, spin.rotor, spin.twist)


@prepared.of(SpeedLoop)
def _(powertrain, dt):
    return HeldWheel(dt / powertrain.inertia, powertrain.inertia / dt, powertrain.torque_limit)


@free_wheel.of(HeldWheel)
def _(wheel, command, spin, torque):
    needed = (command - spin.speed) * wheel.inverse + torque
    holds = abs(needed) <= wheel.torque_limit
    pushed = spin.speed + wheel.per_step * max(-wheel.torque_limit, min(wheel.torque_limit, needed))
    return where(holds, command, pushed), where(holds, 0.0, wheel.per_step)


@is_misjudged.of(HeldWheel)
def _(wheel, command, spin, torque, mobility):
    could_hold = abs((command - spin.speed) * wheel.inverse + torque) <= wheel.torque_limit * (1.0 + 1e-9)
    return could_hold ^ (mobility == 0.0)


@after_step.of(HeldWheel)
def _(wheel, command, spin, speed, torque):
    return Spin(speed, wheel.inverse * (speed - spin.speed) + torque, spin.rotor, spin.twist)


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
def blocked_current(wheel, command, effort):
    """Current at the end of the step if the wheel stood still."""
    voltage = max(-wheel.voltage_limit, min(wheel.voltage_limit, command))
    return wheel.kept * effort + wheel.per_volt * voltage


@free_wheel.of(DrivenWheel)
def _(wheel, command, spin, torque):
    drive = wheel.torque_constant * blocked_current(wheel, command, spin.effort)
    return wheel.mobility * (wheel.momentum * spin.speed + drive), wheel.mobility


@after_step.of(DrivenWheel)
def _(wheel, command, spin, speed, torque):
    current = blocked_current(wheel, command, spin.effort) - wheel.per_speed * speed
    return Spin(speed, current, spin.rotor, spin.twist)


@current_of.of(DrivenWheel)
def _(wheel, spin, volts):
    return wheel.kept * spin.effort - wheel.per_speed * spin.speed, wheel.per_volt, 0.0 * spin.effort


@part
def spin_of(work, n):
    """What a vehicle keeps of wheel n."""
    return Spin(work.speed[n], work.effort[n], work.rotor[n], work.twist[n])


@part
def keep_spin(wheel, work, n, spin):
    """And back."""
    work.speed[n], work.effort[n] = spin.speed, spin.effort
    if has_shaft(wheel):
        work.rotor[n], work.twist[n] = spin.rotor, spin.twist
