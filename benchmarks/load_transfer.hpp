// What rover.cpp and omni.cpp share: vehicles/load_transfer.py, the search for the specific force that a step's loads bring about.

#pragma once

#include <algorithm>
#include <cmath>

constexpr int MOST_SOLUTIONS = 64, LAST_CHANGE = 59, HALF_FROM = 20, QUARTER_FROM = 40;
constexpr double AGREES_TO_GRAVITY = 1e-3, FARTHEST = 7.0, GIVES_UP = 0.1, LEAST_SECANT = 0.1;

class Search {
    double first_x, first_y, dx = 0.0, dy = 0.0, rx = 0.0, ry = 0.0, xx = 1.0, xy = 0.0, yx = 0.0, yy = 1.0;

  public:
    double fx, fy;

    Search(double from_x, double from_y) : first_x(from_x), first_y(from_y), fx(from_x), fy(from_y) {}

    bool disagrees(double height, double into, double felt_x, double felt_y, int k) const {
        return k <= LAST_CHANGE && (std::fabs(felt_x - fx) + std::fabs(felt_y - fy)) * height > AGREES_TO_GRAVITY * into * height;
    }

    void move(double felt_x, double felt_y, int k) {
        const double now_x = fx - felt_x, now_y = fy - felt_y, change_x = now_x - rx, change_y = now_y - ry;
        const double hx = xx * change_x + xy * change_y, hy = yx * change_x + yy * change_y;
        const double tx = dx * xx + dy * yx, ty = dx * xy + dy * yy, bottom = dx * hx + dy * hy;
        if (bottom > LEAST_SECANT * (dx * dx + dy * dy)) {
            const double per = 1.0 / bottom, ex = (dx - hx) * per, ey = (dy - hy) * per;
            xx += ex * tx, xy += ex * ty, yx += ey * tx, yy += ey * ty;
        }
        dx = -(xx * now_x + xy * now_y), dy = -(yx * now_x + yy * now_y);
        const double share = (k < HALF_FROM ? 1.0 : k < QUARTER_FROM ? 0.5 : 0.25) * FARTHEST;
        const double kept = share / std::max(FARTHEST, std::sqrt(dx * dx + dy * dy));
        dx *= kept, dy *= kept;
        if (k == LAST_CHANGE && now_x * now_x + now_y * now_y > GIVES_UP * GIVES_UP) dx = first_x - fx, dy = first_y - fy;
        fx += dx, fy += dy, rx = now_x, ry = now_y;
    }
};
