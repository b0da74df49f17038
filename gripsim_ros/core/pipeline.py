"""All stages in one process: the same functions that the nodes call, one after the other."""

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

from .batches import ConfigurationBatch, GraspStateBatch
from .bodies import GraspObject
from .contact import ContactScene, LinkShapes, PatchOptions, detect_contacts
from .contact.published.rule_stage import RuleScene, detect_rule_contacts
from .hand import HandModel, compute_link_states
from .mechanics import ElasticBody, MechanicsOptions, evaluate_contacts
from .mechanics.published_stage import evaluate_published, published_options
from .planning import AskAndTell, Progress
from .planning.closing.batching import run_closings
from .planning.published.rules import LEAST_REGIONS, PublishedRules

#: Number of hypotheses closed together once a grasp is stable; before, one: the first sooner.
GROUP = 4


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
    patches : PatchOptions
        How finely contacts are sampled.
    """

    def __init__(self, hand: HandModel, grasp_object: GraspObject, mechanics: MechanicsOptions,
                 shapes: LinkShapes | None = None,
                 patches: PatchOptions = PatchOptions()) -> None:
        self._hand, self._scene = hand, ContactScene(hand, grasp_object, shapes, patches)
        self._grasp_object, self._mechanics = grasp_object, mechanics

    def prepare(self) -> None:
        """Build now the structures that the first question would build; from any thread."""
        self._scene.prepare()
        self.body       # last: its mass, the planner beside finds for itself meanwhile

    @cached_property
    def body(self) -> ElasticBody:
        """Return the object as an elastic body."""
        return ElasticBody(self._grasp_object, self._mechanics)

    def prepare_own_compliance(self) -> bool:
        """Prepare the object's own compliance; return False where half-spaces answer."""
        return self.body.prepare()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what is to be said of the object's compliance."""
        return self.body.warnings

    def evaluate(self, configurations: ConfigurationBatch) -> GraspStateBatch:
        """Return the grasp states of a batch of configurations."""
        link_states = compute_link_states(self._hand, configurations)
        return evaluate_contacts(self.body, self._hand, detect_contacts(self._scene, link_states))


class PublishedPipeline:
    """
    The stages by the papers' rules, for ``PublishedPlanner``; parameters as of ``Pipeline``.

    Parameters
    ----------
    rules : PublishedRules
        Which of them are as printed.
    """

    def __init__(self, hand: HandModel, grasp_object: GraspObject, mechanics: MechanicsOptions,
                 rules: PublishedRules = PublishedRules()) -> None:
        self._hand, self._rules = hand, rules
        self._scene: RuleScene | ContactScene = (
            RuleScene if rules.contacts == 'vertices' else ContactScene)(hand, grasp_object)
        self._body = ElasticBody(grasp_object, published_options(
            mechanics, rings=rules.surface == 'rings'))

    def prepare(self) -> None:
        """Build now the structures that the first question would build; from any thread."""
        self._scene.prepare()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return nothing: the method knows no compliance of a body."""
        return ()

    def evaluate(self, configurations: ConfigurationBatch) -> GraspStateBatch:
        """Return the grasp states of a batch of configurations."""
        states = compute_link_states(self._hand, configurations)
        contacts = (detect_contacts(self._scene, states) if isinstance(self._scene, ContactScene)
                    else detect_rule_contacts(self._scene, states, self._rules.direction))
        return evaluate_published(self._body, self._hand, contacts, LEAST_REGIONS,
                                  by_cells=self._rules.centre == 'cells',
                                  by_pseudo_inverse=self._rules.forces == 'pseudo_inverse')


class Stages(Protocol):
    """What answers the questions of a planner."""

    def evaluate(self, configurations: ConfigurationBatch) -> GraspStateBatch:
        """Return the grasp states of a batch of configurations."""


def run(planner: AskAndTell, pipeline: Stages,
        on_progress: Callable[[Progress], bool | None] | None = None) -> bool:
    """
    Answer the questions of a planner by the stages until it has finished.

    Parameters
    ----------
    planner : GraspPlanner, GraspEvaluator or PublishedPlanner
    pipeline : Pipeline or PublishedPipeline
    on_progress : callable, optional
        Called after each answer; the planner is stopped once it returns False, and may
        still ask for the details of its best grasps.

    Returns
    -------
    bool
        Whether ``on_progress`` ended it.
    """
    watch = Watch(planner, on_progress)
    while closings := planner.begin(group_size(planner)):
        planner.end(run_closings(closings, planner, pipeline.evaluate, watch.goes_on))
        watch.stop_if_told()
    while not planner.finished and (ask := planner.ask()):
        planner.tell(ask.batch_id, pipeline.evaluate(ask.configurations))
        watch.stop_if_told()
    return watch.told_to_stop


def group_size(planner: AskAndTell) -> int:
    """Return how many hypotheses to close together now; no verdict depends on it."""
    return GROUP if planner.progress.stable else 1


class Watch:
    """
    Reports the progress of a planner, and stops it when asked to.

    Parameters
    ----------
    planner : GraspPlanner or GraspEvaluator
    on_progress : callable or None
        Called with ``Progress``; False asks for the end.
    """

    def __init__(self, planner: AskAndTell,
                 on_progress: Callable[[Progress], bool | None] | None) -> None:
        self._planner, self._on_progress = planner, on_progress
        self.told_to_stop = self._stopped = False

    def goes_on(self) -> bool:
        """Report progress; return False once the end was asked for."""
        if self._on_progress is not None:
            self.told_to_stop |= self._on_progress(self._planner.progress) is False
        return not self.told_to_stop

    def stop_if_told(self) -> None:
        """Report progress, and stop the planner once the end was asked for."""
        if not self.goes_on() and not self._stopped:
            self._planner.stop()
            self._stopped = True
