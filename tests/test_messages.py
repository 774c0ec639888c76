"""What is said in several places is written in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewayfw import messages

ROOT = Path(messages.__file__).parent
SAID = [text for name, text in vars(messages).items() if name.isupper()]


@pytest.mark.parametrize("text", SAID)
def test_a_message_to_clients_is_written_in_one_place(text):
    found = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if f'"{text}"' in path.read_text()]
    assert found == ["messages.py"]
