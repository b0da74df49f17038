"""
The numerical core: geometry, contact, mechanics and planning without ROS.

Reading order is import order: ``errors``, ``transforms``, ``batches``, then
``bodies`` and ``hand``, ``contact``, ``mechanics``, ``planning``, ``pipeline``.
"""
