"""Links that fixed joints hold together, as one rigid body each: what an engine without exact fixed joints simulates.

m = sum m_k,    m c = sum m_k c_k,    I = sum (R_k I_k R_k^T + m_k (|d_k|^2 1 - d_k d_k^T)),    d_k = c_k - c
"""

from dataclasses import dataclass

import numpy as np

from slipfit.engines.sdf_model import Link, SdfModel
from slipfit.engines.sdf_xml import Frame


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A rigid body. Its frame has its origin at the centre of mass and the axes of the link that gave it its name."""

    root: str
    frame: Frame  # in the model's
    mass_kg: float
    tensor_kgm2: np.ndarray  # in the part's axes
    frames: dict[str, Frame]  # of its links, in the part's frame


def parts_of(model: SdfModel) -> list[Part]:
    """All rigid bodies of a model."""
    root = {link.name: link.name for link in model.links}
    for _ in model.links:  # a chain of fixed joints is at most that long
        for joint in model.joints:
            if joint.kind == "fixed":
                root[joint.child] = root[joint.parent]
    groups: dict[str, list[Link]] = {}
    for link in model.links:
        groups.setdefault(root[link.name], []).append(link)
    return [_part(model.link(name), links) for name, links in groups.items()]


def _part(root: Link, links: list[Link]) -> Part:
    masses = np.array([link.inertia.mass_kg for link in links])
    centres = np.array([link.frame.rotation @ link.inertia.centre_m + link.frame.position_m for link in links])
    centre = masses @ centres / masses.sum()
    tensor = np.zeros((3, 3))
    for link, mass, at in zip(links, masses, centres, strict=True):
        d = at - centre
        turn = root.frame.rotation.T @ link.frame.rotation
        away = root.frame.rotation.T @ d
        tensor += turn @ link.inertia.tensor_kgm2 @ turn.T + mass * (away @ away * np.eye(3) - np.outer(away, away))
    frame = Frame(centre, root.frame.rotation)
    frames = {link.name: frame.inverse() @ link.frame for link in links}
    return Part(root.name, frame, float(masses.sum()), tensor, frames)


def whole_centre(model: SdfModel) -> np.ndarray:
    """Centre of mass of the whole robot in the base link's frame."""
    parts = parts_of(model)
    masses = np.array([part.mass_kg for part in parts])
    centre = masses @ np.array([part.frame.position_m for part in parts]) / masses.sum()
    inverse = model.base.frame.inverse()
    return np.asarray(inverse.rotation @ centre + inverse.position_m)


def yaw_inertia(model: SdfModel) -> float:
    """Of the whole robot about its centre of mass, about the base link's z (kg m²)."""
    parts, up = parts_of(model), model.base.frame.rotation[:, 2]
    masses = np.array([part.mass_kg for part in parts])
    places = np.array([part.frame.position_m for part in parts])
    away = np.cross(places - masses @ places / masses.sum(), up)
    axes = [part.frame.rotation.T @ up for part in parts]
    return float(sum(a @ part.tensor_kgm2 @ a for a, part in zip(axes, parts, strict=True)) + masses @ (away**2).sum(axis=1))


def spin_inertias(model: SdfModel) -> list[float]:
    """Of each wheel about its axle, with what is fixed to it (kg m²)."""
    part_of = {name: part for part in parts_of(model) for name in part.frames}
    pairs = [(part_of[wheel.link.name], wheel.joint.axis / np.linalg.norm(wheel.joint.axis)) for wheel in model.wheels]
    return [float((p.frame.rotation.T @ a) @ p.tensor_kgm2 @ (p.frame.rotation.T @ a)) for p, a in pairs]


def measures_of(model: SdfModel) -> dict[str, object]:
    """What a record of a run tells about its model: name, wheels, centre of mass."""
    return {
        "model": model.name,
        "wheels_at_m": np.array([wheel.at_m for wheel in model.wheels]),
        "wheel_radius_m": np.array([wheel.radius_m for wheel in model.wheels]),
        "centre_of_mass_m": whole_centre(model),
    }
