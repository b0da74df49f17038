"""Mechanics: contact forces, deformed surface, centre of mass, stability, minimal forces."""

from .options import MechanicsOptions
from .stage import ElasticBody, evaluate_contacts

__all__ = ['ElasticBody', 'MechanicsOptions', 'evaluate_contacts']
