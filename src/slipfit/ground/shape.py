"""What a ground answers to vehicles. Shapes register their own answers; vehicles never look inside a ground."""

from typing import Any, NamedTuple

from slipfit.kernels import chosen_by_type


class Memory(NamedTuple):
    """What a run leaves behind: numbers of each contact element (a law's), and of each cell of the ground (ruts)."""

    contacts: Any
    cells: Any


@chosen_by_type
def gravity_in_body(ground, memory, x, y, cos_heading, sin_heading):
    """Gravity at a place along the body's x (ahead) and y (left), and into the ground, m/s^2."""
    raise NotImplementedError("a ground registers its own gravity")


@chosen_by_type
def cell_count(ground):
    """How many cells of memory a ground needs for each run."""
    return 0
