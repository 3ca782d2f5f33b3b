"""A twin as the odometry noise of nav2's AMCL: alpha1 to alpha4 of its differential motion model, from what odometry left.

What they mean, and how they are found: `slipfit.calibration.ladder.odometry_noise`.
"""

from slipfit.exporters.ledger import Entry, Ledger, heading, ledger
from slipfit.exporters.odometry import double, noise_of
from slipfit.exporters.origin import origin
from slipfit.exporters.record import Export, Settings
from slipfit.twin import AmclNoise, FittedParameter, OdometryNoise, SkidSteerTwin

TARGET = "nav2-amcl"
ABOUT = "odometry noise of nav2's AMCL"

#: nav2's own, where a drive does not tell.
DEFAULT = 0.2

_MEANINGS = {
    "alpha1": "variance of rotation over rotation^2",
    "alpha2": "variance of rotation over way^2",
    "alpha3": "variance of way over way^2",
    "alpha4": "variance of way over rotation^2",
}


def export_nav2_amcl(twin: SkidSteerTwin, ground: str | None = None, settings: Settings | None = None) -> Export:
    """The YAML file; intervals stand as comments beside the numbers."""
    name = twin.ground_name(ground)
    noise = noise_of(twin, name, TARGET)
    book = _entries(noise)
    rows = [
        *(f"# {line}".rstrip() for line in heading(origin(twin, name, ABOUT), book)),
        "amcl:",
        "  ros__parameters:",
        '    robot_model_type: "nav2_amcl::DifferentialMotionModel"',
        *(f"    {key}: {_row(_alpha(noise.amcl, key))}; {meaning}" for key, meaning in _MEANINGS.items()),
        f"    alpha5: {double(DEFAULT)}  # nav2's own; the differential model does not use it",
    ]
    return Export(TARGET, twin.robot.name, name, ".yaml", "\n".join(rows) + "\n", book)


def _alpha(amcl: AmclNoise | None, key: str) -> FittedParameter | None:
    found = None if amcl is None else getattr(amcl, key)
    return found if isinstance(found, FittedParameter) and found.value is not None else None


def _row(found: FittedParameter | None) -> str:
    if found is None or found.value is None:
        return f"{double(DEFAULT)}  # nav2's own, the drive does not tell it"
    if found.interval_90 is None:
        return f"{double(found.value)}  # the twin has no spread"
    low, high = found.interval_90
    return f"{double(found.value)}  # 90 %: {low:.3g} to {high:.3g}"


def _entries(noise: OdometryNoise) -> Ledger:
    silent = [key for key in _MEANINGS if _alpha(noise.amcl, key) is None]
    lasting = "" if noise.growth is None else f" (here they grow with time to the power {noise.growth:.2g})"
    return ledger(
        Entry(
            f"{', '.join(silent)} = {DEFAULT:g}", "not told by the drive: nav2's default", "log poses, and drive curves and spins"
        )
        if silent
        else None,
        Entry(
            "errors that last",
            f"odometry errs for seconds in the same direction{lasting}, AMCL draws anew with each update: right for updates "
            f"that a scan follows, too narrow where scans do not match for long",
            "there multiply by the number of updates",
        ),
        Entry(
            "slip to the side",
            f"the model draws none; after {noise.horizon_s:g} s the robot is {noise.left_m:.2g} m beside odometry (standard "
            f"deviation, the heading's part included)",
        )
        if noise.left_m is not None
        else None,
        Entry(
            "odometry",
            "the numbers are of odometry with this ground's effective track and gain",
            "export --to ros2-control for the controller",
        ),
    )
