"""DC motors of real rovers: a controller that limits the current, and a shaft between rotor and wheel that gives.

    L di/dt = V - R i - K_e omega_m                         |i| <= i_max: the controller lowers |V| as far as that takes
    J_m domega_m/dt = K_t i - b omega_m - tau,    J_w domega/dt = tau - torque,    tau = K_s twist + D_s dtwist/dt

All taken at the end of the step, so that any constants are stable at any step. At its limit a motor is a source of current: its
torque no longer depends on its speed.

Symbols    omega_m rotor, omega wheel (rad/s) · i current · K_s, D_s stiffness and damping of the shaft · b friction at the rotor
Reference  [Shilliday2023] section IV names the shaft; elimination derived in docs/theory/rover, eq. (shaft)
"""

from typing import NamedTuple

from slipfit.kernels import alike, chosen_by_type, part, where
from slipfit.vehicles.powertrain import (
    Spin,
    after_step,
    blocked_current,
    current_of,
    free_wheel,
    has_shaft,
    is_misjudged,
    prepared,
)


class LimitedMotor(NamedTuple):
    """A motor on a rigid shaft whose current is limited; constants as in `powertrain.DcMotor`."""

    inertia: float  # kg m^2, rotor, gear and wheel
    resistance: float  # ohm
    inductance: float  # H
    torque_constant: float  # N m / A
    back_emf: float  # V s / rad
    friction: float  # N m s / rad
    voltage_limit: float  # V
    current_limit: float  # A, may be infinite


class CompliantMotor(NamedTuple):
    """A motor on a compliant shaft."""

    rotor_inertia: float  # kg m^2, rotor and gear
    wheel_inertia: float  # kg m^2
    resistance: float
    inductance: float
    torque_constant: float
    back_emf: float
    friction: float  # N m s / rad, at the rotor
    voltage_limit: float
    current_limit: float
    stiffness: float  # N m / rad
    damping: float  # N m s / rad


class Circuit(NamedTuple):
    """Current at the end of a step: kept · current + per_volt · voltage - per_speed · rotor speed, within ±limit."""

    kept: float
    per_volt: float
    per_speed: float
    voltage_limit: float
    current_limit: float
    torque_constant: float


class LimitedWheel(NamedTuple):
    """A limited motor, made ready for one step size."""

    circuit: Circuit
    momentum: float  # J / dt
    mobility: float  # rad/s that one N m adds in a step, against friction and back-EMF
    mobility_at_limit: float  # against friction alone


class ShaftedWheel(NamedTuple):
    """A compliant motor, made ready for one step size."""

    circuit: Circuit
    step: float  # s
    rotor_momentum: float  # J_m / dt
    wheel_momentum: float  # J_w / dt
    stiffness: float
    coupling: float  # K_s dt + D_s: torque for each rad/s between rotor and wheel at the end of the step
    rotor_give: float  # 1 / (J_m/dt + b + K_t K_e ... + coupling)
    rotor_give_at_limit: float
    mobility: float
    mobility_at_limit: float


@part
def _circuit(motor, dt):
    per_circuit = 1.0 / (motor.inductance + dt * motor.resistance)
    return Circuit(
        motor.inductance * per_circuit, dt * per_circuit, motor.back_emf * dt * per_circuit, motor.voltage_limit,
        motor.current_limit, motor.torque_constant,
    )  # fmt: skip


@part
def _limited(circuit, current):
    return max(-circuit.current_limit, min(circuit.current_limit, current))


@prepared.of(LimitedMotor)
def _(powertrain, dt):
    motor, circuit = powertrain, _circuit(powertrain, dt)
    drag = motor.friction + motor.torque_constant * circuit.per_speed
    return LimitedWheel(circuit, motor.inertia / dt, dt / (motor.inertia + dt * drag), dt / (motor.inertia + dt * motor.friction))


@chosen_by_type
def branches(wheel, command, spin, torque):
    """Free speeds with a circuit that follows its voltage and with one at its limit; and whether the limit decides."""
    raise NotImplementedError("a motor with a limit registers its two branches")


@branches.of(LimitedWheel)
def _(wheel, command, spin, torque):
    circuit = wheel.circuit
    blocked = blocked_current(circuit, command, spin.effort)
    momentum = wheel.momentum * spin.speed
    free = wheel.mobility * (momentum + circuit.torque_constant * blocked)
    current = blocked - circuit.per_speed * (free - wheel.mobility * torque)
    at_limit = abs(current) > circuit.current_limit
    held = wheel.mobility_at_limit * (momentum + circuit.torque_constant * _limited(circuit, current))
    return free, held, at_limit


