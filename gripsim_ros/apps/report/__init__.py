"""Reports of a plan: one HTML file that opens offline, and PNG pictures."""

from .html import write_report
from .pictures import write_pictures

__all__ = ['write_pictures', 'write_report']
