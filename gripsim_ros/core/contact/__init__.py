"""
Contact of rigid links with the undeformed object.

Oriented boxes reject far pairs, a region of potential interaction narrows the
rest down, and a vantage-point tree over *triangles* answers every exact query:
vertices of one mesh inside the other, refined patches of surface nodes with
their overlap, and certified lower bounds of the distance.
"""

from .geometry.contact_mesh import ContactMesh
from .patches.indenters import Indenter, MeshIndenter, PunchIndenter, SphereIndenter
from .patches.patch import Patch, PatchOptions, sample_patch
from .stage import ContactScene, LinkShapes, detect_contacts, self_clearance
from .vertices.edge_contacts import EdgeContacts, edge_contacts
from .vertices.penetrating_vertices import PenetratingVertices, VertexContacts, vertex_contacts

__all__ = [
    'ContactMesh', 'ContactScene', 'EdgeContacts', 'Indenter', 'LinkShapes', 'MeshIndenter',
    'Patch', 'PatchOptions', 'PenetratingVertices', 'PunchIndenter', 'SphereIndenter',
    'VertexContacts', 'detect_contacts', 'edge_contacts', 'sample_patch', 'self_clearance',
    'vertex_contacts']
