import html
import json
import pickle
import re

import pytest

import replay


def header(page):
    return json.loads(re.search(r'id="header">(.*?)</script>', page.html, re.S).group(1))


def test_page_shows_the_runs(trace, tmp_path):
    results = replay.run(trace, sched=["fcfs", "easy"], alloc="mc1x1")
    page = results.explore()
    assert [run["scheduler"] for run in header(page)["runs"]] == ["fcfs", "easy"]
    assert header(page)["jobs"] == len(results[0].jobs)
    assert all(run["placements"] for run in header(page)["runs"])
    [run] = header(results.explore(runs=[-1]))["runs"]
    assert run["scheduler"] == "easy"
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    frame = page._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert html.escape(page.html) in frame and frame.count("<") == 2


def test_what_a_page_cannot_show_is_refused(trace):
    many = replay.run(trace, sched=["fcfs", "easy", "conservative"], alloc=["mc1x1", "random"])
    with pytest.raises(replay.UsageError, match="1 to 4 runs; select runs with runs="):
        many.explore()
    with pytest.raises(replay.UsageError, match="1 to 4 runs"):
        many.explore(runs=[])
    with pytest.raises(replay.UsageError, match="jobs=True"):
        replay.run(trace, alloc="mc1x1", jobs=False).explore()
    with pytest.raises(replay.UsageError, match="unpickled"):
        pickle.loads(pickle.dumps(replay.run(trace, alloc="mc1x1"))).explore()
