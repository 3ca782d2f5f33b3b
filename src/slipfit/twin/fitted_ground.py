"""A ground as calibrated: a law, and what the drives told about each of its constants."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from slipfit.contact import LAWS
from slipfit.contact.law import LawInfo, LawParameter
from slipfit.errors import ParameterError
from slipfit.library import Ground, Parameter
from slipfit.library.files import FileModel, nearest, validated
from slipfit.library.ground import STANDARD_GRAVITY
from slipfit.library.parameter import Between, out_of_range
from slipfit.twin.fitted import Covariance, FittedParameter, Interval, Number, Status
from slipfit.twin.kinematics import FittedKinematics

_GRAVITIES = Between(STANDARD_GRAVITY.lower_bound, STANDARD_GRAVITY.upper_bound)

#: Factors that may stand in a combination besides the law's constants.
BODY_FACTORS = ("mass", "mass_kg", "yaw_inertia", "yaw_inertia_kgm2")

#: Note of constants that come from a ground's file.
_OF_FILE = "of the ground's file, not calibrated with this robot"

#: What to drive when a constant is not known, by the beginning of its name.
_MANOEUVRES = {
    "c_long": "drive straight and change the speed in a step",
    "k_long": "drive straight and change the speed in a step",
    "c_lat": "spin on the spot",
    "k_lat": "spin on the spot",
    "lateral": "spin on the spot",
    "mu": "make the wheels slide, in a tilt, pull, stall or braking test (slipfit friction)",
}


def _tell_editors(schema: dict[str, Any], model: type["FittedGround"]) -> None:
    """JSON schema: the law is one that such a ground may have, and its constants are those of the law."""
    laws = model.laws
    schema["properties"]["law"]["enum"] = sorted(laws)
    schema["allOf"] = [
        {
            "if": {"properties": {"law": {"const": law.name}}},
            "then": {"properties": {"parameters": {"propertyNames": {"enum": _names(law)}}}},
        }
        for law in laws.values()
    ]


class FittedOn(FileModel):
    """The range of motion that the constants were found on; beyond it they are a guess."""

    speed_mps: Interval
    yaw_rate_radps: Interval

    @model_validator(mode="after")
    def _lower_end_first(self) -> "FittedOn":
        for name in ("speed_mps", "yaw_rate_radps"):
            low, high = getattr(self, name)
            if low > high:
                raise ValueError(f"{name} is [{low:g}, {high:g}]; expected the lower end first")
        return self


class FittedGround(FileModel):
    """One ground of a twin. Constants are known by their full names; short ones (c_long) are understood.

    `combinations` are products and quotients of constants (`c_lat/c_long`, `mass*c_long`) that the drives tell better than
    their factors. `load_n` is the mean load of a wheel at which the constants hold. `kinematics` tells the motion without forces.
    """

    model_config = ConfigDict(json_schema_extra=_tell_editors)

    #: Laws that such a ground may have, and what to drive when a constant is not known, by the beginning of its name.
    laws: ClassVar[Mapping[str, LawInfo]] = LAWS
    manoeuvres: ClassVar[Mapping[str, str]] = _MANOEUVRES

    about: str = ""
    gravity_mps2: Annotated[Parameter, _GRAVITIES] = STANDARD_GRAVITY
    law: str
    parameters: dict[str, FittedParameter]
    combinations: dict[str, FittedParameter] = Field(default_factory=dict)
    covariance: Covariance | None = None
    fitted_on: FittedOn | None = None
    load_n: Annotated[Number, Field(gt=0.0)] | None = None
    kinematics: FittedKinematics | None = None

    @property
    def info(self) -> LawInfo:
        """What the law tells about itself."""
        return self.laws[self.law]

    @model_validator(mode="after")
    def _constants_of_the_law(self) -> Self:
        if self.law not in self.laws:
            raise ValueError(f"there is no law '{self.law}'; {nearest(self.law, self.laws)}")
        object.__setattr__(self, "parameters", _full_names(self.info, self.parameters))
        if self.covariance is not None:
            object.__setattr__(self, "covariance", self._covariance_of_the_law(self.covariance))
        for key in self.combinations:
            self._check_combination(key)
        return self

    def _covariance_of_the_law(self, covariance: Covariance) -> Covariance:
        info = self.info
        names = [wanted.name if (wanted := info.parameter(name)) else name for name in covariance.names]
        for given, name in zip(covariance.names, names, strict=True):
            if names.count(name) > 1:
                raise ValueError(f"covariance.names: {name} stands there twice; keep one of them")
            if info.parameter(name) and (name not in self.parameters or self.parameters[name].value is None):
                raise ValueError(f"covariance.names: {given} has no value under parameters; leave it out of the covariance")
        return covariance.model_copy(update={"names": names})

    def _check_combination(self, key: str) -> None:
        info, known = self.info, [*_names(self.info), *BODY_FACTORS]
        for factor in factors(key):
            if info.parameter(factor) is None and factor not in BODY_FACTORS:
                raise ValueError(
                    f"combinations.{key}: expected products and quotients of the law's constants, as c_lat/c_long; "
                    f"there is no '{factor}', {nearest(factor, known)}"
                )

    def parameter(self, name: str) -> FittedParameter:
        """A constant by its full or short name."""
        wanted = self.info.parameter(name)
        if wanted is None or wanted.name not in self.parameters:
            raise ParameterError(f"the ground has no constant '{name}'; {nearest(name, self.parameters)}")
        return self.parameters[wanted.name]

    def with_parameter(self, name: str, fitted: FittedParameter) -> Self:
        """The same with one constant replaced or added; its covariances with others are forgotten."""
        wanted = self.info.parameter(name)
        if wanted is None:
            names = _names(self.info)
            raise ParameterError(f"the law {self.law} has no constant '{name}'; {nearest(name, names)}")
        update: dict[str, Any] = {"parameters": {**self.parameters, wanted.name: fitted}}
        if self.covariance is not None:
            update["covariance"] = self.covariance.without(wanted.name)
        return validated(type(self), dict(self) | update, where="ground")

    @classmethod
    def of_file(cls, ground: Ground) -> Self:
        """A ground as its file has it, not calibrated with a robot."""
        if ground.law not in cls.laws:
            raise ParameterError(
                f"ground {ground.name} has the law {ground.law}, which twins of robots on wheels do not hold; drive the robot on "
                f"it with `slipfit simulate --ground`"
            )
        return cls._from_file(ground, ground.law, ground.parameters)

    @classmethod
    def _from_file(cls, ground: Ground, law: str, constants: Mapping[str, Parameter]) -> Self:
        parameters = {
            name: FittedParameter(value=p.value, std=p.std, status=Status.CONVERGED, source=p.source, note=_OF_FILE)
            for name, p in constants.items()
        }
        return cls(about=ground.about, gravity_mps2=ground.gravity_mps2, law=law, parameters=parameters)

    def as_ground(self, name: str, *, where: str) -> Ground:
        """What a simulation needs, as a ground."""
        data = {
            "name": name,
            "about": self.about,
            "gravity_mps2": self.gravity_mps2,
            "law": self.law,
            "parameters": self.filled(where=where),
        }
        return validated(Ground, data, where=where)

    def filled(self, *, where: str) -> dict[str, Parameter]:
        """Constants for a simulation: those without a value are filled, and their notes say with what."""
        found = {p.name: self._filled(p, where) for p in self.info.parameters}
        return {name: entry for name, entry in found.items() if entry is not None}

    def _filled(self, wanted: LawParameter, where: str) -> Parameter | None:
        """A constant for simulation; none where the law finds it by itself."""
        fitted = self.parameters.get(wanted.name)
        if fitted is None and not wanted.is_required:
            return None
        if fitted is not None and fitted.value is not None:
            return _parameter(wanted, fitted.value, fitted, fitted.note)
        choice = _stand_in(wanted, fitted)
        if choice is None and wanted.same_as:
            return None
        if choice is None or fitted is None:
            start = wanted.name.split("_per_")[0].split("_mps")[0]
            drive = next((words for begin, words in self.manoeuvres.items() if start.startswith(begin)), "drive more widely")
            raise ParameterError(
                f"{where}: {wanted.name} ({wanted.about}) is not known, not even by a bound; {drive}, and calibrate again"
            )
        value, reason = choice
        return _parameter(wanted, value, fitted, "; ".join(part for part in (reason, fitted.note) if part))


def _stand_in(wanted: LawParameter, fitted: FittedParameter | None) -> tuple[float, str] | None:
    """A value where the drives tell none, with the reason: the law's default if no bound speaks against it, otherwise the
    middle of what the bounds leave."""
    low = None if fitted is None else fitted.at_least
    high = None if fitted is None else fitted.at_most
    default = wanted.default
    if default is not None and (low is None or default >= low) and (high is None or default <= high):
        said = "" if low is None else f", at least {low:.4g}"
        return default, f"not told by the drives{said}: the law's default"
    if high is not None:
        bottom = wanted.lower if low is None else low
        between = f"half of the 95 % bound {high:.4g}" if bottom == 0.0 else f"middle of {bottom:.4g} and {high:.4g}"
        return 0.5 * (bottom + high), f"not resolved by the drives: {between}"
    if low is not None:
        return low, "not told by the drives: the least that they show"
    return None


def _parameter(wanted: LawParameter, value: float, fitted: FittedParameter, note: str) -> Parameter:
    return Parameter(wanted.name, value, fitted.source, fitted.std, note, wanted.lower, wanted.upper)


def _names(law: LawInfo) -> list[str]:
    return [name for p in law.parameters for name in (p.name, p.alias) if name]


def _full_names(law: LawInfo, given: Mapping[str, FittedParameter]) -> dict[str, FittedParameter]:
    found: dict[str, FittedParameter] = {}
    for key, fitted in given.items():
        wanted = law.parameter(key)
        if wanted is None:
            raise ValueError(f"parameters.{key}: the law {law.name} has no such constant; {nearest(key, _names(law))}")
        if wanted.name in found:
            raise ValueError(f"parameters.{key}: {wanted.name} is given twice; keep one of them")
        for entry in (fitted.value, fitted.at_least, fitted.at_most):
            problem = "" if entry is None else out_of_range(wanted.name, entry, wanted.lower, wanted.upper)
            if problem:
                raise ValueError(f"parameters.{key}: {problem}")
        found[wanted.name] = fitted
    return found


def factors(combination: str) -> dict[str, int]:
    """Names in a combination and the powers they stand in: 'mass*c_long' gives mass 1 and c_long 1, 'a/b' gives b -1."""
    powers: dict[str, int] = {}
    for sign, name in re.findall(r"(^|[*/])([^*/]*)", combination):
        powers[name.strip()] = powers.get(name.strip(), 0) + (-1 if sign == "/" else 1)
    return powers
