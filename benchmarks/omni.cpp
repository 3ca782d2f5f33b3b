// The yardstick of omni_speed.py: vehicles/omni.py for three wheels with prescribed speeds, arctan law and plane, in plain C++17.
//
// Same equations, state, step and integrator, sectors included, with everything a compiler cannot know worked out beforehand:
// constants of a robot before its loop, and no elimination of wheels that turn as they are told.
//
//     g++ -std=c++17 -O3 -march=native omni.cpp -o omni
//     omni parameters commands ends steps hold step_s repetitions
//
// Parameters, commands (rows of three rad/s, each held for `hold` steps) and ends are binary files of doubles. It prints the
// CPU seconds of one robot: the fastest repetition, without reading and writing.

#include <algorithm>
#include <cmath>

#include "yardstick.hpp"

constexpr int W = 3, MOST_PASSES = 4;
constexpr double SMALLEST = 1e-12, PER_QUARTER_TURN = 2.0 / M_PI, TOLERATED_EXCESS = 0.01, SHORTEST_WAY = 1e-6;

struct Parameters {  // in the order of the leaves of OmniRuns
    double mass, yaw_inertia, com_x, com_y, com_height;
    double x[W], y[W], radius[W], grip_x[W], grip_y[W], along[W], across[W], share[W], leverage_x[W], leverage_y[W], per_rad[W],
        phase[W], rigid[W];
    double wheel_inertia;
    double mu_x, mu_y, steepness;
    double rigid_mu_x, rigid_mu_y, rigid_steepness;
    double slope_along, slope_into, uphill_x, uphill_y;
};

struct State {  // in the order of planar_body's columns
    double x, y, heading, u, v, yaw_rate, fx, fy, yaw_accel;
    double speed[W], angle[W], load[W], force_x[W], force_y[W], effort[W];
};

struct Forces {  // in the rollers' axes
    double g[W], h[W];
};

class Robot {
    Parameters p;
    double dt, per_dt, weight, reach, inertia, yaw_inertia, per_mass, dt_per_mass, dt_per_yaw_inertia, per_step;
    double px[W], py[W], mg[W], mh[W];

    void share_weight(State& s) const {
        const double centre_x = p.com_x - reach * s.fx, centre_y = p.com_y - reach * s.fy;
        double total = 0.0;
        for (int n = 0; n < W; ++n) {
            s.load[n] = std::max(0.0, p.share[n] + (p.leverage_x[n] * centre_x + p.leverage_y[n] * centre_y));
            total += s.load[n];
        }
        const double scale = weight / total;
        for (int n = 0; n < W; ++n) s.load[n] *= scale;
    }

    static double rigid_share(double begin, double end, double rigid) {
        const double whole = std::floor(begin), whole_end = std::floor(end), into = begin - whole - (1.0 - rigid);
        if (std::abs(end - begin) < SHORTEST_WAY) return into >= 0.0 ? 1.0 : 0.0;
        const double passed = rigid * (whole_end - whole) + (std::max(0.0, end - whole_end - (1.0 - rigid)) - std::max(0.0, into));
        return std::max(0.0, std::min(1.0, passed / (end - begin)));
    }

  public:
    Robot(const Parameters& parameters, double step_s) : p(parameters), dt(step_s) {
        per_dt = 1.0 / dt, weight = p.mass * p.slope_into, reach = p.com_height / p.slope_into;
        inertia = p.mass * per_dt, yaw_inertia = p.yaw_inertia * per_dt;
        per_mass = 1.0 / p.mass, dt_per_mass = dt / p.mass, dt_per_yaw_inertia = dt / p.yaw_inertia;
        per_step = p.wheel_inertia * per_dt;
        for (int n = 0; n < W; ++n) {
            px[n] = p.x[n] - p.com_x, py[n] = p.y[n] - p.com_y;
            mg[n] = px[n] * p.grip_y[n] - py[n] * p.grip_x[n], mh[n] = px[n] * p.grip_x[n] + py[n] * p.grip_y[n];
        }
    }

    State at_rest(Forces& expected) const {  // on level ground
        State s{};
        s.x = p.com_x, s.y = p.com_y;
        share_weight(s);
        for (int n = 0; n < W; ++n) expected.g[n] = expected.h[n] = 0.0;
        return s;
    }

