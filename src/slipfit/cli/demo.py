"""slipfit demo: a skid-steer robot that slips, with no file needed."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show, working


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the picture and the motion.")] = Path("demo"),
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Simulate a Pioneer 3-AT that slips: the same commands without slip, on a floor, and on a side slope."""
    from slipfit.library.files import refuse_overwrite
    from slipfit.report.figures import draw_demo, save_figure
    from slipfit.simulate.showcase import showcase

    out.mkdir(parents=True, exist_ok=True)
    picture = out / "slip.png"
    refuse_overwrite(picture, force=force)
    with working("simulating; the first run on a machine compiles its kernels, some 15 s"):
        story = showcase()
    save_figure(draw_demo(story), picture, force=force)
    written = [picture]
    for name, trajectory in story.drives.items():
        path = out / f"{name}.csv"
        trajectory.save(path, force=force)
        written.append(path)
    text = story.summary() + "\n" + "\n".join(f"wrote {path}" for path in written)
    show(text, story.document() | {"written": written}, as_json=json)
