// The yardstick of track_speed.py: vehicles/tracked.py, a robot on two belts over blocks and through soil that remembers, in plain
// C++17.
//
// Same equations, state, step, passes and integrator, without verdicts and records; space.hpp has vectors and rotations. What a
// compiler cannot know is worked out beforehand: constants of plates before the loop, powers of a plate once where its curve and
// its line back share them, axes of contacts once a step. Elements out of reach are left at once.
//
//     g++ -std=c++17 -O3 -march=native track.cpp -o track
//     track parameters commands ends steps hold step_s repetitions
//
// Parameters (rows, each with its counts of stations, discs, runs and blocks first), commands (shares of the run's belt speeds,
// each held for `hold` steps) and ends are binary files of doubles. It prints the CPU seconds of one robot: the fastest repetition.

#include "space.hpp"
#include "yardstick.hpp"

constexpr int WINDOW = 64, SECANT_PASSES = 3, PASSES = 7, CARRY_EVERY = 4, TURNS = 4;
constexpr double HOLDS_BELOW = 1e-3, NEAR = 0.02, REACH = 0.005, LYING = 0.5, SIDEWAYS = 0.067, TOLERATED = 0.005, THINNEST = 1e-12, SHALLOWEST = 1e-9, NOTHING = 1e-30;
constexpr double TINY = 1e-12, SMALL = 1e-4, LEAST = 1e-9, CELL = 0.025, TILES = 65536.0, MOST_TURN = 0.5, LEAST_CURVED = 0.05;

struct Leaves {  // numbers of one run, in the order of the leaves of TrackedRuns
    const double* next;
    double one() { return *next++; }
    const double* row(int n) {
        next += n;
        return next - n;
    }
};

struct Stations {
    const double *x, *y, *z, *tx, *tz, *driven, *hard, *reach, *length, *area, *width, *cleat_area, *cleat_height, *upstream, *downstream;
};
struct Discs {
    const double *x, *y, *z, *radius, *driven;
};
struct Runs {
    const double *x, *y, *z, *tx, *tz, *length, *driven;
};
struct Soil {  // contact/soil/constants.py
    double cohesive, frictional, exponent, cohesion, friction, shear_modulus, digging, exponent_growth, rebound, damping;
    double side_cohesive, side_weight, peak, peak_growth, exit, layer, base;
};
struct Belt {
    double mass, limit, kp, ki, kd, tension, loss_share, loss_viscous;
};
struct Ground {  // ground/blocks.py
    double gravity, along_x, along_y, base, soil, soil_to, goal;
    const double *xi, *z, *radius, *n1_xi, *n1_z, *n2_xi, *n2_z, *grip;
    double per_cell;
};

struct Hard {  // a place where hard ground may be touched
    double depth = -1.0, grip, driven, start_n, nn, secant, load = 0.0, cut_x, cut_y;
    bool is_cut;
    Vec arm, normal, along, across;
};

struct Plate {  // a segment in soil
    double depth = 0.0, x, y, start_n, nn, base, base_nn, area = 0.0, pressed = 0.0, load = 0.0, secant, extra_y, start_x, start_y, deepest, slipped, digs, share_x = 0.0, share_y = 0.0;
    double strength;  // by cohesion, of what bears
    double constant, reach;  // of this plate, always
    Vec arm, normal, along, up;
};

struct Cell {
    double tile, deepest, slip;
};

struct Sums {
    double push[6] = {}, lever[9] = {}, twist[6] = {}, belt = 0.0, belt_force = 0.0;
    Vec force{}, moment{}, to_belt{}, belt_arm{};

    void carry(const Vec& arm, const Vec& n, const Vec& along, double driven, double start_n, double nn, double g, double extra_y,
               double start_x, double start_y) {
        const double more = nn - g;
        const Vec kx{g + more * n.x * n.x, more * n.x * n.y, more * n.x * n.z};
        const Vec ky{kx.y, g + more * n.y * n.y + extra_y, more * n.y * n.z}, kz{kx.z, ky.z, g + more * n.z * n.z};
        const Vec lx = cross(arm, kx), ly = cross(arm, ky), lz = cross(arm, kz);
        const Vec tx = cross(arm, {lx.x, ly.x, lz.x}), ty = cross(arm, {lx.y, ly.y, lz.y}), tz = cross(arm, {lx.z, ly.z, lz.z});
        const Vec f = start_x * along + start_y * cross(n, along) + start_n * n, drives = g * driven * along;
        push[0] += kx.x, push[1] += kx.y, push[2] += kx.z, push[3] += ky.y, push[4] += ky.z, push[5] += kz.z;
        lever[0] += lx.x, lever[1] += lx.y, lever[2] += lx.z, lever[3] += ly.x, lever[4] += ly.y, lever[5] += ly.z;
        lever[6] += lz.x, lever[7] += lz.y, lever[8] += lz.z;
        twist[0] += tx.x, twist[1] += ty.x, twist[2] += tz.x, twist[3] += ty.y, twist[4] += tz.y, twist[5] += tz.z;
        force = force + f, moment = moment + cross(arm, f);
        to_belt = to_belt + drives, belt_arm = belt_arm + cross(arm, drives);
        belt += g * driven, belt_force += start_x * driven;
    }
};

