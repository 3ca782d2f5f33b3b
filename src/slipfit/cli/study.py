"""slipfit study: P(success) when neither robot nor ground is known exactly."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, Stopped, show, working
from slipfit.errors import ParameterError

if TYPE_CHECKING:
    from slipfit.study.threads import Backend


def study(
    file: Annotated[Path, typer.Argument(help="A study's .yaml file (docs/howto/study).")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for runs and answer; else the file's name without .yaml.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page with curves, Sobol indices and failures, .html.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the curve into this picture (.png, .svg or .pdf).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what the folder holds.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of this machine; all cores by default.")] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, tcp://host:8786, or `local` for processes of this machine.")
    ] = None,
    processes: Annotated[int | None, typer.Option(min=1, help="Worker processes of `--cluster local`.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check the file and say how many runs it may take.")] = False,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Run a study: how likely is success, how sure is that, and what does it depend on?

    Example: slipfit study curb.yaml --report curb.html

    On a cluster: slipfit study curb.yaml --cluster tcp://head:8786. Stopped? Again with --resume.
    """
    from slipfit.study.run import prepare, run_study

    folder = out or Path(file.stem)
    if cluster is None and processes is not None:
        raise ParameterError("--processes belongs to --cluster local; give both, or --threads")
    if cluster is not None and threads is not None:
        raise ParameterError("--threads and --cluster are both given; keep one of them")
    prepared = prepare(file)
    if check:
        cells, runs = len(prepared.sampler.cells), prepared.most_runs
        line = f"{file}: {cells} points, {len(prepared.sampler.names)} inputs that vary, at most {runs} runs"
        show(line, {"points": cells, "inputs": list(prepared.sampler.shown_names), "at_most_runs": runs}, as_json=json)
        return
    _check_targets(report, plot, force=force)
    with working(f"studying {file.name}") as work:
        if cluster:
            work("starting worker processes" if cluster == "local" else f"waiting for the scheduler and workers at {cluster}")
        backend = _backend(cluster, processes, threads)
        try:
            try:
                answer = run_study(prepared, folder, backend=backend, resume=resume, force=force, progress=work)
            finally:
                backend.close()
        except KeyboardInterrupt:  # also one more while it closes
            raise Stopped(
                f"stopped; {folder} keeps the runs that were finished, the same command with --resume goes on"
            ) from None
        written = [folder / "result.json", folder / "runs.parquet"]
        for path in written:
            work.wrote(path)
        if report:
            from slipfit.report.study_report import write_study_report

            work(f"drawing the report {report.name}, with an example of each failure")
            write_study_report(answer, prepared, report, force=force)
            work.wrote(report)
            written.append(report)
        if plot:
            from slipfit.report.figures import save_figure
            from slipfit.report.study_figures import draw_study

            work(f"drawing {plot.name}")
            save_figure(draw_study(answer), plot, force=force)
            written.append(plot)
    lines = [answer.summary(), *(f"wrote {path}" for path in written)]
    show("\n".join(lines), {**answer.to_document(), "written": written}, as_json=json)


def _check_targets(report: Path | None, plot: Path | None, *, force: bool) -> None:
    from slipfit.cli.results import check_results
    from slipfit.library.files import check_target

    check_results(None, plot, force=force)
    if report:
        check_target(report, force=force, formats=(".html",))


def _backend(cluster: str | None, processes: int | None, threads: int | None) -> "Backend":
    if cluster is None:
        from slipfit.study.threads import Threads

        return Threads(threads)
    from slipfit.study.cluster import Cluster

    if cluster == "local":
        return Cluster(processes=processes)
    if "://" not in cluster:
        raise ParameterError(f"--cluster {cluster}: expected an address such as tcp://host:8786, or the word local")
    return Cluster(cluster)
