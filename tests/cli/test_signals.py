"""Signals during a command: the first asks, the second interrupts, afterwards all is as before."""

from __future__ import annotations

import signal

import pytest

from gatewayfw.cli.signals import interruptible, stopping

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@SIGNALS
def test_the_first_signal_asks_to_stop_and_the_second_interrupts(default_signals, number):
    with stopping() as stop:
        assert not stop.is_set()
        signal.raise_signal(number)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)


def test_sigterm_interrupts_as_ctrl_c_does(default_signals):
    with interruptible(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("block", [stopping, interruptible])
def test_afterwards_signals_are_handled_as_before(default_signals, block):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyError), block():
        raise KeyError
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
