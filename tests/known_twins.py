"""Twins whose constants are known, for tests of what is done with twins."""

from slipfit.library import Robot, find_robot
from slipfit.twin import Twin


def known_twin(robot: Robot | str = "p3at", c_long: float = 0.005, c_lat: float = 0.05, *, digest: str = "") -> Twin:
    """A twin with these constants, and the digest of a log that it claims to rest on."""
    record = find_robot(robot) if isinstance(robot, str) else robot
    found = {"status": "converged", "source": "known"}
    parameters = {
        "c_long": {"value": c_long, **found},
        "c_lat": {"value": c_lat, **found},
        "mu": {"value": None, "at_least": 0.3, "status": "not_excited", "source": "known"},
    }
    data = {
        "schema": Twin.kind(),
        "robot": record.to_mapping(),
        "grounds": {"floor": {"law": "wheel_slip", "parameters": parameters}},
        "provenance": {
            "slipfit": "0.1.0",
            "made": "2026-11-15T20:00:00Z",
            "logs": [{"name": "run.mcap", "sha256": digest}] if digest else [],
        },
    }
    return Twin.from_mapping(data, where="known twin")
