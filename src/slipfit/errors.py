"""What goes wrong at the user's side, as sentences: where, what was found, what was expected, what to do."""


class SlipfitError(Exception):
    """A mistake in what slipfit was given. The command line prints it in one line and exits with 2; anything else is our bug."""


class ParameterError(SlipfitError):
    """A number, key or name in a robot, ground, scenario or twin that cannot be right."""


class LogError(SlipfitError):
    """A drive log that cannot be read or does not hold what is needed."""


class FitError(SlipfitError):
    """Data from which the wanted constants cannot be found."""


class SimulationError(SlipfitError):
    """A scenario that cannot be simulated as it stands."""


class ExportError(SlipfitError):
    """A twin that the target cannot express, or a file that cannot be written."""


class DriveError(SlipfitError):
    """A motor controller that cannot be reached or does not answer as it should, or a plan that it cannot drive."""
