"""ODE 0.16 as its shared library offers it: structures, constants and functions that we call, through ctypes.

Layouts are those of ode/contact.h, ode/mass.h and ode/common.h, in double precision; `load` refuses a library of another kind.
"""

import ctypes
import ctypes.util
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_uint, c_ulong, c_void_p
from functools import cache

from slipfit.errors import SimulationError

INSTALL = "sudo apt-get install libode8"
NAMES = ("libode.so.8", "libode.8.dylib")

Vector3 = c_double * 4  # a dVector3 has a fourth number that is not used
Matrix3 = c_double * 12  # three rows of four

# dContact's mode
MU2, FDIR1, SOFT_ERP, SOFT_CFM, SLIP1, SLIP2, APPROX1 = 0x001, 0x002, 0x008, 0x010, 0x100, 0x200, 0x7000
# joint parameters
PARAM_VEL, PARAM_FMAX = 2, 5


class SurfaceParameters(Structure):
    _fields_ = (
        ("mode", c_int),
        *((name, c_double) for name in ["mu", "mu2", "rho", "rho2", "rhoN", "bounce", "bounce_vel", "soft_erp", "soft_cfm"]),
        *((name, c_double) for name in ["motion1", "motion2", "motionN", "slip1", "slip2"]),
    )


class ContactGeom(Structure):
    _fields_ = (
        ("pos", Vector3),
        ("normal", Vector3),
        ("depth", c_double),
        ("g1", c_void_p),
        ("g2", c_void_p),
        ("side1", c_int),
        ("side2", c_int),
    )


class Contact(Structure):
    _fields_ = (("surface", SurfaceParameters), ("geom", ContactGeom), ("fdir1", Vector3))


class JointFeedback(Structure):
    _fields_ = (("f1", Vector3), ("t1", Vector3), ("f2", Vector3), ("t2", Vector3))


class Mass(Structure):
    _fields_ = (("mass", c_double), ("c", Vector3), ("I", Matrix3))


MessageHandler = CFUNCTYPE(None, c_int, c_char_p, c_void_p)

_ID, _D, _I = c_void_p, c_double, c_int
_REALS = POINTER(c_double)
#: name: (result, arguments)
_FUNCTIONS = {
    "dInitODE2": (_I, (c_uint,)),
    "dAllocateODEDataForThread": (_I, (c_uint,)),
    "dGetConfiguration": (c_char_p, ()),
    "dSetMessageHandler": (None, (MessageHandler,)),
    "dRandSetSeed": (None, (c_ulong,)),
    "dWorldCreate": (_ID, ()),
    "dWorldDestroy": (None, (_ID,)),
    "dWorldSetGravity": (None, (_ID, _D, _D, _D)),
    "dWorldSetERP": (None, (_ID, _D)),
    "dWorldSetCFM": (None, (_ID, _D)),
    "dWorldSetQuickStepNumIterations": (None, (_ID, _I)),
    "dWorldQuickStep": (_I, (_ID, _D)),
    "dBodyCreate": (_ID, (_ID,)),
    "dBodySetMass": (None, (_ID, POINTER(Mass))),
    "dBodySetPosition": (None, (_ID, _D, _D, _D)),
    "dBodySetRotation": (None, (_ID, Matrix3)),
    "dBodyGetPosition": (_REALS, (_ID,)),
    "dBodyGetQuaternion": (_REALS, (_ID,)),
    "dBodyGetRotation": (_REALS, (_ID,)),
    "dBodyGetLinearVel": (_REALS, (_ID,)),
    "dBodyGetAngularVel": (_REALS, (_ID,)),
    "dMassSetParameters": (None, (POINTER(Mass), *[_D] * 10)),
    "dCreateSphere": (_ID, (_ID, _D)),
    "dCreateCylinder": (_ID, (_ID, _D, _D)),
    "dCreateBox": (_ID, (_ID, _D, _D, _D)),
    "dCreatePlane": (_ID, (_ID, _D, _D, _D, _D)),
    "dGeomDestroy": (None, (_ID,)),
    "dGeomSetBody": (None, (_ID, _ID)),
    "dGeomSetOffsetPosition": (None, (_ID, _D, _D, _D)),
    "dGeomSetOffsetRotation": (None, (_ID, Matrix3)),
    "dGeomGetRotation": (_REALS, (_ID,)),
    "dCollide": (_I, (_ID, _ID, _I, c_void_p, _I)),
    "dJointGroupCreate": (_ID, (_I,)),
    "dJointGroupEmpty": (None, (_ID,)),
    "dJointGroupDestroy": (None, (_ID,)),
    "dJointCreateContact": (_ID, (_ID, _ID, c_void_p)),
    "dJointCreateHinge": (_ID, (_ID, _ID)),
    "dJointAttach": (None, (_ID, _ID, _ID)),
    "dJointSetFeedback": (None, (_ID, c_void_p)),
    "dJointSetHingeAnchor": (None, (_ID, _D, _D, _D)),
    "dJointSetHingeAxis": (None, (_ID, _D, _D, _D)),
    "dJointSetHingeParam": (None, (_ID, _I, _D)),
    "dJointGetHingeAngle": (_D, (_ID,)),
    "dJointGetHingeAngleRate": (_D, (_ID,)),
}  # fmt: skip


@cache
def load() -> ctypes.CDLL:
    """The library, ready for use; the same one for the whole process."""
    library = _open()
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if b"ODE_double_precision" not in library.dGetConfiguration():
        raise SimulationError(f"ODE: this library computes in single precision; expected double, as Debian's libode8 ({INSTALL})")
    assert ctypes.sizeof(Contact) == 248, "dContact of ODE 0.16 in double precision"
    library.dInitODE2(0)
    library.dAllocateODEDataForThread(0xFFFFFFFF)
    library.dSetMessageHandler(_HANDLER)
    return library


def _open() -> ctypes.CDLL:
    for name in (*NAMES, ctypes.util.find_library("ode")):
        if name:
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
    raise SimulationError(f"ODE: libode.so.8 is not installed; install it with: {INSTALL}")


#: What ODE would have printed, since somebody last emptied it; stiff contacts make it say the same thousands of times.
messages: list[str] = []
_MOST_MESSAGES = 100


def _keep(_number: int, text: bytes | None, _arguments: int | None) -> None:
    if len(messages) < _MOST_MESSAGES:
        messages.append((text or b"").decode(errors="replace").strip())


_HANDLER = MessageHandler(_keep)  # the library keeps its address
