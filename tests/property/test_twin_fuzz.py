"""Whatever stands in a twin file, reading it gives a record or a sentence, never a traceback."""

import contextlib
import random

import pytest

from property.test_files_fuzz import spoilt_text, spoilt_tree
from slipfit.errors import SlipfitError
from slipfit.simulation.climb_twin import climber_on_ground
from slipfit.simulation.engine import Driver
from slipfit.simulation.scenario import find_scenario
from slipfit.twin import TrackedTwin, Twin
from unit.twin.tracked_twins import twin as tracked
from unit.twin.twins import example

MUTANTS = 600  # of each way of spoiling it: 1200 in all


@pytest.mark.slow
@pytest.mark.parametrize("of", [example, tracked], ids=["wheels", "tracks"])
@pytest.mark.parametrize("spoil", [spoilt_text, spoilt_tree])
def test_a_spoilt_twin_gives_a_record_or_one_sentence(spoil, of, tmp_path):
    """What is taken in spite of all can be shown, simulated or refused, and reads back equal."""
    good, climb = of().to_yaml(), find_scenario("curb_117mm")
    path, again = tmp_path / "mutant.yaml", tmp_path / "again.yaml"
    sentences = []
    for seed in range(MUTANTS):
        path.write_text(spoil(good, random.Random(seed)), encoding="utf-8", errors="surrogatepass")
        try:
            record = Twin.load(path)
        except SlipfitError as error:
            sentences.append(str(error))
            continue
        record.save(again, force=True)
        assert Twin.load(again) == record, f"seed {seed}"
        assert record.summary()
        if isinstance(record, TrackedTwin):
            own = (lambda r=record: climber_on_ground(Driver(r.robot, r), climb), lambda r=record: r.draws(3, 0, "sand"))
        else:
            own = (record.ground, lambda r=record: r.draws(3, 0), lambda r=record: r.with_payload(1.0))
        for use in own:
            with contextlib.suppress(SlipfitError):
                use()
    assert len(sentences) > MUTANTS / 4, "hardly anything was spoilt"
    assert all("mutant.yaml: " in sentence and len(sentence) < 2000 for sentence in sentences)
