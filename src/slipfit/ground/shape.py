"""What a ground answers to vehicles. Shapes register their own answers; vehicles never look inside a ground."""

from typing import Any, NamedTuple

from slipfit.kernels import chosen_by_type


class Memory(NamedTuple):
    """What a run leaves behind: numbers of each contact element (a law's), and of each cell of the ground (ruts)."""

    contacts: Any
    cells: Any


class Surface(NamedTuple):
    """The ground at one place of its own frame: how high it is, and how it rises along x and y."""

    height: float  # m
    slope_x: float  # m/m
    slope_y: float


@chosen_by_type
def gravity_in_body(ground, memory, x, y, cos_heading, sin_heading):
    """Gravity at a place along the body's x (ahead) and y (left), and into the ground, m/s^2. Of planes: planar vehicles ask."""
    raise NotImplementedError("a ground registers its own gravity")


@chosen_by_type
def gravity_in_ground(ground):
    """Gravity along the axes of the ground's own frame, m/s^2: (0, 0, -g) where z is up; a plane's z is its normal."""
    raise NotImplementedError("a ground registers its own gravity")


@chosen_by_type
def surface(ground, memory, x, y):
    """Height and slopes at a place; bodies that move in space ask."""
    raise NotImplementedError("a ground registers its own shape")


@chosen_by_type
def is_on_map(ground, x, y):
    """Whether a place belongs to the ground. Shapes without an end have all places."""
    return x == x


@chosen_by_type
def rut_at(ground, memory, x, y):
    """What a place remembers: deepest sinkage (m) and largest slip. Nothing, where the ground keeps no ruts."""
    return 0.0 * x, 0.0 * x


@chosen_by_type
def leave_rut(ground, memory, x, y, deepest, slip):
    """Write into a place's memory how deep a contact sank there, and how much it slipped."""


@chosen_by_type
def cell_count(ground):
    """How many cells of memory a ground needs for each run."""
    return 0
