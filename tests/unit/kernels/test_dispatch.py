"""Behaviour chosen by the class of a model, the same in Python and compiled."""

from typing import NamedTuple

import pytest
from numba import njit
from numba.core.errors import TypingError

from slipfit.kernels import chosen_by_type


class Circle(NamedTuple):
    radius: float


class Rectangle(NamedTuple):
    """Like Circle's, its fields are all of one type, to which Numba gives another tuple type than to mixed ones."""

    width: float
    height: float


class Plate(NamedTuple):
    shape: Rectangle
    holes: int


class Unknown(NamedTuple):
    radius: float


@chosen_by_type
def area(shape, scale):
    """Area of a shape."""
    raise NotImplementedError("a shape registers its own area")


@chosen_by_type
def corners(shape):
    return 0


@area.of(Circle)
def _(shape, scale):
    return scale * 3.0 * shape.radius * shape.radius  # pi is 3 here: whole numbers compare exactly


@area.of(Rectangle)
def _(shape, scale):
    return scale * shape.width * shape.height


@area.of(Plate)
def _(shape, scale):
    return area(shape.shape, scale) - shape.holes * area(Circle(1.0), scale)


@corners.of(Rectangle)
def _(shape):
    return 4


ways = pytest.mark.parametrize("compiled", [False, True], ids=["python", "compiled"])
compiled_area, compiled_corners = njit(lambda shape, scale: area(shape, scale)), njit(lambda shape: corners(shape))


@ways
def test_each_class_gets_its_own_implementation(compiled):
    """By hand: 2 · 3 · 3² = 54, 2 · 4 · 5 = 40, and a plate with two unit holes 40 - 2 · 2 · 3 = 28."""
    find = compiled_area if compiled else area
    plate = Plate(Rectangle(4.0, 5.0), 2)
    assert [find(shape, 2.0) for shape in (Circle(3.0), Rectangle(4.0, 5.0), plate)] == [54.0, 40.0, 28.0]


@ways
def test_classes_that_register_nothing_get_the_default(compiled):
    """The default body says 0."""
    count = compiled_corners if compiled else corners
    assert (count(Rectangle(1.0, 2.0)), count(Circle(1.0)), count(Unknown(1.0))) == (4, 0, 0)


@ways
def test_an_unregistered_class_is_an_error_where_the_default_says_so(compiled):
    """The sentence of the default body reaches the caller, from compiled code too."""
    with pytest.raises(NotImplementedError, match="a shape registers its own area"):
        (compiled_area if compiled else area)(Unknown(1.0), 1.0)


def test_what_is_no_model_does_not_compile():
    """A bare number has no class to choose by."""
    with pytest.raises(TypingError):
        compiled_area(1.0, 1.0)


def test_a_chosen_function_keeps_its_name_and_docstring():
    """Help and error messages name the function that the author wrote."""
    assert (area.__name__, area.__doc__) == ("area", "Area of a shape.")
