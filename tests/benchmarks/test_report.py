"""Ratios, spreads and charts of measured figures."""

from __future__ import annotations

from xml.etree import ElementTree

from benchmarks import chart, report
from benchmarks.contenders import PROTECTED, REFERENCE, TWIN
from benchmarks.report import Spread
from benchmarks.rounds import Run, Sample


def sample(contender, number, cpu, work="ping", errors=0):
    return Sample(contender, work, number, cpu, 100, errors, 50.0, 1.0, 2.0)


def test_ratios_are_taken_within_a_round_over_the_mean_of_both_references():
    rounds = [(10.0, 30.0, 40.0), (100.0, 100.0, 50.0), (20.0, 20.0, 20.0)]
    samples = []
    for number, (first, second, third) in enumerate(rounds):
        samples += [sample(REFERENCE, number, first), sample(TWIN, number, second), sample("x", number, third)]
    assert report.ratios(samples) == {(TWIN, "ping"): Spread(1.0, 1.0, 3.0), ("x", "ping"): Spread(0.5, 1.0, 2.0)}


def test_ratios_to_another_base_leave_out_works_it_did_not_do():
    samples = [sample(PROTECTED, 0, 10.0, "addUser"), sample("x", 0, 5.0, "addUser"), sample("x", 0, 5.0)]
    assert report.ratios(samples, PROTECTED) == {("x", "addUser"): Spread(0.5, 0.5, 0.5)}


def test_the_report_has_every_table_and_names_failures():
    samples = [sample(name, 0, 10.0) for name in (REFERENCE, TWIN, "x")] + [sample(PROTECTED, 0, 5.0, "addUser", 3)]
    run = Run(samples, {"x": 30_000_000}, {"x": 31_500_000})
    told = report.markdown(run, "a title", {"x": {"ping": ["find", "getMore"]}})
    assert [line for line in told.splitlines() if line.startswith("| x ")] == [
        "| x | 10 | - |",
        "| x | 1.00 (1.00-1.00) | - |",
        "| x | 50 · 1.0 · 2.0 | - |",
        "| x | 2 | - |",
        "| x | 30.0 | 31.5 |",
    ]
    assert told.endswith(f"{PROTECTED}, addUser: 3 of 100 requests failed.\n")


def test_charts_are_svg_and_name_their_series():
    bars = chart.bars("a title", {("a & b", "ping"): 10.0, ("c", "ping"): 0.0})
    lines = chart.lines("another", "us", {"d": [(1, 10.0), (1_000, 0.0)], "e": [(1, 5.0)]})
    texts = [element.text for element in ElementTree.fromstring(chart.stacked([bars, lines])).iter() if element.text]
    assert {"a title", "a & b", "c", "ping", "10", "another, us", "d", "e", "1000"} <= set(texts)


def test_growth_is_a_table_with_a_row_for_each_size():
    from benchmarks.growth import Growth

    growth = Growth("Lists", "rows", "us")
    growth.add("a", 1, 10.0)
    growth.add("a", 1_000, 2_000.0)
    growth.add("b", 1_000, 0.5)
    assert growth.markdown().splitlines() == [
        "**Lists**, us",
        "",
        "| rows | a | b |",
        "| --- | ---: | ---: |",
        "| 1 | 10 | - |",
        "| 1,000 | 2,000 | 0.5 |",
    ]
