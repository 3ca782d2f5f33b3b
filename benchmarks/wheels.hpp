// What rover.cpp and rough.cpp share: four wheels with DC motors and the magic formula.
//
// Everything a compiler cannot know is worked out beforehand: constants of a motor before the loop, and the curve in rows of
// four wheels, whose arctangents then do not wait for each other (wheel by wheel, a step of the rover took 1.4 times as long).

#pragma once

#include <algorithm>
#include <cmath>

constexpr int W = 4, MOST_PASSES = 4;
constexpr double SPEED_FLOOR = 0.02, STICK_SPEED = 1e-6, HELD = 1e-4, SMALLEST_SLIP = 1e-9, TOLERATED_EXCESS = 0.01;

struct Forces {
    double x[W], y[W];
};

inline bool excess(double x, double y, double most_x, double most_y) {  // driven_wheel.is_excess
    return std::fabs(x - most_x) + std::fabs(y - most_y) > TOLERATED_EXCESS * (std::fabs(most_x) + std::fabs(most_y));
}

struct Motor {  // powertrain.DcMotor
    double inertia, resistance, inductance, torque_constant, back_emf, friction, voltage_limit;
};

struct Losses {  // losses.AirDrag
    double air_drag;
};

class Drive {  // powertrain.DrivenWheel
    double kept_speed, per_current, kept_current, per_volt, per_speed, voltage_limit;

  public:
    double mobility;

    Drive(const Motor& motor, double dt) : voltage_limit(motor.voltage_limit) {
        const double per_circuit = 1.0 / (motor.inductance + dt * motor.resistance);
        mobility = dt / (motor.inertia + dt * (motor.friction + motor.torque_constant * motor.back_emf * dt * per_circuit));
        kept_speed = mobility * motor.inertia / dt, per_current = mobility * motor.torque_constant;
        kept_current = motor.inductance * per_circuit, per_volt = dt * per_circuit, per_speed = motor.back_emf * per_volt;
    }

    double blocked_current(double command, double current) const {
        return kept_current * current + per_volt * std::max(-voltage_limit, std::min(voltage_limit, command));
    }
    double free_speed(double speed, double blocked) const { return kept_speed * speed + per_current * blocked; }
    double current(double blocked, double speed) const { return blocked - per_speed * speed; }
};

struct MagicFormula {
    double mu, B, C, E, lateral_ratio;

    // Force per slip velocity of each wheel, from the speed of its rim and that of the ground along and across it.
    void secants(const double* rim, const double* ahead, const double* across, const double* load, double* secant) const {
        double slip[W], per_sliding[W], sliding[W], curve[W];
        for (int n = 0; n < W; ++n) sliding[n] = std::sqrt((rim[n] - ahead[n]) * (rim[n] - ahead[n]) + across[n] * across[n]);
        for (int n = 0; n < W; ++n) {
            const double floor = std::max(std::min(std::fabs(across[n]), SPEED_FLOOR), STICK_SPEED);
            const double speed = std::max(std::max(std::fabs(ahead[n]), std::fabs(rim[n])), floor);
            const double slid = sliding[n] + SMALLEST_SLIP * speed, per_both = 1.0 / (speed * slid);
            slip[n] = slid * slid * per_both, per_sliding[n] = speed * per_both;
        }
        for (int n = 0; n < W; ++n) curve[n] = std::atan(B * slip[n]);
        for (int n = 0; n < W; ++n) curve[n] = std::atan(B * slip[n] - E * (B * slip[n] - curve[n]));
        for (int n = 0; n < W; ++n) curve[n] = std::sin(C * curve[n]);
        for (int n = 0; n < W; ++n) secant[n] = mu * curve[n] * load[n] * per_sliding[n];
    }

    // The forces, cut to what the contacts can carry, and whether that changes one of them by more than is tolerated.
    bool cut(const double* force_x, const double* force_y, const double* load, Forces& expected) const {
        double beyond[W];
        for (int n = 0; n < W; ++n) {
            const double most_x = mu * load[n], most_y = lateral_ratio * mu * load[n];
            expected.x[n] = std::max(-most_x, std::min(most_x, force_x[n]));
            expected.y[n] = std::max(-most_y, std::min(most_y, force_y[n]));
        }
        for (int n = 0; n < W; ++n) {
            const double off = std::fabs(force_x[n] - expected.x[n]) + std::fabs(force_y[n] - expected.y[n]);
            beyond[n] = off - TOLERATED_EXCESS * (std::fabs(expected.x[n]) + std::fabs(expected.y[n]));
        }
        return std::max(std::max(beyond[0], beyond[1]), std::max(beyond[2], beyond[3])) > 0.0;
    }
};
