"""Mechanics: contact forces, deformed surface, centre of mass, stability, minimal forces."""

from ..contact import SphereIndenter
from .body import ElasticBody
from .indentation import CylinderIndenter, Indentation, LinkIndenter, indent_body
from .options import MechanicsOptions
from .stage import evaluate_contacts

__all__ = ['CylinderIndenter', 'ElasticBody', 'Indentation', 'LinkIndenter',
           'MechanicsOptions', 'SphereIndenter', 'evaluate_contacts', 'indent_body']
