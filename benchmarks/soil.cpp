// The yardstick of soil_speed.py: vehicles/rough.py for four wheels with DC motors on soil (soil_footing.py) that lies on a plane,
// with ruts and air drag, in plain C++17.
//
// Same equations, state, step, quadrature and integrator, without books; space.hpp has the body and its contacts.
//
//     g++ -std=c++17 -O3 -march=native soil.cpp -o soil
//     soil parameters commands ends steps hold step_s repetitions
//
// Parameters, commands (rows of four volts, each held for `hold` steps) and ends are binary files of doubles. It prints the CPU
// seconds of one rover: the fastest repetition, without reading and writing.

#include "space.hpp"
#include "yardstick.hpp"

constexpr int POINTS = 8, WINDOW = 256;
constexpr double SHALLOWEST = 1e-9, NOTHING = 1e-30, SMALL = 1e-4, FOREMOST = 0.95, DEEPEST = 0.98, SLOWEST_TURN = 1.0;
constexpr double DIGS_OVER = 2.0, FADING = 1e-3, TILES = 65536.0;
constexpr double AT[POINTS] = {0.019855071751231912, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751,
                               0.5917173212478249,   0.7627662049581645,  0.8983332387068134, 0.9801449282487681};
constexpr double WEIGHT[POINTS] = {0.05061426814518813, 0.11119051722668724, 0.15685332293894363, 0.18134189168918102,
                                   0.18134189168918102, 0.15685332293894363, 0.11119051722668724, 0.05061426814518813};

struct Soil {  // contact/soil/constants.py
    double cohesive, frictional, exponent, cohesion, friction, shear_modulus, digging, exponent_growth, rebound, damping;
    double side_cohesive, side_weight, peak, peak_growth, exit, layer, base, ploughing;
};

struct Parameters : BodyParameters {  // in the order of the leaves of RoughRuns that matter here
    double width, cell;
    Motor motor;
    Soil soil;
    double gravity_along, gravity_into, uphill_x, uphill_y, per_cell;
    Losses losses;
};

struct Cell {
    double tile, deepest, slip;
};

struct Memory : Expected {
    double digging[W], pressed[W], lifting[W], lifts[W], facing[W], went[W], hub[W];
    Cell ruts[W];  // ahead
    std::vector<Cell> cells = std::vector<Cell>(WINDOW * WINDOW);
};

struct Wheel {  // sums over a rim
    double lift = 0, drag = 0, turn_0 = 0, turn_s = 0, side_s = 0, pull_0 = 0, pull_s = 0, rise_0 = 0, rise_s = 0, strength = 0;
};

static double saturating(double x) { return x > SMALL ? (1.0 - std::exp(-x)) / x : 1.0 - 0.5 * x; }
static double within_one(double x) { return std::max(0.0, std::min(1.0, x)); }
static double slip_sinkage(double slip) { return (1.0 + within_one(slip)) / (1.0 - 0.5 * within_one(slip)); }

class OnSoil : public InSpace {
    Parameters p;
    double constant, per_modulus;
    double way[POINTS], share[POINTS];

    double reach(double radius, double depth) const { return std::sqrt(2.0 * radius * std::max(depth, SHALLOWEST)); }

    static void entry(double radius, double rise, double& sine, double& angle) {
        const double part = std::max(0.0, std::min(DEEPEST, rise / radius));
        sine = std::sqrt(part * (2.0 - part)), angle = std::atan2(sine, 1.0 - part);
    }

