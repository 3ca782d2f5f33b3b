"""Does an exported twin move in a real physics engine as the twin itself does? How far apart, why, and which settings mend it."""

from slipfit.verification.artefacts import Artefact as Artefact
from slipfit.verification.artefacts import Kind as Kind
from slipfit.verification.record import Verification as Verification
from slipfit.verification.run import quick as quick
from slipfit.verification.run import verify as verify
