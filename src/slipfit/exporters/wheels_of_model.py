"""Which links of somebody's model are the twin's wheels: as the user says, or by the names of links and joints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slipfit.errors import ExportError
from slipfit.exporters.xml_spans import Document, Node
from slipfit.library.files import nearest
from slipfit.logs.wheels import wheel_order


@dataclass(frozen=True, slots=True)
class ModelWheel:
    """A link and the joint that turns it."""

    link: Node
    joint: Node
    child: str

    @property
    def name(self) -> str:
        return self.link.attributes.get("name", "")


def parse_wheels(text: str, names: Sequence[str]) -> dict[str, str]:
    """`front_left=link,...` as the user types it, complete."""
    found: dict[str, str] = {}
    for part in text.split(","):
        wheel, equals, link = (piece.strip() for piece in part.partition("="))
        if not (wheel and equals and link):
            raise ExportError(f"--wheels has '{part.strip()}'; expected WHEEL=LINK, as {names[0]}=my_wheel_link")
        if wheel not in names:
            raise ExportError(f"--wheels: the twin has no wheel '{wheel}'; {nearest(wheel, names)}")
        if wheel in found:
            raise ExportError(f"--wheels: {wheel} stands there twice; keep one of them")
        found[wheel] = link
    missing = [name for name in names if name not in found]
    if missing:
        raise ExportError(f"--wheels: {', '.join(missing)} is missing; expected a link for each of {', '.join(names)}")
    twice = next((link for link in found.values() if list(found.values()).count(link) > 1), None)
    if twice:
        raise ExportError(f"--wheels: the link '{twice}' stands there twice; expected another link for each wheel")
    return found


def turning(document: Document, place: Node, child_of: Mapping[int, str]) -> dict[str, ModelWheel]:
    """Links below revolute or continuous joints, by name. `child_of` gives the child's name of each joint (by id)."""
    links = {link.attributes.get("name", ""): link for link in place.named("link")}
    found: dict[str, ModelWheel] = {}
    for joint in place.named("joint"):
        child = child_of.get(id(joint), "")
        if joint.attributes.get("type") in ("revolute", "continuous") and child in links:
            if child in found:
                raise document.refusal(
                    joint, f"the link '{child}' has a second joint above it; expected one, WheelSlip refuses others"
                )
            found[child] = ModelWheel(links[child], joint, child)
    return found


def named_wheels(
    document: Document,
    place: Node,
    turning_links: Mapping[str, ModelWheel],
    names: Sequence[str],
    given: Mapping[str, str] | None,
) -> dict[str, ModelWheel]:
    """The wheels by the twin's names."""
    if given is None:
        return _by_names(document, place, turning_links, names)
    links = {link.attributes.get("name", ""): link for link in place.named("link")}
    for wheel, link in given.items():
        if link not in links:
            raise document.refusal(place, f"there is no link '{link}' for the wheel {wheel}; {nearest(link, links or ['none'])}")
        if link not in turning_links:
            raise document.refusal(
                links[link], f"the link '{link}' has no revolute or continuous joint above it; expected a wheel that turns"
            )
    return {wheel: turning_links[link] for wheel, link in given.items()}


def _by_names(
    document: Document, place: Node, turning_links: Mapping[str, ModelWheel], names: Sequence[str]
) -> dict[str, ModelWheel]:
    wheels = list(turning_links.values())
    for words in ([w.name for w in wheels], [w.joint.attributes.get("name", "") for w in wheels]):
        order = wheel_order(words)
        if order and order[1] == len(names):
            return {name: wheels[k] for name, k in zip(names, order[0], strict=True)}
    known = ", ".join(turning_links) or "none"
    example = ",".join(f"{name}=LINK" for name in names)
    raise document.refusal(
        place,
        f"the names of its links and joints do not tell {len(names)} wheels (links that turn: {known}); say which they are with "
        f"--wheels {example}",
    )


def only_collision(document: Document, wheel: ModelWheel, collisions: Sequence[Node]) -> Node:
    """WheelSlip acts on a link with one collision, and does nothing on others."""
    if len(collisions) != 1:
        raise document.refusal(
            wheel.link,
            f"the wheel '{wheel.name}' has {len(collisions)} collisions; WheelSlip needs exactly one: leave a sphere",
        )
    return collisions[0]


def no_xacro(document: Document) -> None:
    """Unexpanded xacro is no model yet."""
    for node in document.root.walk():
        texts = [node.text, *node.attributes.values()]
        if node.tag.startswith("xacro:") or any("${" in text or "$(" in text for text in texts):
            found = f"<{node.tag}>" if node.tag.startswith("xacro:") else next(t for t in texts if "${" in t or "$(" in t).strip()
            raise document.refusal(
                node, f"found xacro ({found[:60]}); expected its result: run 'xacro FILE > robot.urdf' first and patch that"
            )