struct End {  // in the order of the first columns
    Vec place;
    Quat attitude;
    Vec velocity, rate;
    double belt[2], drive[2];
};

static double limited(double x, double most) { return std::max(-most, std::min(most, x)); }
static double driving_slip(double u, double w) {
    const double same_way = w < 0.0 ? -u : w > 0.0 ? u : std::fabs(u);
    return (std::fabs(w) - same_way) / std::max(std::max(std::fabs(w), std::fabs(u)), SPEED_FLOOR);
}
static double within_one(double x) { return std::max(0.0, std::min(1.0, x)); }

class Tracked {
    double dt, mass, ix, iy, iz;
    int ns, nd, nr, nb;
    Stations st;
    Discs discs;
    Runs runs;
    double stiffness, exponent, damping, full_at, mu_s, mu_d, fading;
    Soil soil;
    Belt belt;
    Ground ground;
    double full[2];  // commanded speeds of the left and the right belt

    Vec place, velocity, rate;
    Quat attitude;
    double speed[2], integral[2] = {}, told[2] = {}, guess[2], fresh[2], drive[2] = {}, limited_to[2] = {}, drag[2], per[2], rest[2];
    Vec low[2], to_belt[2], belt_arm[2];
    std::vector<Hard> hard;
    std::vector<Plate> plates;
    std::vector<Cell> cells = std::vector<Cell>(WINDOW * WINDOW);

    struct Seen {
        double distance;
        Vec normal;
        double grip;
    };

    double along(double x, double y) const { return ground.along_x * x + ground.along_y * y; }

    bool before_edge(int b, double d_xi, double d_z) const {
        return d_z * ground.n1_xi[b] - d_xi * ground.n1_z[b] <= 0.0 && d_xi * ground.n2_z[b] - d_z * ground.n2_xi[b] <= 0.0;
    }

    Seen clearance(int b, const Vec& p) const {
        if (b == 0) return {p.z - ground.base, {0.0, 0.0, 1.0}, 1.0};
        const int k = b - 1;
        const double d_xi = along(p.x, p.y) - ground.xi[k], d_z = p.z - ground.z[k];
        double n_xi, n_z, distance;
        if (before_edge(k, d_xi, d_z)) {
            const double far = std::sqrt(d_xi * d_xi + d_z * d_z), by = 1.0 / std::max(far, TINY);
            n_xi = d_xi * by, n_z = d_z * by, distance = far;
        } else {
            const double first = d_xi * ground.n1_xi[k] + d_z * ground.n1_z[k], second = d_xi * ground.n2_xi[k] + d_z * ground.n2_z[k];
            const bool is_first = first > second;
            n_xi = is_first ? ground.n1_xi[k] : ground.n2_xi[k], n_z = is_first ? ground.n1_z[k] : ground.n2_z[k];
            distance = std::max(first, second);
        }
        return {distance - ground.radius[k], {n_xi * ground.along_x, n_xi * ground.along_y, n_z}, ground.grip[k]};
    }

    // The normal along which a thin disc and a block are furthest apart.
    Seen disc_clearance(int k, const Vec& p, const Vec& axle, double radius, const Seen& here) const {
        const double d_xi = along(p.x, p.y) - ground.xi[k], d_z = p.z - ground.z[k], a_xi = along(axle.x, axle.y), a_z = axle.z;
        double n_xi = along(here.normal.x, here.normal.y), n_z = here.normal.z;
        for (int turns = 0; turns < TURNS; ++turns) {
            const double on = n_xi * a_xi + n_z * a_z, off = n_xi * a_z - n_z * a_xi, by = 1.0 / std::sqrt(std::max(1.0 - on * on, TINY));
            const double slope = n_xi * d_z - n_z * d_xi + radius * on * off * by;
            const double curve = n_xi * d_xi + n_z * d_z - radius * by * (off * off - on * on + on * on * off * off * by * by);
            const double turn = limited(slope / std::max(curve, LEAST_CURVED * radius + TINY), MOST_TURN), size = 1.0 / std::sqrt(1.0 + turn * turn);
            const double t_xi = n_xi - turn * n_z, t_z = n_z + turn * n_xi;
            if (t_z * ground.n1_xi[k] - t_xi * ground.n1_z[k] > 0.0) {
                n_xi = ground.n1_xi[k], n_z = ground.n1_z[k];
            } else if (t_xi * ground.n2_z[k] - t_z * ground.n2_xi[k] > 0.0) {
                n_xi = ground.n2_xi[k], n_z = ground.n2_z[k];
            } else {
                n_xi = t_xi * size, n_z = t_z * size;
            }
        }
        return {n_xi * d_xi + n_z * d_z - ground.radius[k], {n_xi * ground.along_x, n_xi * ground.along_y, n_z}, here.grip};
    }

    double soil_depth(const Vec& p) const { return along(p.x, p.y) < ground.soil_to ? ground.soil - p.z : -1.0; }

