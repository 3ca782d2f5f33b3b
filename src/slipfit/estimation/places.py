"""Places before a robot's heading is known: kept until they tell it, on the way that a filter goes in a frame of its own."""

from math import hypot

import numpy as np

from slipfit.estimation.course import FAR_M, LEAST_STD_RAD, MOST_PLACES, Course, course_of

#: Places closer together than this share of their spread are kept in place of each other: standing still tells no heading.
APART = 0.5


class Places:
    """The last places of a robot, beside where its filter was in its own frame then; a robot that stands takes no room."""

    def __init__(self) -> None:
        self.way: list[complex] = []
        self.places: list[complex] = []
        self.std_m = 0.0

    @property
    def newest(self) -> complex | None:
        return self.places[-1] if self.places else None

    def take(self, x_m: float, y_m: float, std_m: float, own: complex) -> Course | None:
        """Keep a place; where the robot faces in the frame of the places against its own, once they tell it."""
        self.std_m = max(std_m, self.std_m) if self.way else std_m
        if len(self.way) > 1 and max(abs(own - at) for at in self.way[-2:]) < APART * std_m / MOST_PLACES**0.5:
            self.way.pop()
            self.places.pop()
        self.way.append(own)
        self.places.append(complex(x_m, y_m))
        while len(self.way) > MOST_PLACES or abs(self.way[-1] - self.way[0]) > FAR_M:
            self.way.pop(0)
            self.places.pop(0)
        found = course_of(np.array(self.way), np.array(self.places), self.std_m)
        if found is None or not found.is_known or not found.is_used[-1]:
            return None
        return found._replace(std_rad=hypot(found.std_rad, LEAST_STD_RAD))
