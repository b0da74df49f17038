"""Parameters of the mechanics; their values live in ``config/mechanics.yaml``."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import TaskError
from ..grasp_theory.contact_set import TorqueOptions
from .boundary_elements.disk_cache import ComplianceOptions
from .contact.contact_forces import ContactForceOptions
from .contact.patch_resultants import ValidityOptions
from .deformation.deformed_surface import SurfaceOptions
from .stability.grasp_force_socp import MinimalForceOptions
from .stability.stability import StabilityOptions, checked_fields

_SECTIONS = {'forces': ContactForceOptions, 'validity': ValidityOptions,
             'surface': SurfaceOptions, 'stability': StabilityOptions,
             'minimal_forces': MinimalForceOptions, 'torques': TorqueOptions,
             'compliance': ComplianceOptions}
#: Models of the object's elasticity.
ELASTICITIES = ('half_space', 'body', 'auto')


@dataclass(frozen=True)
class MechanicsOptions:
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
    metrics_edges: int = 8
    elasticity: str = 'half_space'
    compliance: ComplianceOptions = field(default_factory=ComplianceOptions)

    def __post_init__(self) -> None:
        """Check edges and elasticity; the sections check themselves."""
        if not (isinstance(self.metrics_edges, int) and self.metrics_edges >= 3):
            raise TaskError('mechanics.metrics_edges must be a whole number of at least 3, '
                            f'got {self.metrics_edges!r}')
        if self.elasticity not in ELASTICITIES:
            raise TaskError(f'mechanics.elasticity must be one of {", ".join(ELASTICITIES)}, '
                            f'got {self.elasticity!r}')

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any] | None) -> 'MechanicsOptions':
        """
        Return options from a mapping of sections, as read from YAML.

        Parameters
        ----------
        values : mapping or None
            What is left out keeps its default.

        Raises
        ------
        TaskError
            A name is unknown, or a value of the wrong kind or outside its range.
        """
        chosen = checked_fields(cls, _mapping('mechanics', values), 'mechanics')
        for name, kind in _SECTIONS.items():
            section = checked_fields(kind, _mapping(name, chosen.get(name)), name)
            try:
                chosen[name] = kind(**section)
            except TypeError:
                raise TaskError(f'{name}: a value is of the wrong kind, got {section}') from None
        return cls(**chosen)

    def with_folder(self, folder: Path) -> 'MechanicsOptions':
        """Return options that keep compliances in a folder, unless they name one."""
        if self.compliance.folder:
            return self
        return replace(self, compliance=replace(self.compliance,
                                                folder=str(folder / 'compliance')))


def _mapping(name: str, values: Any) -> Mapping[str, Any]:
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise TaskError(f'{name} must be a mapping of options, got {values!r}')
    return values
