"""Parameters of the mechanics; their values live in ``config/mechanics.yaml``."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from ..grasp_theory.contact_set import TorqueOptions
from ..grasp_theory.grasp_force_socp import MinimalForceOptions
from ..options import option, Options
from .boundary_elements.disk_cache import ComplianceOptions
from .contact.contact_forces import ContactForceOptions
from .contact.patch_resultants import ValidityOptions
from .deformation.deformed_surface import SurfaceOptions
from .stability.stability import StabilityOptions


@dataclass(frozen=True)
class MechanicsOptions(Options, section='mechanics'):
    """
    Parameters of the deformation stage.

    Attributes
    ----------
    forces : ContactForceOptions
    validity : ValidityOptions
    surface : SurfaceOptions
    stability : StabilityOptions
    minimal_forces : MinimalForceOptions
    torques : TorqueOptions
        Of stability and minimal forces alike.
    metrics_edges : int
        Edges of the pyramids that stand for friction cones in epsilon, at least 3.
    elasticity : str
        ``half_space``: under each pad one; ``body``: the object's own compliance; ``auto``:
        the object's own where the half-space is too thick for a patch.
    compliance : ComplianceOptions
        Of the body's own compliance.

    Raises
    ------
    TaskError
        A value is outside its range.
    """

    forces: ContactForceOptions = field(default_factory=ContactForceOptions)
    validity: ValidityOptions = field(default_factory=ValidityOptions)
    surface: SurfaceOptions = field(default_factory=SurfaceOptions)
    stability: StabilityOptions = field(default_factory=StabilityOptions)
    minimal_forces: MinimalForceOptions = field(default_factory=MinimalForceOptions)
    torques: TorqueOptions = field(default_factory=TorqueOptions)
    metrics_edges: int = option(8, whole=True, least=3)
    elasticity: str = option('half_space', among='half_space, body, auto')
    compliance: ComplianceOptions = field(default_factory=ComplianceOptions)

    def with_folder(self, folder: Path) -> 'MechanicsOptions':
        """Return options that keep compliances in a folder, unless they name one."""
        if self.compliance.folder:
            return self
        return replace(self, compliance=replace(self.compliance,
                                                folder=str(folder / 'compliance')))
