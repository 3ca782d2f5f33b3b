"""A Lynxmotion rover straight in the compiled core: on any ground, in space or in the plane."""

import numpy as np

from slipfit.contact import LAWS
from slipfit.kernels import as_batch
from slipfit.library import find_ground
from slipfit.simulation.tip_over import support_edges
from slipfit.vehicles import loads, powertrain, rough, skid_steer
from slipfit.vehicles.books import FLOW_COLUMNS, STORE_COLUMNS, Books
from slipfit.vehicles.driver import NOTE_COLUMNS, table_for_all
from slipfit.vehicles.footing import Tyre
from slipfit.vehicles.losses import Losses, NoBattery
from slipfit.vehicles.planar_body import BODY_COLUMNS, Body, Start, Supports
from slipfit.vehicles.rigid_body import Body6
from slipfit.vehicles.run_loop import SLIP_COLUMNS, WHEEL_COLUMNS

DT = 1e-3
_AT = np.array([[0.1, 0.1245], [0.1, -0.1245], [-0.1, 0.1245], [-0.1, -0.1245]])


def lynx_on(
    ground, volts, steps, *, n=1, is_planar=False, start=(0.0,) * 6, mu=0.8, mass=2.148,
    tyre=(5300.0, 60.0), motor=None, losses=(0.0181, 0.0, 0.0), battery=None,
):  # fmt: skip
    """A batch of n runs; `volts` of left and right wheels, for all steps or for each."""
    table = np.broadcast_to(np.asarray(volts, dtype=float), (steps, 2))
    drive = motor or powertrain.DcMotor(0.0053, 4.0, 0.1, 0.35, 0.35, 0.01, 12.0)
    wheels = loads.Wheels(*(np.tile(column, (n, 1)) for column in loads.wheels(_AT, 0.0635)))
    law = LAWS["magic_formula"].model(find_ground("rover_tyre").values() | {"mu": mu})
    shared = (drive, law, ground, Start(*start), table_for_all(np.tile(table, 2), n), Losses(*losses))
    more = (battery or NoBattery(0.0), Books(drive))
    if is_planar:
        supports = Supports(*(np.tile(column, (n, 1)) for column in support_edges(_AT)))
        return as_batch(skid_steer.SkidSteerRuns(Body(mass, 0.0334, 0.0, 0.0, 0.06), wheels, *shared, *more, supports), n)
    body = Body6(mass, 0.0140, 0.0252, 0.0334, 0.0, 0.0, 0.06)
    return as_batch(rough.RoughRuns(body, wheels, Tyre(*tyre), *shared, *more), n)


def record(batch, steps, *, every=10, in_lanes=False, run=0, dt=DT):
    """Columns of one run, by name."""
    is_planar = isinstance(batch, skid_steer.SkidSteerRuns)
    body = len(BODY_COLUMNS if is_planar else rough.BODY6_COLUMNS)
    n, wheel = len(batch.body.mass), len(WHEEL_COLUMNS)
    width = body + 4 * (wheel + len(SLIP_COLUMNS)) + len(NOTE_COLUMNS) + len(FLOW_COLUMNS) + len(STORE_COLUMNS) + 1
    out, status = np.empty((n, steps // every + 1, width)), np.empty(n)
    vehicle = skid_steer if is_planar else rough
    (vehicle.in_lanes if in_lanes else vehicle.one_by_one)(batch, 0, n, 1, every, dt, out, status)
    o = out[run]
    names = ("speed", "angle", "load", "force_x", "force_y", "effort", "lowest", "slip_x", "slip_y", "told", "sinkage")
    found = {name: o[:, body + 4 * k : body + 4 * k + 4] for k, name in enumerate(names)}
    first = body + 4 * len(names) + len(NOTE_COLUMNS)
    found["flows"] = o[:, first : first + len(FLOW_COLUMNS)]
    found["stores"] = o[:, first + len(FLOW_COLUMNS) : -1]
    found |= {"stopped_at": o[-1, -1], "status": status[run], "time": np.arange(len(o)) * every * dt}
    if is_planar:
        return found | {"place": o[:, [0, 1]], "velocity": o[:, [3, 4]], "felt": o[:, [6, 7]]}
    return found | {"place": o[:, :3], "velocity": o[:, 7:10], "rate": o[:, 10:13], "felt": o[:, 13:16]}
