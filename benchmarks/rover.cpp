// The yardstick of run.py: vehicles/skid_steer.py for four wheels, DC motors, magic formula and plane, in plain C++17.
//
// Same equations, state, step and integrator, with everything a compiler cannot know worked out beforehand: constants of
// a rover before its loop, wheels without a coupling of the axes, and the curve in rows of four wheels, whose arctangents then
// do not wait for each other (wheel by wheel, a step took 1.4 times as long).
//
//     g++ -std=c++17 -O3 -march=native rover.cpp -o rover
//     rover parameters commands ends steps hold step_s repetitions
//
// Parameters, commands (rows of four volts, each held for `hold` steps) and ends are binary files of doubles. It prints the
// CPU seconds of one rover: the fastest repetition, without reading and writing.

#include <algorithm>
#include <cmath>

#include "yardstick.hpp"

constexpr int W = 4, MOST_PASSES = 4;
constexpr double SPEED_FLOOR = 0.02, STICK_SPEED = 1e-6, SMALLEST_SLIP = 1e-9, TOLERATED_EXCESS = 0.01;

struct Parameters {  // in the order of the leaves of SkidSteerRuns
    double mass, yaw_inertia, com_x, com_y, com_height;
    double x[W], y[W], leverage_x[W], leverage_y[W], share_x[W], share_y[W], radius[W];
    double inertia, resistance, inductance, torque_constant, back_emf, friction, voltage_limit;
    double mu, B, C, E, lateral_ratio;
    double along, into, uphill_x, uphill_y;
};

struct State {  // in the order of skid_steer's columns
    double x, y, heading, u, v, yaw_rate, fx, fy, yaw_accel;
    double speed[W], angle[W], load[W], force_x[W], force_y[W], current[W];
};

struct Forces {
    double x[W], y[W];
};

class Rover {
    Parameters p;
    double dt, per_dt, weight, reach, inertia, yaw_inertia, per_mass, dt_per_mass, dt_per_yaw_inertia, mu_y;
    double kept_speed, per_current, mobility, kept_current, per_volt;
    double px[W], py[W], lever[W], give[W];

    void share_weight(State& s) const {
        const double centre_x = p.com_x - reach * s.fx, centre_y = p.com_y - reach * s.fy;
        double total = 0.0;
        for (int n = 0; n < W; ++n) {
            const double on_axle = std::max(0.0, std::min(1.0, p.share_x[n] + p.leverage_x[n] * centre_x));
            const double on_side = std::max(0.0, std::min(1.0, p.share_y[n] + p.leverage_y[n] * centre_y));
            s.load[n] = on_axle * on_side;
            total += s.load[n];
        }
        const double scale = weight / total;
        for (int n = 0; n < W; ++n) s.load[n] *= scale;
    }

    // The forces, cut to what the contacts can carry, and whether that changes one of them by more than is tolerated.
    bool cut(const State& s, Forces& expected) const {
        double excess[W];
        for (int n = 0; n < W; ++n) {
            const double most_x = p.mu * s.load[n], most_y = mu_y * s.load[n];
            expected.x[n] = std::max(-most_x, std::min(most_x, s.force_x[n]));
            expected.y[n] = std::max(-most_y, std::min(most_y, s.force_y[n]));
        }
        for (int n = 0; n < W; ++n) {
            const double off = std::fabs(s.force_x[n] - expected.x[n]) + std::fabs(s.force_y[n] - expected.y[n]);
            excess[n] = off - TOLERATED_EXCESS * (std::fabs(expected.x[n]) + std::fabs(expected.y[n]));
        }
        return std::max(std::max(excess[0], excess[1]), std::max(excess[2], excess[3])) > 0.0;
    }

    // Force per slip velocity of each wheel, at the guess (u, v, r) of the velocities to come.
    void secants(const State& s, const Forces& expected, const double* free_rim, double u, double v, double r,
                 double* secant) const {
        double slip[W], per_speed[W], curve[W];
        for (int n = 0; n < W; ++n) {
            const double rim = free_rim[n] - give[n] * expected.x[n], ahead = u - r * py[n];
            const double slip_x = rim - ahead, slip_y = -v - r * px[n];
            const double floor = std::max(std::min(std::fabs(slip_y), SPEED_FLOOR), STICK_SPEED);
            per_speed[n] = 1.0 / std::max(std::max(std::fabs(ahead), std::fabs(rim)), floor);
            slip[n] = std::sqrt(slip_x * slip_x + slip_y * slip_y) * per_speed[n] + SMALLEST_SLIP;
        }
        for (int n = 0; n < W; ++n) curve[n] = std::atan(p.B * slip[n]);
        for (int n = 0; n < W; ++n) curve[n] = std::atan(p.B * slip[n] - p.E * (p.B * slip[n] - curve[n]));
        for (int n = 0; n < W; ++n) curve[n] = std::sin(p.C * curve[n]);
        for (int n = 0; n < W; ++n) secant[n] = p.mu * curve[n] * s.load[n] * per_speed[n] / slip[n];
    }

