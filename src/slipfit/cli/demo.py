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
    from slipfit.library.files import check_folder, make_folder
    from slipfit.report.figures import draw_demo, save_figure
    from slipfit.simulate.showcase import DRIVES, showcase

    picture, *motions = written = [out / "slip.png", *(out / f"{name}.csv" for name in DRIVES)]
    check_folder(out, [path.name for path in written], force=force)
    with working("simulating; a law that was never run here is compiled first, some 20 s"):
        story = showcase()
    make_folder(out)
    save_figure(draw_demo(story), picture, force=force)
    for path, trajectory in zip(motions, story.drives.values(), strict=True):
        trajectory.save(path, force=force)
    text = story.summary() + "\n" + "\n".join(f"wrote {path}" for path in written)
    show(text, story.document() | {"written": written}, as_json=json)
