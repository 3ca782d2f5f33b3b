"""Whatever stands in a file, reading it gives a record or a sentence, never a traceback."""

import copy
import random
from pathlib import Path

import pytest
import yaml

import slipfit
from slipfit.errors import SlipfitError
from slipfit.library import Ground, Robot, TerrainFile
from slipfit.simulation import Scenario

LIBRARY = Path(slipfit.__file__).parent / "library"
FILES = {
    Robot: "robots/p3at.yaml",
    Ground: "grounds/rover_tyre.yaml",
    TerrainFile: "terrains/crater_rim.yaml",
    Scenario: "scenarios/step_and_spin.yaml",
}
MUTANTS = 400  # of each kind of file and each way of spoiling it: 3200 in all

#: Values that programs stumble over.
VALUES = [
    None, True, False, 0, -1, 1, 10**400, -(10**30), 0.0, -0.0, 1e308, 5e-324, float("nan"), float("inf"),
    "", " ", "1e-3", "nan", "a\nb", "\u2028", "ß", "x" * 1000, [], [[]], [1, 2], [1] * 50,
    {}, {"value": 1}, {"value": {}}, {"value": 1, "std": -1}, {1: 2}, {None: None}, {"": ""}, {"a[0]": 1, 2: 3},
]  # fmt: skip

#: Texts that YAML has a meaning for.
TOKENS = [
    "{", "}", "[", "]", ": ", "- ", "? ", "#", "&a ", "*a", "<<: ", "|\n", ">-\n", "---\n", "...\n", "%YAML 9\n", "\t", "\n",
    "!!bool ", "!!int ", "!!timestamp ", "!!set ", "!!python/object:os.x ", '"', "'", "\\", ".nan", ".inf", "~", "yes", "0x",
    "1e999", "2020-99-99", "\ufeff", "\u0085", "\x07", "9" * 500,
]  # fmt: skip


def spoilt_text(text, draw):
    """A few characters or lines gone, doubled, swapped or replaced."""
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(text) + 1)
        lines = text.splitlines(keepends=True)
        line = draw.randrange(len(lines)) if lines else 0
        text = draw.choice(
            [
                text[:at],
                text[:at] + draw.choice(TOKENS) + text[at:],
                text[:at] + text[at + draw.randint(1, 20) :],
                text[:at] + chr(draw.choice([draw.randrange(128), draw.randrange(0xD800)])) + text[at + 1 :],
                "".join(lines[:line] + lines[line + 1 :]),
                "".join(lines[:line] + lines[line : line + 1] * 2 + lines[line + 1 :]),
                "".join(draw.sample(lines, len(lines))) if draw.random() < 0.1 else text,
                "".join([*lines[:line], " ", *lines[line:]]),
            ]
        )
    return text


def places(entry):
    """Every container and key or index in it."""
    pairs = entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else ()
    for key, below in list(pairs):
        yield entry, key
        yield from places(below)


def spoilt_tree(text, draw):
    """Good YAML with strange content: some values replaced, some keys gone, misspelt or of another type."""
    data = yaml.safe_load(text)
    for _ in range(draw.randint(1, 3)):
        container, key = draw.choice(list(places(data)) or [(data, None)])
        if key is None:
            break
        match draw.randrange(4) if isinstance(container, dict) else 0:
            case 0 | 1:
                container[key] = copy.deepcopy(draw.choice(VALUES))
            case 2:
                del container[key]
            case 3:
                container[draw.choice([1, None, True, 2.5, "", f"{key}x", f"{key}\n"])] = container.pop(key)
    return yaml.safe_dump(data, allow_unicode=True)


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [spoilt_text, spoilt_tree])
@pytest.mark.parametrize("model", FILES, ids=lambda model: model.__name__)
def test_a_spoilt_file_gives_a_record_or_one_sentence(model, spoil, tmp_path):
    """What is taken in spite of all is a whole record: it can be written and reads back equal."""
    good = (LIBRARY / FILES[model]).read_text(encoding="utf-8")
    path, again = tmp_path / "mutant.yaml", tmp_path / "again.yaml"
    sentences = []
    for seed in range(MUTANTS):
        text = spoil(good, random.Random(seed))
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            record = model.load(path)
        except SlipfitError as error:
            sentences.append(str(error))
        else:
            record.save(again, force=True)
            assert model.load(again) == record, f"seed {seed}"
    assert len(sentences) > MUTANTS / 4, "hardly anything was spoilt"
    assert all("mutant.yaml: " in sentence and len(sentence) < 2000 for sentence in sentences)


@pytest.mark.slow
def test_bytes_at_random_give_one_sentence(tmp_path):
    for seed in range(500):
        draw = random.Random(seed)
        (tmp_path / "noise.yaml").write_bytes(draw.randbytes(draw.randrange(300)))
        with pytest.raises(SlipfitError, match=r"noise\.yaml: "):
            Robot.load(tmp_path / "noise.yaml")


@pytest.mark.slow
def test_a_small_file_that_grows_without_bound_gives_one_short_sentence(tmp_path):
    """A billion laughs: each line names the one before ten times."""
    lines = ["schema: slipfit/robot/1", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 10)]
    (tmp_path / "laughs.yaml").write_text("\n".join([*lines, "mass_kg: *a9", "name: *a9", "wheels: *a9"]))
    with pytest.raises(SlipfitError) as caught:
        Robot.load(tmp_path / "laughs.yaml")
    assert len(str(caught.value)) < 2000
