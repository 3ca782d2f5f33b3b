"""Will it get through? P(success) of a robot in a scenario when neither it nor the ground is known exactly.

Three functions that meet through arrays: `sample` gives inputs of runs, `model` evaluates them, the rest analyses verdicts.
"""

from slipfit.study.file import StudyFile
from slipfit.study.result import Point, Study
from slipfit.study.run import prepare, run_study
from slipfit.study.threads import Threads

__all__ = ["Point", "Study", "StudyFile", "Threads", "prepare", "run_study"]
