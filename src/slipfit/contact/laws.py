"""All laws by name. A new law is one file and one line here: commands, files, schemas and the battery of tests follow."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from slipfit.contact import (
    arctan,
    burckhardt,
    coulomb,
    dugoff,
    kiencke_daiss,
    magic_formula,
    soil,
    stiction,
    tmeasy,
    viscous_slip,
    wheel_slip,
)
from slipfit.contact.combined_slip import curve_of, has_curve
from slipfit.contact.law import LawInfo

LAWS: dict[str, LawInfo] = {
    info.name: info
    for info in (
        coulomb.CONE,
        coulomb.PYRAMID,
        viscous_slip.INFO,
        wheel_slip.INFO,
        wheel_slip.CONE,
        magic_formula.INFO,
        burckhardt.INFO,
        kiencke_daiss.INFO,
        dugoff.INFO,
        tmeasy.INFO,
        arctan.INFO,
        arctan.ELLIPSE,
    )
}

#: Soft ground: wheels sink, so that load and traction belong together (`soil`). Not a law of `touch`; robots on it move in space.
SOILS: dict[str, LawInfo] = {soil.INFO.name: soil.INFO}

#: What a ground's file may name.
GROUND_LAWS: dict[str, LawInfo] = LAWS | SOILS

#: What tracks meet: friction of what is hard, and soil.
TRACK_LAWS: dict[str, LawInfo] = {stiction.INFO.name: stiction.INFO} | SOILS

#: Laws that are one friction curve over the resultant slip: `curve` gives it.
CURVES = tuple(name for name, info in LAWS.items() if has_curve(info.model(info.example)))


def curve(law_name: str, values: Mapping[str, float], slip: Any) -> np.ndarray:
    """Friction coefficient of a law at resultant slips of any shape; values by parameter name, defaults filled in."""
    return curve_of(LAWS[law_name].model(values), slip)