    Cell& cell_of(double x, double y, double& tile) {
        const double column = std::floor(x * ground.per_cell), row = std::floor(y * ground.per_cell);
        const double tile_x = std::floor(column / WINDOW), tile_y = std::floor(row / WINDOW);
        tile = tile_x * TILES + tile_y;
        return cells[static_cast<size_t>((row - WINDOW * tile_y) * WINDOW + (column - WINDOW * tile_x))];
    }

    void keep(Hard& c, double depth, const Vec& arm, const Vec& normal, double grip, double driven) {
        c.depth = depth, c.arm = arm, c.normal = normal, c.grip = grip, c.driven = driven;
        const double by = 1.0 / std::sqrt(normal.x * normal.x + normal.z * normal.z + 1e-30);
        c.along = {normal.z * by, 0.0, -normal.x * by}, c.across = cross(normal, c.along);
    }

    void find_hard(const Rows& now) {
        Hard* c = hard.data();
        for (int side = 0; side < 2; ++side) {
            for (int n = side * ns; n < (side + 1) * ns; ++n, ++c) {
                c->depth = -1.0;
                if (st.hard[n] < 0.5) continue;
                const Vec arm{st.x[n] + st.reach[n] * st.tz[n], st.y[n], st.z[n] - st.reach[n] * st.tx[n]}, p = place + now.to_ground(arm);
                Seen best = clearance(0, p);
                for (int b = 1; b < nb; ++b) {
                    const Seen other = clearance(b, p);
                    if (other.distance < best.distance) best = other;
                }
                const double depth = -best.distance;
                c->depth = depth;
                if (depth <= -NEAR) continue;
                const Vec normal = now.to_body(best.normal);
                const double upright = normal.z * st.tx[n] - normal.x * st.tz[n], seen = normal.x * normal.x + normal.z * normal.z;
                const bool lies = upright > 0.0 && upright * upright > LYING * seen && seen > SIDEWAYS;
                keep(*c, lies ? depth : -1.0, arm, normal, best.grip, st.driven[n]);
            }
            for (int b = 0; b < nb; ++b)
                for (int n = side * nd; n < (side + 1) * nd; ++n, ++c) {
                    const double radius = discs.radius[n];
                    c->depth = -1.0;
                    if (radius <= 0.0) continue;
                    const Vec p = place + now.to_ground({discs.x[n], discs.y[n], discs.z[n]});
                    Seen here = clearance(b, p);
                    c->depth = radius - here.distance;
                    if (c->depth <= -NEAR) continue;
                    if (b > 0) here = disc_clearance(b - 1, p, {now.x.y, now.y.y, now.z.y}, radius, here);
                    const Vec normal = now.to_body(here.normal);
                    const double flat = std::sqrt(normal.x * normal.x + normal.z * normal.z + 1e-30), rim = radius / flat;
                    keep(*c, radius * flat - here.distance, {discs.x[n] - rim * normal.x, discs.y[n], discs.z[n] - rim * normal.z}, normal,
                         here.grip, discs.driven[n]);
                }
            for (int b = 0; b < nb - 1; ++b)
                for (int n = side * nr; n < (side + 1) * nr; ++n, ++c) {
                    const Vec p = place + now.to_ground({runs.x[n], runs.y[n], runs.z[n]}), t = now.to_ground({runs.tx[n], 0.0, runs.tz[n]});
                    const double t_xi = along(t.x, t.y), by = 1.0 / std::max(t_xi * t_xi + t.z * t.z, TINY), unit = std::sqrt(by);
                    const double d_xi = along(p.x, p.y) - ground.xi[b], d_z = p.z - ground.z[b], up_xi = -t.z * unit, up_z = t_xi * unit;
                    const double offset = -(d_xi * t_xi + d_z * t.z) * by;
                    c->depth = -1.0;
                    if (!before_edge(b, up_xi, up_z) || offset < 0.0 || offset > runs.length[n]) continue;
                    const double gap = d_xi * up_xi + d_z * up_z, length = runs.length[n];
                    const double first = d_xi * ground.n1_xi[b] + d_z * ground.n1_z[b] + std::min(0.0, length * (t_xi * ground.n1_xi[b] + t.z * ground.n1_z[b]));
                    const double second = d_xi * ground.n2_xi[b] + d_z * ground.n2_z[b] + std::min(0.0, length * (t_xi * ground.n2_xi[b] + t.z * ground.n2_z[b]));
                    if (gap < first || gap < second) continue;
                    c->depth = ground.radius[b] - gap;
                    if (c->depth <= -NEAR) continue;
                    keep(*c, c->depth, {runs.x[n] + offset * runs.tx[n], runs.y[n], runs.z[n] + offset * runs.tz[n]},
                         now.to_body({up_xi * ground.along_x, up_xi * ground.along_y, up_z}), ground.grip[b], runs.driven[n]);
                }
        }
    }

    double pushed_aside(double depth) const {
        const double z = std::max(depth, 0.0);
        return (soil.side_cohesive + soil.side_weight * z) * z;
    }

    struct Curve {  // pressure at the depth, and how it grows towards the depth expected at the end of the step
        double pressure, slope;
    };

