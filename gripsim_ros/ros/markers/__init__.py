"""
Core results -> ``visualization_msgs`` for RViz.

``layers`` collects markers, ``legend`` explains them, ``scenes`` says what is shown when.
"""

from .finger_forces import FingerForces, force_markers
from .layers import (
    BLUE, BOX_LAYERS, CYAN, DEPTH_FACTOR, FORCE_LENGTH, MAGENTA, MarkerFrame)
from .legend import PRESSURE_LEGEND, SCALE
from .scenes import (
    arm_markers, arm_way_markers, closing_markers, grasp_markers, live_markers, moment_markers,
    no_grasp, obstacle_markers, ranked_markers)

__all__ = ['BLUE', 'BOX_LAYERS', 'CYAN', 'DEPTH_FACTOR', 'FORCE_LENGTH', 'MAGENTA',
           'PRESSURE_LEGEND', 'SCALE', 'FingerForces', 'MarkerFrame', 'arm_markers',
           'arm_way_markers', 'closing_markers', 'force_markers', 'grasp_markers', 'live_markers',
           'moment_markers', 'no_grasp', 'obstacle_markers', 'ranked_markers']
