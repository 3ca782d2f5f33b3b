"""What a ground answers to vehicles. Shapes register their own answers; vehicles never look inside a ground."""

from math import sqrt
from typing import Any, NamedTuple

from slipfit.kernels import alike, chosen_by_type


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


class Clearance(NamedTuple):
    """A place above one block of the ground: distance to it (negative inside), and its outward normal there."""

    distance: float  # m
    normal_x: float
    normal_y: float
    normal_z: float
    grip: float  # friction over that of the ground's surface


class Edge(NamedTuple):
    """An edge of the ground below a straight line of a vehicle: distance from the line (negative where it cuts into it), and the
    place along the line that is nearest."""

    distance: float  # m
    offset: float  # m, from the line's start
    normal_x: float
    normal_y: float
    normal_z: float
    grip: float


@chosen_by_type
def block_count(ground):
    """Of how many blocks the ground is the union. A disc may touch each of them."""
    return 1


@chosen_by_type
def clearance(ground, memory, b, x, y, z):
    """How a place stands to block b. Ground given by heights is one block: its tangent plane below the place."""
    here = surface(ground, memory, x, y)
    up = 1.0 / sqrt(1.0 + here.slope_x * here.slope_x + here.slope_y * here.slope_y)
    return Clearance((z - here.height) * up, -here.slope_x * up, -here.slope_y * up, up, alike(1.0, up))


@chosen_by_type
def disc_clearance(ground, b, place, axle, radius, here):
    """How block b stands to a thin disc, from `here`, its clearance of the disc's centre: the normal along which they are
    furthest apart, and the centre's distance along it. A plane has one normal, whatever comes near."""
    return here


@chosen_by_type
def edge_count(ground):
    """How many edges stand out of the ground."""
    return 0


@chosen_by_type
def edge_of(ground, b, place, tangent, length):
    """Edge b below the straight line from a place along a unit vector, so long; its vehicle is above the line. Ground without
    edges answers with one out of reach."""
    zero, one = alike(0.0, place.z), alike(1.0, place.z)
    return Edge(one, -one, zero, zero, one, one)


@chosen_by_type
def soil_depth(ground, memory, x, y, z):
    """How deep a place lies below the untouched surface of the soil, m; negative above it, and where there is none."""
    return surface(ground, memory, x, y).height - z


@chosen_by_type
def along_profile(ground, x, y):
    """A place along the direction in which the ground's obstacles follow each other, m."""
    return x
