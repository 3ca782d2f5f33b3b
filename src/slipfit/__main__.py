"""`python -m slipfit` is the command line."""

from slipfit.cli import main

if __name__ == "__main__":
    main()
