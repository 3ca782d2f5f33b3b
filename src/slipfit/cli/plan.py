"""slipfit plan: which runs to drive for a wanted precision."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show, working
from slipfit.errors import ParameterError


def plan(
    robot: Annotated[str, typer.Argument(help="Robot of the library (slipfit robots), a robot file, or a twin.")],
    floor: Annotated[str, typer.Option(help="Free floor in metres, LENGTHxWIDTH.")] = "6x4",
    precision: Annotated[str, typer.Option(help="Wanted standard deviation of c_long and c_lat, as 3% or 0.03.")] = "3%",
    imu_noise: Annotated[float, typer.Option(help="Noise of the accelerometer, m/s².")] = 0.05,
    imu_bias: Annotated[float, typer.Option(help="Bias of the accelerometer, m/s²; found by every fit, costs nothing.")] = 0.02,
    gyro_noise: Annotated[float, typer.Option(help="Noise of the gyro, rad/s.")] = 0.002,
    rate_hz: Annotated[float, typer.Option(help="Rate of IMU and encoders.")] = 100.0,
    counts: Annotated[int, typer.Option(help="Counts of an encoder per turn of the wheel.")] = 4096,
    pose_noise_m: Annotated[
        float | None, typer.Option(help="Noise of a pose (tracker, lidar); without it there is none.")
    ] = None,
    pose_rate_hz: Annotated[float, typer.Option(help="Rate of the pose.")] = 20.0,
    max_speed: Annotated[float | None, typer.Option(help="Fastest that may be driven, m/s; else the robot's limit.")] = None,
    max_duration_s: Annotated[float, typer.Option(help="Longest drive.")] = 120.0,
    guess_c_long: Annotated[float | None, typer.Option(help="Expected c_long, 1/N; else a hard floor's.")] = None,
    guess_c_lat: Annotated[float | None, typer.Option(help="Expected c_lat, 1/N; else a hard floor's.")] = None,
    ground: Annotated[str | None, typer.Option(help="Ground of library or twin, or a file: its constants and friction.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the drive as a scenario (.yaml).")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write time_s, v_mps, yaw_rate_radps at 20 Hz (.csv).")] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Choose speed steps, spins and arcs that tell c_long and c_lat to a wanted precision, on a floor of given size.

    Exit code 1 when the precision cannot be reached; the plan that comes nearest is printed and written all the same.

    Example: slipfit plan p3at --floor 6x4 --precision 3% -o plan.scenario.yaml --csv plan.csv
    """
    from slipfit.calibration.plan import plan as choose
    from slipfit.calibration.plan import share_of, usual_sensors
    from slipfit.calibration.plan_manoeuvres import Floor
    from slipfit.library.files import check_target
    from slipfit.library.parameter import out_of_range

    positive = {
        "--imu-noise": (imu_noise, 0.0, 100.0),
        "--imu-bias": (imu_bias, -100.0, 100.0),
        "--gyro-noise": (gyro_noise, 0.0, 10.0),
        "--rate-hz": (rate_hz, 5.0, 1000.0),
        "--counts": (counts, 4, 100_000_000),
        "--pose-noise-m": (pose_noise_m, 0.0, 10.0),
        "--pose-rate-hz": (pose_rate_hz, 1.0, 1000.0),
        "--max-speed": (max_speed, 0.1, 100.0),
        "--max-duration-s": (max_duration_s, 10.0, 3600.0),
        "--guess-c-long": (guess_c_long, 1e-6, 1.0),
        "--guess-c-lat": (guess_c_lat, 1e-6, 10.0),
    }
    for flag, (value, lower, upper) in positive.items():
        problem = "" if value is None else out_of_range(flag, value, lower, upper)
        if problem:
            raise ParameterError(problem)
    sides = Floor.from_text(floor, where="--floor")
    if out:
        check_target(out, force=force, formats=(".yaml", ".yml"))
    if csv:
        check_target(csv, force=force, formats=(".csv",))
    sensors = usual_sensors(
        imu_noise_mps2=imu_noise,
        imu_bias_mps2=imu_bias,
        gyro_noise_radps=gyro_noise,
        rate_hz=rate_hz,
        counts_per_turn=counts,
        pose_noise_m=pose_noise_m,
        pose_rate_hz=pose_rate_hz,
    )
    share = share_of(precision, where="--precision")
    with working(f"planning a drive of {robot}"):
        drive = choose(
            robot,
            floor=sides,
            precision=share,
            sensors=sensors,
            ground=ground,
            guess_c_long_per_n=guess_c_long,
            guess_c_lat_per_n=guess_c_lat,
            max_speed_mps=max_speed,
            max_duration_s=max_duration_s,
        )
    written = drive.save(out, force=force) if out else []
    if csv:
        drive.write_csv(csv, force=force)
        written.append(csv)
    lines = [drive.summary(), *(f"wrote {path}" for path in written)]
    show("\n".join(lines), {**drive.to_document(), "written": written}, as_json=json)
    if not drive.is_reached:
        raise typer.Exit(1)
