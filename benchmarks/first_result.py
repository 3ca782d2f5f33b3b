"""What a fresh process does until it has its first result; run.py times it from outside, with a warm cache."""

from drives import p3at

drive = p3at(1, seconds=4.0)
drive.in_lanes()
print(f"x {drive.ends[0, 0]:.4f} m", flush=True)
