"""Ratios, spreads and charts of measured figures."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from benchmarks import chart, memory, report, scaling
from benchmarks.contenders import PROTECTED, REFERENCE, TWIN
from benchmarks.report import Spread
from benchmarks.rounds import Plan, Run, Sample
from benchmarks.servers import MEMORY


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
        "| x | 1.00 (1.00-1.00) |",
        "| x | 50 · 1.0 · 2.0 | - |",
        "| x | 2 |",
        "| x | 30.0 | 31.5 |",
    ]
    assert told.endswith(f"{PROTECTED}, addUser: 3 of 100 requests failed.\n")


def test_charts_are_svg_and_name_their_series():
    bars = chart.bars("a title", {("a & b", "ping"): 10.0, ("c", "ping"): 0.0})
    lines = chart.lines("another", "us", {"d": [(1, 10.0), (1_000, 0.0)], "e": [(1, 5.0)]})
    texts = [element.text for element in ElementTree.fromstring(chart.stacked([bars, lines])).iter() if element.text]
    assert {"a title", "a & b", "c", "ping", "10", "another, us", "d", "e", "1000"} <= set(texts)


def test_axes_are_marked_at_round_numbers_and_values_lie_between_them():
    wide, narrow = chart.decades([0.0, 20.0, 3_000.0]), chart.from_zero([0.0, 43.0])
    assert (wide.marks, [wide.place(value) for value in (0.0, 10.0, 1_000.0)]) == (
        [10, 100, 1_000, 10_000],
        [0, 0, 2 / 3],
    )
    assert (narrow.marks, [narrow.place(value) for value in (0.0, 25.0)]) == ([0, 10, 20, 30, 40, 50], [0, 0.5])
    assert chart.from_zero([]).marks == [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]


def test_the_noise_is_that_of_all_works_and_rounds():
    pairs = [("ping", 0, 10.0, 9.0), ("ping", 1, 10.0, 10.0), ("getUser", 0, 10.0, 15.0)]
    samples = [sample(REFERENCE, number, cpu, work) for work, number, cpu, _ in pairs]
    assert report.noise(samples) == "Without the reference twice: the noise is unknown."
    samples += [sample(TWIN, number, cpu, work) for work, number, _, cpu in pairs]
    assert report.noise(samples) == "Noise: the reference against itself, all tasks and rounds, CPU 1.00 (0.90-1.50)."


def test_a_busy_machine_is_told():
    quiet, busy = report.Machine(2, 0.5, "3.12.1", "Linux x86_64"), report.Machine(2, 0.51, "3.12.1", "Linux x86_64")
    assert str(quiet) == "2 cores, Python 3.12.1, load average 0.50 at the start"
    assert str(busy) == "2 cores, Python 3.12.1, load average 0.51 at the start: busy, so its times are rough"


def test_memory_is_shown_by_parts_of_the_requests():
    reference = memory.Course(REFERENCE, [(0, 30_000_000), (60, 31_000_000), (110, 32_000_000)])
    other = memory.Course("x", [(0, 45_000_000), (50, 46_000_000), (100, 45_500_000)], errors=2)
    told = memory.markdown([reference, other], Plan(connections=2), 100)
    assert told.splitlines()[0] == f"### Memory of one worker ({MEMORY}), MB, 100 requests, 2 connections"
    assert told.splitlines()[2:6] == [
        "|  | at rest | above the reference | after 1 | after 10 | after 25 | after 50 | after 75 | after 100 "
        "| second half |",
        "| --- |" + " ---: |" * 9,
        f"| {REFERENCE} | 30.0 | 0.0 | 31.0 | 31.0 | 31.0 | 31.0 | 32.0 | 32.0 | 1.0 |",
        "| x | 45.0 | 15.0 | 46.0 | 46.0 | 46.0 | 46.0 | 45.5 | 45.5 | -0.5 |",
    ]
    assert told.endswith("x: 2 of 100 requests failed.\n")


def test_scaling_compares_the_rates_of_one_round():
    def rated(rates):
        return [replace(sample("x", number, 10.0), rate=rate) for number, rate in enumerate(rates)]

    one, few, many = scaling.SHAPES
    samples = {one: rated([1.0, 1.0]), few: rated([10.0, 20.0]), many: rated([18.0, 30.0])}
    assert scaling.gains(samples) == {("x", "ping"): Spread(1.5, 1.65, 1.8)}
    told = scaling.markdown(samples, Plan(rounds=2))
    assert [line for line in told.splitlines() if line.startswith("| x")] == [
        "| x | 1.65 (1.50-1.80) |",
        *("| x 1x1 | 1 |", "| x 1x8 | 15 |", "| x 2x8 | 24 |"),
        *("| x 1x1 | 10 |", "| x 1x8 | 10 |", "| x 2x8 | 10 |"),
    ]


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


def test_growth_by_size_puts_reads_and_writes_into_one_table_of_milliseconds():
    from benchmarks.growth import Growth, by_size

    lists, windows, copies = Growth("", "", "us"), Growth("", "", "us"), Growth("", "", "ms")
    lists.add("reference", 1, 500.0)
    lists.add("blueprint", 1, 600.0)
    windows.add("until the reply", 10, 3_000.0)
    copies.add("until the reply", 1, 3.0)
    copies.add("until every copy is right", 1, 4.0)
    assert by_size(lists, windows, copies).splitlines()[-2:] == [
        "| 1 | 0.5 | 0.6 | - | 3 | 4 |",
        "| 10 | - | - | 3 | - | - |",
    ]
