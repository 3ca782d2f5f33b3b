"""One of the processes that run.py lets compete with threads: `worker.py runs seconds`.

Says `ready` when warm. For each line on its standard input it drives all its runs and says when it began and ended.
"""

import sys
import time

from drives import p3at
from slipfit.kernels import run_chunks


def main(n: int, seconds: float) -> None:
    drive = p3at(n, seconds)
    drive.in_lanes()
    print("ready", flush=True)
    for _ in sys.stdin:
        begin_s = time.monotonic()
        run_chunks(drive.chunk, n, workers=1)
        print(begin_s, time.monotonic(), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
