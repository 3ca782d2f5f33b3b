// The yardstick of run.py: vehicles/skid_steer.py for four wheels, DC motors, magic formula, air drag and plane, in plain C++17.
//
// Same equations, state, step and integrator, with constants of a rover before its loop, and wheels without a coupling of the
// axes; wheels.hpp has motors and curve.
//
//     g++ -std=c++17 -O3 -march=native rover.cpp -o rover
//     rover parameters commands ends steps hold step_s repetitions
//
// Parameters, commands (rows of four volts, each held for `hold` steps) and ends are binary files of doubles. It prints the
// CPU seconds of one rover: the fastest repetition, without reading and writing.

#include "wheels.hpp"
#include "yardstick.hpp"

struct Parameters {  // in the order of the leaves of SkidSteerRuns
    double mass, yaw_inertia, com_x, com_y, com_height;
    double x[W], y[W], leverage_x[W], leverage_y[W], share_x[W], share_y[W], radius[W];
    Motor motor;
    MagicFormula law;
    double along, into, uphill_x, uphill_y;
    Losses losses;
};

struct State {  // in the order of skid_steer's columns
    double x, y, heading, u, v, yaw_rate, fx, fy, yaw_accel;
    double speed[W], angle[W], load[W], force_x[W], force_y[W], current[W];
};

class Rover {
    Parameters p;
    Drive drive;
    double dt, per_dt, weight, reach, inertia, yaw_inertia, per_mass, dt_per_mass, dt_per_yaw_inertia;
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

    static double fastest(double u, double v, double r) { return std::max(std::max(std::fabs(u), std::fabs(v)), std::fabs(r)); }

  public:
    Rover(const Parameters& given, double step_s) : p(given), drive(p.motor, step_s), dt(step_s), per_dt(1.0 / step_s) {
        weight = p.mass * p.into, reach = p.com_height / p.into;
        inertia = p.mass / dt, yaw_inertia = p.yaw_inertia / dt, per_mass = 1.0 / p.mass;
        dt_per_mass = dt / p.mass, dt_per_yaw_inertia = dt / p.yaw_inertia;
        for (int n = 0; n < W; ++n) {
            px[n] = p.x[n] - p.com_x, py[n] = p.y[n] - p.com_y;
            lever[n] = drive.mobility * p.radius[n], give[n] = lever[n] * p.radius[n];
        }
    }

    State at_rest(Forces& expected) const {
        State s{};
        s.x = p.com_x, s.y = p.com_y;
        s.fx = p.along * p.uphill_x, s.fy = p.along * p.uphill_y;
        share_weight(s);
        for (int n = 0; n < W; ++n) s.force_x[n] = s.load[n] * s.fx / p.into, s.force_y[n] = s.load[n] * s.fy / p.into;
        p.law.cut(s.force_x, s.force_y, s.load, expected);
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
        const double drag = p.losses.air_drag * std::fabs(s.u);
        double sum_x = 0.0, sum_y = 0.0, moment = 0.0;
        for (int n = 0; n < W; ++n) {
            sum_x += expected.x[n], sum_y += expected.y[n];
            moment += px[n] * expected.y[n] - py[n] * expected.x[n];
        }
        double u = u0 + dt_per_mass * sum_x + dt * gx, v = v0 + dt_per_mass * sum_y + dt * gy;
        double r = s.yaw_rate + dt_per_yaw_inertia * moment;

        double rims = 0.0;
        for (int n = 0; n < W; ++n) rims += std::fabs(p.radius[n] * s.speed[n]);
        if (rims < STICK_SPEED && std::max(fastest(u, v, r), fastest(s.u, s.v, s.yaw_rate)) < HELD) u = s.u, v = s.v, r = s.yaw_rate;

        double blocked[W], free_speed[W], free_rim[W];
        for (int n = 0; n < W; ++n) {
            blocked[n] = drive.blocked_current(command[n], s.current[n]);
            free_speed[n] = drive.free_speed(s.speed[n], blocked[n]);
            free_rim[n] = p.radius[n] * free_speed[n];
        }

        for (int pass = 0; pass < MOST_PASSES; ++pass) {
            double rim[W], ahead[W], across[W], secant[W], xx[W], yy[W];
            for (int n = 0; n < W; ++n) {
                rim[n] = free_rim[n] - give[n] * expected.x[n], ahead[n] = u - r * py[n], across[n] = v + r * px[n];
            }
            p.law.secants(rim, ahead, across, s.load, secant);
            double uu = inertia + drag, vv = inertia, ur = 0.0, vr = 0.0, rr = yaw_inertia, bu = bu0, br = br0;
            for (int n = 0; n < W; ++n) {
                xx[n] = secant[n] / (1.0 + give[n] * secant[n]);
                yy[n] = p.law.lateral_ratio * secant[n];
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
            if (!p.law.cut(s.force_x, s.force_y, s.load, expected)) break;
        }

        for (int n = 0; n < W; ++n) {
            s.speed[n] = free_speed[n] - lever[n] * s.force_x[n];
            s.angle[n] += dt * s.speed[n];
            s.current[n] = drive.current(blocked[n], s.speed[n]);
        }
        s.x += dt * (c * u - sn * v), s.y += dt * (sn * u + c * v), s.heading += dt * r;
        s.fx = (sum_x - drag * u) * per_mass, s.fy = sum_y * per_mass, s.yaw_accel = (r - s.yaw_rate) * per_dt;
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
