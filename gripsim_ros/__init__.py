"""gripsim: plan grasps of deformable objects with a multi-finger hand."""

__version__ = '0.1.0'
