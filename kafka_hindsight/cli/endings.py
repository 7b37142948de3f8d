"""How a command ends: its exit code, and what the user reads where it fails."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT, BadInput, sentences_of
from kafka_hindsight.start import launch

_REACH = "Check the path, the network and the rights of this user, then run the command again."


def exit_code_of(act: Callable[[], int]) -> int:
    """Run the command of this process, and return its exit code. Where it fails, stderr says why."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        launch.keep_private()
        return act()
    except BadInput as problem:
        print("\n".join(problem.sentences), file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # The reader has closed the pipe: discard what is still buffered.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as fault:
        reason = masked(sentences_of(fault)[0]).rstrip(".")
        print(f"{reason}. Needed: files that can be read and written from here. {_REACH}", file=sys.stderr)
        return FAULT
    except KeyboardInterrupt as stopped:
        print(f"\n{str(stopped) or 'Stopped.'}", file=sys.stderr)
        return 130
