"""Where poses come from, and which of them may serve as truth."""

from slipfit.logs.provenance.classify import Classified
from slipfit.logs.provenance.source import Origin, PoseSource
from slipfit.logs.provenance.truth import PoseTruth, with_truth

__all__ = ["Classified", "Origin", "PoseSource", "PoseTruth", "with_truth"]
