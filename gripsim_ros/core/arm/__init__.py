"""The arm that carries the hand: motions free of collision, and the choice among grasps."""

from .choice import ArmProgress, ArmTask, check_distances, choose_by_arm
from .loading import load_arm
from .model import ArmModel
from .motion import CRITERIA, ArmMotion, checked_criterion
from .collision import OtherArm

__all__ = ['ArmModel', 'ArmMotion', 'ArmProgress', 'ArmTask', 'CRITERIA', 'OtherArm',
           'check_distances', 'checked_criterion', 'choose_by_arm', 'load_arm']
