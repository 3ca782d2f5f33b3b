"""The twin of FILES: what the tests of twins start from."""

from slipfit.library import find_robot
from slipfit.twin import Twin


def mapping():
    """As a file holds it; short names on purpose."""
    found = {"status": "converged", "source": "log 9f3c12"}
    return {
        "schema": "slipfit/twin/1",
        "robot": find_robot("p3at").to_mapping(),
        "grounds": {
            "lab_floor": {
                "law": "wheel_slip",
                "parameters": {
                    "c_long": {"value": 0.00497, "std": 0.00011, "interval_90": [0.00479, 0.00515], **found},
                    "c_lat_per_n": {"value": 0.0501, "std": 0.0013, "interval_90": [0.0480, 0.0522], **found},
                    "mu": {"value": None, "at_least": 0.29, "status": "not_excited", "source": "log 9f3c12"},
                },
                "combinations": {
                    "c_lat/c_long": {"value": 10.08, "std": 0.05, **found},
                    "mass*c_long": {"value": 0.0994, "std": 0.001, **found},
                },
                "covariance": {"names": ["c_long", "c_lat"], "matrix": [[1.21e-8, 1e-8], [1e-8, 1.69e-6]]},
                "fitted_on": {"speed_mps": [0.0, 1.0], "yaw_rate_radps": [-1.0, 1.0]},
                "load_n": 49.05,
            }
        },
        "provenance": {
            "slipfit": "0.1.0",
            "made": "2026-11-15T20:00:00Z",
            "logs": [{"name": "run.mcap", "sha256": "9f3c12" + "0" * 58}],
            "corrected": ["yaw sign", "clock offset 0.031 s"],
        },
    }


def example():
    return Twin.from_mapping(mapping(), where="example")


def changed(path, value):
    """The mapping with one entry replaced, by its path in dots."""
    data = mapping()
    *folders, last = path.split(".")
    entry = data
    for folder in folders:
        entry = entry[folder]
    entry[last] = value
    return data
