// The yardstick of rover_speed.py: vehicles/rough.py for four wheels, DC motors, magic formula, air drag and a height field, in
// plain C++17.
//
// Same equations, state, step and integrator, without books. Constants of a rover are worked out before its loop, space.hpp has
// the body and its contacts, wheels.hpp motors and curve.
//
//     g++ -std=c++17 -O3 -march=native rough.cpp -o rough
//     rough parameters commands ends steps hold step_s repetitions coefficients
//
// Parameters, commands (rows of four volts, each held for `hold` steps), ends and the coefficients of the field's cells (4 each:
// bilinear, 16: bicubic) are binary files of doubles. It prints the CPU seconds of one rover: the fastest repetition, without
// reading and writing.

#include "space.hpp"
#include "yardstick.hpp"

static std::vector<double> coefficients;

struct Parameters : BodyParameters {  // in the order of the leaves of RoughRuns that matter here
    double stiffness, damping;
    Motor motor;
    MagicFormula law;
    double origin_x, origin_y, per_spacing, columns, rows, gravity;
    Losses losses;
};

template <int N> class Rough : public InSpace {  // N coefficients along each axis of a cell
    Parameters p;

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

    void find_contacts(const State& s, const Rows& now, const Rows& middle, Expected& m, Contacts& c) const {
        double x[W], y[W], height[W], slope_x[W], slope_y[W];
        lowest_points(s, now, m, x, y);
        for (int n = 0; n < W; ++n) surface(x[n], y[n], height[n], slope_x[n], slope_y[n]);
        stand(s, now, middle, x, y, height, slope_x, slope_y, m, c);
    }

    Vec gravity() const { return {0.0, 0.0, -p.gravity}; }

  public:
    Rough(const Parameters& given, double step_s) : InSpace(given, given.motor, step_s), p(given) {}

    State at_rest(Expected& m) const {
        Contacts c;
        double height, slope_x, slope_y;
        surface(0.0, 0.0, height, slope_x, slope_y);
        const auto find = [&](const State& s, const Rows& now, Expected& e, Contacts& found) { find_contacts(s, now, now, e, found); };
        State s = put_down(height, gravity(), m, c, find, [&](int, double load) { return load / p.stiffness; });
        for (int n = 0; n < W; ++n) s.load[n] = p.stiffness * std::max(0.0, c.depth[n]);
        const Vec g = -1.0 * s.felt;
        for (int n = 0; n < W; ++n) s.force_x[n] = s.load[n] * g.x / g.z, s.force_y[n] = s.load[n] * g.y / g.z;
        p.law.cut(s.force_x, s.force_y, s.load, m);
        return s;
    }

    void step(State& s, Expected& m, const double* command) const {
        const Free free = free_motion(s, gravity());
        Contacts c;
        find_contacts(s, free.now, free.middle, m, c);

        Vec force, moment;
        combine<true>(c, m.x, m.y, s.load, force, moment);
        Vec velocity = free.velocity + dt_per_mass * force;
        Vec rate = free.rate + dt * rate_of(moment);
        const double drag = p.losses.air_drag * std::fabs(s.velocity.x);
        double blocked[W], free_speed[W], free_rim[W], pushed[W], stiff[W];
        for (int n = 0; n < W; ++n) {
            blocked[n] = drive.blocked_current(command[n], s.current[n]);
            free_speed[n] = drive.free_speed(s.speed[n], blocked[n]);
            free_rim[n] = p.radius[n] * free_speed[n];
            pushed[n] = p.stiffness * c.depth[n], stiff[n] = p.stiffness * dt + (c.depth[n] > 0.0 ? p.damping : 0.0);
        }

        bool yielded[W] = {};
        for (int pass = 0; pass <= MOST_PASSES; ++pass) {
            double rim[W], along[W], across[W], rising[W], secant[W], xx[W], yy[W], nn[W], start_x[W], start_y[W], start_n[W];
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
                start_x[n] = xx[n] * free_rim[n], start_y[n] = 0.0;
                yielded[n] = pass >= MOST_PASSES - 1 && (yielded[n] || excess(s.force_x[n], s.force_y[n], m.x[n], m.y[n]));
                if (yielded[n]) start_x[n] = m.x[n], start_y[n] = m.y[n], xx[n] = yy[n] = 0.0;
            }
            combine<true>(c, start_x, start_y, start_n, force, moment);
            solve<false>(c, xx, yy, nn, nothing, force, moment, free, drag, velocity, rate);
            over_ground(c, velocity, rate, along, across, rising);
            double pull[W];
            for (int n = 0; n < W; ++n) {
                s.force_x[n] = start_x[n] - xx[n] * along[n], s.force_y[n] = start_y[n] - yy[n] * across[n];
                pull[n] = start_n[n] - nn[n] * rising[n];
                s.load[n] = std::max(0.0, pull[n]);
            }
            const bool pulls = std::min(std::min(pull[0], pull[1]), std::min(pull[2], pull[3])) < 0.0;
            if (!(p.law.cut(s.force_x, s.force_y, s.load, m) | pulls)) break;
        }

        combine<false>(c, s.force_x, s.force_y, s.load, force, moment);
        finish(s, free, free_speed, blocked, velocity, rate, force, drag);
    }
};

int main(int argc, char** argv) {
    if (argc != 9) return std::fprintf(stderr, "usage: %s parameters commands ends steps hold step_s repetitions field\n", argv[0]), 2;
    coefficients = read<double>(argv[--argc]);
    const auto rovers = read<Parameters>(argv[1]);
    const bool is_bicubic = !rovers.empty() && static_cast<double>(coefficients.size()) == 16.0 * rovers[0].columns * rovers[0].rows;
    return is_bicubic ? measure<Rough<4>, State, Expected, W, Parameters>(argc, argv)
                      : measure<Rough<2>, State, Expected, W, Parameters>(argc, argv);
}
