"""Four friction coefficients of an omni wheel by tilting, and as constants of a ground.

A vehicle whose wheels all point the same way stands on a board, wheels locked: on their rollers, or on the rigid part between two
rollers. The board is tilted along the wheels' rolling direction (mu_w) or along their axles (mu_t) until the vehicle slides:

    mu = tan(angle)

Reference  [Williams2002] sections III-A2 and IV-A
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slipfit.calibration.friction import Friction, tilt
from slipfit.errors import ParameterError
from slipfit.library.files import nearest
from slipfit.twin import FittedParameter

#: What each coefficient is measured on.
COEFFICIENTS = {
    "mu_w": "on rollers, tilted along the rolling direction",
    "mu_t": "on rollers, tilted along the axles",
    "mu_w_rigid": "between rollers, tilted along the rolling direction",
    "mu_t_rigid": "between rollers, tilted along the axles",
}


@dataclass(frozen=True, slots=True)
class OmniTilt:
    """Coefficients that were measured, by name."""

    surface: str
    tests: dict[str, Friction]

    @property
    def parameters(self) -> dict[str, FittedParameter]:
        return {name: test.mu for name, test in self.tests.items()}

    @property
    def missing(self) -> tuple[str, ...]:
        """Coefficients without a test."""
        return tuple(name for name in COEFFICIENTS if name not in self.tests)

    def summary(self) -> str:
        """A few lines of text."""
        rows = [f"{self.surface}: friction by tilting"]
        rows += [
            f"  {name:<12}{test.mu.text()}  ({COEFFICIENTS[name]}, {len(test.readings)} readings)"
            for name, test in self.tests.items()
        ]
        return "\n".join([*rows, *(f"  {name:<12}not measured: tilt {COEFFICIENTS[name]}" for name in self.missing)])

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "surface": self.surface,
            "parameters": {name: p.model_dump() for name, p in self.parameters.items()},
            "tests": {name: test.document() for name, test in self.tests.items()},
            "missing": list(self.missing),
        }


def tilt_tests(
    angles_rad: Mapping[str, Sequence[float]], *, surface: str = "surface", angle_std_rad: float | None = None
) -> OmniTilt:
    """Coefficients from the angles at which a vehicle began to slide, by the names of `COEFFICIENTS`."""
    if not angles_rad:
        raise ParameterError(f"tilt: there are no readings; expected angles of some of {', '.join(COEFFICIENTS)}")
    for name in angles_rad:
        if name not in COEFFICIENTS:
            raise ParameterError(f"tilt: there is no coefficient '{name}'; {nearest(name, COEFFICIENTS)}")
    tests = {}
    for name in COEFFICIENTS:
        if name in angles_rad:
            try:
                tests[name] = tilt(angles_rad[name], angle_std_rad=angle_std_rad)
            except ParameterError as error:
                raise ParameterError(f"{name}: {error}") from None
    return OmniTilt(surface, tests)
