"""The runner of benchmarks: all scripts run, exit codes are as its docstring says, speeds are not judged on a busy machine.

Scripts are fakes that report fixed numbers, and the machine's counters are made up, so nothing here depends on speed."""

import itertools
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import goals
import judge
from load import BUSY, Load, Reading, Watch, read_now, share_of_others

BENCHMARKS = Path(judge.__file__).parent
HEAD = f"import sys\nsys.path.insert(0, {str(BENCHMARKS)!r})\nfrom goals import at_least, at_most, report, without_goal\n"

SCRIPTS = {
    "meets.py": "sys.exit(report([at_most('ratio', 0.9, 1.0), without_goal('ns per step', 42.0, '.0f')]))",
    "misses.py": "sys.exit(report([at_most('slow ratio', 1.5, 1.0)]))",
    "is_wrong.py": "sys.exit(report([at_most('error of a model', 0.2, 0.1, is_timed=False)]))",
    "is_right.py": "sys.exit(report([at_least('coverage', 0.9, 0.85, is_timed=False)]))",
    "crashes.py": "raise RuntimeError('no compiler')",
    "leaves_early.py": "report([at_most('ratio', 0.9, 1.0)]); sys.exit(7)",
    "has_no_goal.py": "print('a table')",
    "echoes.py": "sys.exit(report([without_goal(sys.argv[1], 0.0), without_goal(sys.argv[2], 0.0)]))",
}


def watch(others=0.0):
    """A machine of two cores on which a second passes between readings, and others use this share of it."""
    clock = itertools.count()

    def read():
        now_s = float(next(clock))
        return Reading(now_s, 2.0 * others * now_s, 0.0)

    return Watch(read, cores=2, pause=lambda _: None)


@pytest.fixture
def judged(tmp_path):
    for name, body in SCRIPTS.items():
        (tmp_path / name).write_text(HEAD + body, encoding="utf-8")

    def run(*calls, others=0.0):
        return judge.run_all(calls, tmp_path, watch=watch(others))

    return run


def test_all_scripts_run_although_one_misses_and_one_crashes(judged):
    outcomes = judged("misses.py", "crashes.py", "meets.py")
    assert [outcome.call for outcome in outcomes] == ["misses.py", "crashes.py", "meets.py"]
    assert [outcome.verdicts() for outcome in outcomes] == [["MISSED"], [], ["met"]]
    assert [outcome.has_failed for outcome in outcomes] == [False, True, False]


@pytest.mark.parametrize(
    ("calls", "others", "code"),
    [
        (("meets.py", "is_right.py", "has_no_goal.py"), 0.0, 0),
        (("meets.py", "misses.py"), 0.0, 1),
        (("misses.py", "meets.py"), 0.0, 1),
        (("crashes.py", "meets.py"), 0.0, 1),
        (("leaves_early.py",), 0.0, 1),
        (("meets.py",), 0.5, 3),
        (("misses.py",), 0.5, 3),
        (("is_right.py", "has_no_goal.py"), 0.5, 0),
        (("is_wrong.py", "meets.py"), 0.5, 1),
        (("crashes.py",), 0.5, 1),
    ],
)
def test_exit_codes_are_as_documented(judged, calls, others, code):
    """0 all met, 1 missed or failed, 3 not judged. A busy machine excuses slow scripts, not wrong results or crashes."""
    assert judge.exit_code(judged(*calls, others=others)) == code


def test_a_busy_machine_gets_figures_and_no_verdict(judged):
    lines = judge.summary(judged("misses.py", others=0.5))
    row = next(line for line in lines if "slow ratio" in line)
    assert row.split()[-5:] == ["<=", "1", "1.50", "not", "judged"]
    assert any("not judged: the machine was busy (load average" in line for line in lines)
    assert any("others used 50 % before, 50 % during, 50 % after" in line for line in lines)


def test_the_table_has_name_goal_measured_and_verdict(judged):
    lines = judge.summary(judged("meets.py", "misses.py", "crashes.py"))
    table = {line[:40].strip(): line.split()[-4:] for line in lines}
    assert table["ratio"] == ["<=", "1", "0.90", "met"]
    assert table["slow ratio"] == ["<=", "1", "1.50", "MISSED"]
    assert table["ns per step"][-1] == "42"
    assert "goals: 1 met, 1 MISSED" in lines
    assert "failed: crashes.py" in lines


def test_arguments_reach_the_script(judged):
    assert [figure.name for figure in judged("echoes.py many dask")[0].figures] == ["many", "dask"]


def test_one_busy_moment_is_enough():
    """Before, during or after: what was measured then may be spoiled."""
    quiet = Load(0.0, 0.0, 0.0, average=9.0)
    assert not quiet.is_busy  # the load average counts our own processes
    for when in ("before", "during", "after"):
        assert quiet._replace(**{when: BUSY + 0.01}).is_busy
        assert quiet._replace(**{when: math.nan}).is_busy


def test_our_own_work_is_not_that_of_others():
    """Ten seconds on two cores, 15 s of CPU time used, 12 of them by us: others had 3 of 20."""
    share = share_of_others(Reading(100.0, 500.0, 7.0), Reading(110.0, 515.0, 19.0), cores=2)
    assert share == pytest.approx(0.15)


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="counters of Linux")
def test_counters_of_the_machine_only_grow():
    first, second = read_now(), read_now()
    assert all(now >= before >= 0.0 for before, now in zip(first, second, strict=True))


@pytest.mark.parametrize(("others", "latest_s"), [(0.0, 5.0), (0.5, 15.0)])
def test_waiting_for_quiet_ends(others, latest_s):
    """At once on a quiet machine; on one that never is, when the ten seconds are up."""
    machine = watch(others)
    machine.wait_for_quiet(at_most_s=10.0)
    assert machine._read().clock_s <= latest_s


def test_a_script_by_hand_prints_its_verdicts(capsys, monkeypatch):
    monkeypatch.delenv(goals.FILE_VARIABLE, raising=False)
    assert goals.report([goals.at_most("ratio", 0.9, 1.0), goals.at_least("speed", math.nan, 10.0)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[-2].endswith("met")
    assert printed[-1].endswith("MISSED")


def test_every_suite_names_scripts_that_exist():
    calls = [call for suite in judge.SUITES.values() for call in suite]
    assert all((BENCHMARKS / call.split()[0]).exists() for call in calls)


def test_the_readme_has_a_place_for_what_is_written(tmp_path):
    page = tmp_path / "README.md"
    begin, end = (marker.format(suite="track") for marker in judge.README_MARKERS)
    page.write_text(f"above\n{begin}\nold\n{end}\nbelow\n", encoding="utf-8")
    judge.write_readme("track", ["new"], page)
    assert page.read_text(encoding="utf-8") == f"above\n{begin}\n```\nnew\n```\n{end}\nbelow\n"
