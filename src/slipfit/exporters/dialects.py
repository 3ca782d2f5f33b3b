"""How the generations of Gazebo name the same things: SDF version, plugins, world systems."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """One generation. Plugins are (file name, name) as they stand in SDF."""

    target: str
    about: str
    sdf_version: str
    wheel_slip: tuple[str, str]
    drive: tuple[str, str]
    systems: tuple[tuple[str, str], ...]  # world plugins without which nothing moves
    is_classic: bool = False


def _sim(target: str, about: str, files: str, names: str) -> Dialect:
    def system(file: str, name: str) -> tuple[str, str]:
        return f"{files}-{file}-system", f"{names}::systems::{name}"

    systems = (("physics", "Physics"), ("user-commands", "UserCommands"), ("scene-broadcaster", "SceneBroadcaster"))
    return Dialect(
        target,
        about,
        "1.9",
        system("wheel-slip", "WheelSlip"),
        system("diff-drive", "DiffDrive"),
        tuple(system(*s) for s in systems),
    )


GZ = _sim("gz", "Gazebo (gz-sim: Harmonic and later), SDF model", "gz-sim", "gz::sim")
FORTRESS = _sim("fortress", "Gazebo Fortress (ignition names), SDF model", "ignition-gazebo", "ignition::gazebo")
CLASSIC = Dialect(
    "gazebo-classic",
    "Gazebo Classic 11, SDF model",
    "1.6",
    ("libWheelSlipPlugin.so", "wheel_slip"),
    ("libSkidSteerDrivePlugin.so", "skid_steer_drive"),
    (),
    is_classic=True,
)

DIALECTS = {dialect.target: dialect for dialect in (GZ, FORTRESS, CLASSIC)}
