"""The command-line program."""

import signal
import sys

from ._engine import main as _main


def main() -> int:
    """Run the program with the arguments of this process and return its exit code."""
    # The program has its own handler of SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _main(["replay", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
