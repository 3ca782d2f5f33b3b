"""All laws by name. A new law is one file and one line here: commands, files, schemas and the battery of tests follow."""

from slipfit.contact import arctan, coulomb, magic_formula, viscous_slip, wheel_slip
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
        arctan.INFO,
        arctan.ELLIPSE,
    )
}
