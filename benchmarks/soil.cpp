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

constexpr int POINTS = 12, MORE_POINTS = 24, WINDOW = 256;
constexpr double SHALLOWEST = 1e-9, NOTHING = 1e-30, SMALL = 1e-4, FOREMOST = 0.95, DEEPEST = 0.98, SLOWEST_TURN = 1.0;
constexpr double FLATTEST = 1e-3, MUCH_LONGER = 4.0, DIGS_OVER = 2.0, FADING = 1e-3, TILES = 65536.0;
constexpr double AT[POINTS] = {0.009219682876640375, 0.04794137181476257, 0.11504866290284765, 0.2063410228566913,
                               0.3160842505009099, 0.43738329574426554, 0.5626167042557345, 0.6839157494990901,
                               0.7936589771433087, 0.8849513370971523, 0.9520586281852375, 0.9907803171233597};
constexpr double WEIGHT[POINTS] = {0.023587668193255914, 0.05346966299765921, 0.08003916427167311, 0.10158371336153296,
                                   0.1167462682691774, 0.12457352290670139, 0.12457352290670139, 0.1167462682691774,
                                   0.10158371336153296, 0.08003916427167311, 0.05346966299765921, 0.023587668193255914};
constexpr double MORE_AT[MORE_POINTS] = {
    0.0024063900014894, 0.012635722014345208, 0.030862723998633657, 0.05679223649779952, 0.08999900701304853,
    0.12993790421072277, 0.17595317403151217, 0.22728926430558016, 0.2831032461869775, 0.3424786601519183,
    0.4044405662631918, 0.46797155356869724, 0.5320284464313028, 0.5955594337368082, 0.6575213398480817,
    0.7168967538130224, 0.7727107356944198, 0.8240468259684879, 0.8700620957892773, 0.9100009929869515,
    0.9432077635022005, 0.9691372760013663, 0.9873642779856548, 0.9975936099985105};
constexpr double MORE_WEIGHT[MORE_POINTS] = {
    0.006170614899994345, 0.01426569431446678, 0.022138719408709706, 0.02964929245771818, 0.03667324070554008,
    0.0430950807659766, 0.04880932605205696, 0.05372213505798278, 0.05775283402686276, 0.06083523646390165,
    0.06291872817341412, 0.06396909767337601, 0.06396909767337601, 0.06291872817341412, 0.06083523646390165,
    0.05775283402686276, 0.05372213505798278, 0.04880932605205696, 0.0430950807659766, 0.03667324070554008,
    0.02964929245771818, 0.022138719408709706, 0.01426569431446678, 0.006170614899994345};

struct Soil {  // contact/soil/constants.py
    double cohesive, frictional, exponent, cohesion, friction, shear_modulus, digging, exponent_growth, rebound, damping;
    double side_cohesive, side_weight, peak, peak_growth, exit, layer, base;
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
    double lift = 0, drag = 0, turn_0 = 0, turn_s = 0, side_s = 0, pull_0 = 0, pull_s = 0, rise_0 = 0, rise_s = 0, strength = 0, beside = 0;
    double base_s = 0;  // for each newton of a rigid base
};

static double saturating(double x) { return x > SMALL ? (1.0 - std::exp(-x)) / x : 1.0 - 0.5 * x; }
static double within_one(double x) { return std::max(0.0, std::min(1.0, x)); }
static double slip_sinkage(double slip) { return (1.0 + within_one(slip)) / (1.0 - 0.5 * within_one(slip)); }

class OnSoil : public InSpace {
    Parameters p;
    double constant, per_modulus;
    struct Rule {
        int count;
        double way[MORE_POINTS], share[MORE_POINTS];
    } plain, refined;

    double reach(double radius, double depth) const { return std::sqrt(2.0 * radius * std::max(depth, SHALLOWEST)); }

