"""Kinematics with known numbers on a ground of a twin, for tests of what is done with them."""

from slipfit.twin import Twin

_FOUND = {"status": "converged", "source": "known"}


def kinematics(track_m=0.402, multiplier=1.5, gain=0.95, **noise):
    """As a file holds it; the interval of the track is 5 % to either side, that of the gain 0.02."""
    effective = multiplier * track_m
    return {
        "track_m": track_m,
        "effective_track_m": {"value": effective, "interval_90": [0.95 * effective, 1.05 * effective], **_FOUND},
        "gain": {"value": gain, "std": 0.01, "interval_90": [gain - 0.02, gain + 0.02], **_FOUND},
        "rung": "icr",
        "numbers": {"x_m": {"value": 0.01, "std": 0.002, **_FOUND}},
        "odometry_noise": {
            "horizon_s": 2.0, "windows": 100,
            "ahead_m": 0.2, "left_m": 0.1, "heading_rad": 0.06, "growth": 0.9,
            "ahead_m2_per_s": 0.02, "left_m2_per_s": 0.004, "heading_rad2_per_s": 0.0018,
            "speed_change_m2_per_s3": 0.3, "yaw_rate_change_rad2_per_s3": 0.5,
            "amcl": {
                "alpha1": {"value": 0.01, "std": 0.002, "interval_90": [0.006, 0.014], **_FOUND},
                "alpha2": {"value": 1e-5, "interval_90": [0.0, 2e-5], **_FOUND},
                "alpha3": {"value": 0.04, **_FOUND},
                "alpha4": {"value": None, "status": "not_excited", "source": "known"},
            },
        } | noise,
    }  # fmt: skip


def with_kinematics(twin: Twin, **grounds) -> Twin:
    """The twin with kinematics on its first ground, or on copies of that ground by these names."""
    data = twin.to_mapping()
    name, ground = next(iter(data["grounds"].items()))
    data["grounds"] = {key: {**ground, "kinematics": entry} for key, entry in (grounds or {name: kinematics()}).items()}
    return Twin.from_mapping(data, where="known kinematics")
