"""A ROS 2 node that tells slip: joint states, IMU and odometry in, slip and an alarm out.

    ros2 run my_robot slip_node --ros-args -p twin:=husky.twin.yaml -p radius_m:=0.1651

It needs rclpy, which comes with ROS 2. Everything that estimates is `slipfit.estimate.online.OnlineSlipFilter`.
"""

import math

import rclpy
from geometry_msgs.msg import Vector3Stamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool

from slipfit.estimate.online import OnlineSlipFilter
from slipfit.twin import find_driver


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


class SlipNode(Node):
    def __init__(self):
        super().__init__("slip")
        self.filter = OnlineSlipFilter(find_driver(self.declare_parameter("twin", "husky").value))
        self.radius_m = self.declare_parameter("radius_m", 0.1651).value
        self.slip = self.create_publisher(Vector3Stamped, "slip", 10)  # left, right, slip angle
        self.stuck = self.create_publisher(Bool, "stuck", 10)
        self.create_subscription(JointState, "joint_states", self.on_wheels, 50)
        self.create_subscription(Imu, "imu/data", self.on_imu, 200)
        self.create_subscription(Odometry, "pose", self.on_pose, 10)  # by lidar, GNSS or mocap: not by the wheels

    def on_wheels(self, message):
        sides = {"left": [], "right": []}
        for name, speed in zip(message.name, message.velocity, strict=True):
            for side, speeds in sides.items():
                if side in name:
                    speeds.append(speed)
        if not all(sides.values()):
            return
        left, right = (self.radius_m * sum(speeds) / len(speeds) for speeds in sides.values())
        now = self.filter.rims(seconds(message.header.stamp), left, right)
        told = Vector3Stamped(header=message.header)
        told.vector.x, told.vector.y, told.vector.z = now.slip_left, now.slip_right, now.slip_angle_rad
        self.slip.publish(told)
        self.stuck.publish(Bool(data=now.stuck > 0.9))

    def on_imu(self, message):
        self.filter.gyro(seconds(message.header.stamp), message.angular_velocity.z)

    def on_pose(self, message):
        pose = message.pose.pose
        yaw = 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)
        self.filter.pose(seconds(message.header.stamp), pose.position.x, pose.position.y, yaw)


def main():
    rclpy.init()
    rclpy.spin(SlipNode())


if __name__ == "__main__":
    main()
