"""The Pioneer P3AT of the public Gazebo model library as SDF, written by hand: what exporters write, without the exporter.

Chassis 14 kg 0.06 m above the axles, four wheels of 1.5 kg, r 0.11 m, half wheelbase 0.125 m, half track 0.201 m; inertias as
robots/p3at.yaml derives them. c_long 0.005, c_lat 0.05 1/N.
"""

from math import inf, pi

C_LONG, C_LAT = 0.005, 0.05
HALF_TRACK_M, HALF_WHEELBASE_M, RADIUS_M = 0.201, 0.125, 0.11
WHEELS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}

GROUND = """
<model name="floor"><static>true</static><link name="floor"><collision name="floor"><geometry><plane><normal>0 0 1</normal>
<size>100 100</size></plane></geometry><surface><friction><ode><mu>100</mu><mu2>50</mu2></ode></friction></surface></collision>
</link></model>"""


def wheel_collision(shape: str, fdir1: str, mu: float, kp: float, kd: float) -> str:
    return f"""<collision name="c"><geometry>{shape}</geometry><surface>
      <friction><ode><mu>{mu}</mu><mu2>{mu}</mu2>{fdir1}</ode></friction>
      <contact><ode><kp>{kp}</kp><kd>{kd}</kd></ode></contact></surface></collision>"""


def model_sdf(
    *,
    width_m: float = 0.0,
    fdir1: str = "<fdir1>0 0 1</fdir1>",
    mu: float = 10.0,
    kp: float = 1e5,
    kd: float = 100.0,
    effort_nm: float = inf,
    c_long: float = C_LONG,
    c_lat: float = C_LAT,
    plugin: bool = True,
) -> str:
    """The <model>: sphere wheels, or cylinders where a width is given."""
    shape = f"<sphere><radius>{RADIUS_M}</radius></sphere>"
    if width_m:
        shape = f"<cylinder><radius>{RADIUS_M}</radius><length>{width_m}</length></cylinder>"
    effort = "" if effort_nm == inf else f"<limit><effort>{effort_nm}</effort></limit>"
    links = joints = slips = ""
    for name, (ahead, left) in WHEELS.items():
        pose = f"{ahead * HALF_WHEELBASE_M} {left * HALF_TRACK_M} 0 {-pi / 2!r} 0 0"
        links += f"""<link name="{name}"><pose>{pose}</pose><inertial><mass>1.5</mass><inertia><ixx>0.0052</ixx>
        <iyy>0.0052</iyy><izz>0.009075</izz></inertia></inertial>{wheel_collision(shape, fdir1, mu, kp, kd)}</link>"""
        joints += f"""<joint name="{name}_joint" type="revolute"><parent>base</parent><child>{name}</child>
        <axis><xyz>0 0 1</xyz>{effort}</axis></joint>"""
        slips += f"""<wheel link_name="{name}"><slip_compliance_lateral>{c_lat}</slip_compliance_lateral>
        <slip_compliance_longitudinal>{c_long}</slip_compliance_longitudinal><wheel_normal_force>1</wheel_normal_force>
        <wheel_radius>{RADIUS_M}</wheel_radius></wheel>"""
    system = f'<plugin name="slip" filename="libWheelSlipPlugin.so">{slips}</plugin>' if plugin else ""
    return f"""<model name="p3at"><pose>0 0 {RADIUS_M} 0 0 0</pose><link name="base"><inertial><pose>0 0 0.06 0 0 0</pose>
      <mass>14</mass><inertia><ixx>0.1471</ixx><iyy>0.3350</iyy><izz>0.3978</izz></inertia></inertial></link>
      {links}{joints}{system}</model>"""


def world_sdf(**changes: object) -> str:
    """The model in a world of its own."""
    return f"""<?xml version="1.0"?><sdf version="1.7"><world name="w"><gravity>0 0 -9.81</gravity>{GROUND}
    {model_sdf(**changes)}</world></sdf>"""