    static void entry(double radius, double rise, double& sine, double& angle) {
        const double part = std::max(0.0, std::min(DEEPEST, rise / radius));
        sine = std::sqrt(part * (2.0 - part)), angle = std::atan2(sine, 1.0 - part);
    }

    double turning_angle(double rolling) const {  // ahead of it soil flows forwards
        if (rolling >= 1.0) return 0.0;
        const double slope = std::sqrt(1.0 + p.soil.friction * p.soil.friction) - p.soil.friction, part = std::max(0.0, rolling);
        const double rest = std::sqrt(1.0 + slope * slope - part * part);
        return std::atan2(rest - slope * part, part + slope * rest);
    }

    static double share_at(double theta_f, double theta_m, double theta_r, double theta) {
        return within_one(theta >= theta_m ? (theta_f - theta) / std::max(theta_f - theta_m, NOTHING)
                                           : (theta - theta_r) / std::max(theta_m - theta_r, NOTHING));
    }

    // Angle near a first guess between which and the entry the mean cosine is q.
    static double equally_far(double sin_f, double theta_f, double q, double theta, double flattest) {
        for (int k = 0; k < 2; ++k) {
            theta = std::min(FOREMOST * theta_f, theta);
            const double per_way = 1.0 / std::max(theta_f - theta, NOTHING), mean = (sin_f - std::sin(theta)) * per_way;
            const double slope = (mean - std::cos(theta)) * per_way;
            theta += (q - mean) / (flattest > 0.0 ? std::max(slope, flattest) : std::min(slope, flattest));
        }
        return theta;
    }

    // Shares of the way from entry to largest stress (or behind, from exit to it) at which a braked rim's shear turns round.
    static void at_turns(double sin_f, double theta_f, double theta_m, double theta_r, double rolling, double travelling, double& turn,
                         double& back) {
        turn = back = 0.0;
        const double q = rolling / std::max(travelling, NOTHING), least = std::cos(theta_f);
        if (!(travelling > rolling && q > least)) return;
        const double top = theta_f * (theta_f * theta_f * (1.0 / 160.0) - 0.5);
        const double most = (sin_f - std::sin(top)) / std::max(theta_f - top, NOTHING);
        const double off = (theta_f - top) * std::sqrt(within_one((most - q) / std::max(most - least, NOTHING)));
        turn = share_at(theta_f, theta_m, theta_r, std::max(top, equally_far(sin_f, theta_f, q, top + off, -FLATTEST)));
        if (top > theta_r) back = share_at(theta_f, theta_m, theta_r, std::min(top, equally_far(sin_f, theta_f, q, top - off, FLATTEST)));
    }

