"""A robot's books: every joule from the battery to where it ends, added up step by step by the scheme that moves the robot.

    battery work = stored + dissipated + what the scheme itself swallows

The identities hold step by step for velocities at the end of the step (docs/theory/rover, eq. (books)); the last term, which
backward steps always have, is the remainder: it is shown, and shrinks with the step.

Symbols    as in `powertrain`; a prime marks the end of the step
"""

from typing import Any, NamedTuple

from slipfit.kernels import alike, chosen_by_type, part
from slipfit.vehicles.motors import CompliantMotor, LimitedMotor
from slipfit.vehicles.powertrain import DcMotor, Prescribed, SpeedLoop, spin_of

#: What is added up, J: work of the supply, its amount without sign, and where it went.
FLOW_COLUMNS = (
    "supplied_j", "throughput_j", "in_battery_j", "in_resistance_j", "in_shaft_j", "in_sliding_j", "in_tyres_j", "in_rolling_j",
    "in_air_j", "in_soil_j",
)  # fmt: skip
SUPPLIED, THROUGHPUT, BATTERY, RESISTANCE, SHAFT, SLIDING, TYRES, ROLLING, AIR, SOIL = range(len(FLOW_COLUMNS))

#: What is stored at a moment, J.
STORE_COLUMNS = ("body_j", "wheels_j", "height_j", "magnetic_j", "twist_j", "tyres_j")


class NoBooks(NamedTuple):
    """Nobody counts."""

    unused: float


class Books(NamedTuple):
    """The powertrain as it is, before it is made ready for a step: books need its constants."""

    powertrain: Any


#: The supply's only number: bus over open-circuit voltage.
BUS = 0


class Totals(NamedTuple):
    """A step's sums over all wheels, J."""

    supplied: float
    throughput: float
    in_resistance: float
    in_shaft: float
    in_sliding: float
    in_tyres: float
    in_rolling: float
    in_air: float
    in_soil: float


class Flow(NamedTuple):
    """Energy of one wheel's drive in a step, J."""

    supplied: float
    in_resistance: float
    in_shaft: float


class Store(NamedTuple):
    """Energy of one wheel's drive at a moment, J."""

    turning: float
    magnetic: float
    twist: float


class Stores(NamedTuple):
    """What a whole robot holds, J, as in STORE_COLUMNS."""

    body: float
    wheels: float
    height: float
    magnetic: float
    twist: float
    tyres: float


@chosen_by_type
def are_kept(books):
    """Whether somebody counts. Where not, the vehicle saves the arithmetic."""
    return False


@are_kept.of(Books)
def _(books):
    return True


@chosen_by_type
def flow(powertrain, before, after, dt):
    """What went through a wheel's drive in the step from spin to spin."""
    raise NotImplementedError("a powertrain registers its own flow")


@chosen_by_type
def store(powertrain, spin):
    """What a wheel's drive holds."""
    raise NotImplementedError("a powertrain registers its own store")


@part
def _electrical(motor, before, after, rotor, dt):
    """V i' dt with the voltage that the circuit really had, V = L (i' - i) / dt + R i' + K_e omega_m'; and what it heats."""
    i = after.effort
    voltage = motor.inductance * (i - before.effort) / dt + motor.resistance * i + motor.back_emf * rotor
    # A back-EMF constant that is not the torque constant hides losses of the gear: they are heat as well.
    return voltage * i * dt, (motor.resistance * i + (motor.back_emf - motor.torque_constant) * rotor) * i * dt


def _rigid_flow(powertrain, before, after, dt):
    supplied, heat = _electrical(powertrain, before, after, after.speed, dt)
    return Flow(supplied, heat, powertrain.friction * after.speed * after.speed * dt)


@flow.of(CompliantMotor)
def _(powertrain, before, after, dt):
    supplied, heat = _electrical(powertrain, before, after, after.rotor, dt)
    winding = after.rotor - after.speed
    lost = powertrain.friction * after.rotor * after.rotor + powertrain.damping * winding * winding
    return Flow(supplied, heat, lost * dt)


def _mechanical_flow(powertrain, before, after, dt):
    nothing = alike(0.0, after.speed)
    return Flow(after.effort * after.speed * dt, nothing, nothing)


def _rigid_store(powertrain, spin):
    magnetic = 0.5 * powertrain.inductance * spin.effort * spin.effort
    return Store(0.5 * powertrain.inertia * spin.speed * spin.speed, magnetic, alike(0.0, spin.speed))


def _mechanical_store(powertrain, spin):
    nothing = alike(0.0, spin.speed)
    return Store(0.5 * powertrain.inertia * spin.speed * spin.speed, nothing, nothing)


for _motor in (DcMotor, LimitedMotor):
    flow.of(_motor)(_rigid_flow)
    store.of(_motor)(_rigid_store)
for _loop in (SpeedLoop, Prescribed):
    flow.of(_loop)(_mechanical_flow)
    store.of(_loop)(_mechanical_store)


@store.of(CompliantMotor)
def _(powertrain, spin):
    turning = powertrain.wheel_inertia * spin.speed * spin.speed + powertrain.rotor_inertia * spin.rotor * spin.rotor
    return Store(
        0.5 * turning, 0.5 * powertrain.inductance * spin.effort * spin.effort,
        0.5 * powertrain.stiffness * spin.twist * spin.twist,
    )  # fmt: skip


@part
def drive_stores(books, work, count, body, height, tyres):
    """The whole robot's stores: its wheels' drives, and what the vehicle itself says of body, height and tyres."""
    turning = magnetic = twist = alike(0.0, body)
    for n in range(count):
        one = store(books.powertrain, spin_of(work, n))
        turning, magnetic, twist = turning + one.turning, magnetic + one.magnetic, twist + one.twist
    return Stores(body, turning, height, magnetic, twist, tyres)


@chosen_by_type
def tally(books, rolled, dt):
    """What went through a wheel's drive in a step, if somebody counts."""
    nothing = alike(0.0, rolled.torque)
    return Flow(nothing, nothing, nothing)


@tally.of(Books)
def _(books, rolled, dt):
    return flow(books.powertrain, rolled.before, rolled.after, dt)


@chosen_by_type
def enter(books, notebook, totals):
    """Book a step's sums over all wheels."""


@enter.of(Books)
def _(books, notebook, totals):
    account, bus, work = notebook.account, notebook.supply[BUS], totals.supplied
    account[SUPPLIED] = account[SUPPLIED] + work / bus
    account[BATTERY] = account[BATTERY] + (work / bus - work)
    account[THROUGHPUT] = account[THROUGHPUT] + totals.throughput / bus
    account[RESISTANCE] = account[RESISTANCE] + totals.in_resistance
    account[SHAFT] = account[SHAFT] + totals.in_shaft
    account[SLIDING] = account[SLIDING] + totals.in_sliding
    account[TYRES] = account[TYRES] + totals.in_tyres
    account[ROLLING] = account[ROLLING] + totals.in_rolling
    account[AIR] = account[AIR] + totals.in_air
    account[SOIL] = account[SOIL] + totals.in_soil
