"""Models as users have them: comments, own formatting, unknown elements, a robot that is not ours."""

AT = {"front_left": "0.125 0.2", "front_right": "0.125 -0.2", "rear_left": "-0.125 0.2", "rear_right": "-0.125 -0.2"}
WHEELS = tuple(AT)


def sdf(
    *, version: str = "1.7", collision: str = "", surface: str = "<surface><friction><ode><mu>0.5</mu></ode></friction></surface>"
):
    """A model with cylinder wheels in links that lie along y; `surface` goes into the first wheel's collision."""
    links = "\n".join(
        f"""    <link name="{name}_wheel_link"><pose>{AT[name]} 0.11 0 0 0</pose>
      <inertial><mass>1.5</mass></inertial>
      <collision name='c'>
        <pose>0 0 0 1.5707963 0 0</pose>
        <geometry><cylinder><radius>0.11</radius><length>0.075</length></cylinder></geometry>
        {surface if k == 0 else "<surface/>" if k == 1 else ""}
      </collision>{collision if k == 3 else ""}
    </link>
    <joint name="{name}_joint" type="revolute"><parent>base</parent><child>{name}_wheel_link</child>
      <axis><xyz>0 1 0</xyz></axis></joint>"""
        for k, name in enumerate(WHEELS)
    )
    return f"""<?xml version='1.0' encoding="utf-8"?>
<!-- my robot, don't touch: räder > 3 -->
<sdf version='{version}'>
  <model name = "mine"   >
    <link name="base"><inertial><mass>14</mass></inertial><my:unknown xmlns:my="urn:x" a='1>0'/></link>
{links}
\t<!-- the drive -->
    <plugin name="drive" filename="libMine.so"><speed>  1 </speed></plugin>
  </model>
</sdf>
"""


def urdf(*, gazebo: str = "", extra: str = ""):
    """A robot with wheels that turn about y and collisions turned by a quarter about x."""
    parts = "\n".join(
        f"""  <link name="{name}_wheel">
    <inertial><mass value="1.5"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><origin xyz="0 0 0" rpy="1.5707 0 0"/><geometry><sphere radius="0.11"/></geometry></collision>
  </link>
  <joint name="{name}_wheel_joint" type="continuous">
    <parent link="base"/><child link="{name}_wheel"/><axis xyz="0 1 0"/>
  </joint>"""
        for name in WHEELS
    )
    return f"""<robot name="mine" xmlns:xacro="http://ros.org/wiki/xacro">
  <!-- generated -->
  <link name="base"><inertial><mass value="14"/></inertial></link>
{parts}
{gazebo}{extra}</robot>
"""