    Wheel stresses(double radius, const Cell& ahead_of, double depth, double slip, double rolling, double along, double across) const {
        const Soil& soil = p.soil;
        const double worst = std::max(ahead_of.slip, within_one(slip));
        double sin_f, theta_f, springs, dug, unused;
        const double rise = depth - (1.0 - soil.rebound) * ahead_of.deepest;
        entry(radius, rise, sin_f, theta_f);
        entry(radius, rise * (1.0 - 1.0 / slip_sinkage(-slip)), unused, dug);
        entry(radius, soil.rebound * std::min(depth, ahead_of.deepest), unused, springs);
        const double peak = theta_f * (soil.peak + soil.peak_growth * std::min(1.0, std::fabs(slip)));
        const double forward = std::max(peak, std::min(dug, turning_angle(1.0 + slip)));
        const double theta_m = std::max(0.0, std::min(FOREMOST * theta_f, forward));
        const double travelling = rolling - along;
        const double theta_0 = std::min(theta_f, turning_angle(rolling / std::max(std::max(rolling, travelling), NOTHING)));
        const double lead = theta_f - theta_0;
        const double carried = std::max(0.0, travelling * (sin_f - std::sin(theta_0)) / std::max(lead, NOTHING) - rolling);
        const double theta_r = std::min(soil.exit * theta_f, -springs);
        const double power = soil.exponent + soil.exponent_growth * worst;
        const double scale = std::pow(slip_sinkage(worst), -soil.exponent * soil.digging) * constant;
        const bool has_rut = ahead_of.deepest > 0.0;
        const double rut = std::max(ahead_of.deepest, SHALLOWEST), at_rut = has_rut ? scale * std::pow(rut, power) : 0.0;
        double kink = 0.0, theta_k;
        if (has_rut) {
            entry(radius, depth - ahead_of.deepest, unused, theta_k);
            kink = within_one((theta_f - theta_k) / std::max(theta_f - theta_m, NOTHING));
        }
        double turn, back = 0.0;
        if (carried > 0.0)
            turn = share_at(theta_f, theta_m, theta_r, theta_0);
        else
            at_turns(sin_f, theta_f, theta_m, theta_r, rolling, travelling, turn, back);
        const double cuts[5] = {0.0, std::min(kink, back), std::max(back, std::min(kink, turn)), std::max(kink, turn), 1.0};
        const double per_rut = at_rut / (soil.rebound * rut), bottom = depth - radius, to_modulus = radius * per_modulus;
        const double ahead = theta_f - theta_m, behind = theta_m - theta_r;
        const Rule& rule = along < 0.0 || behind > MUCH_LONGER * ahead ? refined : plain;
        Wheel w;
        double wall = 0.0, heavy = 0.0;
        const auto add = [&](double theta, double c, double s, double part, double sigma, double most) {
            const double angle = theta_f - theta, travel = sin_f - s;
            const double j0 = rolling * (angle - travel) + carried * std::min(angle, lead), jx = j0 + along * travel, jy = across * angle;
            const double held = part * most * to_modulus * saturating(std::sqrt(jx * jx + jy * jy) * to_modulus);
            w.lift += part * sigma * c, w.drag += part * sigma * s, w.strength += part * most;
            const double by_turn = held * j0, by_slip = held * travel;
            w.turn_0 += by_turn, w.turn_s += by_slip, w.side_s += held * angle;
            w.pull_0 += by_turn * c, w.pull_s += by_slip * c, w.rise_0 += by_turn * s, w.rise_s += by_slip * s;
            const double side = std::max(0.0, bottom + radius * c);
            wall += part * c * side, heavy += part * c * side * side;
        };
        for (int piece = 0; piece < 4; ++piece) {
            const double begin = cuts[piece], length = cuts[piece + 1] - begin;
            if (length <= 0.0) continue;
            for (int k = 0; k < rule.count; ++k) {
                const double point = begin + length * rule.way[k], front = theta_f - ahead * point, back = theta_r + behind * point;
                const double c = std::cos(front), deep = std::max(SHALLOWEST, bottom + radius * c);
                const double sigma = deep < rut ? std::max(0.0, at_rut - per_rut * (rut - deep)) : scale * std::pow(deep, power);
                const double most = soil.cohesion + soil.friction * sigma;
                add(front, c, std::sin(front), ahead * length * rule.share[k], sigma, most);
                add(back, std::cos(back), std::sin(back), behind * length * rule.share[k], sigma, most);
            }
        }
        const double area = radius * p.width, longest = theta_f - theta_r;
        const double pushed = radius * (soil.side_cohesive * wall + soil.side_weight * heavy);
        const double slipped = std::sqrt(along * along + across * across) * theta_f * to_modulus;
        w.base_s = soil.friction * theta_f * to_modulus * saturating(slipped);
        w.lift *= area, w.drag *= area, w.turn_0 *= area, w.turn_s *= area, w.pull_0 *= area, w.pull_s *= area;
        w.rise_0 *= area, w.rise_s *= area, w.strength *= area, w.beside = pushed;
        w.side_s = area * w.side_s + pushed * longest * to_modulus * saturating(std::fabs(across) * longest * to_modulus);
        return w;
    }

