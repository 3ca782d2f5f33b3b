"""The world that the runner loads: the model as it stands in the exported file, on a plane, with gravity and heading as set."""

import copy
import xml.etree.ElementTree as ET

from slipfit.engines.sdf_model import SdfModel
from slipfit.engines.sdf_xml import Frame, rotation_rpy


def world_text(model: SdfModel, gravity_mps2: tuple[float, float, float], step_s: float, heading_rad: float) -> str:
    """SDF of a world. Plugins, sensors and drawings are left out: the runner would not run them."""
    robot = copy.deepcopy(model.element)
    for child in [child for child in robot if child.tag == "plugin"]:
        robot.remove(child)
    for link in robot.findall("link"):
        for child in [child for child in link if child.tag in ("visual", "sensor", "light", "plugin")]:
            link.remove(child)
    for pose in robot.findall("pose"):
        robot.remove(pose)
    turned = Frame(model.frame.position_m, rotation_rpy(0.0, 0.0, heading_rad) @ model.frame.rotation)
    ET.SubElement(robot, "pose").text = _pose(turned)
    root = ET.Element("sdf", version=model.version)
    world = ET.SubElement(root, "world", name="slipfit")
    ET.SubElement(world, "gravity").text = " ".join(map(repr, gravity_mps2))
    physics = ET.SubElement(world, "physics", name="slipfit", type="ode")
    ET.SubElement(physics, "max_step_size").text = repr(step_s)
    world.append(_ground(model))
    world.append(robot)
    return ET.tostring(root, encoding="unicode")


def _ground(model: SdfModel) -> ET.Element:
    ground = ET.Element("model", name="slipfit_ground")
    ET.SubElement(ground, "static").text = "true"
    collision = ET.SubElement(ET.SubElement(ground, "link", name="ground"), "collision", name="ground")
    plane = ET.SubElement(ET.SubElement(collision, "geometry"), "plane")
    ET.SubElement(plane, "normal").text = "0 0 1"
    ET.SubElement(plane, "size").text = "1000 1000"
    friction = ET.SubElement(ET.SubElement(ET.SubElement(collision, "surface"), "friction"), "ode")
    surface = model.ground
    values = {"mu": surface.mu, "mu2": surface.mu2, "slip1": surface.slip1_mps_per_n, "slip2": surface.slip2_mps_per_n}
    for tag, value in values.items():
        ET.SubElement(friction, tag).text = repr(value)
    return ground


def _pose(frame: Frame) -> str:
    """Place and roll, pitch, yaw as SDF writes them."""
    from scipy.spatial.transform import Rotation

    yaw, pitch, roll = Rotation.from_matrix(frame.rotation).as_euler("ZYX").tolist()
    return " ".join(repr(float(part)) for part in (*frame.position_m, roll, pitch, yaw))