    Curve pressed(double scale, double power, double depth, double deepest, double coming) const {
        if (depth <= 0.0) return {0.0, 0.0};
        const double lowest = std::max(depth, deepest), deep = std::max(lowest, SHALLOWEST), per_depth = scale * std::pow(deep, power) / deep;
        const double back = per_depth / soil.rebound, now = per_depth * lowest - back * (lowest - depth);
        return {std::max(0.0, now), now > 0.0 ? (coming >= lowest && depth >= deepest ? power * per_depth : back) : 0.0};
    }

    Curve backed(double depth, double coming) const {
        const double into = std::max(0.0, depth - soil.layer);
        if (depth <= 0.0) return {0.0, 0.0};
        if (coming > depth) return {soil.base * into, soil.base * std::max(0.0, coming - std::max(depth, soil.layer)) / (coming - depth)};
        return {soil.base * into, into > 0.0 ? soil.base : 0.0};
    }

    void find_soil(const Rows& now) {
        for (int n = 0; n < 2 * ns; ++n) {
            Plate& c = plates[n];
            const Vec p = place + now.to_ground(c.arm);
            const bool was_below = c.depth + st.cleat_height[n] > 0.0;
            c.depth = st.area[n] + st.cleat_area[n] > 0.0 ? soil_depth(p) : -1.0, c.area = c.load = 0.0;
            if (c.depth + st.cleat_height[n] <= 0.0) continue;
            double tile;
            const Cell& found = cell_of(p.x, p.y, tile);
            const bool known_here = found.tile == tile;
            const Vec v = velocity + cross(rate, c.arm);
            const double ahead = dot(c.along, v), went = dt * std::fabs(ahead), met = was_below ? went / (went + CELL) : 1.0;
            c.deepest += met * ((known_here ? found.deepest : 0.0) - c.deepest);
            c.slipped += met * ((known_here ? found.slip : 0.0) - c.slipped);
            const double rim = st.driven[n] * speed[n / ns], slip = driving_slip(ahead, rim);
            c.digs = was_below ? slip + CELL / (std::max(went, dt * std::fabs(rim)) + CELL) * (c.digs - slip) : slip;
            const double worst = std::max(c.slipped, within_one(c.digs));
            const double ratio = (1.0 + within_one(worst)) / (1.0 - 0.5 * within_one(worst));
            const double scale = std::pow(ratio, -soil.exponent * soil.digging) * c.constant;
            const double power = soil.exponent + soil.exponent_growth * within_one(worst), rising = dot(now.z, v), coming = c.depth - dt * rising;
            const Curve base = pressed(scale, power, c.depth, c.deepest - c.reach, coming);
            const Curve tip = pressed(scale, power, c.depth + c.reach, c.deepest, coming + c.reach);
            const Curve below = backed(c.depth, coming), below_tip = backed(c.depth + c.reach, coming + c.reach);
            c.base = st.area[n] * below.pressure + st.cleat_area[n] * below_tip.pressure;
            const double push = st.area[n] * base.pressure + st.cleat_area[n] * tip.pressure;
            if (push + c.base <= 0.0) continue;
            const double slope = st.area[n] * base.slope + st.cleat_area[n] * tip.slope;
            c.base_nn = dt * (st.area[n] * below.slope + st.cleat_area[n] * below_tip.slope), c.up = now.z;
            c.area = (base.pressure + below.pressure > 0.0 ? st.area[n] : 0.0) + (tip.pressure + below_tip.pressure > 0.0 ? st.cleat_area[n] : 0.0);
            c.start_n = push + slope * dt * (dot(c.normal, v) - rising), c.nn = slope * dt + soil.damping * c.area;
            c.strength = soil.cohesion * c.area, c.x = p.x, c.y = p.y;
            c.extra_y = st.length[n] * pushed_aside(c.depth) / std::max(std::fabs(v.y), SPEED_FLOOR);
        }
    }

    void mobilise(const Plate& c, double slip_x, double slip_y, double& start_x, double& start_y, double& per_slip) const {
        const double by = dt / soil.shear_modulus, dx = by * slip_x, dy = by * slip_y, mx = c.share_x + dx, my = c.share_y + dy;
        const double loading = std::max(0.0, mx * dx + my * dy) / std::sqrt(mx * mx + my * my + NOTHING), kept = std::exp(-loading);
        start_x = kept * c.share_x, start_y = kept * c.share_y;
        per_slip = by * (loading > SMALL ? (1.0 - kept) / loading : 1.0 - 0.5 * loading);
    }

