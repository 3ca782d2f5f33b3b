"""How a run of any drive type ended."""

from enum import Enum


class Outcome(Enum):
    """How a run ended; the value is the sentence that users read, files and --json hold the name."""

    FINISHED = "The run reached its end."
    ARRIVED = "The robot reached its last waypoint."
    CLIMBED = "The robot got over the obstacle."
    TIMED_OUT = "The robot did not reach its goal in time; it is stuck, or needs more time."
    SLID_AWAY = "The robot slid away, further from its route than that is long: too little grip for this slope or these commands."
    LEFT_THE_MAP = "A wheel left the terrain's map; take a larger map, or other waypoints."
    SLIPPED = "The tracks slipped; the robot did not get on."
    TIPPED_BACKWARDS = "The robot tipped over backwards."
    TIPPED_OVER = "The robot tipped over."
    HIGH_CENTRED = "The robot is high-centred: its belly carries it, and the tracks do not reach."
    SUNK_IN = "A wheel sank deeper than its radius; the soil is too soft for this load, or the wheel dug itself in."
    STUCK_IN_SOIL = "The robot is stuck in the soil."
    DIVERGED = "The numbers stopped being finite; check the robot's and the ground's constants of this run."

    @property
    def is_success(self) -> bool:
        """Whether the run ended as it should."""
        return self in (Outcome.FINISHED, Outcome.ARRIVED, Outcome.CLIMBED)


#: Outcomes of robots on wheels, and of tracked robots. Studies store their numbers in this order.
WHEELED_OUTCOMES = (
    Outcome.FINISHED, Outcome.ARRIVED, Outcome.TIMED_OUT, Outcome.SLID_AWAY, Outcome.LEFT_THE_MAP, Outcome.TIPPED_OVER,
    Outcome.SUNK_IN, Outcome.DIVERGED,
)  # fmt: skip
TRACKED_OUTCOMES = (
    Outcome.CLIMBED, Outcome.SLIPPED, Outcome.TIPPED_BACKWARDS, Outcome.TIPPED_OVER, Outcome.HIGH_CENTRED, Outcome.STUCK_IN_SOIL,
    Outcome.TIMED_OUT, Outcome.FINISHED, Outcome.DIVERGED,
)  # fmt: skip
