"""Behaviour chosen by the type of a model: how a vehicle is handed a law, a ground or a powertrain."""

import functools

from numba import types

from slipfit.kernels.compile import overload


def chosen_by_type(default):
    """Turn `default` into a function that other modules implement for their own classes, for Python and for Numba.

    The first argument's class decides; `default`'s own body serves classes that registered nothing. The choice falls at
    compile time, so it costs nothing at run time:

        @chosen_by_type
        def traction(law, touch): ...

        @traction.of(Coulomb)
        def _(law, touch): return ...
    """
    implementations = {}

    @functools.wraps(default)
    def call(model, *rest):
        return implementations.get(type(model), default)(model, *rest)

    def register(model_class):
        def keep(implementation):
            implementations[model_class] = implementation
            return implementation

        return keep

    @overload(call)
    @functools.wraps(default)
    def choose(model, *rest):
        if isinstance(model, types.BaseNamedTuple):
            return implementations.get(model.instance_class, default)
        return None

    call.of = register
    return call