    void gather(const Vec& v0, const Vec& r0, const Vec& free_v, const Vec& free_r, int side, int pass, Sums& sums) {
        const int count = static_cast<int>(hard.size()) / 2;
        for (Hard *c = &hard[side * count], *last = c + count; c < last; ++c) {
            c->nn = c->start_n = c->secant = c->load = 0.0;
            if (c->depth <= -REACH) continue;
            const Vec v = v0 + cross(r0, c->arm);
            const bool careful = pass >= SECANT_PASSES, is_last = pass == PASSES - 1;
            double coming = std::max(0.0, c->depth - dt * dot(c->normal, v));
            if (is_last) coming = std::max(coming, c->depth - dt * dot(c->normal, free_v + cross(free_r, c->arm)));
            if (coming <= 0.0) continue;
            const double at = is_last ? std::max(c->depth, 0.0) : coming, power = std::pow(std::max(at, THINNEST), exponent - 1.0), slope = exponent * stiffness * power;
            const double rising = dot(c->normal, v), damped = damping * std::min(1.0, coming / full_at);
            double nn = dt * slope + damped, start_n = stiffness * power * at + slope * (c->depth - at);
            if (is_last) {
                start_n = stiffness * power * at, nn += dt * stiffness * std::pow(std::max(coming - c->depth, THINNEST), exponent - 1.0);
            } else if (careful && c->depth <= 0.0) {
                const double chord = stiffness * power - damped * rising / coming;
                start_n = chord * c->depth, nn = dt * chord;
            }
            const double load = start_n - nn * rising;
            if (load <= 0.0 && !is_last) continue;
            const double slip_x = c->driven * guess[side] - dot(c->along, v), slip_y = -dot(c->across, v);
            const double slip = std::sqrt(slip_x * slip_x + slip_y * slip_y), over = slip / fading;
            const double mu = mu_d + (mu_s - mu_d) / (1.0 + over * over);
            c->nn = nn, c->start_n = start_n, c->load = std::max(0.0, load);
            c->secant = c->is_cut ? 0.0 : mu * c->load * c->grip / std::max(slip, STICK_SPEED);
            sums.carry(c->arm, c->normal, c->along, c->driven, start_n, nn, c->secant, 0.0, c->is_cut ? c->cut_x : 0.0,
                       c->is_cut ? c->cut_y : 0.0);
        }
        for (int n = side * ns; n < (side + 1) * ns; ++n) {
            Plate& c = plates[n];
            if (c.area <= 0.0) continue;
            const Vec v = v0 + cross(r0, c.arm);
            const double based = c.base_nn > 0.0 ? std::max(0.0, c.base - c.base_nn * dot(c.up, v)) : 0.0;
            c.pressed = std::max(0.0, c.start_n - c.nn * dot(c.normal, v)), c.load = c.pressed + based;
            c.secant = c.start_x = c.start_y = 0.0;
            if (c.load <= 0.0) continue;
            double by;
            mobilise(c, st.driven[n] * guess[side] - dot(c.along, v), -v.y, c.start_x, c.start_y, by);
            const double most = c.strength + soil.friction * c.load;
            c.start_x *= most, c.start_y *= most, c.secant = most * by;
            const bool is_pressed = c.pressed > 0.0;
            sums.carry(c.arm, c.normal, c.along, st.driven[n], is_pressed ? c.start_n : 0.0, is_pressed ? c.nn : 0.0, c.secant, c.extra_y,
                       c.start_x, c.start_y);
            if (based > 0.0) sums.carry(c.arm, c.up, c.along, 0.0, c.base, c.base_nn, 0.0, 0.0, 0.0, 0.0);
        }
    }

    // Whether a place that was free at the guess bears at the new velocities.
    bool is_missed(double depth, double rising) const {
        if (depth <= 0.0) return false;
        const double deep = std::max(depth, THINNEST);
        return stiffness * std::pow(deep, exponent) - damping * std::min(1.0, deep / full_at) * rising > 0.0;
    }

    struct Verdict {  // whether a step is to be solved again, and whether because a place pulls or was missed
        bool again, astray;
    };

    Verdict share(const Vec& v0, const Vec& r0, int side, bool cuts) {
        bool again = false, astray = false;
        const int count = static_cast<int>(hard.size()) / 2;
        for (Hard *c = &hard[side * count], *last = c + count; c < last; ++c) {
            if (c->depth <= -REACH) continue;
            const Vec v = v0 + cross(r0, c->arm);
            const double rising = dot(c->normal, v);
            if (c->load <= 0.0) {
                c->is_cut = false, astray |= is_missed(c->depth - dt * rising, rising);
                continue;
            }
            const bool was_cut = c->is_cut;
            double load = c->start_n - c->nn * rising;
            astray |= load < 0.0;
            if (c->depth <= 0.0 && c->depth - dt * rising > 0.0) {
                const double deep = c->depth - dt * rising;
                astray |= stiffness * std::pow(deep, exponent + 1.0) / (exponent + 1.0) > -load * dt * rising;
            }
            load = std::max(0.0, load);
            const double fx = was_cut ? c->cut_x : c->secant * (c->driven * fresh[side] - dot(c->along, v));
            const double fy = was_cut ? c->cut_y : -c->secant * dot(c->across, v), most = mu_s * load * c->grip;
            double x = limited(fx, most), y = limited(fy, most);
            const double whole = mu_s * most + NOTHING, by = whole / std::max(mu_s * std::sqrt(x * x + y * y), whole);
            x *= by, y *= by;
            const bool is_new = cuts && !was_cut && std::fabs(fx - x) + std::fabs(fy - y) > TOLERATED * (std::fabs(x) + std::fabs(y)) + 1e-9;
            c->cut_x = x, c->cut_y = y, c->is_cut = is_new, c->load = load;
            again |= is_new || was_cut;
        }
        for (int n = side * ns; n < (side + 1) * ns; ++n) {
            Plate& c = plates[n];
            if (c.load <= 0.0) continue;
            const Vec v = v0 + cross(r0, c.arm);
            const double pressed = c.start_n - c.nn * dot(c.normal, v), based = c.base - c.base_nn * dot(c.up, v);
            const bool was_pressed = c.pressed > 0.0, was_based = c.load > c.pressed;
            again |= (pressed < 0.0 && was_pressed) || (based < 0.0 && was_based);
            c.pressed = was_pressed ? std::max(0.0, pressed) : 0.0, c.load = c.pressed + (was_based ? std::max(0.0, based) : 0.0);
        }
        const double now = limit_of(side);
        astray |= now != limited_to[side], limited_to[side] = now;
        return {again || astray, astray};
    }

