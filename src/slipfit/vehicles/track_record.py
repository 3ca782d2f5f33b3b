"""What is seen of a tracked robot's run: by the judge, and in its record."""

from slipfit.ground.shape import along_profile, gravity_in_ground, soil_depth
from slipfit.kernels import alike, part, put, where
from slipfit.kernels.space import Vec3, added, rotation, to_ground
from slipfit.vehicles.rigid_body import kinetic
from slipfit.vehicles.track_hard import SHALLOWEST_M
from slipfit.vehicles.track_verdict import Look, margin

TRACK_COLUMNS = (
    "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "vx_mps", "vy_mps", "vz_mps", "roll_rate_radps", "pitch_rate_radps",
    "yaw_rate_radps", "belt_left_mps", "belt_right_mps", "drive_left_n", "drive_right_n", "tension_left_n", "tension_right_n",
    "hard_load_left_n", "hard_load_right_n", "soil_load_left_n", "soil_load_right_n", "belly_load_n", "sinkage_left_m",
    "sinkage_right_m", "deepest_m", "energy_j", "verdict", "margin", "stopped_at_s",
)  # fmt: skip


@part
def look_at(robot, memory, packs, belts, s, time):
    """What the judge sees."""
    now, ground, shape = rotation(s.attitude), robot.ground, robot.tables
    _, _, gz = gravity_in_ground(ground)
    rear = added(s.place, to_ground(now, Vec3(shape.discs.x[0], alike(0.0, s.place.x), shape.discs.z[0])))
    zero = alike(0.0, s.place.x)
    soil = belly = zero
    for n in range(len(packs.soil.load)):
        carried = packs.soil.load[n]
        soil += carried * shape.stations.driven[n]
        belly += carried * (1.0 - shape.stations.driven[n])
    for c in range(len(packs.hard.load)):
        belly += packs.hard.load[c] * (1.0 - packs.hard.driven[c])
    told, ahead = 0.5 * (belts.told[0] + belts.told[1]), along_profile(ground, s.place.x, s.place.y)
    return Look(
        time, along_profile(ground, rear.x, rear.y), where(told < 0.0, -ahead, ahead) + s.place.z, now.z.x, now.z.z, told,
        -robot.body.mass * gz, soil, belly, soil_depth(ground, memory, s.place.x, s.place.y, s.place.z),
    )  # fmt: skip


@part
def note_sinkage(robot, soil, belts, going):
    ns = len(soil.load) // 2
    for side in range(2):
        for n in range(side * ns, (side + 1) * ns):
            sinks = going & (soil.load[n] * robot.tables.stations.driven[n] > 0.0)
            belts.sunk[side] = where(sinks, max(belts.sunk[side], soil.depth[n]), belts.sunk[side])


@part
def _energy(robot, packs, belts, s):
    """Kinetic energy of body and belts, height, and what is pressed into hard ground; soil gives next to nothing back."""
    body, hard = robot.body, robot.hard
    gx, gy, gz = gravity_in_ground(robot.ground)
    total = kinetic(body, s) - body.mass * (gx * s.place.x + gy * s.place.y + gz * s.place.z)
    for side in range(2):
        total += 0.5 * robot.belt.mass * belts.speed[side] * belts.speed[side]
    for c in range(len(packs.hard.depth)):
        pressed = max(packs.hard.depth[c], SHALLOWEST_M)
        total += hard.stiffness / (hard.exponent + 1.0) * pressed ** (hard.exponent + 1.0)
    return total


@part
def write_record(robot, packs, belts, story, s, i, out):
    q, shape = s.attitude, robot.tables
    zero = alike(0.0, s.place.x)
    body = (
        s.place.x, s.place.y, s.place.z, q.w, q.x, q.y, q.z, s.velocity.x, s.velocity.y, s.velocity.z, s.rate.x, s.rate.y,
        s.rate.z, belts.speed[0], belts.speed[1], belts.drive[0], belts.drive[1],
        robot.belt.tension + abs(belts.drive[0]), robot.belt.tension + abs(belts.drive[1]),
    )  # fmt: skip
    for k in range(19):
        put(out[:, k], i, body[k])
    belly = zero
    hards = len(packs.hard.load) // 2
    for side in range(2):
        hard = soil = sunk = zero
        for c in range(side * hards, (side + 1) * hards):
            carried = packs.hard.load[c]
            hard += carried * packs.hard.driven[c]
            belly += carried * (1.0 - packs.hard.driven[c])
        ns = len(packs.soil.load) // 2
        for n in range(side * ns, (side + 1) * ns):
            carried, driven = packs.soil.load[n], shape.stations.driven[n]
            soil += carried * driven
            belly += carried * (1.0 - driven)
            sunk = max(sunk, where((carried * driven > 0.0), packs.soil.depth[n], zero))
        put(out[:, 19 + side], i, hard)
        put(out[:, 21 + side], i, soil)
        put(out[:, 24 + side], i, sunk)
    put(out[:, 23], i, belly)
    put(out[:, 26], i, max(belts.sunk[0], belts.sunk[1]))
    put(out[:, 27], i, _energy(robot, packs, belts, s))
    put(out[:, 28], i, story.code)
    put(out[:, 29], i, margin(robot.rules, story))
    put(out[:, 30], i, story.stopped_at)
