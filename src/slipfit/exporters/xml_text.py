"""XML as text: elements one below the other, numbers to the last bit, comments that cannot end early."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr


def number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return repr(float(value))


def numbers(values: Iterable[float]) -> str:
    """Several, with spaces."""
    return " ".join(number(value) for value in values)


def element(name: str, content: str | float | Sequence[str] = "", /, **attributes: str | float) -> str:
    """One element. Content is text, a number, or a list of elements, which stand indented on lines of their own."""
    said = "".join(f" {key}={quoteattr(v if isinstance(v, str) else number(v))}" for key, v in attributes.items())
    if isinstance(content, int | float):
        content = number(content)
    if isinstance(content, str):
        return f"<{name}{said}>{escape(content)}</{name}>" if content else f"<{name}{said}/>"
    inside = "\n".join(indented(part) for part in content if part)
    return f"<{name}{said}>\n{inside}\n</{name}>"


def indented(text: str, by: str = "  ") -> str:
    """Every line moved to the right."""
    return "\n".join(by + line if line else line for line in text.split("\n"))


def comment(lines: Sequence[str]) -> str:
    """A comment; two hyphens, which would end it, are set apart."""
    safe = [_apart(line) for line in lines]
    return "<!-- " + safe[0] + " -->" if len(safe) == 1 else "<!--\n" + "\n".join(f"  {line}".rstrip() for line in safe) + "\n-->"


def _apart(line: str) -> str:
    while "--" in line:
        line = line.replace("--", "- -")
    return line.rstrip("-") if line.endswith("-") else line
