"""Translation and rotation as setpoints of two sides, within limits.

    left = ch1 - ch2,    right = ch1 + ch2

A side beyond its limit takes the other one with it: the same offset on both keeps right - left = 2 ch2, and so the rotation;
only the translation suffers. A difference that is larger than the whole range cannot be kept, and both sides sit on their limits.

Symbols    ch1, ch2 setpoints of translation and rotation, counter-clockwise positive
Reference  [Haas2009] section 2.3 and Table 2; the limits are printed three ways there, 127 and -126 are taken
"""

from enum import StrEnum

from slipfit.twin.powertrain import USUAL_LIMITS


class Mode(StrEnum):
    """What the two channels of a controller mean."""

    MIXED = "mixed"  # channel 1 translation, channel 2 rotation; the controller mixes
    SEPARATE = "separate"  # channel 1 the left side, channel 2 the right side

    def channels(self, left: float, right: float) -> tuple[float, float]:
        """Channels that give these sides."""
        return unmix(left, right) if self is Mode.MIXED else (left, right)

    def sides(self, first: float, second: float, limits: tuple[float, float] = USUAL_LIMITS) -> tuple[float, float]:
        """What the controller makes of two channels, by its limits."""
        if self is Mode.MIXED:
            return mix(first, second, limits)
        return _clipped(first, limits), _clipped(second, limits)


def mix(translation: float, rotation: float, limits: tuple[float, float] = USUAL_LIMITS) -> tuple[float, float]:
    """Left and right from translation and rotation, their difference kept as long as it fits: (96, 50) gives (27, 127)."""
    lowest, highest = limits
    left, right = translation - rotation, translation + rotation
    if abs(right - left) > highest - lowest:
        return (lowest, highest) if rotation > 0.0 else (highest, lowest)
    offset = min(0.0, highest - max(left, right)) or max(0.0, lowest - min(left, right))
    return left + offset, right + offset


def unmix(left: float, right: float) -> tuple[float, float]:
    """Translation and rotation of two sides."""
    return 0.5 * (left + right), 0.5 * (right - left)


def _clipped(value: float, limits: tuple[float, float]) -> float:
    return max(limits[0], min(limits[1], value))
