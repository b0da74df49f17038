"""Steps of MuJoCo with a soft object: the law of its tetrahedra, and what its contacts yield."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from ....core.bodies import GraspObject
from ....core.hand import HandModel
from ..hand_model import hand_as_simulated
from ..options import SimulationOptions
from ..world_model import SoftMesh, true_modulus
from .contacts import SoftContacts
from .neo_hookean import NeoHookean

Array = NDArray[np.float64]
#: Link, its geom, sign that turns the contact's normal to the link, the contact's number.
Touching = tuple[str, int, float, int]


class SoftBody:
    """
    A soft object of a MuJoCo model, step by step.

    Parameters
    ----------
    model : mujoco.MjModel
    law : NeoHookean
    contacts : SoftContacts, optional
        What contacts yield beside the tetrahedra; default: nothing.
    """

    def __init__(self, model, law: NeoHookean, contacts: SoftContacts | None = None) -> None:
        import mujoco
        self._mujoco, self._model = mujoco, model
        self._law, self._contacts = law, contacts

    def step(self, data, touching: Callable[[], Iterable[Touching]],
             pose: Callable[[], Array]) -> None:
        """
        Go on by one time step.

        Parameters
        ----------
        data : mujoco.MjData
        touching : callable
            Returns the contacts of links with the object, asked once they are found.
        pose : callable
            Returns that of the object in the world (4, 4), then too.
        """
        self._law.follow(data)
        if self._contacts is None:
            self._mujoco.mj_step(self._model, data)
            return
        self._mujoco.mj_step1(self._model, data)
        self._contacts.give_way(data, touching(), pose())
        self._mujoco.mj_step2(self._model, data)
        self._contacts.remember(data)

    def depth(self, link: str) -> float:
        """Return how much deeper than nodes yield a link is now, 0 where it is not [m]."""
        return 0.0 if self._contacts is None else self._contacts.depth(link)


def soft_body_of(model, soft: SoftMesh, grasp_object: GraspObject, hand: HandModel,
                 options: SimulationOptions) -> SoftBody:
    """Return a soft object in a ``mujoco.MjModel``, and its contacts with a hand's links."""
    modulus = true_modulus(grasp_object, options)
    ratio = grasp_object.material.poisson_ratio
    links = {link.name: link.mesh for link in hand_as_simulated(hand).links}
    return SoftBody(model, NeoHookean(model, modulus / soft.stiffening, ratio),
                    SoftContacts(model, soft, grasp_object.mesh, modulus, ratio, links))
