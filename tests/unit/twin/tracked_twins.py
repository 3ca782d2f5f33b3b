"""A tracked robot's twin: what tests of such twins start from."""

from slipfit.contact import TRACK_LAWS
from slipfit.library import find_robot
from slipfit.twin import TrackedTwin

FOUND = {"status": "converged", "source": "log 9f3c12"}
SAND = dict(TRACK_LAWS["soil"].example)


def mapping(**changes):
    """As a file holds it: a floor with friction, and a soil whose cohesion and angle were found together."""
    soil = {name: {"value": value, **FOUND} for name, value in SAND.items()}
    data = {
        "schema": "slipfit/twin/1",
        "robot": find_robot("packbot").to_mapping(),
        "grounds": {
            "floor": {
                "law": "stiction",
                "parameters": {
                    "mu": {"value": 0.62, "std": 0.03, "interval_90": [0.57, 0.67], **FOUND},
                    "mu_dynamic": {"value": 0.55, "std": 0.02, **FOUND},
                },
                "balance": {"contact_length_m": 0.508, "load_n": 155.8, "mu_lateral": {"value": 0.51, "std": 0.01, **FOUND}},
            },
            "sand": {
                "law": "soil",
                "parameters": soil,
                "covariance": {"names": ["cohesion_pa", "friction_angle_rad"], "matrix": [[40000.0, -5.0], [-5.0, 0.0009]]},
            },
        },
        "provenance": {"slipfit": "0.1.0", "made": "2026-11-15T20:00:00Z"},
    }
    for path, value in changes.items():
        entry = data
        *folders, last = path.split("__")
        for folder in folders:
            entry = entry[folder]
        entry[last] = value
    return data


def twin(**changes):
    return TrackedTwin.from_mapping(mapping(**changes), where="packbot.twin.yaml")
