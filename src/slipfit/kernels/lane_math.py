"""Mathematics of lanes: sine, exponential and their kin for eight runs at once.

Accurate to about 1e-15, the same in every lane and on every machine with fused multiply-add. The coefficients are minimax
fits of ours to 40 digits, the arguments reduced as each function's comment says. Importing this module teaches Numba the
`math` functions for `Lanes`; kernels go on writing `from math import sin`.
"""

import math
import operator
from functools import wraps

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from slipfit.kernels.compile import overload
from slipfit.kernels.lanes import Lanes, alike, fma, where


def _polynomial(coefficients):
    """Estrin's scheme: halves that do not wait for each other, joined by x, x**2, x**4 and x**8."""

    def join(terms, power):
        if len(terms) == 1:
            return terms[0]
        pairs = [f"fma({high}, x{power}, {low})" for low, high in zip(terms[::2], terms[1::2], strict=False)]
        return join(pairs + terms[len(pairs) * 2 :], 2 * power)

    body = "x2 = x1 * x1\n    x4 = x2 * x2\n    x8 = x4 * x4"
    scope = {"fma": fma}
    exec(f"def evaluate(x1):\n    {body}\n    return {join([repr(c) for c in coefficients], 1)}", scope)
    return njit(scope["evaluate"])


_SIN = _polynomial([-0.16666666666666666667, 0.0083333333333333333008, -0.00019841269841269806101, 2.7557319223971254297e-6,
                    -2.5052108382389887875e-8, 1.6059043479276752055e-10, -7.6471391146466496489e-13, 2.8104685816815676566e-15,
                    -8.0060487034696206518e-18])  # fmt: skip
_ATAN = _polynomial([-0.33333333333333330156, 0.19999999999995516545, -0.14285714284665680761, 0.11111111015187018721,
                     -0.090909045753064890841, 0.076921831253768920817, -0.066645105255089365055, 0.05858140904866327579,
                     -0.050854078345894810117, 0.039230447784793011334, -0.019175404711104840705])  # fmt: skip
_EXP = _polynomial([0.5, 0.1666666666666667103, 0.041666666666666669783, 0.0083333333333260831202, 0.0013888888888883711167,
                    0.00019841269875002278793, 2.48015873256774619e-5, 2.7557255170000887438e-6, 2.7557273478718580474e-7,
                    2.5105312729622101787e-8, 2.09147553258932022e-9])  # fmt: skip
_LOG = _polynomial([0.66666666666666666465, 0.40000000000000877606, 0.28571428570803230015, 0.22222222391800469329,
                    0.18181795630884753195, 0.15386240205813478109, 0.13268759668560607477, 0.13086767009948220922])  # fmt: skip


def _lanes_only(function):
    """Compile the decorated function where `function` meets lanes."""

    def register(implementation):
        @overload(function)
        @wraps(implementation)
        def choose(*kinds):
            return implementation if any(isinstance(kind, Lanes) for kind in kinds) else None

        return implementation

    return register


@njit
def _sine(
    x, half_turns, odd
):  # x minus so many half turns, exactly as written: fma keeps fastmath from merging the two parts of pi
    r = fma(half_turns, -1.2246467991473532e-16, fma(half_turns, -3.141592653589793, x))
    r = where(odd, -r, r)
    z = r * r
    return fma(r * z, _SIN(z), r)


@_lanes_only(math.sin)
def _sin(x):
    n = math.floor(fma(x, 0.3183098861837907, 0.5))
    half = 0.5 * n
    return _sine(x, n, math.floor(half) != half)


@_lanes_only(math.cos)
def _cos(x):  # cos x = sin(x + quarter turn)
    n = math.floor(fma(x, 0.3183098861837907, 1.0))
    half = 0.5 * n
    return _sine(x, n - 0.5, math.floor(half) != half)


@_lanes_only(math.tan)
def _tan(x):
    return math.sin(x) / math.cos(x)


@njit
def _atan_range(a):  # of a >= 0: in three ranges atan a = base + atan(top / bottom)
    steep = a > 2.414213562373095
    middle = a > 0.41421356237309503
    top = where(steep, -1.0, where(middle, a - 1.0, a))
    bottom = where(steep, a, where(middle, a + 1.0, 1.0))
    return top, bottom, where(steep, 1.5707963267948966, where(middle, 0.7853981633974483, 0.0))


@njit
def _arctangent(a):  # of a >= 0, one division
    top, bottom, base = _atan_range(a)
    t = top / bottom
    z = t * t
    return base + fma(t * z, _ATAN(z), t)


@_lanes_only(math.atan)
def _atan(x):
    return math.copysign(_arctangent(abs(x)), x)


@_lanes_only(math.atan2)
def _atan2(y, x):
    ahead = math.atan(y / abs(x))
    return where((x == 0.0) & (y == 0.0), 0.0, where(x < 0.0, math.copysign(math.pi, y) - ahead, ahead))


