"""A ROS 2 node that tells slip: joint states, IMU and a pose in, slip and an alarm out.

    ros2 run my_robot slip_node --ros-args -p twin:=husky.twin.yaml

`twin` is a twin, or a skid-steer, tracked or omni robot of the library, or its file. It needs rclpy, which comes with ROS 2.
Everything that estimates is `slipfit.estimation.online.OnlineSlipFilter`.
"""

import math

import rclpy
from geometry_msgs.msg import Vector3Stamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool

from slipfit.estimation.immobilisation import SURE
from slipfit.estimation.online import OnlineSlipFilter
from slipfit.logs.wheels import wheel_order
from slipfit.twin import find_driver


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def std_of(variance):
    """Of a message's covariance, which is zero where nobody knows it: the filter's own then."""
    return math.sqrt(variance) if variance > 0.0 else None


class SlipNode(Node):
    def __init__(self):
        super().__init__("slip")
        driver = find_driver(self.declare_parameter("twin", "husky").value)
        imu_at_m = tuple(self.declare_parameter("imu_at_m", [0.0, 0.0]).value)
        self.has_accelerometer = self.declare_parameter("use_accelerometer", False).value  # level, in the body's axes
        self.filter = OnlineSlipFilter(driver, accelerometer=self.has_accelerometer, imu_at_m=imu_at_m)
        self.slip = self.create_publisher(Vector3Stamped, "slip", 10)  # left, right, slip angle; omni: ahead, aside, turning
        self.stuck = self.create_publisher(Bool, "stuck", 10)
        self.create_subscription(JointState, "joint_states", self.on_wheels, 50)
        self.create_subscription(Imu, "imu/data", self.on_imu, 200)
        self.create_subscription(Odometry, "pose", self.on_pose, 10)  # by lidar, GNSS or mocap: not by the wheels

    def on_wheels(self, message):
        order = wheel_order(message.name)
        if order is None or not message.velocity:
            return  # joints of an arm, or of a driver that publishes angles alone
        now = self.filter.wheels(seconds(message.header.stamp), *(message.velocity[k] for k in order[0]))
        if now is None:
            return
        told = Vector3Stamped(header=message.header)
        told.vector.x, told.vector.y, told.vector.z = now[1:4]
        self.slip.publish(told)
        self.stuck.publish(Bool(data=now.stuck > SURE))

    def on_imu(self, message):
        when = seconds(message.header.stamp)
        self.filter.gyro(when, message.angular_velocity.z)
        if self.has_accelerometer:
            self.filter.accelerometer(when, message.linear_acceleration.x, message.linear_acceleration.y)

    def on_pose(self, message):
        pose, covariance = message.pose.pose, message.pose.covariance
        q = pose.orientation
        yaw = math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))
        std_m, std_rad = std_of(max(covariance[0], covariance[7])), std_of(covariance[35])
        self.filter.pose(seconds(message.header.stamp), pose.position.x, pose.position.y, yaw, std_m=std_m, std_rad=std_rad)


def main():
    rclpy.init()
    rclpy.spin(SlipNode())


if __name__ == "__main__":
    main()
