"""How every command that reads a log is told its topics and columns."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.errors import ParameterError

TopicOption = Annotated[
    list[str] | None, typer.Option("--topic", help="Topic of a channel, as pose=/vicon/robot; may be repeated.")
]
ColumnsOption = Annotated[Path | None, typer.Option("--columns", help="Column map of a CSV log.")]
RobotOption = Annotated[str, typer.Option("--robot", help="Robot of the library (slipfit robots), or a robot file.")]
CountsOption = Annotated[float | None, typer.Option("--counts-per-turn", help="Of encoders that tell ticks.")]


def named_topics(topics: list[str] | None) -> dict[str, str]:
    """--topic pose=/vicon/robot, as `read_log` takes them."""
    named = {}
    for entry in topics or []:
        channel, equals, topic = entry.partition("=")
        if not (channel and equals and topic):
            raise ParameterError(f"--topic {entry}: expected channel=topic, as pose=/vicon/robot")
        named[channel] = topic
    return named
