// What both yardsticks share: files of doubles in and out, and the CPU time of one robot.
//
// A vehicle brings Parameters, State and Forces, the number of its wheels W, and Vehicle(parameters, step_s) with at_rest, step and
// at_wheels_centre.

#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <vector>

template <class T> std::vector<T> read(const char* path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) std::fprintf(stderr, "cannot read %s\n", path), std::exit(2);
    std::vector<T> entries(static_cast<size_t>(file.tellg()) / sizeof(T));
    file.seekg(0).read(reinterpret_cast<char*>(entries.data()), static_cast<std::streamsize>(entries.size() * sizeof(T)));
    return entries;
}

template <class Vehicle, class State, class Forces, int W, class Parameters>
State drive(const Parameters& parameters, const std::vector<double>& commands, int steps, int hold, double step_s) {
    const Vehicle vehicle(parameters, step_s);
    Forces expected;
    State s = vehicle.at_rest(expected);
    for (int first = 0; first < steps; first += hold)
        for (int k = first; k < std::min(first + hold, steps); ++k) vehicle.step(s, expected, &commands[first / hold * W]);
    return vehicle.at_wheels_centre(s);
}

template <class Vehicle, class State, class Forces, int W, class Parameters> int measure(int argc, char** argv) {
    if (argc != 8) return std::fprintf(stderr, "usage: %s parameters commands ends steps hold step_s repetitions\n", argv[0]), 2;
    const auto vehicles = read<Parameters>(argv[1]);
    const auto commands = read<double>(argv[2]);
    const int steps = std::atoi(argv[4]), hold = std::atoi(argv[5]), repetitions = std::atoi(argv[7]);
    if (vehicles.empty() || commands.size() < static_cast<size_t>((steps + hold - 1) / hold * W))
        return std::fputs("too few parameters or commands\n", stderr), 2;
    std::vector<State> ends(vehicles.size());
    double fastest_s = 1e300;
    for (int k = 0; k < repetitions; ++k) {
        const std::clock_t start = std::clock();
        for (size_t i = 0; i < vehicles.size(); ++i)
            ends[i] = drive<Vehicle, State, Forces, W>(vehicles[i], commands, steps, hold, std::atof(argv[6]));
        fastest_s = std::min(fastest_s, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::ofstream(argv[3], std::ios::binary)
        .write(reinterpret_cast<const char*>(ends.data()), static_cast<std::streamsize>(ends.size() * sizeof(State)));
    std::printf("%.9e\n", fastest_s / static_cast<double>(vehicles.size()));
    return 0;
}
