"""The cases: bags with every kind of pose-like topic, and bags to calibrate from."""

from dataclasses import replace

import numpy as np

from ordinary_bags.cases import (
    Body,
    Case,
    Controller,
    Drive,
    Fused,
    Imu,
    Joints,
    Nav2,
    PoseSource,
    Slip,
    WheelOdometry,
)
from slipfit.library import find_robot

#: Standard deviation of the center of mass (m) where the robot's file states none.
CENTER_OF_MASS_STD_M = 0.02

WHEEL_TOPICS = (
    "/odom", "/diff_drive_controller/odom", "/husky_velocity_controller/odom", "/wheel/odometry", "/odom", "/odometry",
    "/RosAria/pose", "/robot_pose", "/pose", "/odom", "/platform/odom", "/robot/odom2",
)  # fmt: skip
FUSED_TOPICS = ("/odometry/filtered", "/odometry/filtered", "/odometry/local", "/odom", "/ekf/odom", "/odometry", "/robot/odom2")
MOCAP_TOPICS = (
    "/vrpn/robot/pose",
    "/optitrack/pose",
    "/mocap/base",
    "/vicon/robot/robot",
    "/pose",
    "/robot_pose",
    "/mocap_node/pose",
)
LIDAR_TOPICS = ("/icp_odom", "/lidar_odometry", "/localization/odom", "/slam/pose", "/robot/odom2", "/odom_lidar", "/pose")
SIMULATOR_TOPICS = ("/ground_truth/odom", "/ground_truth/odom", "/odom", "/gazebo/pose")
GNSS_TOPICS = ("/gps/pose", "/odometry/gps", "/localization/odom", "/gnss/pose")

JOINT_NAMES = (
    ("front_left_wheel_joint", "front_right_wheel_joint", "rear_left_wheel_joint", "rear_right_wheel_joint"),
    ("front_left_wheel", "front_right_wheel", "rear_left_wheel", "rear_right_wheel"),
    ("left_wheel", "right_wheel"),
    ("left_wheel_joint", "right_wheel_joint"),
)

#: Recipes of the confusion cases and how many of each.
RECIPES = {
    "wheel odometry": 38,
    "ekf and wheel odometry": 24,
    "ekf": 12,
    "mocap": 18,
    "mocap and wheel odometry": 14,
    "lidar": 10,
    "lidar and wheel odometry": 8,
    "nav2": 10,
    "simulator and wheel odometry": 8,
    "gnss and ekf": 8,
    "noisy odometry": 8,
    "visual odometry": 4,
    "gnss odometry": 2,
}


def confusion_cases() -> tuple[Case, ...]:
    """164 bags with pose-like topics of all kinds, under telling, neutral and misleading names."""
    cases = []
    for recipe, count in RECIPES.items():
        for k in range(count):
            cases.append(_case(recipe, k, len(cases)))
    return tuple(cases)


def calibration_cases(count: int, *, mu: float = 0.9, seed: int = 0) -> tuple[Case, ...]:
    """Bags with encoders, IMU and wheel odometry and without an independent pose, of robots drawn from the stated uncertainties.

    The calibration gets the library's robot. With this mu wheels slide in spins where c_lat is small, as on real floors. Much
    larger values are not realistic in hand-driven drives: the wheel_slip law holds a standing wheel, and each time the wheels
    of one side pass through zero speed in a curve, the robot would be stopped with more than 10 m/s².
    """
    return tuple(_calibration_case(k, mu, seed) for k in range(count))