    // The limit (-1, 0: none, 1) that a motor is at by the new speed; from one to the other only by way of none.
    double limit_of(int side) const {
        const double wanted = wanted_drive(side), at = limited_to[side];
        if (at != 0.0) return at * wanted >= belt.limit ? at : 0.0;
        return wanted > belt.limit ? 1.0 : wanted < -belt.limit ? -1.0 : 0.0;
    }

    double wanted_drive(int side) const {
        return belt.kp * (told[side] - fresh[side]) + integral[side] - belt.kd / dt * (fresh[side] - speed[side]);
    }

    void solve(const Vec& free_v, const Vec& free_r, int pass, Vec& v, Vec& r) {
        double a[6] = {}, b[9] = {}, c[6] = {};
        Vec force{}, moment{};
        for (int side = 0; side < 2; ++side) {
            Sums s;
            gather(v, r, free_v, free_r, side, pass, s);
            double by = belt.kp + belt.kd / dt, push = belt.kp * told[side] + integral[side] + belt.kd / dt * speed[side];
            drive[side] = limited(push - by * guess[side], belt.limit);
            if (limited_to[side] != 0.0) drive[side] = push = limited_to[side] * belt.limit, by = 0.0;
            rest[side] = belt.mass / dt * speed[side] + push - s.belt_force;
            const double lost = belt.loss_share * (2.0 * belt.tension + std::fabs(drive[side])), resists = belt.mass / dt + by + s.belt + belt.loss_viscous;
            const double pulled = std::fabs(rest[side] + dot(s.to_belt, v) + dot(s.belt_arm, r));
            per[side] = 1.0 / (resists + lost / std::max(std::max(pulled - lost, 0.0) / resists, STICK_SPEED));
            to_belt[side] = s.to_belt, belt_arm[side] = s.belt_arm;
            const Vec p = s.to_belt, w = s.belt_arm, pv = per[side] * p, pw = per[side] * w;
            const double d = drag[side];
            const Vec& l = low[side];
            a[0] += s.push[0] - pv.x * p.x + d, a[1] += s.push[1] - pv.x * p.y, a[2] += s.push[2] - pv.x * p.z;
            a[3] += s.push[3] - pv.y * p.y, a[4] += s.push[4] - pv.y * p.z, a[5] += s.push[5] - pv.z * p.z;
            b[0] += s.lever[0] - pv.x * w.x, b[1] += s.lever[1] - pv.x * w.y + d * l.z, b[2] += s.lever[2] - pv.x * w.z - d * l.y;
            b[3] += s.lever[3] - pv.y * w.x, b[4] += s.lever[4] - pv.y * w.y, b[5] += s.lever[5] - pv.y * w.z;
            b[6] += s.lever[6] - pv.z * w.x, b[7] += s.lever[7] - pv.z * w.y, b[8] += s.lever[8] - pv.z * w.z;
            c[0] += s.twist[0] - pw.x * w.x, c[1] += s.twist[1] - pw.x * w.y, c[2] += s.twist[2] - pw.x * w.z;
            c[3] += s.twist[3] - pw.y * w.y + d * l.z * l.z, c[4] += s.twist[4] - pw.y * w.z - d * l.z * l.y;
            c[5] += s.twist[5] - pw.z * w.z + d * l.y * l.y;
            force = force + s.force + rest[side] * pv, moment = moment + s.moment + rest[side] * pw;
        }
        const double m = mass / dt, jx = ix / dt, jy = iy / dt, jz = iz / dt;
        const Factors upper(a[0] + m, a[1], a[2], a[3] + m, a[4], a[5] + m);
        const Vec b1{b[0], b[3], b[6]}, b2{b[1], b[4], b[7]}, b3{b[2], b[5], b[8]};
        const Vec c1 = upper.solved(b1), c2 = upper.solved(b2), c3 = upper.solved(b3), still = upper.solved(m * free_v + force);
        const Factors lower(c[0] + jx - dot(b1, c1), c[1] - dot(b1, c2), c[2] - dot(b1, c3), c[3] + jy - dot(b2, c2), c[4] - dot(b2, c3),
                            c[5] + jz - dot(b3, c3));
        r = lower.solved({jx * free_r.x + moment.x - dot(b1, still), jy * free_r.y + moment.y - dot(b2, still), jz * free_r.z + moment.z - dot(b3, still)});
        v = still - r.x * c1 - r.y * c2 - r.z * c3;
        for (int side = 0; side < 2; ++side) fresh[side] = per[side] * (rest[side] + dot(to_belt[side], v) + dot(belt_arm[side], r));
    }