    Wheel stresses(double radius, const Cell& ahead_of, double depth, double slip, double rolling, double along, double across) const {
        const Soil& soil = p.soil;
        const double worst = std::max(ahead_of.slip, within_one(slip));
        double sin_f, theta_f, springs, unused;
        entry(radius, depth - (1.0 - soil.rebound) * ahead_of.deepest, sin_f, theta_f);
        entry(radius, soil.rebound * std::min(depth, ahead_of.deepest), unused, springs);
        const double theta_m = theta_f * std::max(0.0, std::min(FOREMOST, soil.peak + soil.peak_growth * std::min(1.0, std::fabs(slip))));
        const double theta_r = std::min(soil.exit * theta_f, -springs);
        const double power = soil.exponent + soil.exponent_growth * worst;
        const double scale = std::pow(slip_sinkage(worst), -soil.exponent * soil.digging) *
                             std::pow(slip_sinkage(-slip), -soil.exponent * soil.ploughing) * constant;
        const bool has_rut = ahead_of.deepest > 0.0;
        const double rut = std::max(ahead_of.deepest, SHALLOWEST), at_rut = has_rut ? scale * std::pow(rut, power) : 0.0;
        const double per_rut = at_rut / (soil.rebound * rut), bottom = depth - radius, to_modulus = radius * per_modulus;
        const double ahead = theta_f - theta_m, behind = theta_m - theta_r;
        Wheel w;
        double wall = 0.0, heavy = 0.0;
        const auto add = [&](double theta, double c, double s, double part, double sigma, double most) {
            const double angle = theta_f - theta, travel = sin_f - s;
            const double jx = rolling * (angle - travel) + along * travel, jy = across * angle;
            const double held = part * most * to_modulus * saturating(std::sqrt(jx * jx + jy * jy) * to_modulus);
            w.lift += part * sigma * c, w.drag += part * sigma * s, w.strength += part * most;
            const double by_turn = held * (angle - travel), by_slip = held * travel;
            w.turn_0 += by_turn, w.turn_s += by_slip, w.side_s += held * angle;
            w.pull_0 += by_turn * c, w.pull_s += by_slip * c, w.rise_0 += by_turn * s, w.rise_s += by_slip * s;
            const double side = std::max(0.0, bottom + radius * c);
            wall += part * c * side, heavy += part * c * side * side;
        };
        for (int k = 0; k < POINTS; ++k) {
            const double front = theta_f - ahead * way[k], back = theta_r + behind * way[k], c = std::cos(front);
            const double deep = std::max(SHALLOWEST, bottom + radius * c);
            double sigma = scale * std::pow(deep, power);
            if (has_rut) sigma = std::max(0.0, std::min(sigma, at_rut - per_rut * (rut - deep)));
            const double most = soil.cohesion + soil.friction * sigma;
            add(front, c, std::sin(front), ahead * share[k], sigma, most);
            add(back, std::cos(back), std::sin(back), behind * share[k], sigma, most);
        }
        const double area = radius * p.width, longest = theta_f - theta_r;
        const double pushed = radius * (soil.side_cohesive * wall + soil.side_weight * heavy);
        const double into = std::max(0.0, depth - soil.layer);
        w.lift = area * w.lift + soil.base * p.width * (4.0 / 3.0) * into * std::sqrt(2.0 * radius * into);
        w.drag *= area, w.turn_0 *= area * rolling, w.turn_s *= area, w.pull_0 *= area * rolling, w.pull_s *= area;
        w.rise_0 *= area * rolling, w.rise_s *= area, w.strength = area * w.strength + pushed;
        w.side_s = area * w.side_s + pushed * longest * to_modulus * saturating(std::fabs(across) * longest * to_modulus);
        return w;
    }

    double at_rest_load(double radius, double depth) const { return stresses(radius, Cell{}, depth, 0.0, 0.0, 0.0, 0.0).lift; }

    size_t cell_of(double x, double y, double& tile) const {
        const double column = std::floor(x * p.per_cell), row = std::floor(y * p.per_cell);
        const double tile_x = std::floor(column / WINDOW), tile_y = std::floor(row / WINDOW);
        tile = tile_x * TILES + tile_y;
        return static_cast<size_t>((row - WINDOW * tile_y) * WINDOW + (column - WINDOW * tile_x));
    }

    Cell rut_at(const Memory& m, double x, double y) const {
        double tile;
        const Cell& found = m.cells[cell_of(x, y, tile)];
        return found.tile == tile ? found : Cell{};
    }

    void find_contacts(const State& s, const Rows& now, const Rows& middle, Expected& m, Contacts& c, double* x, double* y) const {
        const double flat[W] = {};
        lowest_points(s, now, m, x, y);
        stand(s, now, middle, x, y, flat, flat, flat, m, c);
    }

    Vec gravity() const { return {-p.gravity_along * p.uphill_x, -p.gravity_along * p.uphill_y, -p.gravity_into}; }

    static double transport_speed(double u, double v, double w) {
        const double floor = std::max(std::min(std::fabs(v), SPEED_FLOOR), STICK_SPEED);
        return std::max(std::max(std::fabs(u), std::fabs(w)), floor);
    }

    // Speed of the hubs along their wheels.
    void hubs_ahead(const Contacts& c, const Vec& v, const Vec& r, double* ahead) const {
        for (int n = 0; n < W; ++n) {
            const Vec at = v + cross(r, {hub_x[n], hub_y[n], hub_z[n]});
            ahead[n] = c.ex_x[n] * at.x + c.ex_z[n] * at.z;
        }
    }

  public:
    OnSoil(const Parameters& given, double step_s) : InSpace(given, given.motor, step_s), p(given) {
        constant = std::max(p.soil.cohesive / p.width + p.soil.frictional, 0.0), per_modulus = 1.0 / p.soil.shear_modulus;
        for (int k = 0; k < POINTS; ++k) way[k] = AT[k] * AT[k] * AT[k], share[k] = 3.0 * AT[k] * AT[k] * WEIGHT[k];
    }

