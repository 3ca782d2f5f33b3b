"""slipfit schema: JSON schemas of our files, for editors."""

from typing import Annotated

import typer

from slipfit.cli.output import JsonFlag
from slipfit.errors import ParameterError


def schema(
    kind: Annotated[
        str,
        typer.Argument(
            help="robot, ground, terrain, scenario, columns, twin, odometry, study; of tables plate_columns, "
            "shear_columns, wheel_columns, tyre_columns."
        ),
    ],
    json: JsonFlag = False,
) -> None:
    """Print the JSON schema of a kind of file; an editor that knows it completes and checks as you type."""
    from slipfit.calibration.odometry import OdometryReadings
    from slipfit.calibration.soil import PlateColumns, ShearColumns, WheelColumns
    from slipfit.calibration.tyre.columns import TyreColumns
    from slipfit.library import Ground, Robot, TerrainFile
    from slipfit.library.files import NamedFile, nearest
    from slipfit.library.schemas import schema_text
    from slipfit.logs import ColumnMap
    from slipfit.simulation import Scenario
    from slipfit.study import StudyFile
    from slipfit.twin import Twin

    kinds: dict[str, type[NamedFile]] = {
        "robot": Robot,
        "ground": Ground,
        "terrain": TerrainFile,
        "scenario": Scenario,
        "columns": ColumnMap,
        "twin": Twin,
        "odometry": OdometryReadings,
        "study": StudyFile,
        "plate_columns": PlateColumns,
        "shear_columns": ShearColumns,
        "wheel_columns": WheelColumns,
        "tyre_columns": TyreColumns,
    }
    if kind not in kinds:
        raise ParameterError(f"there is no kind of file '{kind}'; {nearest(kind, kinds)}")
    typer.echo(schema_text(kinds[kind]), nl=False)
