"""What the readers say of texts that are no JSON and of results that were altered.

tests/readers_test.cpp holds the driver's readers to the same corpus.
"""

import json
from pathlib import Path

import pytest
from reduce_bench_report.json_fault import json_fault, parse
from reduce_bench_report.loader import InputError, committed_results, load
from reduce_bench_report.paths import ROOT

CORPUS = ROOT / "tests" / "corpus"
INDEX: dict[str, str | None] = json.loads((CORPUS / "results" / "index.json").read_bytes())
MOST_MESSAGE = 300


def test_a_fault_names_the_place_and_the_cause() -> None:
    corpus = json.loads((CORPUS / "json.json").read_bytes())
    assert len(corpus) > 50
    for entry in corpus:
        content = entry["text"].encode()
        assert json_fault(content) == entry["fault"], entry["text"]
        assert len(entry["fault"] or "") < MOST_MESSAGE, entry["text"]
        if entry["fault"] is None:
            assert parse(content) == json.loads(content.removeprefix(b"\xef\xbb\xbf"))
        else:
            with pytest.raises(ValueError) as caught:
                parse(content)
            assert str(caught.value) == entry["fault"]


@pytest.mark.parametrize("name", INDEX)
def test_altered_results_are_refused_in_the_words_of_the_driver(name: str) -> None:
    path, expected = CORPUS / "results" / name, INDEX[name]
    if expected is None:
        assert len(load(path).points) == 1
        return
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(caught.value) == f"{path}: {expected}"
    assert len(expected) < MOST_MESSAGE


def test_the_corpus_lists_every_file() -> None:
    files = {path.name for path in (CORPUS / "results").glob("*.json")}
    assert files == {*INDEX, "index.json"}


def test_committed_results_can_be_read() -> None:
    paths: list[Path] = committed_results()
    assert paths
    for path in paths:
        assert load(path).points