    State at_rest(Memory& m) const {
        Contacts c;
        double x[W], y[W], guess[W] = {};
        const auto find = [&](const State& s, const Rows& now, Expected& e, Contacts& found) { find_contacts(s, now, now, e, found, x, y); };
        const auto pressed_by = [&](int n, double load) {
            const double radius = p.radius[n], before = guess[n] > 0.0 ? guess[n] : 0.05 * radius;
            const double carried = std::max(at_rest_load(radius, before), NOTHING);
            const double better = before * std::pow(std::max(load, NOTHING) / carried, 1.0 / (p.soil.exponent + 0.5));
            return guess[n] = std::max(SHALLOWEST, std::min(DEEPEST * radius, better));
        };
        State s = put_down(0.0, gravity(), m, c, find, pressed_by);
        const Vec g = -1.0 * s.felt;
        for (int n = 0; n < W; ++n) {
            s.load[n] = c.depth[n] > 0.0 ? at_rest_load(p.radius[n], std::max(c.depth[n], SHALLOWEST)) : 0.0;
            m.x[n] = s.load[n] * g.x / g.z, m.y[n] = s.load[n] * g.y / g.z;
            m.digging[n] = m.pressed[n] = m.lifting[n] = m.facing[n] = m.went[n] = m.hub[n] = 0.0, m.ruts[n] = Cell{};
        }
        return s;
    }

