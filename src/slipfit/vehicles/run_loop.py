"""A run from its start to the end of its records: the loop around a vehicle's step, the same for every vehicle.

A vehicle hands in its own functions: `step` advances it, `look` is what a driver sees, `record` writes a row, `judge` says how
it stands. Rows have the body's columns, then one block of each of WHEEL_COLUMNS; vehicles that keep books add more behind.
"""

from typing import Any, NamedTuple

from slipfit.kernels import alike, part, put, where, zeros
from slipfit.vehicles.books import BUS, FLOW_COLUMNS, are_kept
from slipfit.vehicles.driver import get_ready, note_count, tell
from slipfit.vehicles.losses import share_bus, told_in

WHEEL_COLUMNS = ("speed_radps", "angle_rad", "load_n", "force_x_n", "force_y_n", "effort", "lowest_load_n")

#: What vehicles with books write for each wheel besides: sliding of the rim over the ground, the voltage or speed told,
#: and how deep it stands in the ground (a tyre's own deflection where the ground is hard).
SLIP_COLUMNS = ("slip_x_mps", "slip_y_mps", "told", "sinkage_m")

#: How a run stands.
OK, NOT_FINITE, OFF_MAP, TIPPED, SUNK = 0.0, 1.0, 2.0, 3.0, 4.0


class Journal(NamedTuple):
    """What a run keeps besides its motion: the driver's notes, the books, and the supply's bus voltage."""

    notes: Any
    account: Any
    supply: Any


@part
def journal(driver, like):
    """A new one."""
    return Journal(zeros(note_count(driver), like), zeros(len(FLOW_COLUMNS), like), zeros(1, like))


#: A robot on a plane that leans for so long tips over; looked at every so many steps, an odd number: loads that
#: alternate from step to step lean in none or every second one.
TIPS_AFTER_S, LOOK_STEPS = 0.1, 7


@part
def drive_through(
    step, look, record, judge, leans, robot, wheels, memory, work, packs, notebook, s, i, hold, every, dt, out, status
):  # fmt: skip
    """Drive a run, or a group of runs. The driver is asked every `hold` steps; a record is written at the start and after every
    `every` steps; `status` gets how it ended, of several things the first."""
    driver, told, like = robot.driver, told_in(robot.battery, work), alike(0.0, robot.body.mass)
    notebook.supply[BUS] = alike(1.0, like)
    get_ready(driver, notebook.notes, look(robot, s, like))
    code, stopped_at, leaning = alike(OK, like), alike(0.0, like), alike(0.0, like)
    record(robot, work, notebook, s, stopped_at, i, out[:, 0])
    for k in range(1, out.shape[1]):
        for j in range((k - 1) * every, k * every):
            if j % hold == 0:
                tell(driver, notebook.notes, look(robot, s, alike(j * dt, like)), j // hold, hold * dt, robot.wheels.y, told)
            share_bus(robot.battery, robot.powertrain, notebook, work)
            s = step(robot, wheels, memory, packs, notebook, s, dt)
            if j % LOOK_STEPS == 0:
                leaning = where(leans(robot, s), leaning + LOOK_STEPS * dt, alike(0.0, like))
                tipped = (code == OK) & (leaning > TIPS_AFTER_S)
                stopped_at, code = where(tipped, (j + 1) * dt, stopped_at), where(tipped, alike(TIPPED, like), code)
            if are_kept(robot.books):
                now = judge(robot, memory, work, s)
                stopped_at = where((code == OK) & (now != OK), (j + 1) * dt, stopped_at)
                code = where(code == OK, now, code)
        code = where(code == OK, judge(robot, memory, work, s), code)
        record(robot, work, notebook, s, stopped_at, i, out[:, k])
    put(status, i, code)


@part
def record_wheels(count, work, i, out, first):
    """Write the wheels' columns of a record from column `first` on; returns the next free one."""
    for k in range(count):
        put(out[:, first + k], i, work.speed[k])
        put(out[:, first + count + k], i, work.angle[k])
        put(out[:, first + 2 * count + k], i, work.load[k])
        put(out[:, first + 3 * count + k], i, work.force_x[k])
        put(out[:, first + 4 * count + k], i, work.force_y[k])
        put(out[:, first + 5 * count + k], i, work.effort[k])
        put(out[:, first + 6 * count + k], i, work.lowest[k])
        work.lowest[k] = work.load[k]
    return first + 7 * count


@part
def record_journal(count, work, notebook, stores, stopped_at, i, out, first):
    """Write what vehicles with books add: slip and told of each wheel, the first notes, flows, stores, and when it stopped."""
    for k in range(count):
        put(out[:, first + k], i, work.slip_x[k])
        put(out[:, first + count + k], i, work.slip_y[k])
        put(out[:, first + 2 * count + k], i, work.command[k])
        put(out[:, first + 3 * count + k], i, work.depth[k])
    first += 4 * count
    for k in range(3):
        put(out[:, first + k], i, notebook.notes[k])
    for k in range(len(notebook.account)):
        put(out[:, first + 3 + k], i, notebook.account[k])
    first += 3 + len(notebook.account)
    put(out[:, first], i, stores.body)
    put(out[:, first + 1], i, stores.wheels)
    put(out[:, first + 2], i, stores.height)
    put(out[:, first + 3], i, stores.magnetic)
    put(out[:, first + 4], i, stores.twist)
    put(out[:, first + 5], i, stores.tyres)
    put(out[:, first + 6], i, stopped_at)
