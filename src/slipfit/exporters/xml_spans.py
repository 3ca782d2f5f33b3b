"""Somebody's XML file with the place of every element in its bytes, so that a few can be changed and all others stay as they are.

The parser is expat; it refuses document type definitions, which is where entity bombs and external files come from.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import escape

from slipfit.errors import ExportError
from slipfit.exporters.xml_text import element, indented

#: What text is not: comments, processing instructions, tags; CDATA is text in other words.
_MARKUP = re.compile(rb"""(<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>|<(?:[^>"']|"[^"]*"|'[^']*')*>)""", re.DOTALL)

#: Robots' files have some kilobytes; beyond this something else was given.
_LARGEST_BYTES = 50_000_000


@dataclass(slots=True, eq=False)
class Node:
    """An element: bytes start to end, its content from inner_start to inner_end (the same where it is empty, as <a/>)."""

    tag: str
    attributes: dict[str, str]
    line: int
    start: int
    inner_start: int = 0
    inner_end: int = 0
    end: int = 0
    is_empty_tag: bool = False
    text: str = ""  # of this element itself
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)

    def named(self, tag: str) -> list["Node"]:
        """Children of that tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, *path: str) -> "Node | None":
        """The first element along a path of tags."""
        node: Node | None = self
        for tag in path:
            node = next(iter(node.named(tag)), None) if node else None
        return node

    def value(self, *path: str) -> str | None:
        """Its text, stripped; None where there is no such element."""
        node = self.first(*path)
        return None if node is None else node.text.strip()

    def walk(self) -> Iterator["Node"]:
        """This element and all below it, in the order of the file."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed(node.children)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: its bytes and the tree over them."""

    where: str
    data: bytes
    root: Node
    encoding: str

    @property
    def newline(self) -> str:
        """As the file has it."""
        return "\r\n" if b"\r\n" in self.data else "\n"

    def refusal(self, node: Node, sentence: str) -> ExportError:
        """What to raise: a sentence with file and line."""
        return ExportError(f"{self.where}, line {node.line}: {sentence}")

    def encoded(self, text: str) -> bytes:
        """Text as bytes of this file."""
        return text.replace("\n", self.newline).encode(self.encoding, "xmlcharrefreplace")

    def indent_of(self, node: Node) -> str:
        """Blanks before the element on its line; none where something else stands there."""
        before = self.data[self.data.rfind(b"\n", 0, node.start) + 1 : node.start]
        return before.decode("ascii") if not before.strip(b" \t") else ""


def read_document(path: Path) -> Document:
    """Parse a file of the user's."""
    try:
        if not path.is_file() and path.exists():
            raise ExportError(f"{path}: is not a file (a folder, pipe or device); expected a robot's SDF or URDF file")
        if path.stat().st_size > _LARGEST_BYTES:
            raise ExportError(f"{path}: is larger than {_LARGEST_BYTES // 1_000_000} MB; expected a robot's SDF or URDF file")
        data = path.read_bytes()
    except FileNotFoundError:
        raise ExportError(f"{path}: there is no such file; check the path") from None
    except (OSError, ValueError) as error:
        raise ExportError(f"{path}: cannot be read ({error}); expected an SDF or URDF file") from None
    return parse_document(data, str(path))


def parse_document(data: bytes, where: str) -> Document:
    """The tree over the bytes. Refuses document types, entities, UTF-16, and what is not well-formed."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in data[:200]:
        raise ExportError(f"{where}: is not text in UTF-8 or another encoding of single bytes; save it as UTF-8")
    builder = _Builder(data, where)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise ExportError(
            f"{where}, line {error.lineno}: not well-formed XML ({reason}); expected SDF or URDF, mend it there"
        ) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know, or that has several bytes
        raise ExportError(f"{where}: its encoding cannot be read ({error}); save it as UTF-8") from None
    assert builder.root is not None
    return Document(where, data, builder.root, builder.encoding)


class _Builder:
    """Collects elements while expat walks through the file."""

    def __init__(self, data: bytes, where: str) -> None:
        self.data, self.where, self.encoding = data, where, "utf-8"
        self.root: Node | None = None
        self.open: list[Node] = []
        self.texts: list[list[str]] = []  # of the open elements, in pieces
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.XmlDeclHandler = self._declared
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        self.encoding = encoding or "utf-8"

    def _doctype(self, name: str, *_: object) -> None:
        raise ExportError(
            f"{self.where}, line {self.parser.CurrentLineNumber}: found a document type (<!DOCTYPE {name}), through which "
            f"entities could be smuggled in; robots' files have none, take it out"
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        start = self.parser.CurrentByteIndex
        opened = _tag_end(self.data, start)
        node = Node(tag, attributes, self.parser.CurrentLineNumber, start, inner_start=opened)
        node.is_empty_tag = self.data[opened - 2 : opened] == b"/>"
        if self.open:
            node.parent = self.open[-1]
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)
        self.texts.append([])

    def _end(self, tag: str) -> None:
        node = self.open.pop()
        node.text = "".join(self.texts.pop())
        if node.is_empty_tag:
            node.inner_end = node.end = node.inner_start
        else:
            node.inner_end = self.parser.CurrentByteIndex
            node.end = self.data.index(b">", node.inner_end) + 1

    def _characters(self, text: str) -> None:
        if self.open:
            self.texts[-1].append(text)


def _tag_end(data: bytes, start: int) -> int:
    """Behind the > that ends a start tag; one within quotes does not."""
    quote = 0
    for k in range(start, len(data)):
        byte = data[k]
        if quote:
            quote = 0 if byte == quote else quote
        elif byte in b"\"'":
            quote = byte
        elif byte == ord(">"):
            return k + 1
    raise AssertionError("expat has seen the end of the tag")


# --- changes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes to be replaced, and a sentence for the user."""

    start: int
    end: int
    replacement: bytes
    said: str


#: What an element shall hold: its tag, and a text or further elements.
Wanted = tuple[str, "str | Sequence[Wanted]"]


def apply(document: Document, edits: Sequence[Edit]) -> bytes:
    """The file with the edits; every other byte as before."""
    data = document.data
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        data = data[: edit.start] + edit.replacement + data[edit.end :]
    return data


def demand(document: Document, node: Node, wanted: Sequence[Wanted]) -> list[Edit]:
    """Edits after which the element holds what is wanted: texts that differ are replaced, what is missing is added at its end."""
    edits: list[Edit] = []
    missing: list[Wanted] = []
    for tag, content in wanted:
        there = node.named(tag)
        if not there:
            missing.append((tag, content))
        elif isinstance(content, str):
            edits += [edit for leaf in there if (edit := _replaced(document, leaf, content))]
        else:
            edits += demand(document, there[0], content)
    if missing:
        said = ", ".join(tag for tag, _ in missing)
        edits.append(added(document, node, "\n".join(_rendered(entry) for entry in missing), f"added {said} to <{node.tag}>"))
    return edits


def _replaced(document: Document, leaf: Node, content: str) -> Edit | None:
    """A leaf with its new text; attributes (<mu1 value="1"/> of URDF) go, because they would be read instead."""
    if leaf.text.strip() == content and not leaf.children and not leaf.attributes:
        return None
    was = " ".join(leaf.text.split()) or " ".join(leaf.attributes.values()) or "nothing"
    said = f"line {leaf.line}: {leaf.tag} {was} -> {content}"
    inner = _with_text(document.data[leaf.inner_start : leaf.inner_end], document.encoded(escape(content)))
    if leaf.children or leaf.attributes or leaf.is_empty_tag:
        tag = document.encoded(leaf.tag)
        return Edit(leaf.start, leaf.end, b"<%b>%b</%b>" % (tag, inner, tag), said)
    return Edit(leaf.inner_start, leaf.inner_end, inner, said)


def _with_text(inner: bytes, text: bytes) -> bytes:
    """A leaf's content with its text in place of the old, before everything else where there was none. Comments, processing
    instructions and blanks stay; child elements, which a leaf should not have, go."""
    kept: list[bytes] = []
    is_said = False
    for piece in _MARKUP.split(inner):
        if piece.startswith((b"<!--", b"<?")):
            kept.append(piece)
        elif piece.startswith(b"<") and not piece.startswith(b"<![CDATA["):
            continue  # a tag of a child
        else:
            bare = piece.strip()
            kept.append(piece if not bare else piece.replace(bare, b"" if is_said else text, 1))
            is_said = is_said or bool(bare)
    return b"".join(kept if is_said else [text, *kept])


def _rendered(wanted: Wanted) -> str:
    tag, content = wanted
    return element(tag, content if isinstance(content, str) else [_rendered(entry) for entry in content])


def added(document: Document, node: Node, text: str, said: str) -> Edit:
    """Text as the last thing in an element, on lines of its own, indented like what is there."""
    own = document.indent_of(node)
    inner = next((document.indent_of(child) for child in node.children if document.indent_of(child)), own + "  ")
    block = "\n" + indented(text, inner)
    if node.is_empty_tag:
        slash = document.data.rindex(b"/", node.start, node.end)
        head = document.data[:slash].rstrip()
        return Edit(len(head), node.end, document.encoded(f">{block}\n{own}</{node.tag}>"), f"line {node.line}: {said}")
    content = document.data[node.inner_start : node.inner_end]
    at = node.inner_start + len(content.rstrip())
    tail = "" if b"\n" in content[len(content.rstrip()) :] else f"\n{own}"
    end = at if not tail else node.inner_end
    return Edit(at, end, document.encoded(block + tail), f"line {node.line}: {said}")


def replaced(document: Document, node: Node, text: str, said: str) -> Edit | None:
    """An element in another's place; None where it is the same already."""
    own = document.indent_of(node)
    block = document.encoded(indented(text, own).lstrip(" \t"))
    if block == document.data[node.start : node.end]:
        return None
    return Edit(node.start, node.end, block, f"line {node.line}: {said}")