    void remember(const Vec& v0, const Vec& r0) {
        for (int n = 0; n < 2 * ns; ++n) {
            Plate& c = plates[n];
            if (c.area <= 0.0 || c.load <= 0.0) {
                c.share_x = c.share_y = 0.0;
                continue;
            }
            const Vec v = v0 + cross(r0, c.arm);
            const double rim = st.driven[n] * speed[n / ns], ahead = dot(c.along, v);
            double x, y, by;
            mobilise(c, rim - ahead, -v.y, x, y, by);
            c.share_x = x + by * (rim - ahead), c.share_y = y - by * v.y;
            const double slip = within_one(c.digs);
            double tile;
            Cell& here = cell_of(c.x, c.y, tile);
            if (here.tile != tile) here = Cell{tile, 0.0, 0.0};
            here.deepest = std::max(here.deepest, c.depth + c.reach), here.slip = std::max(here.slip, slip);
            c.deepest = std::max(c.deepest, c.depth + c.reach), c.slipped = std::max(c.slipped, slip);
        }
    }

    static double displacement(double x, double y) {
        const double size = std::sqrt(x * x + y * y);
        return -std::log(std::max(1.0 - size, LEAST)) / std::max(size, LEAST);
    }

    void carry_along(double seconds) {
        for (int side = 0; side < 2; ++side) {
            const bool ahead = speed[side] >= 0.0;
            double was_x = 0.0, was_y = 0.0;  // of the station behind, before it was carried
            for (int k = 0; k < ns; ++k) {
                const int n = side * ns + k, from = side * ns + (ahead ? std::min(k + 1, ns - 1) : std::max(k - 1, 0));
                Plate& c = plates[n];
                const double behind_x = was_x, behind_y = was_y;
                was_x = c.share_x, was_y = c.share_y;
                if (c.load <= 0.0) continue;
                const Plate& fed = plates[from];
                const double gap = ahead ? st.upstream[n] : st.downstream[n];
                const bool is_fed = fed.load * gap > 0.0;
                const double fed_x = ahead ? fed.share_x : behind_x, fed_y = ahead ? fed.share_y : behind_y;
                const double by = displacement(c.share_x, c.share_y), by_fed = is_fed ? displacement(fed_x, fed_y) : 0.0;
                const double flow = std::min(1.0, std::fabs(speed[side]) * seconds / (is_fed ? gap : 0.5 * st.length[n]) * st.driven[n]);
                const double jx = c.share_x * by + flow * (fed_x * by_fed - c.share_x * by);
                const double jy = c.share_y * by + flow * (fed_y * by_fed - c.share_y * by);
                const double size = std::sqrt(jx * jx + jy * jy), part = (1.0 - std::exp(-size)) / std::max(size, LEAST);
                c.share_x = jx * part, c.share_y = jy * part;
            }
        }
    }

    Vec left_behind(const Vec& a, const Vec& turning) const {
        const Vec t = -0.5 * dt * turning, once = cross(t, a);
        return a + 2.0 / (1.0 + dot(t, t)) * (once + cross(t, once));
    }

  public:
    size_t columns;  // numbers of one run

    Tracked(const double* numbers, double step_s) : dt(step_s) {
        Leaves p{numbers};
        ns = static_cast<int>(p.one()), nd = static_cast<int>(p.one()), nr = static_cast<int>(p.one()), nb = static_cast<int>(p.one()) + 1;
        mass = p.one(), ix = p.one(), iy = p.one(), iz = p.one(), p.row(3);
        for (const double** row = reinterpret_cast<const double**>(&st), **end = row + 15; row < end; ++row) *row = p.row(2 * ns);
        for (const double** row = reinterpret_cast<const double**>(&discs), **end = row + 5; row < end; ++row) *row = p.row(2 * nd);
        for (const double** row = reinterpret_cast<const double**>(&runs), **end = row + 7; row < end; ++row) *row = p.row(2 * nr);
        stiffness = p.one(), exponent = p.one(), damping = p.one(), full_at = p.one(), mu_s = p.one(), mu_d = p.one(), fading = p.one();
        for (double *x = &soil.cohesive, *end = x + 17; x < end; ++x) *x = p.one();
        for (double *x = &belt.mass, *end = x + 8; x < end; ++x) *x = p.one();
        for (double *x = &ground.gravity, *end = x + 7; x < end; ++x) *x = p.one();
        for (const double** row = &ground.xi, **end = row + 8; row < end; ++row) *row = p.row(nb - 1);
        ground.per_cell = p.one();
        const double x = p.one(), y = p.one(), z = p.one(), up = -0.5 * p.one(), heading = 0.5 * p.one(), ahead = p.one();
        p.one();  // no roll
        full[0] = p.one(), full[1] = p.one(), columns = static_cast<size_t>(p.next - numbers);
        place = {x, y, z}, velocity = {ahead, 0.0, 0.0}, rate = {0.0, 0.0, 0.0}, speed[0] = speed[1] = ahead;
        const double c = std::cos(heading), s = std::sin(heading), d = std::cos(up), e = std::sin(up);
        attitude = {c * d, -s * e, c * e, s * d};
        hard.resize(2 * (ns + nb * nd + (nb - 1) * nr)), plates.resize(2 * ns);
        for (int n = 0; n < 2 * ns; ++n) {
            Plate& q = plates[n];
            q.arm = {st.x[n], st.y[n], st.z[n]}, q.normal = {-st.tz[n], 0.0, st.tx[n]}, q.along = {st.tx[n], 0.0, st.tz[n]};
            q.constant = std::max(soil.cohesive / st.width[n] + soil.frictional, 0.0);
            q.reach = st.cleat_area[n] > 0.0 ? st.cleat_height[n] : 0.0, q.deepest = q.slipped = 0.0;
        }
    }

