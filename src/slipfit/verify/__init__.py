"""Does an exported twin move in a real physics engine as the twin itself does? How far apart, why, and which settings mend it."""

from slipfit.verify.artefacts import Artefact as Artefact
from slipfit.verify.artefacts import Kind as Kind
from slipfit.verify.record import Verification as Verification
from slipfit.verify.run import quick as quick
from slipfit.verify.run import verify as verify
