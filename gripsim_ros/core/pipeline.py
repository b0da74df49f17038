"""All stages in one process: the same functions that the nodes call, in a row."""

from collections.abc import Callable

from .batches import ConfigurationBatch, GraspStateBatch
from .bodies import GraspObject
from .contact import ContactScene, LinkShapes, detect_contacts
from .hand import HandModel, compute_link_states
from .mechanics import ElasticBody, MechanicsOptions, evaluate_contacts
from .planning import GraspEvaluator, GraspPlanner, Progress


class Pipeline:
    """
    The stages for one hand and one object.

    Parameters
    ----------
    hand : HandModel
    grasp_object : GraspObject
    mechanics : MechanicsOptions
    shapes : LinkShapes, optional
        Of the same hand, to save preparing them.
    scene : ContactScene, optional
        Of the same hand and mesh; the material may differ.
    """

    def __init__(self, hand: HandModel, grasp_object: GraspObject,
                 mechanics: MechanicsOptions, shapes: LinkShapes | None = None,
                 scene: ContactScene | None = None) -> None:
        self._hand = hand
        self._scene = scene or ContactScene(hand, grasp_object, shapes)
        self._body = ElasticBody(grasp_object, mechanics)

    def evaluate(self, configurations: ConfigurationBatch) -> GraspStateBatch:
        """Return the grasp states of a batch of configurations."""
        link_states = compute_link_states(self._hand, configurations)
        return evaluate_contacts(self._body, self._hand,
                                 detect_contacts(self._scene, link_states))


def run(planner: GraspPlanner | GraspEvaluator, pipeline: Pipeline,
        on_progress: Callable[[Progress], bool | None] | None = None) -> bool:
    """
    Carry questions and answers between a planner and the stages until it has finished.

    Parameters
    ----------
    planner : GraspPlanner or GraspEvaluator
    pipeline : Pipeline
    on_progress : callable, optional
        Called after each answer; the planner is stopped once it returns False, and may
        still ask for the details of its best grasps.

    Returns
    -------
    bool
        Whether ``on_progress`` ended it.
    """
    stopped = False
    while not planner.finished:
        ask = planner.ask()
        if ask is None:
            break
        planner.tell(ask.batch_id, pipeline.evaluate(ask.configurations))
        go_on = on_progress is None or on_progress(planner.progress) is not False
        if not go_on and not stopped:
            planner.stop()
            stopped = True
    return stopped
