"""
Imported by the server process of ``local`` alone: kernels are loaded once for all workers.

What it does at import, each forked worker would have to do for itself.
"""

from ...library.in_process import warm_up

warm_up()