@after_step.of(LimitedWheel)
def _(wheel, command, spin, speed, torque):
    circuit = wheel.circuit
    current = _limited(circuit, blocked_current(circuit, command, spin.effort) - circuit.per_speed * speed)
    return Spin(speed, current, spin.rotor, spin.twist)


@part
def _limited_current(circuit, current, rotor, volts):
    """As `current_of`: at its limit the controller lowers the voltage to what that current takes, and draws their product."""
    held = circuit.kept * current - circuit.per_speed * rotor
    wanted = held + circuit.per_volt * volts
    at_limit, most, none = abs(wanted) > circuit.current_limit, _limited(circuit, wanted), 0.0 * wanted
    power = most * (most - held) / circuit.per_volt
    return where(at_limit, none, held), where(at_limit, none, circuit.per_volt + none), where(at_limit, power, none)


@current_of.of(LimitedWheel)
def _(wheel, spin, volts):
    return _limited_current(wheel.circuit, spin.effort, spin.speed, volts)


@prepared.of(CompliantMotor)
def _(powertrain, dt):
    motor, circuit = powertrain, _circuit(powertrain, dt)
    rotor, wheel, coupling = motor.rotor_inertia / dt, motor.wheel_inertia / dt, motor.stiffness * dt + motor.damping
    give = 1.0 / (rotor + motor.friction + motor.torque_constant * circuit.per_speed + coupling)
    give_at_limit = 1.0 / (rotor + motor.friction + coupling)
    return ShaftedWheel(
        circuit, alike(dt, rotor), rotor, wheel, motor.stiffness, coupling, give, give_at_limit,
        1.0 / (wheel + coupling * (1.0 - coupling * give)), 1.0 / (wheel + coupling * (1.0 - coupling * give_at_limit)),
    )  # fmt: skip


@part
def _shafted(wheel, spin, drive, give, mobility):
    """Free speed of the wheel when the rotor is driven by the torque `drive`."""
    wound = wheel.stiffness * spin.twist
    rotor = give * (wheel.rotor_momentum * spin.rotor + drive - wound)
    return mobility * (wheel.wheel_momentum * spin.speed + wound + wheel.coupling * rotor)


@part
def _rotor(wheel, spin, drive, give, speed):
    """Rotor speed at the end of a step, when the wheel's is `speed`."""
    return give * (wheel.rotor_momentum * spin.rotor + drive - wheel.stiffness * spin.twist + wheel.coupling * speed)


@branches.of(ShaftedWheel)
def _(wheel, command, spin, torque):
    circuit = wheel.circuit
    blocked = blocked_current(circuit, command, spin.effort)
    drive = circuit.torque_constant * blocked
    free = _shafted(wheel, spin, drive, wheel.rotor_give, wheel.mobility)
    current = blocked - circuit.per_speed * _rotor(wheel, spin, drive, wheel.rotor_give, free - wheel.mobility * torque)
    at_limit = abs(current) > circuit.current_limit
    limited = circuit.torque_constant * _limited(circuit, current)
    return free, _shafted(wheel, spin, limited, wheel.rotor_give_at_limit, wheel.mobility_at_limit), at_limit


def _free_wheel(wheel, command, spin, torque):
    free, held, at_limit = branches(wheel, command, spin, torque)
    return where(at_limit, held, free), where(at_limit, wheel.mobility_at_limit, wheel.mobility)


def _is_misjudged(wheel, command, spin, torque, mobility):
    _, _, at_limit = branches(wheel, command, spin, torque)
    return at_limit ^ (mobility == wheel.mobility_at_limit)


for _kind in (LimitedWheel, ShaftedWheel):
    free_wheel.of(_kind)(_free_wheel)
    is_misjudged.of(_kind)(_is_misjudged)


@current_of.of(ShaftedWheel)
def _(wheel, spin, volts):
    return _limited_current(wheel.circuit, spin.effort, spin.rotor, volts)


@has_shaft.of(ShaftedWheel)
def _(wheel):
    return True


@after_step.of(ShaftedWheel)
def _(wheel, command, spin, speed, torque):
    circuit = wheel.circuit
    blocked = blocked_current(circuit, command, spin.effort)
    rotor = _rotor(wheel, spin, circuit.torque_constant * blocked, wheel.rotor_give, speed)
    wanted = blocked - circuit.per_speed * rotor
    current = _limited(circuit, wanted)
    held = _rotor(wheel, spin, circuit.torque_constant * current, wheel.rotor_give_at_limit, speed)
    rotor = where(abs(wanted) > circuit.current_limit, held, rotor)
    return Spin(speed, current, rotor, spin.twist + wheel.step * (rotor - speed))
