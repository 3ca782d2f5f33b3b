"""Laws with memory fit into the vehicle: a bristle that remembers how far it is bent."""

from typing import NamedTuple

import numba
import numpy as np
import pytest

from robots import run_kernel, unlimited, wheel_slip
from slipfit.contact.touch import Traction, memory_size, remember, slot, traction
from slipfit.kernels import alike
from slipfit.kernels.compile import OPTIONS
from slipfit.library import find_robot
from slipfit.simulation import Scenario
from slipfit.vehicles import skid_steer


class Bristle(NamedTuple):
    """A spring with a damper between wheel and ground: F = K (bend + dt s') + D s', the bend kept for each wheel and axis."""

    stiffness: float
    damping: float


@memory_size.of(Bristle)
def _(law):
    return 2


@traction.of(Bristle)
def _(law, touch, memory, contact, dt):
    bend_x, bend_y = memory.contacts[slot(memory, law, contact, 0)], memory.contacts[slot(memory, law, contact, 1)]
    secant = law.stiffness * dt + law.damping
    return Traction(law.stiffness * bend_x, law.stiffness * bend_y, secant, alike(0.0, secant), secant)


@remember.of(Bristle)
def _(law, touch, memory, contact, dt):
    x, y = slot(memory, law, contact, 0), slot(memory, law, contact, 1)
    memory.contacts[x] = memory.contacts[x] + dt * touch.slip_x
    memory.contacts[y] = memory.contacts[y] + dt * touch.slip_y


@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param(skid_steer.in_lanes, id="lanes"),
        pytest.param(skid_steer.one_by_one, id="one by one", marks=pytest.mark.slow),  # a kernel of its own
    ],
)
def test_a_robot_on_springs_hangs_where_statics_say(kernel):
    """Side slope: four springs carry m g sin(slope): y = -m g sin / (4 K), each run with its own K."""
    n, slope = 9, 0.1
    stiffness = np.linspace(500.0, 2000.0, n)
    robot = unlimited(find_robot("p3at"))
    scenario = Scenario(commands=[{"for_s": 4.0, "v_mps": 0.0}], ground={"slope_rad": slope, "uphill_rad": np.pi / 2})

    def on_springs(batch):
        return batch._replace(law=Bristle(stiffness, np.full(n, 100.0)))

    # Compiled outside the shared cache: its index may only name types that every process can import.
    kernel = numba.njit(nogil=True, **OPTIONS)(kernel.py_func)
    out, _ = run_kernel(kernel, robot, wheel_slip(), scenario, n, replaced=on_springs)
    assert out[:, -1, 1] == pytest.approx(-20.0 * 9.81 * np.sin(slope) / (4 * stiffness), rel=1e-6)
