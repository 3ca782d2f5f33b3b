// The yardstick of rover_speed.py: vehicles/rough.py for four wheels, DC motors, magic formula, air drag and a height field, in
// plain C++17.
//
// Same equations, state, step and integrator, without books. Constants of a rover are worked out before its loop, how a contact
// stands once a step, wheels have no coupling of the axes and go in rows of four; wheels.hpp has motors and curve.
//
//     g++ -std=c++17 -O3 -march=native rough.cpp -o rough
//     rough parameters commands ends steps hold step_s repetitions coefficients
//
// Parameters, commands (rows of four volts, each held for `hold` steps), ends and the coefficients of the field's cells (4 each:
// bilinear, 16: bicubic) are binary files of doubles. It prints the CPU seconds of one rover: the fastest repetition, without
// reading and writing.

#include "wheels.hpp"
#include "yardstick.hpp"

constexpr int SETTLING = 16, LIFTING = 48;

static std::vector<double> coefficients;

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

struct Parameters {  // in the order of the leaves of RoughRuns that matter here
    double mass, roll_inertia, pitch_inertia, yaw_inertia, com_x, com_y, com_height;
    double x[W], y[W], leverage_x[W], leverage_y[W], share_x[W], share_y[W], radius[W];
    double stiffness, damping;
    Motor motor;
    MagicFormula law;
    double origin_x, origin_y, per_spacing, columns, rows, gravity;
    Losses losses;
};

struct State {  // in the order of rough's columns
    Vec place;
    Quat attitude;
    Vec velocity, rate, felt;
    double speed[W], angle[W], load[W], force_x[W], force_y[W], current[W];
};

struct Memory : Forces {  // what lasts besides: forces that are expected, and where on its wheel each contact was
    double dir_x[W], dir_z[W];
};

struct Contacts {  // rows of four: how the wheels stand on the ground, in the body's axes
    double depth[W];
    double ex_x[W], ex_z[W], ey_x[W], ey_y[W], ey_z[W], n_x[W], n_y[W], n_z[W], arm_x[W], arm_z[W];
    double turn_x[3][W], turn_y[3][W], turn_n[3][W];  // moments of unit forces along ex, ey, n
};

