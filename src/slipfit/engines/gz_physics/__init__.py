"""gz-physics with dartsim, the physics layer of Gazebo Fortress, driven by a small C++ program of ours (`runner/`)."""

from slipfit.engines.gz_physics.engine import GzPhysics as GzPhysics
