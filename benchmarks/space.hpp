// What rough.cpp and soil.cpp share: a rigid body in space on four wheels with motors, as vehicles/rough.py has it.
//
// How a contact stands is worked out once a step, wheels have no coupling of the axes and go in rows of four.

#pragma once

#include "wheels.hpp"

constexpr int SETTLING = 16, LIFTING = 48;

struct Vec {
    double x, y, z;
};

static Vec operator+(const Vec& a, const Vec& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static Vec operator-(const Vec& a, const Vec& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static Vec operator*(double k, const Vec& a) { return {k * a.x, k * a.y, k * a.z}; }
static double dot(const Vec& a, const Vec& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vec cross(const Vec& a, const Vec& b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

struct Rows {  // of a rotation from the body's axes to the ground's
    Vec x, y, z;

    Vec to_ground(const Vec& a) const { return {dot(x, a), dot(y, a), dot(z, a)}; }
    Vec to_body(const Vec& a) const { return a.x * x + a.y * y + a.z * z; }
};

struct Quat {
    double w, x, y, z;

    Quat unit() const {
        const double per = 1.0 / std::sqrt(w * w + x * x + y * y + z * z);
        return {w * per, x * per, y * per, z * per};
    }
    Quat turned(const Vec& rate, double seconds) const {
        const Vec h = 0.5 * seconds * rate;
        return Quat{w - x * h.x - y * h.y - z * h.z, x + w * h.x + y * h.z - z * h.y, y + w * h.y + z * h.x - x * h.z,
                    z + w * h.z + x * h.y - y * h.x}
            .unit();
    }
    Rows rotation() const {
        return {{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
                {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
                {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}};
    }
};

struct Factors {  // L D L^T of a symmetric matrix
    double per_x, per_y, per_z, yx, zx, zy;

    Factors(double xx, double xy, double xz, double yy, double yz, double zz) {
        per_x = 1.0 / xx, yx = xy * per_x, zx = xz * per_x;
        per_y = 1.0 / (yy - yx * xy);
        const double rest = yz - yx * xz;
        zy = rest * per_y;
        per_z = 1.0 / (zz - zx * xz - zy * rest);
    }
    Vec solved(const Vec& b) const {
        const double below = b.y - yx * b.x, z = (b.z - zx * b.x - zy * below) * per_z, y = below * per_y - zy * z;
        return {b.x * per_x - yx * y - zx * z, y, z};
    }
};

struct BodyParameters {  // in the order of the leaves of RoughRuns
    double mass, roll_inertia, pitch_inertia, yaw_inertia, com_x, com_y, com_height;
    double x[W], y[W], leverage_x[W], leverage_y[W], share_x[W], share_y[W], radius[W];
};

struct State {  // in the order of rough's columns
    Vec place;
    Quat attitude;
    Vec velocity, rate, felt;
    double speed[W], angle[W], load[W], force_x[W], force_y[W], current[W];
};

struct Expected : Forces {  // what lasts besides: forces that are expected, and where on its wheel each contact was
    double dir_x[W], dir_z[W];
};

struct Contacts {  // rows of four: how the wheels stand on the ground, in the body's axes
    double depth[W];
    double ex_x[W], ex_z[W], ey_x[W], ey_y[W], ey_z[W], n_x[W], n_y[W], n_z[W], arm_x[W], arm_z[W];
    double turn_x[3][W], turn_y[3][W], turn_n[3][W];  // moments of unit forces along ex, ey, n
};

struct Free {  // a step without contact
    Rows now, middle;
    Vec velocity, rate;
};

class InSpace {
  protected:
    BodyParameters body;
    Drive drive;
    double dt, per_mass, dt_per_mass, inertia, inertia_x, inertia_y, inertia_z, per_ix, per_iy, per_iz;
    double hub_x[W], hub_y[W], hub_z[W], lever[W], give[W];

    InSpace(const BodyParameters& given, const Motor& motor, double step_s) : body(given), drive(motor, step_s), dt(step_s) {
        per_mass = 1.0 / body.mass, dt_per_mass = dt / body.mass, inertia = body.mass / dt;
        inertia_x = body.roll_inertia / dt, inertia_y = body.pitch_inertia / dt, inertia_z = body.yaw_inertia / dt;
        per_ix = 1.0 / body.roll_inertia, per_iy = 1.0 / body.pitch_inertia, per_iz = 1.0 / body.yaw_inertia;
        for (int n = 0; n < W; ++n) {
            hub_x[n] = body.x[n] - body.com_x, hub_y[n] = body.y[n] - body.com_y, hub_z[n] = body.radius[n] - body.com_height;
            lever[n] = drive.mobility * body.radius[n], give[n] = lever[n] * body.radius[n];
        }
    }

    // Where the wheels' lowest points are, from the directions of the step before.
    void lowest_points(const State& s, const Rows& now, const Expected& m, double* x, double* y) const {
        for (int n = 0; n < W; ++n) {
            const Vec arm{hub_x[n] + body.radius[n] * m.dir_x[n], hub_y[n], hub_z[n] + body.radius[n] * m.dir_z[n]};
            x[n] = s.place.x + dot(now.x, arm), y[n] = s.place.y + dot(now.y, arm);
        }
    }

    // How the wheels stand on ground of which height and slopes below them are known.
    void stand(const State& s, const Rows& now, const Rows& middle, const double* x, const double* y, const double* height,
               const double* slope_x, const double* slope_y, Expected& m, Contacts& c) const {
        double per[W], upright[W];
        for (int n = 0; n < W; ++n) per[n] = std::sqrt(1.0 + slope_x[n] * slope_x[n] + slope_y[n] * slope_y[n]);
        for (int n = 0; n < W; ++n) {
            per[n] = 1.0 / per[n];
            const Vec normal = per[n] * middle.to_body({-slope_x[n], -slope_y[n], 1.0});
            c.n_x[n] = normal.x, c.n_y[n] = normal.y, c.n_z[n] = normal.z;
        }
        for (int n = 0; n < W; ++n) upright[n] = std::sqrt(c.n_x[n] * c.n_x[n] + c.n_z[n] * c.n_z[n]);
        for (int n = 0; n < W; ++n) {
            const Vec over = s.place + now.to_ground({hub_x[n], hub_y[n], hub_z[n]});
            const double gap = per[n] * (over.z - height[n] - slope_x[n] * (over.x - x[n]) - slope_y[n] * (over.y - y[n]));
            const double per_upright = 1.0 / upright[n], dx = -c.n_x[n] * per_upright, dz = -c.n_z[n] * per_upright;
            const Vec arm{hub_x[n] + body.radius[n] * dx, hub_y[n], hub_z[n] + body.radius[n] * dz}, normal{c.n_x[n], c.n_y[n], c.n_z[n]};
            const Vec ex{-dz, 0.0, dx}, ey{c.n_y[n] * dx, upright[n], c.n_y[n] * dz};
            const Vec turn_x = cross(arm, ex), turn_y = cross(arm, ey), turn_n = cross(arm, normal);
            c.depth[n] = body.radius[n] * upright[n] - gap, m.dir_x[n] = dx, m.dir_z[n] = dz;
            c.arm_x[n] = arm.x, c.arm_z[n] = arm.z, c.ex_x[n] = ex.x, c.ex_z[n] = ex.z;
            c.ey_x[n] = ey.x, c.ey_y[n] = ey.y, c.ey_z[n] = ey.z;
            c.turn_x[0][n] = turn_x.x, c.turn_x[1][n] = turn_x.y, c.turn_x[2][n] = turn_x.z;
            c.turn_y[0][n] = turn_y.x, c.turn_y[1][n] = turn_y.y, c.turn_y[2][n] = turn_y.z;
            c.turn_n[0][n] = turn_n.x, c.turn_n[1][n] = turn_n.y, c.turn_n[2][n] = turn_n.z;
        }
    }

    static double sum(const double* row) { return (row[0] + row[2]) + (row[1] + row[3]); }
    static Vec sum(const double (&rows)[3][W]) { return {sum(rows[0]), sum(rows[1]), sum(rows[2])}; }
    // Sums of forces and, if wanted, moments of what the wheels carry along their axes.
    template <bool with_moment>
    static void combine(const Contacts& c, const double* along, const double* across, const double* into, Vec& force, Vec& moment) {
        double f[3][W], m[3][W];
        for (int n = 0; n < W; ++n) {
            f[0][n] = along[n] * c.ex_x[n] + across[n] * c.ey_x[n] + into[n] * c.n_x[n];
            f[1][n] = across[n] * c.ey_y[n] + into[n] * c.n_y[n];
            f[2][n] = along[n] * c.ex_z[n] + across[n] * c.ey_z[n] + into[n] * c.n_z[n];
            if constexpr (with_moment)
                for (int k = 0; k < 3; ++k)
                    m[k][n] = along[n] * c.turn_x[k][n] + across[n] * c.turn_y[k][n] + into[n] * c.turn_n[k][n];
        }
        force = sum(f);
        if constexpr (with_moment) moment = sum(m);
    }

    // Velocity of the body at the contacts, along their axes.
    static void over_ground(const Contacts& c, const Vec& v, const Vec& r, double* along, double* across, double* rising) {
        for (int n = 0; n < W; ++n) {
            along[n] = c.ex_x[n] * v.x + c.ex_z[n] * v.z + (c.turn_x[0][n] * r.x + c.turn_x[1][n] * r.y + c.turn_x[2][n] * r.z);
            across[n] = c.ey_x[n] * v.x + c.ey_y[n] * v.y + c.ey_z[n] * v.z +
                        (c.turn_y[0][n] * r.x + c.turn_y[1][n] * r.y + c.turn_y[2][n] * r.z);
            rising[n] = c.n_x[n] * v.x + c.n_y[n] * v.y + c.n_z[n] * v.z +
                        (c.turn_n[0][n] * r.x + c.turn_n[1][n] * r.y + c.turn_n[2][n] * r.z);
        }
    }

    // Velocities at the end of the step from the wheels' secants, and their forces at zero velocity.
    // `back` holds hubs back along ex, N s/m: r ex ex^T at the hub, whose lever is hub x ex.
    template <bool holds_back>
    void solve(const Contacts& c, const double* xx, const double* yy, const double* nn, const double* back, const Vec& push,
               const Vec& turn, const Free& free, double drag, Vec& velocity, Vec& rate) const {
        double a[6][W], b[9][W], t[6][W];
        for (int n = 0; n < W; ++n) {
            const double ex_x = c.ex_x[n], ex_z = c.ex_z[n], ey_x = c.ey_x[n], ey_y = c.ey_y[n], ey_z = c.ey_z[n];
            const double n_x = c.n_x[n], n_y = c.n_y[n], n_z = c.n_z[n];
            const Vec arm{c.arm_x[n], hub_y[n], c.arm_z[n]};
            const double xx_x = xx[n] * ex_x, yy_x = yy[n] * ey_x, yy_y = yy[n] * ey_y, nn_x = nn[n] * n_x, nn_y = nn[n] * n_y;
            const Vec kx{xx_x * ex_x + yy_x * ey_x + nn_x * n_x, yy_x * ey_y + nn_x * n_y,
                         xx_x * ex_z + yy_x * ey_z + nn_x * n_z};
            const Vec ky{kx.y, yy_y * ey_y + nn_y * n_y, yy_y * ey_z + nn_y * n_z};
            const Vec kz{kx.z, ky.z, xx[n] * ex_z * ex_z + yy[n] * ey_z * ey_z + nn[n] * n_z * n_z};
            const Vec lx = cross(arm, kx), ly = cross(arm, ky), lz = cross(arm, kz);
            a[0][n] = kx.x, a[1][n] = kx.y, a[2][n] = kx.z, a[3][n] = ky.y, a[4][n] = ky.z, a[5][n] = kz.z;
            b[0][n] = lx.x, b[1][n] = lx.y, b[2][n] = lx.z, b[3][n] = ly.x, b[4][n] = ly.y, b[5][n] = ly.z;
            b[6][n] = lz.x, b[7][n] = lz.y, b[8][n] = lz.z;
            t[0][n] = arm.y * lz.x - arm.z * ly.x, t[1][n] = arm.y * lz.y - arm.z * ly.y, t[2][n] = arm.y * lz.z - arm.z * ly.z;
            t[3][n] = arm.z * lx.y - arm.x * lz.y, t[4][n] = arm.z * lx.z - arm.x * lz.z, t[5][n] = arm.x * ly.z - arm.y * lx.z;
            if constexpr (holds_back) {
                const double r = back[n], rx = r * ex_x, rz = r * ex_z;
                const Vec l = cross({hub_x[n], hub_y[n], hub_z[n]}, {ex_x, 0.0, ex_z});
                a[0][n] += rx * ex_x, a[2][n] += rx * ex_z, a[5][n] += rz * ex_z;
                b[0][n] += rx * l.x, b[1][n] += rx * l.y, b[2][n] += rx * l.z;
                b[6][n] += rz * l.x, b[7][n] += rz * l.y, b[8][n] += rz * l.z;
                t[0][n] += r * l.x * l.x, t[1][n] += r * l.x * l.y, t[2][n] += r * l.x * l.z;
                t[3][n] += r * l.y * l.y, t[4][n] += r * l.y * l.z, t[5][n] += r * l.z * l.z;
            }
        }
        const Factors upper(sum(a[0]) + inertia + drag, sum(a[1]), sum(a[2]), sum(a[3]) + inertia, sum(a[4]), sum(a[5]) + inertia);
        const Vec b1{sum(b[0]), sum(b[3]), sum(b[6])}, b2{sum(b[1]), sum(b[4]), sum(b[7])}, b3{sum(b[2]), sum(b[5]), sum(b[8])};
        const Vec c1 = upper.solved(b1), c2 = upper.solved(b2), c3 = upper.solved(b3);
        const Vec still = upper.solved(inertia * free.velocity + push);
        const Factors lower(sum(t[0]) + inertia_x - dot(b1, c1), sum(t[1]) - dot(b1, c2), sum(t[2]) - dot(b1, c3),
                            sum(t[3]) + inertia_y - dot(b2, c2), sum(t[4]) - dot(b2, c3), sum(t[5]) + inertia_z - dot(b3, c3));
        rate = lower.solved({inertia_x * free.rate.x + turn.x - dot(b1, still), inertia_y * free.rate.y + turn.y - dot(b2, still),
                             inertia_z * free.rate.z + turn.z - dot(b3, still)});
        velocity = still - rate.x * c1 - rate.y * c2 - rate.z * c3;
    }

    // A vector along the contacts' mean axes.
    static Vec along_contacts(const Contacts& c, const Vec& a) {
        double part[3][W];
        for (int n = 0; n < W; ++n) {
            part[0][n] = c.ex_x[n] * a.x + c.ex_z[n] * a.z;
            part[1][n] = c.ey_x[n] * a.x + c.ey_y[n] * a.y + c.ey_z[n] * a.z;
            part[2][n] = c.n_x[n] * a.x + c.n_y[n] * a.y + c.n_z[n] * a.z;
        }
        return 1.0 / W * sum(part);
    }

    Vec com() const { return {body.com_x, body.com_y, body.com_height}; }

    Vec rate_of(const Vec& l) const { return {l.x * per_ix, l.y * per_iy, l.z * per_iz}; }

    Free free_motion(const State& s, const Vec& gravity) const {
        const auto left_behind = [&](const Vec& a, const Vec& turning) {
            const Vec t = -0.5 * dt * turning, once = cross(t, a);
            return a + 2.0 / (1.0 + dot(t, t)) * (once + cross(t, once));
        };
        const Rows middle = s.attitude.turned(s.rate, 0.5 * dt).rotation();
        const Vec spin{body.roll_inertia * s.rate.x, body.pitch_inertia * s.rate.y, body.yaw_inertia * s.rate.z};
        const Vec coming = rate_of(left_behind(spin, s.rate));
        return {s.attitude.rotation(), middle, left_behind(s.velocity, s.rate) + dt * middle.to_body(gravity),
                rate_of(left_behind(spin, 0.5 * (s.rate + coming)))};
    }

    // Put down at the origin, heading along x, wheels pressed in by the static loads as nearly as the ground allows.
    // find(s, now, m, c) looks for the contacts, pressed_by(n, load) says how deep a load presses a wheel in.
    template <class Find, class PressedBy>
    State put_down(double height, const Vec& gravity, Expected& m, Contacts& c, const Find& find, const PressedBy& pressed_by) const {
        State s{};
        Quat attitude{1.0, 0.0, 0.0, 0.0};
        double mean_x = sum(body.x) / W, mean_y = sum(body.y) / W, xx = 0.0, yy = 0.0;
        for (int n = 0; n < W; ++n) m.dir_x[n] = 0.0, m.dir_z[n] = -1.0;
        for (int n = 0; n < W; ++n)
            xx += (body.x[n] - mean_x) * (body.x[n] - mean_x), yy += (body.y[n] - mean_y) * (body.y[n] - mean_y);
        for (int k = 0; k < SETTLING + LIFTING; ++k) {
            const Rows now = attitude.rotation();
            s.attitude = attitude, s.place = Vec{0.0, 0.0, height} + now.to_ground(com());
            find(s, now, m, c);
            const Vec g = along_contacts(c, now.to_body(gravity));
            const double reach = body.com_height / g.z;
            const double lean_x = (body.com_x - reach * g.x - mean_x) / xx, lean_y = (body.com_y - reach * g.y - mean_y) / yy;
            double lower = 0.0, pitch = 0.0, roll = 0.0, pressed = 0.0;
            for (int n = 0; n < W; ++n) {
                const double x = body.x[n] - mean_x, y = body.y[n] - mean_y;
                s.load[n] = std::max(0.0, -body.mass * g.z * (1.0 / W + x * lean_x + y * lean_y));
                const double depth = k < SETTLING ? c.depth[n] : std::max(0.0, c.depth[n]);
                const double missing = pressed_by(n, s.load[n]) - depth;
                if (k < SETTLING || depth > 0.0) pressed += 1.0;
                lower += missing, pitch += missing * x / xx, roll -= missing * y / yy;
            }
            height -= lower / std::max(1.0, pressed) - pitch * mean_x + roll * mean_y;
            attitude = attitude.turned({roll, pitch, 0.0}, 1.0);
            const Rows after = attitude.rotation();
            const double h = -0.5 * after.y.x / std::sqrt(after.x.x * after.x.x + after.y.x * after.y.x);
            const Quat q = attitude;
            attitude = Quat{q.w - h * q.z, q.x - h * q.y, q.y + h * q.x, q.z + h * q.w}.unit();
        }
        s.felt = -1.0 * s.attitude.rotation().to_body(gravity);
        return s;
    }

    // Wheels, place and attitude at the end of a step; `force` is what all contacts gave.
    void finish(State& s, const Free& free, const double* free_speed, const double* blocked, const Vec& velocity, const Vec& rate,
                const Vec& force, double drag) const {
        for (int n = 0; n < W; ++n) {
            s.speed[n] = free_speed[n] - lever[n] * s.force_x[n];
            s.angle[n] += dt * s.speed[n];
            s.current[n] = drive.current(blocked[n], s.speed[n]);
        }
        s.place = s.place + dt * free.middle.to_ground(velocity), s.attitude = s.attitude.turned(rate, dt);
        s.felt = per_mass * Vec{force.x - drag * velocity.x, force.y, force.z};
        s.velocity = velocity, s.rate = rate;
    }

  public:
    State at_wheels_centre(State s) const {
        s.place = s.place - s.attitude.rotation().to_ground(com());
        s.velocity = s.velocity + cross(com(), s.rate);
        return s;
    }
};