template <int N> class Rough {  // N coefficients along each axis of a cell
    Parameters p;
    Drive drive;
    double dt, per_mass, dt_per_mass, inertia, inertia_x, inertia_y, inertia_z, per_ix, per_iy, per_iz;
    double hub_x[W], hub_y[W], hub_z[W], lever[W], give[W];

    static void along(double count, double place, double& cell, double& inside, double& beyond) {
        const double within = std::min(std::max(place, 0.0), count);
        cell = std::min(std::floor(within), count - 1.0), inside = within - cell, beyond = place - within;
    }

    // Height and slopes at a place. The rows of a cell's table lie one after the other: powers of u first, then those of v.
    void surface(double x, double y, double& height, double& slope_x, double& slope_y) const {
        double column, row, u, v, beyond_x, beyond_y, value[N], slope[N];
        along(p.columns, (x - p.origin_x) * p.per_spacing, column, u, beyond_x);
        along(p.rows, (y - p.origin_y) * p.per_spacing, row, v, beyond_y);
        const double* a = &coefficients[N * N * static_cast<size_t>(row * p.columns + column)];
        for (int j = 0; j < N; ++j) value[j] = a[(N - 1) * N + j], slope[j] = 0.0;
        for (int i = N - 2; i >= 0; --i)
            for (int j = 0; j < N; ++j) slope[j] = slope[j] * u + value[j], value[j] = value[j] * u + a[i * N + j];
        double h = value[N - 1], along_x = slope[N - 1], along_y = 0.0, twist = 0.0;
        for (int j = N - 2; j >= 0; --j) {
            along_y = along_y * v + h, h = h * v + value[j];
            twist = twist * v + along_x, along_x = along_x * v + slope[j];
        }
        height = h + twist * (beyond_x * beyond_y) + along_x * beyond_x + along_y * beyond_y;
        slope_x = (along_x + twist * beyond_y) * p.per_spacing, slope_y = (along_y + twist * beyond_x) * p.per_spacing;
    }

    void find_contacts(const State& s, const Rows& now, const Rows& middle, Memory& m, Contacts& c) const {
        double x[W], y[W], height[W], slope_x[W], slope_y[W], per[W], upright[W];
        for (int n = 0; n < W; ++n) {
            const Vec arm{hub_x[n] + p.radius[n] * m.dir_x[n], hub_y[n], hub_z[n] + p.radius[n] * m.dir_z[n]};
            x[n] = s.place.x + dot(now.x, arm), y[n] = s.place.y + dot(now.y, arm);
        }
        for (int n = 0; n < W; ++n) surface(x[n], y[n], height[n], slope_x[n], slope_y[n]);
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
            const Vec arm{hub_x[n] + p.radius[n] * dx, hub_y[n], hub_z[n] + p.radius[n] * dz}, normal{c.n_x[n], c.n_y[n], c.n_z[n]};
            const Vec ex{-dz, 0.0, dx}, ey{c.n_y[n] * dx, upright[n], c.n_y[n] * dz};
            const Vec turn_x = cross(arm, ex), turn_y = cross(arm, ey), turn_n = cross(arm, normal);
            c.depth[n] = p.radius[n] * upright[n] - gap, m.dir_x[n] = dx, m.dir_z[n] = dz;
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
    void solve(const Contacts& c, const double* xx, const double* yy, const double* nn, const Vec& push, const Vec& turn,
               const Vec& free_velocity, const Vec& free_rate, double drag, Vec& velocity, Vec& rate) const {
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
        }
        const Factors upper(sum(a[0]) + inertia + drag, sum(a[1]), sum(a[2]), sum(a[3]) + inertia, sum(a[4]), sum(a[5]) + inertia);
        const Vec b1{sum(b[0]), sum(b[3]), sum(b[6])}, b2{sum(b[1]), sum(b[4]), sum(b[7])}, b3{sum(b[2]), sum(b[5]), sum(b[8])};
        const Vec c1 = upper.solved(b1), c2 = upper.solved(b2), c3 = upper.solved(b3);
        const Vec still = upper.solved(inertia * free_velocity + push);
        const Factors lower(sum(t[0]) + inertia_x - dot(b1, c1), sum(t[1]) - dot(b1, c2), sum(t[2]) - dot(b1, c3),
                            sum(t[3]) + inertia_y - dot(b2, c2), sum(t[4]) - dot(b2, c3), sum(t[5]) + inertia_z - dot(b3, c3));
        rate = lower.solved({inertia_x * free_rate.x + turn.x - dot(b1, still), inertia_y * free_rate.y + turn.y - dot(b2, still),
                             inertia_z * free_rate.z + turn.z - dot(b3, still)});
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

    Vec com() const { return {p.com_x, p.com_y, p.com_height}; }

  public:
    Rough(const Parameters& given, double step_s) : p(given), drive(p.motor, step_s), dt(step_s) {
        per_mass = 1.0 / p.mass, dt_per_mass = dt / p.mass, inertia = p.mass / dt;
        inertia_x = p.roll_inertia / dt, inertia_y = p.pitch_inertia / dt, inertia_z = p.yaw_inertia / dt;
        per_ix = 1.0 / p.roll_inertia, per_iy = 1.0 / p.pitch_inertia, per_iz = 1.0 / p.yaw_inertia;
        for (int n = 0; n < W; ++n) {
            hub_x[n] = p.x[n] - p.com_x, hub_y[n] = p.y[n] - p.com_y, hub_z[n] = p.radius[n] - p.com_height;
            lever[n] = drive.mobility * p.radius[n], give[n] = lever[n] * p.radius[n];
        }
    }

    // Put down at the origin, heading along x, tyres pressed in by the static loads as nearly as the ground allows; held.
    State at_rest(Memory& m) const {
        State s{};
        Contacts c;
        Quat attitude{1.0, 0.0, 0.0, 0.0};
        double height, slope_x, slope_y, mean_x = sum(p.x) / W, mean_y = sum(p.y) / W, xx = 0.0, yy = 0.0;
        surface(0.0, 0.0, height, slope_x, slope_y);
        for (int n = 0; n < W; ++n) m.dir_x[n] = 0.0, m.dir_z[n] = -1.0;
        for (int n = 0; n < W; ++n)
            xx += (p.x[n] - mean_x) * (p.x[n] - mean_x), yy += (p.y[n] - mean_y) * (p.y[n] - mean_y);
        for (int k = 0; k < SETTLING + LIFTING; ++k) {
            const Rows now = attitude.rotation();
            s.attitude = attitude, s.place = Vec{0.0, 0.0, height} + now.to_ground(com());
            find_contacts(s, now, now, m, c);
            const Vec g = along_contacts(c, now.to_body({0.0, 0.0, -p.gravity}));
            const double reach = p.com_height / g.z;
            const double lean_x = (p.com_x - reach * g.x - mean_x) / xx, lean_y = (p.com_y - reach * g.y - mean_y) / yy;
            double lower = 0.0, pitch = 0.0, roll = 0.0, pressed = 0.0;
            for (int n = 0; n < W; ++n) {
                const double x = p.x[n] - mean_x, y = p.y[n] - mean_y;
                s.load[n] = std::max(0.0, -p.mass * g.z * (1.0 / W + x * lean_x + y * lean_y));
                const double depth = k < SETTLING ? c.depth[n] : std::max(0.0, c.depth[n]);
                const double missing = s.load[n] / p.stiffness - depth;
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
        const Vec g = s.attitude.rotation().to_body({0.0, 0.0, -p.gravity});
        for (int n = 0; n < W; ++n) s.load[n] = p.stiffness * std::max(0.0, c.depth[n]);
        for (int n = 0; n < W; ++n) s.force_x[n] = s.load[n] * g.x / g.z, s.force_y[n] = s.load[n] * g.y / g.z;
        p.law.cut(s.force_x, s.force_y, s.load, m);
        s.felt = -1.0 * g;
        return s;
    }

    void step(State& s, Memory& m, const double* command) const {
        const Rows now = s.attitude.rotation(), middle = s.attitude.turned(s.rate, 0.5 * dt).rotation();
        const Vec g = -p.gravity * middle.z;
        const auto left_behind = [&](const Vec& a, const Vec& turning) {
            const Vec t = -0.5 * dt * turning, once = cross(t, a);
            return a + 2.0 / (1.0 + dot(t, t)) * (once + cross(t, once));
        };
        const auto rate_of = [&](const Vec& l) { return Vec{l.x * per_ix, l.y * per_iy, l.z * per_iz}; };
        const Vec spin{p.roll_inertia * s.rate.x, p.pitch_inertia * s.rate.y, p.yaw_inertia * s.rate.z};
        const Vec coming = rate_of(left_behind(spin, s.rate));
        const Vec free_velocity = left_behind(s.velocity, s.rate) + dt * g;
        const Vec free_rate = rate_of(left_behind(spin, 0.5 * (s.rate + coming)));
        Contacts c;
        find_contacts(s, now, middle, m, c);

        Vec force, moment;
        combine<true>(c, m.x, m.y, s.load, force, moment);
        Vec velocity = free_velocity + dt_per_mass * force;
        Vec rate = free_rate + dt * Vec{moment.x * per_ix, moment.y * per_iy, moment.z * per_iz};
        const double drag = p.losses.air_drag * std::fabs(s.velocity.x);
        double blocked[W], free_speed[W], free_rim[W], pushed[W], stiff[W];
        for (int n = 0; n < W; ++n) {
            blocked[n] = drive.blocked_current(command[n], s.current[n]);
            free_speed[n] = drive.free_speed(s.speed[n], blocked[n]);
            free_rim[n] = p.radius[n] * free_speed[n];
            pushed[n] = p.stiffness * c.depth[n], stiff[n] = p.stiffness * dt + (c.depth[n] > 0.0 ? p.damping : 0.0);
        }

        for (int pass = 0; pass < MOST_PASSES; ++pass) {
            double rim[W], along[W], across[W], rising[W], secant[W], xx[W], yy[W], nn[W], start_x[W], start_n[W];
            const double nothing[W] = {};
            over_ground(c, velocity, rate, along, across, rising);
            for (int n = 0; n < W; ++n) {
                s.load[n] = std::max(0.0, pushed[n] - stiff[n] * rising[n]);
                nn[n] = s.load[n] > 0.0 ? stiff[n] : 0.0, start_n[n] = s.load[n] > 0.0 ? pushed[n] : 0.0;
                rim[n] = free_rim[n] - give[n] * m.x[n];
            }
            p.law.secants(rim, along, across, s.load, secant);
            for (int n = 0; n < W; ++n) {
                xx[n] = secant[n] / (1.0 + give[n] * secant[n]), yy[n] = p.law.lateral_ratio * secant[n];
                start_x[n] = xx[n] * free_rim[n];
            }
            combine<true>(c, start_x, nothing, start_n, force, moment);
            solve(c, xx, yy, nn, force, moment, free_velocity, free_rate, drag, velocity, rate);
            over_ground(c, velocity, rate, along, across, rising);
            double pull[W];
            for (int n = 0; n < W; ++n) {
                s.force_x[n] = start_x[n] - xx[n] * along[n], s.force_y[n] = -yy[n] * across[n];
                pull[n] = start_n[n] - nn[n] * rising[n];
                s.load[n] = std::max(0.0, pull[n]);
            }
            const bool pulls = std::min(std::min(pull[0], pull[1]), std::min(pull[2], pull[3])) < 0.0;
            if (!(p.law.cut(s.force_x, s.force_y, s.load, m) | pulls)) break;
        }

        combine<false>(c, s.force_x, s.force_y, s.load, force, moment);
        for (int n = 0; n < W; ++n) {
            s.speed[n] = free_speed[n] - lever[n] * s.force_x[n];
            s.angle[n] += dt * s.speed[n];
            s.current[n] = drive.current(blocked[n], s.speed[n]);
        }
        s.place = s.place + dt * middle.to_ground(velocity), s.attitude = s.attitude.turned(rate, dt);
        s.felt = per_mass * Vec{force.x - drag * velocity.x, force.y, force.z};
        s.velocity = velocity, s.rate = rate;
    }

    State at_wheels_centre(State s) const {
        s.place = s.place - s.attitude.rotation().to_ground(com());
        s.velocity = s.velocity + cross(com(), s.rate);
        return s;
    }
};

int main(int argc, char** argv) {
    if (argc != 9) return std::fprintf(stderr, "usage: %s parameters commands ends steps hold step_s repetitions field\n", argv[0]), 2;
    coefficients = read<double>(argv[--argc]);
    const auto rovers = read<Parameters>(argv[1]);
    const bool is_bicubic = !rovers.empty() && static_cast<double>(coefficients.size()) == 16.0 * rovers[0].columns * rovers[0].rows;
    return is_bicubic ? measure<Rough<4>, State, Memory, W, Parameters>(argc, argv)
                      : measure<Rough<2>, State, Memory, W, Parameters>(argc, argv);
}