    double base_push(double radius, double depth) const {
        const double into = std::max(0.0, depth - p.soil.layer);
        return p.soil.base * p.width * (4.0 / 3.0) * into * std::sqrt(2.0 * radius * into);
    }

    double at_rest_load(double radius, double depth) const {
        return stresses(radius, Cell{}, depth, 0.0, 0.0, 0.0, 0.0).lift + base_push(radius, depth);
    }

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
        plain.count = POINTS, refined.count = MORE_POINTS;
        for (int k = 0; k < POINTS; ++k) plain.way[k] = AT[k] * AT[k] * AT[k], plain.share[k] = 3.0 * AT[k] * AT[k] * WEIGHT[k];
        for (int k = 0; k < MORE_POINTS; ++k) {
            const double x = MORE_AT[k];
            refined.way[k] = x * x * x * (4.0 - 3.0 * x), refined.share[k] = 12.0 * x * x * (1.0 - x) * MORE_WEIGHT[k];
        }
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
        const auto hubs_back = [&](const double* hub, bool with_moment) {
            double f[3][W], t[3][W];
            for (int n = 0; n < W; ++n) {
                const Vec back{hub[n] * c.ex_x[n], 0.0, hub[n] * c.ex_z[n]};
                f[0][n] = back.x, f[1][n] = 0.0, f[2][n] = back.z;
                const Vec turn = cross({hub_x[n], hub_y[n], hub_z[n]}, back);
                t[0][n] = turn.x, t[1][n] = turn.y, t[2][n] = turn.z;
            }
            back_force = sum(f);
            if (with_moment) back_moment = sum(t);
        };
        combine<true>(c, m.x, m.y, s.load, force, moment);
        hubs_back(m.hub, true);
        Vec velocity = free.velocity + dt_per_mass * (force + back_force), rate = free.rate + dt * rate_of(moment + back_moment);
        const double drag = p.losses.air_drag * std::fabs(s.velocity.x);
        double blocked[W], free_speed[W], free_rim[W], along[W], across[W], rising[W], back[W], hub_start[W];
        bool yielded[W] = {};
        for (int n = 0; n < W; ++n) {
            blocked[n] = drive.blocked_current(command[n], s.current[n]);
            free_speed[n] = drive.free_speed(s.speed[n], blocked[n]);
            free_rim[n] = p.radius[n] * free_speed[n];
        }
        for (int pass = 0; pass < MOST_PASSES + 1; ++pass) {
            double xx[W], yy[W], nn[W], start_x[W], start_y[W], start_n[W], most[W], beside[W], ahead[W];
            over_ground(c, velocity, rate, along, across, rising);
            hubs_ahead(c, velocity, rate, ahead);
            for (int n = 0; n < W; ++n) {
                const double radius = p.radius[n], rim = free_rim[n] - give[n] * m.x[n], slip_x = rim - along[n], slip_y = -across[n];
                const double speed = transport_speed(along[n], across[n], rim), size = std::max(std::fabs(rim), SLOWEST_TURN * speed);
                const double per = 1.0 / size, turning = std::fabs(rim) >= size ? rim : along[n], way_on = turning < 0.0 ? -1.0 : 1.0;
                const double rolling = std::max(0.0, way_on * rim) * per, by_x = way_on * slip_x * per, by_y = slip_y * per;
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
                const double coming = depth - dt * rising[n], base = base_push(radius, depth);
                const double base_slope = coming > depth ? (base_push(radius, coming) - base) / (coming - depth)
                                                         : 1.5 * base / std::max(std::max(0.0, depth - soil.layer), NOTHING);
                const double by_base = std::max(0.0, base - base_slope * dt * rising[n]), by_soil = kept * full, push = by_soil + base;
                const double by_slope = by_soil > 0.0 ? slope * dt + soil.damping * p.width * reach(radius, lowest) : 0.0;
                const double stiff = by_slope + base_slope * dt;
                const bool loaded = push - stiff * rising[n] > 0.0 && (push > 0.0 || base_slope > 0.0);
                start_n[n] = loaded ? push : 0.0, nn[n] = loaded ? stiff : 0.0;
                const double held_back = (w.turn_0 - w.pull_0) + (w.turn_s - w.pull_s) * by_x + w.drag;
                const double resistance = kept * std::max(0.0, held_back), turns = std::max(std::fabs(rim), FADING);
                const double travels = std::max(std::fabs(ahead[n]), FADING);
                hub_start[n] = 0.0, back[n] = resistance / travels;
                if (std::fabs(rim) > std::fabs(along[n])) {
                    const double turned = kept * way_on * (w.turn_0 + w.turn_s * by_x);
                    const double spot = std::max(0.0, std::min(resistance, rim < 0.0 ? -turned : turned));
                    hub_start[n] = -spot * rim / turns;
                    back[n] = rim * ahead[n] < 0.0 ? (resistance + spot) / turns : (resistance - spot) / travels;
                }
                most[n] = kept * w.strength + soil.friction * by_base, beside[n] = kept * w.beside;
                const double on_base = by_base * w.base_s * per;
                const double secant = kept * per * w.turn_s + on_base, softer = 1.0 / (1.0 + give[n] * secant);
                xx[n] = softer * secant, yy[n] = kept * per * w.side_s + on_base;
                start_x[n] = softer * kept * way_on * w.turn_0 + xx[n] * free_rim[n], start_y[n] = 0.0;
                yielded[n] = pass >= MOST_PASSES - 1 && (yielded[n] || excess(s.force_x[n], s.force_y[n], m.x[n], m.y[n]));
                if (yielded[n]) start_x[n] = m.x[n], start_y[n] = m.y[n], xx[n] = yy[n] = 0.0;
            }
            combine<true>(c, start_x, start_y, start_n, force, moment);
            hubs_back(hub_start, true);
            solve<true>(c, xx, yy, nn, back, force + back_force, moment + back_moment, free, drag, velocity, rate);
            over_ground(c, velocity, rate, along, across, rising);
            hubs_ahead(c, velocity, rate, ahead);
            bool again = false;
            for (int n = 0; n < W; ++n) {
                const double fx = start_x[n] - xx[n] * along[n], fy = start_y[n] - yy[n] * across[n];
                const double pull = start_n[n] - nn[n] * rising[n];
                s.force_x[n] = fx, s.force_y[n] = fy, s.load[n] = std::max(0.0, pull);
                m.hub[n] = hub_start[n] - back[n] * ahead[n];
                const double pushed = std::max(-beside[n], std::min(beside[n], fy)), sheared = fy - pushed;
                const double scale = std::min(1.0, most[n] / std::sqrt(fx * fx + sheared * sheared + NOTHING));
                m.x[n] = scale * fx, m.y[n] = pushed + scale * sheared;
                again |= (pull < 0.0) | excess(fx, fy, m.x[n], m.y[n]);
            }
            if (!again) break;
        }
        combine<false>(c, s.force_x, s.force_y, s.load, force, moment);
        hubs_back(m.hub, false);
        finish(s, free, free_speed, blocked, velocity, rate, force + back_force, drag);
        for (int n = 0; n < W; ++n) {
            const double radius = p.radius[n], rim = radius * s.speed[n], slip_x = rim - along[n];
            const double speed = transport_speed(along[n], across[n], rim), went = dt * speed;
            const double deeper = c.depth[n] - dt * rising[n], stood = std::max(0.0, deeper);
            m.facing[n] = std::max(-1.0, std::min(1.0, m.facing[n] + dt * along[n] / reach(radius, deeper))), m.went[n] = went;
            const double way_on = (std::fabs(rim) >= std::fabs(along[n]) ? rim : along[n]) < 0.0 ? -1.0 : 1.0;
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