    void step(double share_of_full) {
        for (int side = 0; side < 2; ++side) told[side] = share_of_full * full[side];
        const Rows now = attitude.rotation(), middle = attitude.turned(rate, 0.5 * dt).rotation();
        const Vec spin{ix * rate.x, iy * rate.y, iz * rate.z}, once = left_behind(spin, rate);
        const Vec coming{once.x / ix, once.y / iy, once.z / iz}, kept = left_behind(spin, 0.5 * (rate + coming));
        const Vec free_v = left_behind(velocity, rate) + dt * middle.to_body({0.0, 0.0, -ground.gravity});
        const Vec free_r{kept.x / ix, kept.y / iy, kept.z / iz};
        find_hard(now);
        find_soil(now);
        for (int side = 0; side < 2; ++side) {
            const int rear = side * nd, n = rear + 1;
            const double low_y = discs.y[n], low_z = discs.z[n] - discs.radius[n];
            const double ahead = velocity.x + rate.y * low_z - rate.z * low_y;
            low[side] = {ahead >= 0.0 ? discs.x[n] : discs.x[rear], low_y, low_z};
            const double depth = soil_depth(place + now.to_ground(low[side]));
            drag[side] = st.width[side * ns] * pushed_aside(depth) / std::max(std::fabs(ahead), HOLDS_BELOW);
            guess[side] = speed[side];
        }
        for (Hard& c : hard) c.is_cut = false;
        Vec v = velocity, r = rate;
        for (int k = 0; k < PASSES; ++k) {
            const bool cuts = k < SECANT_PASSES - 2;
            solve(free_v, free_r, k, v, r);
            const Verdict left = share(v, r, 0, cuts), right = share(v, r, 1, cuts);
            if (!(k < SECANT_PASSES - 1 ? left.again || right.again : left.astray || right.astray)) break;
            guess[0] = fresh[0], guess[1] = fresh[1];
        }
        for (int side = 0; side < 2; ++side) {
            const double wanted = wanted_drive(side);
            drive[side] = limited(wanted, belt.limit);
            if (std::fabs(wanted) < belt.limit) integral[side] += belt.ki * dt * (told[side] - fresh[side]);
            speed[side] = fresh[side];
        }
        remember(v, r);
        place = place + dt * middle.to_ground(v), attitude = attitude.turned(r, dt), velocity = v, rate = r;
    }

    End driven(const std::vector<double>& commands, int steps, int hold) {
        for (int j = 0; j < steps; ++j) {
            step(commands[j / hold]);
            if ((j + 1) % CARRY_EVERY == 0) carry_along(CARRY_EVERY * dt);
        }
        return {place, attitude, velocity, rate, {speed[0], speed[1]}, {drive[0], drive[1]}};
    }
};

int main(int argc, char** argv) {
    if (argc != 8) return std::fprintf(stderr, "usage: %s parameters commands ends steps hold step_s repetitions\n", argv[0]), 2;
    const auto numbers = read<double>(argv[1]), commands = read<double>(argv[2]);
    const int steps = std::atoi(argv[4]), hold = std::atoi(argv[5]), repetitions = std::atoi(argv[7]);
    if (numbers.empty() || commands.size() < static_cast<size_t>((steps + hold - 1) / hold))
        return std::fputs("too few parameters or commands\n", stderr), 2;
    const size_t columns = Tracked(numbers.data(), std::atof(argv[6])).columns;
    std::vector<End> ends(numbers.size() / columns);
    double fastest_s = 1e300;
    for (int k = 0; k < repetitions; ++k) {
        const std::clock_t start = std::clock();
        for (size_t i = 0; i < ends.size(); ++i)
            ends[i] = Tracked(&numbers[i * columns], std::atof(argv[6])).driven(commands, steps, hold);
        fastest_s = std::min(fastest_s, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::ofstream(argv[3], std::ios::binary)
        .write(reinterpret_cast<const char*>(ends.data()), static_cast<std::streamsize>(ends.size() * sizeof(End)));
    std::printf("%.9e\n", fastest_s / static_cast<double>(ends.size()));
    return 0;
}
