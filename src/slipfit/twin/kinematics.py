"""How a robot moves on a ground, told without forces: effective track and gain, the model a drive asks for, odometry's errors.

    yaw rate = gain (w_r - w_l) / effective_track_m,    speed ahead = gain (w_r + w_l) / 2

Symbols    w_l, w_r rim speeds of both sides by the radius of the robot's file (m/s)
"""

from typing import Annotated

from pydantic import Field, model_validator

from slipfit.library.files import FileModel
from slipfit.twin.fitted import FittedParameter, Number

_AboveZero = Annotated[Number, Field(gt=0.0)]
_NotBelowZero = Annotated[Number, Field(ge=0.0)]

#: Multipliers of nav2's model, in its order.
ALPHAS = ("alpha1", "alpha2", "alpha3", "alpha4")


class AmclNoise(FileModel):
    """Multipliers of variances in nav2's differential motion model.

    alpha1: rotation by rotation, alpha2: rotation by way (rad²/m²), alpha3: way by way, alpha4: way by rotation (m²/rad²).
    """

    alpha1: FittedParameter
    alpha2: FittedParameter
    alpha3: FittedParameter
    alpha4: FittedParameter

    @model_validator(mode="after")
    def _variances(self) -> "AmclNoise":
        for name in ALPHAS:
            value = getattr(self, name).value
            if value is not None and value < 0.0:
                raise ValueError(f"{name} is {value:g}; expected not below zero: it multiplies a variance")
        return self


class OdometryNoise(FileModel):
    """What wheel odometry with effective track and gain leaves over windows of one length.

    `ahead_m`, `left_m` and `heading_rad` are standard deviations after `horizon_s`, without outliers; `growth` is the exponent
    with which they grow with time (1: errors last, 1/2: they start afresh). The `_per_s` numbers are variances that a filter adds
    per second to be as unsure after the horizon: of way ahead, to the left, and of heading. `speed_change` and `yaw_rate_change`
    tell how the robot's own speeds change: mean square change per second. What the drive does not tell is left out.
    """

    horizon_s: _AboveZero
    windows: Annotated[int, Field(ge=0)]
    ahead_m: _NotBelowZero | None = None
    left_m: _NotBelowZero | None = None
    heading_rad: _NotBelowZero | None = None
    growth: Number | None = None
    ahead_m2_per_s: _NotBelowZero | None = None
    left_m2_per_s: _NotBelowZero | None = None
    heading_rad2_per_s: _NotBelowZero | None = None
    speed_change_m2_per_s3: _NotBelowZero | None = None
    yaw_rate_change_rad2_per_s3: _NotBelowZero | None = None
    amcl: AmclNoise | None = None


class FittedKinematics(FileModel):
    """What a ladder of models found on a ground, or a drive's estimate.

    `track_m` is the track that a multiplier of the effective track refers to. `rung` is the simplest model that predicts as well
    as the best, `numbers` its constants, sensors' delays included; of an estimate, which compares none, the model it used.
    """

    track_m: _AboveZero
    effective_track_m: FittedParameter
    gain: FittedParameter
    rung: str
    numbers: dict[str, FittedParameter] = Field(default_factory=dict)
    odometry_noise: OdometryNoise | None = None

    @property
    def is_compared(self) -> bool:
        """Whether a comparison of models left its traces: the chosen one's numbers, or what odometry errs by."""
        return bool(self.numbers) or self.odometry_noise is not None

    @model_validator(mode="after")
    def _above_zero(self) -> "FittedKinematics":
        for name in ("effective_track_m", "gain"):
            value = getattr(self, name).value
            if value is not None and value <= 0.0:
                raise ValueError(f"{name} is {value:g}; expected above zero")
        return self

    def parameters(self) -> dict[str, FittedParameter]:
        """What a summary shows."""
        return {"effective_track_m": self.effective_track_m, "gain": self.gain}