def _calibration_case(k: int, mu: float, seed: int) -> Case:
    draw = np.random.default_rng([seed, k, 22])
    name = ("p3at", "p3at", "husky")[k % 3]
    robot = find_robot(name)
    mass, inertia, com = robot.mass_kg, robot.yaw_inertia_kgm2, robot.centre_of_mass_m
    com_std = com.std[:2] if com.std is not None else CENTER_OF_MASS_STD_M
    center = np.array(com.value[:2]) + com_std * draw.standard_normal(2)
    body = Body(
        float(mass.value + mass.std * draw.standard_normal()),
        float(inertia.value + inertia.std * draw.standard_normal()),
        (float(center[0]), float(center[1])),
    )
    c_long = _log_uniform(draw, 0.002, 0.03)
    slip = Slip(c_long, c_long * _log_uniform(draw, 2.0, 12.0), mu)
    style = ("planned", "teleop")[(k // 3) % 2]
    planned = Drive(style, 0.9, 1.0, 2.0, 3.0, 60.0)
    by_hand = Drive(style, 0.9, 1.0, 1.0, 2.0, 80.0)
    imu = Imu(
        accel_noise_mps2=float(draw.uniform(0.02, 0.08)),
        accel_bias_mps2=0.03,
        gyro_noise_radps=float(draw.uniform(0.001, 0.004)),
        gyro_bias_radps=0.002,
        at_m=_imu_place(draw),
    )
    joints = Joints(
        rate_hz=float(draw.choice([50.0, 100.0])),
        names=JOINT_NAMES[k % 2],
        jitter_s=float(draw.choice([0.0, 0.0002, 0.0005, 0.002])),
        is_read_at_stamp=bool(draw.uniform() < 0.5),
    )
    return Case(
        name=f"calibration_{k:03d}",
        seed=int(draw.integers(2**31)),
        robot=name,
        body=body,
        ground=slip,
        drive=planned if style == "planned" else by_hand,
        controller=Controller(counts_per_turn=int(draw.choice([2048, 4096, 16384, 65536]))),
        joints=joints,
        imu=imu,
        odometry=(WheelOdometry(rate_hz=50.0, has_tf=bool(k % 2)),),
        about=f"{name}, {style}, c_long {c_long:.4g}, c_lat {slip.c_lat_per_n:.4g}, jitter {1e3 * joints.jitter_s:g} ms",
    )


def _case(recipe: str, k: int, index: int) -> Case:
    draw = np.random.default_rng([index, 21])
    slow = index % 5 == 3
    robot = "husky" if index % 3 == 1 and not slow else "p3at"
    c_long = _log_uniform(draw, 0.001, 0.05)
    case = Case(
        name=f"{index:03d}_{recipe.replace(' ', '_')}",
        seed=1000 + index,
        robot=robot,
        ground=Slip(c_long, c_long * _log_uniform(draw, 1.0, 10.0), float(draw.uniform(0.5, 0.9))),
        drive=_drive(draw, slow, ("planned", "teleop", "patrol", "teleop")[k % 4]),
        controller=_controller(draw, k),
        joints=Joints(
            names=JOINT_NAMES[int(draw.integers(len(JOINT_NAMES)))],
            rate_hz=float(draw.choice([10.0, 20.0, 50.0, 100.0])),
            jitter_s=float(draw.choice([0.0, 0.0005, 0.002])),
            is_read_at_stamp=index % 2 == 1,
        ),
        imu=_imu(draw, k),
        base_frame="base_footprint" if index % 4 == 2 else "base_link",
        has_cmd_vel=index % 6 != 5,
        has_other_topics=index % 3 == 0,
        storage=("mcap", "mcap", "mcap_folder", "sqlite3_folder")[index % 4],
        about=recipe + (", slow robot" if slow else ""),
    )
    return _with_poses(case, recipe, k, draw)


def _with_poses(case: Case, recipe: str, k: int, draw: np.random.Generator) -> Case:
    wheel = (_wheel_odometry(draw, k),)
    if recipe == "wheel odometry":
        return replace(case, odometry=wheel)
    if recipe == "ekf and wheel odometry":
        plain = replace(wheel[0], topic=("/odom", "/wheel/odometry", "/diff_drive_controller/odom")[k % 3], message="Odometry")
        fused = _fused(draw, k, plain.topic)
        started_together = plain.starts_at_zero or "wheel_pose" in fused.fuses
        plain = replace(plain, has_tf=False, starts_at_zero=started_together)
        return replace(case, odometry=(plain,), fused=(fused,), imu=_aware(case, k))
    if recipe == "ekf":
        return replace(case, fused=(_fused(draw, k, ""),), imu=_aware(case, k))
    if recipe == "mocap":
        return replace(case, poses=(_mocap(draw, k),))
    if recipe == "mocap and wheel odometry":
        mocap = _mocap(draw, k)
        return replace(case, poses=(mocap,), odometry=(_other_than(wheel[0], mocap.topic),))
    if recipe.startswith("lidar"):
        lidar = _lidar(draw, k)
        return replace(case, poses=(lidar,), odometry=(_other_than(wheel[0], lidar.topic),) if "wheel" in recipe else ())
    if recipe == "nav2":
        odometry = replace(_wheel_odometry(draw, 1), topic="/odom", has_tf=k % 3 != 2, rate_hz=50.0, delay_s=0.0)
        fused = (_fused(draw, 0, "/odom"),) if k % 3 == 2 else ()
        nav2 = Nav2((1.0, 0.1)[k % 2], has_amcl_pose=k % 4 != 3, wheel_frames=k % 2 == 0)
        return replace(case, odometry=(odometry,), fused=fused, nav2=nav2, base_frame="base_footprint", imu=_aware(case, k))
    if recipe.startswith("simulator"):
        topic = SIMULATOR_TOPICS[k % len(SIMULATOR_TOPICS)]
        kind = "PoseStamped" if topic.endswith("pose") else "Odometry"
        true = PoseSource(topic, "simulator", kind, ("world", "odom")[k % 2], float(draw.choice([20.0, 50.0, 100.0])), 0.0, 0.0)
        return replace(case, poses=(true,), odometry=(_other_than(wheel[0], topic),))
    if recipe == "noisy odometry":
        noise_m = (3e-4, 0.001, 0.003, 0.01)[k // 2 % 4]
        if k % 2:
            return replace(case, fused=(replace(_fused(draw, 0, ""), noise_m=noise_m),), imu=_aware(case, 0))
        return replace(case, odometry=(replace(wheel[0], topic="/odom", message="Odometry", noise_m=noise_m),))
    if recipe == "visual odometry":  # in the frame of odometry and called so, as REP 105 has it
        visual = PoseSource("/odom", "lidar", "Odometry", "odom", 30.0, float(draw.uniform(0.002, 0.005)), 0.002, 0.02)
        return replace(case, poses=(visual,), odometry=(_other_than(wheel[0], "/odom"),))
    topic = "/odometry/gps" if recipe == "gnss odometry" else GNSS_TOPICS[k % len(GNSS_TOPICS)]
    kind = "Odometry" if "odom" in topic else "PoseWithCovarianceStamped"
    gnss = PoseSource(
        topic, "gnss", kind, "map", float(draw.choice([5.0, 10.0])), float(draw.uniform(0.02, 0.03)), 0.01,
        latency_s=float(draw.uniform(0.05, 0.15)), is_stamped_on_arrival=k % 2 == 0, has_heading=topic != "/odometry/gps",
    )  # fmt: skip
    return replace(case, poses=(gnss,), fused=(_fused(draw, k, topic),), imu=_aware(case, k))


def _drive(draw: np.random.Generator, slow: bool, style: str) -> Drive:
    duration_s = float(np.round(draw.uniform(40.0, 90.0)))
    if slow:
        return Drive(style, float(draw.uniform(0.1, 0.3)), float(draw.uniform(0.25, 0.5)), 0.3, 0.8, duration_s)
    speed, rate = float(draw.uniform(0.5, 0.95)), float(draw.uniform(0.6, 1.2))
    return Drive(style, speed, rate, float(draw.uniform(0.6, 2.0)), float(draw.uniform(1.5, 3.0)), duration_s)


def _controller(draw: np.random.Generator, k: int) -> Controller:
    radius, track = ((1.0, 1.0), (1.0, 1.5), (1.05, 1.0), (1.0, 1.875), (0.95, 1.1), (1.0, 1.0))[k % 6]
    counts = int(draw.choice([500, 1024, 2048, 4096, 16384, 65536]))
    return Controller(radius, track, float(draw.choice([50.0, 100.0])), counts)


def _imu(draw: np.random.Generator, k: int) -> Imu:
    turns = (
        (0.0, 0.0, 0.0),
        (0.0, 0.0, np.pi / 2),
        (0.0, 0.0, np.pi),
        (0.0, 0.0, 0.0),
        (np.pi, 0.0, 0.0),
        (0.0, 0.0, -np.pi / 2),
    )
    return Imu(
        accel_noise_mps2=float(draw.uniform(0.02, 0.15)),
        accel_bias_mps2=float(draw.uniform(0.0, 0.1)),
        gyro_noise_radps=float(draw.uniform(0.001, 0.006)),
        gyro_bias_radps=float(draw.uniform(0.0, 0.005)),
        vibration_per_mps=float(draw.choice([0.0, 1.0, 3.0])),
        at_m=_imu_place(draw),
        rpy_rad=turns[k % len(turns)],
        has_orientation=k % 3 == 1,
    )


def _aware(case: Case, k: int) -> Imu:
    """An IMU with an orientation where the filter fuses it."""
    assert case.imu
    return replace(case.imu, has_orientation=k % 4 == 1 or case.imu.has_orientation)


def _imu_place(draw: np.random.Generator) -> tuple[float, float, float]:
    x, y, z = draw.uniform([-0.15, -0.08, 0.05], [0.15, 0.08, 0.2]).round(3)
    return (float(x), float(y), float(z))


def _wheel_odometry(draw: np.random.Generator, k: int) -> WheelOdometry:
    topic = WHEEL_TOPICS[k % len(WHEEL_TOPICS)]
    is_arcos = topic == "/RosAria/pose" or k % 7 == 5
    return WheelOdometry(
        topic=topic,
        method="arcos" if is_arcos else ("rk2", "exact", "euler")[k % 3],
        message="PoseStamped" if topic in ("/pose", "/robot_pose") else "Odometry",
        rate_hz=10.0 if is_arcos else float(draw.choice([10.0, 20.0, 50.0, 100.0])),
        delay_s=float((0.0, 0.0, 0.03, 0.1, 0.2)[k % 5]),
        smoothing_s=float((0.0, 0.0, 0.0, 0.15, 0.0, 0.0, 0.3)[k % 7]),
        is_open_loop=k % 9 == 8,
        starts_at_zero=k % 2 == 0,
        has_tf=k % 3 == 0,
    )


def _other_than(odometry: WheelOdometry, topic: str) -> WheelOdometry:
    return replace(odometry, topic="/wheel/odometry") if odometry.topic == topic else odometry


def _fused(draw: np.random.Generator, k: int, taken: str) -> Fused:
    topic = FUSED_TOPICS[k % len(FUSED_TOPICS)]
    fuses = ((), ("orientation",), ("wheel_yaw_rate",), ("wheel_pose",))[k % 4]
    return Fused(
        topic="/odometry/filtered" if topic == taken else topic,
        method="imu_heading" if k % 6 == 5 else "ekf",
        rate_hz=float(draw.choice([30.0, 50.0])),
        fuses=fuses,
        has_tf=k % 5 != 4,
    )


def _mocap(draw: np.random.Generator, k: int) -> PoseSource:
    off_center = k % 3 == 2
    return PoseSource(
        topic=MOCAP_TOPICS[k % len(MOCAP_TOPICS)],
        message="PoseStamped",
        frame=("world", "mocap", "optitrack", "odom")[k % 4],
        rate_hz=float(draw.choice([30.0, 50.0, 100.0, 120.0])),
        position_noise_m=_log_uniform(draw, 0.001, 0.02),
        yaw_noise_rad=_log_uniform(draw, 0.001, 0.02),
        latency_s=float(draw.uniform(0.0, 0.05)),
        offset_m=(float(draw.uniform(-0.1, 0.1)), float(draw.uniform(-0.1, 0.1))) if off_center else (0.0, 0.0),
        yaw_offset_rad=float(draw.uniform(-0.1, 0.1)) if off_center else 0.0,
    )


def _lidar(draw: np.random.Generator, k: int) -> PoseSource:
    if k % 4 == 3:
        return PoseSource("/amcl_pose", "amcl", "PoseWithCovarianceStamped", "map", position_noise_m=0.03)
    topic = LIDAR_TOPICS[k % len(LIDAR_TOPICS)]
    return PoseSource(
        topic=topic,
        sensor="lidar",
        message="PoseWithCovarianceStamped" if "pose" in topic else "Odometry",
        frame=("odom", "map")[k % 2],
        rate_hz=10.0,
        position_noise_m=float(draw.uniform(0.002, 0.006)),
        yaw_noise_rad=float(draw.uniform(0.001, 0.004)),
        drift_m=float(draw.uniform(0.005, 0.02)),
        jumps=(0, 2, 0, 4)[k % 4] if k % 2 else 0,
        latency_s=float(draw.uniform(0.05, 0.15)),
        is_stamped_on_arrival=k % 3 == 0,
    )


def _log_uniform(draw: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(draw.uniform(np.log(low), np.log(high))))
