"""How a robot moved: the result of one run, of any drive type and on any ground."""

from pathlib import Path
from typing import Self

from slipfit.simulation.quantities import Quantities
from slipfit.simulation.trajectory_files import TRAJECTORY_FORMATS, read_run, write_run
from slipfit.simulation.trajectory_summary import summary_of

__all__ = ["TRAJECTORY_FORMATS", "Trajectory"]


class Trajectory(Quantities):
    """Motion of one run: columns by name (time first, wheel second), quantities that follow from them, and how it ended.

    Robots on wheels: position and heading of the robot's origin (docs/conventions) in the ground's frame (a plane's own, or a
    terrain's with z up); vx, vy along the body's axes; fx, fy what an accelerometer at the center of mass feels along them;
    effort the wheel's torque (N m) with a speed loop and its current (A) with a motor. Wheel forces are along the body's axes,
    or, with an energy balance, along the wheel's rolling direction and across it; slip_x, slip_y are then velocities of the rim
    over the ground, and told is what the motor got (V) or the commanded wheel speed (rad/s). pitch_rad is positive nose down.

    Tracked robots: position of the center of mass, its quaternion, and speeds, forces and loads of both belts.
    """

    def summary(self) -> str:
        """A few lines for people."""
        return summary_of(self)

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write .parquet, .csv, or .tum (stamp x y z qx qy qz qw, as trajectory tools read it)."""
        write_run(self, Path(path), force=force)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read back a .parquet or .csv file that `save` wrote."""
        columns, about = read_run(Path(path))
        return cls(columns, **about)
