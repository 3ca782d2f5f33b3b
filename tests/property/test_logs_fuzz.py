"""Whatever stands in a log, reading it gives a log or a sentence, never a traceback, and does not take long or much."""

import gzip
import random
import resource
import shutil
import time

import pytest

from slipfit.errors import SlipfitError
from slipfit.logs import ColumnMap, read_log, write_bag1, write_bag2, write_mcap
from unit.logs.written_logs import drive_log

MUTANTS = 400  # of each format: 2800 in all, besides column maps
LONGEST_S = 5.0  # of the processor, which a busy machine does not stretch; one file of 100 kB
MOST_GROWTH_KB = 1_000_000

CSV = "t,l,r,x,y,a,s\n" + "".join(f"{k / 10},{k},{k}.5,{k}e-1,-{k},0.{k},{k // 7}\n" for k in range(60))
MAP = """schema: slipfit/columns/1
separator: ","
header_rows: 1
wheel_radius_m: 0.1
time: {column: t, unit: s}
left_wheel_speed: {column: l, unit: m/s}
right_wheel_speed: {column: 2, unit: rpm, scale: 2.0}
pose: {x: x, y: y, yaw: a, unit: in, angle_unit: deg}
segments: {column: s}
other: {more: {speed_mps: {column: l, unit: km/h, increments: true}}}
"""
TOKENS = [
    "nan",
    "inf",
    "-",
    "1e999",
    "9" * 400,
    "\0",
    "\n",
    ",",
    ";",
    '"',
    "\r",
    "é",
    " ",
    "",
    "0x1",
    "1_0",
    "{",
    "}",
    ": ",
    "*a",
    "&a ",
]


def spoilt_bytes(data, draw):
    """Bytes flipped, gone, doubled, replaced by extremes, cut off at the end."""
    data = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 5, 50])):
        at, size = draw.randrange(len(data) or 1), draw.choice([1, 1, 2, 4, 8, 100])
        match draw.randrange(7):
            case 0:
                del data[at:]
            case 1:
                del data[at : at + size]
            case 2:
                data[at:at] = data[at : at + size]
            case 3:
                data[at : at + size] = b"\xff" * size
            case 4:
                data[at : at + size] = bytes(size)
            case _:
                data[at : at + size] = draw.randbytes(size)
    return bytes(data)


def spoilt_text(text, draw):
    for _ in range(draw.choice([1, 1, 2, 4])):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(TOKENS) + text[at + draw.choice([0, 0, 1, 3, 30]) :]
    return text if draw.random() < 0.9 else text[: draw.randrange(len(text) + 1)]


def read_or_refuse(path, **how):
    """The sentence if there is one; a log that was read can be used."""
    begin_s, log, sentence = time.process_time(), None, None
    try:
        log = read_log(path, **how)
    except SlipfitError as error:
        sentence = str(error)
    assert time.process_time() - begin_s < LONGEST_S
    if log is None:
        assert 20 < len(sentence) < 2000
    else:
        assert log.channels
        assert log.summary()
    return sentence


@pytest.fixture(autouse=True)
def _bounded_memory():
    """Nothing that a file claims makes the process grow by a gigabyte."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_GROWTH_KB


@pytest.mark.slow
@pytest.mark.parametrize(("name", "write"), [("run.bag", write_bag1), ("run.mcap", write_mcap), ("run.db3", write_bag2)])
def test_a_spoilt_bag_gives_a_log_or_a_sentence(name, write, tmp_path):
    log = drive_log("encoders", "imu", "pose", "commands", "gnss", "motors", count=12)
    write(log, tmp_path / ("whole" if name == "run.db3" else name))
    source = tmp_path / "whole" / "whole.db3" if name == "run.db3" else tmp_path / name
    good = source.read_bytes()
    path = tmp_path / f"mutant{source.suffix}"
    sentences = []
    for seed in range(MUTANTS):
        path.write_bytes(spoilt_bytes(good, random.Random(seed)))
        sentences.append(read_or_refuse(path))
    told = [sentence for sentence in sentences if sentence]
    assert len(told) > MUTANTS / 10, "hardly anything was spoilt"
    assert all("mutant" in sentence for sentence in told)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["metadata.yaml", "run.db3"])
def test_a_spoilt_folder_gives_a_log_or_a_sentence(where, tmp_path):
    write_bag2(drive_log("encoders", "pose", count=5), tmp_path / "run")
    good = (tmp_path / "run" / where).read_bytes()
    mutant = tmp_path / "mutant"
    for seed in range(MUTANTS):
        shutil.rmtree(mutant, ignore_errors=True)
        shutil.copytree(tmp_path / "run", mutant)
        (mutant / where).write_bytes(spoilt_bytes(good, random.Random(seed)))
        read_or_refuse(mutant)


@pytest.mark.slow
def test_a_spoilt_csv_file_gives_a_log_or_a_sentence(tmp_path):
    (tmp_path / "map.yaml").write_text(MAP)
    columns = ColumnMap.load(tmp_path / "map.yaml")
    own = drive_log("imu", count=30).save_csv(tmp_path / "own")[0].read_text()
    for seed in range(MUTANTS):
        draw = random.Random(seed)
        (tmp_path / "mutant.csv").write_text(spoilt_text(CSV, draw), encoding="utf-8")
        read_or_refuse(tmp_path / "mutant.csv", columns=columns)
        (tmp_path / "imu.csv").write_text(spoilt_text(own, draw), encoding="utf-8")
        read_or_refuse(tmp_path / "imu.csv")
        (tmp_path / "mutant.csv.gz").write_bytes(spoilt_bytes(gzip.compress(CSV.encode()), draw))
        read_or_refuse(tmp_path / "mutant.csv.gz", columns=columns)


@pytest.mark.slow
def test_a_spoilt_column_map_gives_a_log_or_a_sentence(tmp_path):
    (tmp_path / "run.csv").write_text(CSV)
    sentences = []
    for seed in range(2 * MUTANTS):
        (tmp_path / "mutant.yaml").write_text(spoilt_text(MAP, random.Random(seed)), encoding="utf-8")
        sentences.append(read_or_refuse(tmp_path / "run.csv", columns=tmp_path / "mutant.yaml"))
    assert sum(sentence is not None for sentence in sentences) > MUTANTS / 2


@pytest.mark.slow
def test_bytes_at_random_under_any_ending_give_a_sentence(tmp_path):
    """Also behind the first bytes of each format."""
    begins = [b"", b"#ROSBAG V2.0\n", b"\x89MCAP0\r\n", b"SQLite format 3\x00", b"\x1f\x8b", b"stamp_ns,"]
    for seed in range(600):
        draw = random.Random(seed)
        path = tmp_path / f"noise{draw.choice(['.bag', '.mcap', '.db3', '.csv', '.csv.gz', '.txt', ''])}"
        path.write_bytes(draw.choice(begins) + draw.randbytes(draw.randrange(2000)))
        assert read_or_refuse(path)
        path.unlink()