    void step(State& s, Forces& expected, const double* command) const {
        const double half = 0.5 * dt * s.yaw_rate, middle = s.heading + half;
        const double c = std::cos(middle), sn = std::sin(middle);
        const double gx = -p.slope_along * (c * p.uphill_x + sn * p.uphill_y);
        const double gy = -p.slope_along * (c * p.uphill_y - sn * p.uphill_x);
        share_weight(s);
        const double per = 1.0 / (1.0 + half * half), ct = (1.0 - half * half) * per, st = 2.0 * half * per;
        const double u0 = ct * s.u + st * s.v, v0 = ct * s.v - st * s.u;
        const double bu0 = inertia * u0 + p.mass * gx, bv0 = inertia * v0 + p.mass * gy, br0 = yaw_inertia * s.yaw_rate;
        double sum_x = 0.0, sum_y = 0.0, moment = 0.0;
        double most_g[W], most_h[W], rim_g[W], rim_h[W];
        for (int n = 0; n < W; ++n) {
            sum_x += p.grip_x[n] * expected.g[n] - p.grip_y[n] * expected.h[n];
            sum_y += p.grip_y[n] * expected.g[n] + p.grip_x[n] * expected.h[n];
            moment += mg[n] * expected.g[n] + mh[n] * expected.h[n];
            const double begin = p.phase[n] + p.per_rad[n] * s.angle[n], end = begin + p.per_rad[n] * (dt * command[n]);
            const double share = rigid_share(begin, end, p.rigid[n]), rim = p.radius[n] * command[n];
            most_g[n] = (p.mu_x + share * (p.rigid_mu_x - p.mu_x)) * s.load[n];
            most_h[n] = (p.mu_y + share * (p.rigid_mu_y - p.mu_y)) * s.load[n];
            rim_g[n] = p.along[n] * rim, rim_h[n] = p.across[n] * rim;
        }
        double u = u0 + dt_per_mass * sum_x + dt * gx, v = v0 + dt_per_mass * sum_y + dt * gy;
        double r = s.yaw_rate + dt_per_yaw_inertia * moment;
        double force_g[W], force_h[W];
        for (int pass = 0; pass < MOST_PASSES; ++pass) {
            double slip[2 * W], secant[2 * W];
            for (int n = 0; n < W; ++n) {
                slip[n] = std::abs(rim_g[n] - (p.grip_x[n] * u + p.grip_y[n] * v + mg[n] * r)) + SMALLEST;
                slip[W + n] = std::abs(rim_h[n] - (p.grip_x[n] * v - p.grip_y[n] * u + mh[n] * r)) + SMALLEST;
            }
            for (int n = 0; n < 2 * W; ++n) secant[n] = PER_QUARTER_TURN * std::atan(p.steepness * slip[n]) / slip[n];
            double uu = inertia, uv = 0.0, ur = 0.0, vv = inertia, vr = 0.0, rr = yaw_inertia, bu = bu0, bv = bv0, br = br0;
            for (int n = 0; n < W; ++n) {
                const double gg = secant[n] *= most_g[n], hh = secant[W + n] *= most_h[n];
                const double xg = p.grip_x[n] * gg, yg = p.grip_y[n] * gg, xh = p.grip_x[n] * hh, yh = p.grip_y[n] * hh;
                uu += p.grip_x[n] * xg + p.grip_y[n] * yh, uv += p.grip_y[n] * xg - p.grip_x[n] * yh;
                vv += p.grip_y[n] * yg + p.grip_x[n] * xh, ur += mg[n] * xg - mh[n] * yh, vr += mg[n] * yg + mh[n] * xh;
                rr += mg[n] * mg[n] * gg + mh[n] * mh[n] * hh;
                bu += xg * rim_g[n] - yh * rim_h[n], bv += yg * rim_g[n] + xh * rim_h[n];
                br += mg[n] * gg * rim_g[n] + mh[n] * hh * rim_h[n];
            }
            const double per_uu = 1.0 / uu, l_vu = uv * per_uu, l_ru = ur * per_uu, per_vv = 1.0 / (vv - l_vu * uv);
            const double rest_vr = vr - l_vu * ur, l_rv = rest_vr * per_vv, rest_bv = bv - l_vu * bu;
            r = (br - l_ru * bu - l_rv * rest_bv) / (rr - l_ru * ur - l_rv * rest_vr);
            v = rest_bv * per_vv - l_rv * r;
            u = bu * per_uu - l_vu * v - l_ru * r;
            sum_x = sum_y = 0.0;
            bool again = false;
            for (int n = 0; n < W; ++n) {
                force_g[n] = secant[n] * (rim_g[n] - (p.grip_x[n] * u + p.grip_y[n] * v + mg[n] * r));
                force_h[n] = secant[W + n] * (rim_h[n] - (p.grip_x[n] * v - p.grip_y[n] * u + mh[n] * r));
                s.force_x[n] = p.grip_x[n] * force_g[n] - p.grip_y[n] * force_h[n];
                s.force_y[n] = p.grip_y[n] * force_g[n] + p.grip_x[n] * force_h[n];
                sum_x += s.force_x[n], sum_y += s.force_y[n];
                expected.g[n] = std::max(-most_g[n], std::min(most_g[n], force_g[n]));
                expected.h[n] = std::max(-most_h[n], std::min(most_h[n], force_h[n]));
                again |= std::abs(force_g[n] - expected.g[n]) + std::abs(force_h[n] - expected.h[n]) >
                         TOLERATED_EXCESS * (std::abs(expected.g[n]) + std::abs(expected.h[n]));
            }
            if (!again) break;
        }
        for (int n = 0; n < W; ++n) {
            const double torque = p.radius[n] * (p.along[n] * force_g[n] + p.across[n] * force_h[n]);
            s.effort[n] = per_step * (command[n] - s.speed[n]) + torque;
            s.speed[n] = command[n];
            s.angle[n] += dt * command[n];
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

int main(int argc, char** argv) { return measure<Robot, State, Forces, W, Parameters>(argc, argv); }
