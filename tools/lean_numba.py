"""
Let numba leave out what nobody needs of the kernels that are compiled ahead.

What is kept in its cache loads and runs in any process that knows nothing of this. It reaches into
numba's own modules, so with releases of numba that nobody tried it does nothing.
"""

from contextlib import contextmanager

from llvmlite import binding
import numba
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import Flags
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import BaseNativeLowering
from numba.core.typing.templates import _OverloadFunctionTemplate

#: Releases of numba that this was tried with.
TRIED = {(0, 68)}
#: Options that a function of numba's own takes over from the kernel that calls it.
INHERITED = ('nrt', 'fastmath', 'error_model', 'forceinline')
#: How the names of the places begin where a process puts what a function may need of Python.
ENVIRONMENT = '_ZN08NumbaEnv'


@contextmanager
def compiling_leanly():
    """Replace four of numba's methods meanwhile."""
    replaced = [
        (_OverloadFunctionTemplate, '_get_impl', once_for_callers_alike),
        (BaseNativeLowering, 'run_pass', marking_what_kernels_alone_call),
        (CPUCodeLibrary, '_optimize_final_module', optimising_what_is_run),
        (CPUCodeLibrary, '_finalize_final_module', assembling_what_is_run)]
    if numba.version_info[:2] not in TRIED:
        replaced = []
    originals = [getattr(owner, name) for owner, name, _ in replaced]
    for (owner, name, make), original in zip(replaced, originals):
        setattr(owner, name, make(original))
    try:
        yield
    finally:
        for (owner, name, _), original in zip(replaced, originals):
            setattr(owner, name, original)


class Inherited(Flags):
    """Options that are compared by being the same, not one by one."""

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__


def once_for_callers_alike(get_impl):
    """
    Compile a function of numba's own once for all callers whose options mean the same to it.

    Numba keeps one for each set of options that a caller has: ``np.empty`` of a vector was
    compiled for callers with and without Python's lock, with and without an entry for Python.
    """
    kept = {}

    def get_impl_once(self, args, kws):
        caller = ConfigStack.top_or_none()
        if caller is None:
            return get_impl(self, args, kws)
        # An option that is not set and one set to its default mean the same, but for nrt.
        key = str([getattr(caller, name) for name in INHERITED] + [caller.is_set('nrt')])
        if key not in kept:
            kept[key] = inherited_from(caller)
        with ConfigStack().enter(kept[key]):
            return get_impl(self, args, kws)
    return get_impl_once


def inherited_from(caller):
    """Return the options that a function takes over from its caller."""
    options = Inherited()
    for name in INHERITED:
        if caller.is_set(name):
            setattr(options, name, getattr(caller, name))
    return options


def marking_what_kernels_alone_call(run_pass):
    """Mark functions without an entry for Python, and give them none for C code either."""
    def run_pass_marked(self, state):
        if state.flags.no_cpython_wrapper:
            state.flags = state.flags.copy()
            state.flags.no_cfunc_wrapper = True
            if state.library is None:
                state.library = state.targetctx.codegen().create_library(
                    state.func_id.func_qualname)
                state.library.enable_object_caching()
            state.library.is_part = True
        return run_pass(self, state)
    return run_pass_marked


def is_part(library):
    """Return True if a library is but linked into those of the kernels that call it."""
    return getattr(library, 'is_part', False)


def optimising_what_is_run(optimize):
    """Leave all but the cheap optimisations to the kernels that a function is linked into."""
    def optimize_if_run(self):
        if not is_part(self):
            optimize(self)
            return
        passes, builder = self._codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False, opt=0, cost='cheap')
        # Kernels that were inlined need not stay beside those that they are part of now.
        passes.add_global_dead_code_eliminate_pass()
        passes.run(self._final_module, builder)
    return optimize_if_run


def assembling_what_is_run(finalize):
    """Make machine code of what is run; of what is linked into others keep the text alone."""
    def finalize_if_run(self):
        if not is_part(self):
            finalize(self)
            return
        whole = self._final_module
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._final_module = environments_of(whole)
        finalize(self)
        self._final_module = self._shared_module = to_be_linked(whole)
    return finalize_if_run


def to_be_linked(module):
    """Let what a module defines be defined again or left out where it is linked into others."""
    for function in module.functions:
        if not function.is_declaration and function.linkage == binding.Linkage.external:
            function.linkage = 'linkonce_odr'
    return module


def environments_of(module):
    """Return a module with what numba fills in of a function at once, and no function."""
    places = [f'@"{place.name}" = common global i64 0' for place in module.global_variables
              if place.name.startswith(ENVIRONMENT)]
    part = binding.parse_assembly('\n'.join([f'target triple = "{module.triple}"', *places]))
    part.name = module.name
    part.data_layout = module.data_layout
    return part