    void step(State& s, Memory& m, const double* command) const {
        const Soil& soil = p.soil;
        const Free free = free_motion(s, gravity());
        Contacts c;
        double x[W], y[W];
        find_contacts(s, free.now, free.middle, m, c, x, y);
        for (int n = 0; n < W; ++n) {
            const Vec ahead = free.now.to_ground({c.ex_x[n], 0.0, c.ex_z[n]});
            const double far = (reach(p.radius[n], c.depth[n]) + p.cell) * (m.facing[n] < 0.0 ? -1.0 : 1.0);
            const Cell found = rut_at(m, x[n] + far * ahead.x, y[n] + far * ahead.y);
            const double part = m.went[n] / (m.went[n] + p.cell);
            m.ruts[n].deepest += part * (found.deepest - m.ruts[n].deepest), m.ruts[n].slip += part * (found.slip - m.ruts[n].slip);
        }
        Vec force, moment, back_force, back_moment;
        const auto hubs_back = [&](bool with_moment) {
            double f[3][W], t[3][W];
            for (int n = 0; n < W; ++n) {
                const Vec back{m.hub[n] * c.ex_x[n], 0.0, m.hub[n] * c.ex_z[n]};
                f[0][n] = back.x, f[1][n] = 0.0, f[2][n] = back.z;
                const Vec turn = cross({hub_x[n], hub_y[n], hub_z[n]}, back);
                t[0][n] = turn.x, t[1][n] = turn.y, t[2][n] = turn.z;
            }
            back_force = sum(f);
            if (with_moment) back_moment = sum(t);
        };
        combine<true>(c, m.x, m.y, s.load, force, moment);
        hubs_back(true);
        Vec velocity = free.velocity + dt_per_mass * (force + back_force), rate = free.rate + dt * rate_of(moment + back_moment);
        const double drag = p.losses.air_drag * std::fabs(s.velocity.x);
        double blocked[W], free_speed[W], free_rim[W], along[W], across[W], rising[W], back[W];
        for (int n = 0; n < W; ++n) {
            blocked[n] = drive.blocked_current(command[n], s.current[n]);
            free_speed[n] = drive.free_speed(s.speed[n], blocked[n]);
            free_rim[n] = p.radius[n] * free_speed[n];
        }
        for (int pass = 0; pass < MOST_PASSES; ++pass) {
            double xx[W], yy[W], nn[W], start_x[W], start_n[W], most[W], ahead[W];
            const double nothing[W] = {};
            over_ground(c, velocity, rate, along, across, rising);
            hubs_ahead(c, velocity, rate, ahead);
            for (int n = 0; n < W; ++n) {
                const double radius = p.radius[n], rim = free_rim[n] - give[n] * m.x[n], slip_x = rim - along[n], slip_y = -across[n];
                const double speed = transport_speed(along[n], across[n], rim), size = std::max(std::fabs(rim), SLOWEST_TURN * speed);
                const double per = 1.0 / size, turning = std::fabs(rim) >= size ? rim : along[n], way_on = turning < 0.0 ? -1.0 : 1.0;
                const double rolling = std::fabs(rim) * per, by_x = way_on * slip_x * per, by_y = slip_y * per;
                const double depth = c.depth[n], lowest = std::max(std::max(depth, m.pressed[n]), SHALLOWEST);
                const Wheel w = stresses(radius, m.ruts[n], lowest, m.digging[n], rolling, by_x, by_y);
                const double per_rebound = 1.0 / (soil.rebound * lowest);
                const double kept = depth > 0.0 ? std::max(0.0, 1.0 - (lowest - depth) * per_rebound) : 0.0;
                const double strength = std::max(w.strength, NOTHING), went = dt * speed;
                m.lifts[n] = (w.rise_0 + w.rise_s * by_x) / strength;
                const double lifting = m.lifting[n] + (m.lifts[n] - m.lifting[n]) * went / (went + soil.shear_modulus);
                const double full = std::max(0.0, w.lift + lifting * strength);
                const double power = soil.exponent + soil.exponent_growth * within_one(m.digging[n]);
                const double slope = full * (depth - dt * rising[n] >= lowest ? (power + 0.5) / lowest : per_rebound);
                const double push = kept * full, stiff = slope * dt + soil.damping * p.width * reach(radius, lowest);
                const bool loaded = push - stiff * rising[n] > 0.0 && push > 0.0;
                start_n[n] = loaded ? push : 0.0, nn[n] = loaded ? stiff : 0.0;
                const double held_back = (w.turn_0 - w.pull_0) + (w.turn_s - w.pull_s) * by_x + w.drag;
                back[n] = kept * std::max(0.0, held_back) / std::max(std::fabs(ahead[n]), FADING);
                most[n] = kept * w.strength;
                const double secant = kept * per * w.turn_s, softer = 1.0 / (1.0 + give[n] * secant);
                xx[n] = softer * secant, yy[n] = kept * per * w.side_s;
                start_x[n] = softer * kept * way_on * w.turn_0 + xx[n] * free_rim[n];
            }
            combine<true>(c, start_x, nothing, start_n, force, moment);
            solve<true>(c, xx, yy, nn, back, force, moment, free, drag, velocity, rate);
            over_ground(c, velocity, rate, along, across, rising);
            hubs_ahead(c, velocity, rate, ahead);
            bool again = false;
            for (int n = 0; n < W; ++n) {
                const double fx = start_x[n] - xx[n] * along[n], fy = -yy[n] * across[n], pull = start_n[n] - nn[n] * rising[n];
                s.force_x[n] = fx, s.force_y[n] = fy, s.load[n] = std::max(0.0, pull), m.hub[n] = -back[n] * ahead[n];
                const double scale = std::min(1.0, most[n] / std::sqrt(fx * fx + fy * fy + NOTHING));
                m.x[n] = scale * fx, m.y[n] = scale * fy;
                const double excess = std::fabs(fx - m.x[n]) + std::fabs(fy - m.y[n]);
                again |= (pull < 0.0) | (excess > TOLERATED_EXCESS * (std::fabs(m.x[n]) + std::fabs(m.y[n])));
            }
            if (!again) break;
        }
        combine<false>(c, s.force_x, s.force_y, s.load, force, moment);
        hubs_back(false);
        finish(s, free, free_speed, blocked, velocity, rate, force + back_force, drag);
        for (int n = 0; n < W; ++n) {
            const double radius = p.radius[n], rim = radius * s.speed[n], slip_x = rim - along[n];
            const double speed = transport_speed(along[n], across[n], rim), went = dt * speed;
            const double deeper = c.depth[n] - dt * rising[n], stood = std::max(0.0, deeper);
            m.facing[n] = std::max(-1.0, std::min(1.0, m.facing[n] + dt * along[n] / reach(radius, deeper))), m.went[n] = went;
            const double way_on = (rim == 0.0 ? along[n] : rim) < 0.0 ? -1.0 : 1.0;
            const double slip = std::max(-1.0, std::min(1.0, way_on * slip_x / speed));
            m.digging[n] += (slip - m.digging[n]) * went / (went + DIGS_OVER * radius);
            m.pressed[n] = std::max(stood, m.pressed[n] + went / (went + soil.rebound * reach(radius, deeper)) * (stood - m.pressed[n]));
            const double lifted = m.lifting[n] + (m.lifts[n] - m.lifting[n]) * went / (went + soil.shear_modulus);
            m.lifting[n] = s.load[n] > 0.0 ? lifted : 0.0;
            double tile;
            Cell& here = m.cells[cell_of(x[n], y[n], tile)];
            if (here.tile != tile) here = Cell{tile, 0.0, 0.0};
            if (s.load[n] > 0.0)
                here.deepest = std::max(here.deepest, stood), here.slip = std::max(here.slip, std::max(0.0, m.digging[n]));
        }
    }
};

int main(int argc, char** argv) { return measure<OnSoil, State, Memory, W, Parameters>(argc, argv); }
