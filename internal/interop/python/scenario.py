"""What a scenario is: some lines that are to end without an exception."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import TestCase

# Methods such as check.assertEqual print their arguments when they fail.
check = TestCase()
check.maxDiff = None

_failed: list[str] = []


@contextmanager
def scenario(name: str) -> Iterator[None]:
    """Runs the body and prints whether it raised.

    What went wrong is on stderr; the scenarios after it run all the same.
    """
    try:
        yield
    except Exception:  # whatever it is, it is what the scenario found
        _failed.append(name)
        print(f"failed {name}")
        print(f"{name}:", traceback.format_exc(), file=sys.stderr)
    else:
        print(f"passed {name}")


def exit_code() -> int:
    """1 if a scenario failed, otherwise 0."""
    return 1 if _failed else 0
