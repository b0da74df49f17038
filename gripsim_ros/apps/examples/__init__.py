"""Things that people have at home, to be planned for: bodies, tasks, and what each teaches."""

from .scenes import SCENES, Scene

__all__ = ['SCENES', 'Scene']
