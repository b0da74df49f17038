"""What the core uses of numba: a compiled kernel has the signature of its source."""

from collections.abc import Callable
from typing import Any, TypeVar

config: Any
types: Any
F = TypeVar('F', bound=Callable[..., object])

def njit(*, cache: bool = ..., inline: str = ..., forceinline: bool = ..., nogil: bool = ...,
         error_model: str = ..., fastmath: set[str] = ...,
         no_cfunc_wrapper: bool = ..., **options: Any) -> Callable[[F], F]: ...
