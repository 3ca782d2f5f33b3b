"""The first lines of an exported file: who wrote it, from what."""

from slipfit.twin import SkidSteerTwin


def origin(twin: SkidSteerTwin, ground: str, what: str) -> list[str]:
    """Version, twin, ground, and the constants with their intervals. Plain ASCII, nothing that changes from run to run."""
    import slipfit

    fitted = twin.grounds[ground]
    rows = [
        f"{what}, by slipfit {slipfit.__version__}",
        f"twin of {twin.robot.name}, made {twin.provenance.made}, ground {ground}",
    ]
    for name, p in fitted.parameters.items():
        rows.append(f"{name}: {p.text().replace('±', '+-')} ({p.status.value})".encode("ascii", "replace").decode("ascii"))
    return rows
