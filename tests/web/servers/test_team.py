"""Threads that serve what they are given."""

from __future__ import annotations

import threading

from gatewayfw.web.servers.team import Team


def test_each_is_served_once_by_as_many_threads_as_there_are():
    meeting, served = threading.Barrier(4), []

    def serve(number):
        meeting.wait(timeout=30)
        served.append((number, threading.current_thread().daemon))

    team = Team(3, serve)
    for number in range(3):
        team.give(number)
    meeting.wait(timeout=30)
    for number in range(3, 6):
        team.give(number)
    meeting.wait(timeout=30)
    # Each thread has come back for a second one.
    assert sorted(served)[:3] == [(0, True), (1, True), (2, True)]