@intrinsic
def _power_of_two(context, k):
    """2.0**k of whole k in -1022..1023: adding 1.5 * 2**52 leaves k in the low bits, which move up to the exponent."""

    def build(context, builder, signature, values):
        integers = ir.VectorType(ir.IntType(64), k.width)
        shifted = builder.fadd(values[0], ir.Constant(values[0].type, [6755399441055744.0 + 1023.0] * k.width))
        bits = builder.bitcast(shifted, integers)
        return builder.bitcast(builder.shl(bits, ir.Constant(integers, [52] * k.width)), values[0].type)

    return k(k), build


@intrinsic
def _exponent(context, x):
    """floor(log2(x)) of positive normal x: its exponent bits, put behind the bits of 2**52."""

    def build(context, builder, signature, values):
        integers = ir.VectorType(ir.IntType(64), x.width)
        bits = builder.lshr(builder.bitcast(values[0], integers), ir.Constant(integers, [52] * x.width))
        bits = builder.or_(bits, ir.Constant(integers, [0x4330000000000000] * x.width))
        return builder.fsub(
            builder.bitcast(bits, values[0].type), ir.Constant(values[0].type, [4503599627370496.0 + 1023.0] * x.width)
        )

    return x(x), build


@njit
def _exp_parts(x):  # e**x = scale * (1 + part)
    k = math.floor(fma(x, 1.4426950408889634, 0.5))
    r = fma(k, -2.3190468138462996e-17, fma(k, -0.6931471805599453, x))
    return _power_of_two(k), fma(r * r, _EXP(r), r)


@_lanes_only(math.exp)
def _exp(x):
    held = where(x < -708.0, -708.0, where(x > 709.0, 709.0, x))
    scale, part = _exp_parts(held)
    return where(x < -708.0, 0.0, where(x > 709.0, math.inf, fma(scale, part, scale)))


@_lanes_only(math.tanh)
def _tanh(x):  # by e**2x - 1, which keeps its digits near zero
    scale, part = _exp_parts(where(abs(x) > 20.0, math.copysign(40.0, x), 2.0 * x))
    grown = fma(scale, part, scale - 1.0)
    return grown / (grown + 2.0)


@_lanes_only(math.log)
def _log(x):  # subnormals count as zero
    large = x > 1e300  # moved down by 2**100, so that neither factor below overflows
    x = where(large, x * 7.888609052210118e-31, x)
    k = _exponent(1.4142135623730951 * x)
    m = x * _power_of_two(-k)
    k = where(large, k + 100.0, k)
    t = (m - 1.0) / (m + 1.0)
    z = t * t
    part = fma(t * z, _LOG(z), 2.0 * t)
    value = fma(k, 0.6931471805599453, fma(k, 2.3190468138462996e-17, part))
    return where(x < 2.3e-308, where(x < 0.0, math.nan, -math.inf), where(x < math.inf, value, x))


@_lanes_only(math.isfinite)
def _isfinite(x):
    return abs(x) < math.inf


@_lanes_only(math.isnan)
def _isnan(x):
    return x != x


@_lanes_only(math.hypot)
def _hypot(x, y):
    return math.sqrt(x * x + y * y)


@overload(operator.pow)
def _pow(x, y):
    def whole(x, y):
        product = alike(1.0, x)
        for _ in range(abs(y)):
            product *= x
        return product if y >= 0 else 1.0 / product

    def real(x, y):  # of positive x, or of zero to a positive power
        return math.exp(y * math.log(x))

    if isinstance(x, Lanes) and isinstance(y, types.Integer):
        return whole
    return real if isinstance(x, Lanes) or isinstance(y, Lanes) else None


def sin_within(x):
    """Sine of an angle from 0 to pi: no turns to take off."""
    return math.sin(x)


def atan_of_positive(x):
    """Arctangent of x >= 0: no sign to put back."""
    return math.atan(x)


@_lanes_only(sin_within)
def _sin_within(x):
    r = min(x, 3.141592653589793 - x)
    z = r * r
    return fma(r * z, _SIN(z), r)


@_lanes_only(atan_of_positive)
def _atan_of_positive(x):
    return _arctangent(x)


@overload(sin_within)
def _sin_within_float(x):
    return (lambda x: math.sin(x)) if isinstance(x, types.Float) else None


@overload(atan_of_positive)
def _atan_of_positive_float(x):
    return (lambda x: math.atan(x)) if isinstance(x, types.Float) else None


def atan_slopes(x, y):
    """atan(x) / x and atan(y) / y of x, y > 0: one division for both."""
    return math.atan(x) / x, math.atan(y) / y


@njit
def _atan_slope(top, bottom, base, x, per):  # per = 1 / (bottom x)
    t = top * x * per
    z = t * t
    return (base + fma(t * z, _ATAN(z), t)) * (bottom * per)


@_lanes_only(atan_slopes)
def _atan_slopes(x, y):
    top_x, bottom_x, base_x = _atan_range(x)
    top_y, bottom_y, base_y = _atan_range(y)
    below_x, below_y = bottom_x * x, bottom_y * y
    per_both = 1.0 / (below_x * below_y)
    return (
        _atan_slope(top_x, bottom_x, base_x, x, below_y * per_both),
        _atan_slope(top_y, bottom_y, base_y, y, below_x * per_both),
    )


@overload(atan_slopes)
def _atan_slopes_float(x, y):
    return (lambda x, y: (math.atan(x) / x, math.atan(y) / y)) if isinstance(x, types.Float) else None
