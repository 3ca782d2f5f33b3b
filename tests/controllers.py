"""Document 001's controller as a twin's powertrain, and simulated controllers that tests talk to."""

from known_twins import known_twin
from slipfit.hardware import Motors, SideMotor, SimulatedController
from slipfit.hardware.roboteq import WATCHDOG_S
from slipfit.twin import FittedParameter, Twin
from slipfit.twin.powertrain import FittedPowertrain, Side

#: Document 001: k2 = 24.8 and setpoint 2 = 32.5 omega with tyres of .304 m; half the effective track is 32.5 d / k2.
K2, PER_RADPS, TYRE_M, COUNTS_PER_TURN = 24.8, 32.5, 0.304, 44000.0
EFFECTIVE_TRACK_M = 2.0 * PER_RADPS * TYRE_M / K2

#: Its circles by SPEC 2(b): speed, rate, whole channels, radius.
CIRCLES = [
    (0.1, 0.1, (8, 3), 1.062),
    (0.15, 0.15, (12, 5), 0.956),
    (0.2, 0.2, (16, 6), 1.062),
    (0.3, 0.3, (24, 10), 0.956),
    (0.2, 0.1, (16, 3), 2.125),
    (0.3, 0.15, (24, 5), 1.912),
]


def found(value: float, std: float | None = None) -> FittedParameter:
    return FittedParameter(value=value, std=std, status="converged", source="Haas2009")


def powertrain(*, lag_s: float = 0.0, delay_s: float = 0.0, dead_band: float = 0.0, right_gain: float = 1.0) -> FittedPowertrain:
    """Setpoint per rad/s of the wheel is k2 / 2: setpoint = (omega d / 2) / d k2."""
    sides = [
        Side(
            metres_per_count=found(3.141592653589793 * TYRE_M / COUNTS_PER_TURN),
            setpoint_per_radps=found(0.5 * K2 * gain, 0.1),
            lag_s=found(lag_s),
            delay_s=found(delay_s),
            dead_band_setpoint=found(dead_band),
        )
        for gain in (1.0, right_gain)
    ]
    return FittedPowertrain(
        counts_per_turn=found(COUNTS_PER_TURN), effective_track_m=found(EFFECTIVE_TRACK_M), left=sides[0], right=sides[1]
    )


def controlled_twin(**options: float) -> Twin:
    """An ATRV-Jr with document 001's constants on a floor where slip is the same along and across: (T^2 + B^2) / T holds."""
    return known_twin("atrv_jr", 0.005, 0.005).with_powertrain(powertrain(**options))


def simulated_controller(**options: float) -> SimulatedController:
    """A controller with ideal motors."""
    motors = Motors(SideMotor(2.0 / K2, **options), SideMotor(2.0 / K2, **options))
    return SimulatedController(motors, limits=(-126.0, 127.0), watchdog_s=WATCHDOG_S)