  public:
    Rover(const Parameters& given, double step_s) : p(given), dt(step_s), per_dt(1.0 / step_s) {
        weight = p.mass * p.into, reach = p.com_height / p.into;
        inertia = p.mass / dt, yaw_inertia = p.yaw_inertia / dt, per_mass = 1.0 / p.mass;
        dt_per_mass = dt / p.mass, dt_per_yaw_inertia = dt / p.yaw_inertia, mu_y = p.lateral_ratio * p.mu;
        const double per_circuit = 1.0 / (p.inductance + dt * p.resistance);
        mobility = dt / (p.inertia + dt * (p.friction + p.torque_constant * p.back_emf * dt * per_circuit));
        kept_speed = mobility * p.inertia / dt, per_current = mobility * p.torque_constant;
        kept_current = p.inductance * per_circuit, per_volt = dt * per_circuit;
        for (int n = 0; n < W; ++n) {
            px[n] = p.x[n] - p.com_x, py[n] = p.y[n] - p.com_y;
            lever[n] = mobility * p.radius[n], give[n] = lever[n] * p.radius[n];
        }
    }

    State at_rest(Forces& expected) const {
        State s{};
        s.x = p.com_x, s.y = p.com_y;
        s.fx = p.along * p.uphill_x, s.fy = p.along * p.uphill_y;
        share_weight(s);
        for (int n = 0; n < W; ++n) s.force_x[n] = s.load[n] * s.fx / p.into, s.force_y[n] = s.load[n] * s.fy / p.into;
        cut(s, expected);
        return s;
    }

    void step(State& s, Forces& expected, const double* command) const {
        const double half = 0.5 * dt * s.yaw_rate, middle = s.heading + half;
        const double c = std::cos(middle), sn = std::sin(middle);
        const double gx = -p.along * (c * p.uphill_x + sn * p.uphill_y);
        const double gy = -p.along * (c * p.uphill_y - sn * p.uphill_x);
        share_weight(s);
        const double per = 1.0 / (1.0 + half * half), ct = (1.0 - half * half) * per, st = 2.0 * half * per;
        const double u0 = ct * s.u + st * s.v, v0 = ct * s.v - st * s.u;
        const double bu0 = inertia * u0 + p.mass * gx, bv = inertia * v0 + p.mass * gy, br0 = yaw_inertia * s.yaw_rate;
        double sum_x = 0.0, sum_y = 0.0, moment = 0.0;
        for (int n = 0; n < W; ++n) {
            sum_x += expected.x[n], sum_y += expected.y[n];
            moment += px[n] * expected.y[n] - py[n] * expected.x[n];
        }
        double u = u0 + dt_per_mass * sum_x + dt * gx, v = v0 + dt_per_mass * sum_y + dt * gy;
        double r = s.yaw_rate + dt_per_yaw_inertia * moment;

        double voltage[W], free_speed[W], free_rim[W];
        for (int n = 0; n < W; ++n) {
            voltage[n] = std::max(-p.voltage_limit, std::min(p.voltage_limit, command[n]));
            const double blocked = kept_current * s.current[n] + per_volt * voltage[n];
            free_speed[n] = kept_speed * s.speed[n] + per_current * blocked;
            free_rim[n] = p.radius[n] * free_speed[n];
        }

        for (int pass = 0; pass < MOST_PASSES; ++pass) {
            double secant[W], xx[W], yy[W];
            secants(s, expected, free_rim, u, v, r, secant);
            double uu = inertia, vv = inertia, ur = 0.0, vr = 0.0, rr = yaw_inertia, bu = bu0, br = br0;
            for (int n = 0; n < W; ++n) {
                xx[n] = secant[n] / (1.0 + give[n] * secant[n]);
                yy[n] = p.lateral_ratio * secant[n];
            }
            for (int n = 0; n < W; ++n) {
                const double start_x = xx[n] * free_rim[n];
                uu += xx[n], vv += yy[n], ur -= xx[n] * py[n], vr += yy[n] * px[n];
                rr += xx[n] * py[n] * py[n] + yy[n] * px[n] * px[n];
                bu += start_x, br -= py[n] * start_x;
            }
            const double per_uu = 1.0 / uu, per_vv = 1.0 / vv, l_ru = ur * per_uu, l_rv = vr * per_vv;
            r = (br - l_ru * bu - l_rv * bv) / (rr - l_ru * ur - l_rv * vr);
            v = bv * per_vv - l_rv * r;
            u = bu * per_uu - l_ru * r;
            sum_x = sum_y = 0.0;
            for (int n = 0; n < W; ++n) {
                s.force_x[n] = xx[n] * (free_rim[n] - u + r * py[n]);
                s.force_y[n] = -yy[n] * (v + r * px[n]);
                sum_x += s.force_x[n], sum_y += s.force_y[n];
            }
            if (!cut(s, expected)) break;
        }

        for (int n = 0; n < W; ++n) {
            s.speed[n] = free_speed[n] - lever[n] * s.force_x[n];
            s.angle[n] += dt * s.speed[n];
            s.current[n] = kept_current * s.current[n] + per_volt * (voltage[n] - p.back_emf * s.speed[n]);
        }
        s.x += dt * (c * u - sn * v), s.y += dt * (sn * u + c * v), s.heading += dt * r;
        s.fx = sum_x * per_mass, s.fy = sum_y * per_mass, s.yaw_accel = (r - s.yaw_rate) * per_dt;
        s.u = u, s.v = v, s.yaw_rate = r;
    }

    State at_wheels_centre(State s) const {
        const double c = std::cos(s.heading), sn = std::sin(s.heading);
        s.x -= c * p.com_x - sn * p.com_y, s.y -= sn * p.com_x + c * p.com_y;
        s.u += s.yaw_rate * p.com_y, s.v -= s.yaw_rate * p.com_x;
        return s;
    }
};

int main(int argc, char** argv) { return measure<Rover, State, Forces, W, Parameters>(argc, argv); }
