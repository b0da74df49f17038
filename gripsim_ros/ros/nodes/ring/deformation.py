"""Node `deformation`: forces, deformed surface, centre of mass and stability."""

import sys
from dataclasses import replace
from weakref import WeakKeyDictionary

from gripsim_interfaces.msg import Contacts, GraspStates, RingHeader
from visualization_msgs.msg import MarkerArray

from ....core.batches import AS_PRINTED, HALF_SPACE, HALF_SPACE_FIRST, OWN_COMPLIANCE
from ....core.bodies import GraspObject
from ....core.mechanics import ElasticBody, MechanicsOptions, evaluate_contacts
from ....core.mechanics.boundary_elements.disk_cache import MIN_NODES, ComplianceOptions
from ....core.mechanics.published_stage import evaluate_published, published_options
from ....core.planning.published.rules import LEAST_REGIONS
from ....library.hands.warm_up_scene import warm_up_contacts, warm_up_object
from ....library.resources import cache_directory
from ...conversions import contacts_from_msg, grasp_states_from_msg, grasp_states_to_msg
from ...markers import MarkerFrame, live_markers
from ..base.node_base import config_mapping, latest, one_line, run
from ..base.parameters import NodeParameter
from .compliances import Compliances
from .stage_node import PUBLISHED, StageNode

PARAMETERS = (
    NodeParameter('mechanics_config', str, 'Mechanics options; empty: config/mechanics.yaml.'),
    NodeParameter('object_frame', str, 'Frame of the live markers.'), PUBLISHED)


class DeformationNode(StageNode):
    """Third stage of the ring; shows the live hand's contacts to RViz."""

    NAME = 'deformation'
    INPUT = (Contacts, 'contacts')
    OUTPUT = (GraspStates, 'grasp_states')

    def __init__(self, **kwargs) -> None:
        """Join the ring."""
        super().__init__(PARAMETERS, **kwargs)
        options = MechanicsOptions.from_mapping(
            config_mapping(self.values['mechanics_config'], 'mechanics'))
        self._options = options.with_folder(cache_directory())
        self._compliances = Compliances(self._tell_warnings)
        #: Bodies for the printed rules, of those that were asked about by them.
        self._printed: WeakKeyDictionary[ElasticBody, ElasticBody] = WeakKeyDictionary()
        self._markers = self.create_publisher(MarkerArray, 'live/markers', latest())

    def prepare(self, grasp_object: GraspObject) -> ElasticBody:
        """Return the object as an elastic body."""
        body = ElasticBody(grasp_object, self._options)
        self._tell_warnings(body)
        return body

    def _tell_warnings(self, body: ElasticBody) -> None:
        for warning in body.warnings:
            self.get_logger().warning(f'object {body.grasp_object.label!r}: {warning}')

    def warm_up(self) -> None:
        """Evaluate the contacts of a small scene, then again with the object's own compliance."""
        body = ElasticBody(warm_up_object(), replace(
            self._options, compliance=ComplianceOptions(node_count=MIN_NODES)))
        body.prepare()      # anew: what lies on disk loads no kernels
        for elasticity in (HALF_SPACE, OWN_COMPLIANCE):
            for contacts in warm_up_contacts(self.hand, elasticity):
                evaluate_contacts(body, self.hand, contacts)
        if self.values['published']:
            for contacts in warm_up_contacts(self.hand, AS_PRINTED):
                evaluate_published(self._as_printed(body), self.hand, contacts, LEAST_REGIONS - 1)

    def _as_printed(self, prepared: ElasticBody) -> ElasticBody:
        """Return the same object for the printed rules, kept as long as it is."""
        if prepared not in self._printed:
            self._printed[prepared] = ElasticBody(
                prepared.grasp_object, published_options(self._options))
        return self._printed[prepared]

    def answer(self, msg: Contacts, prepared: ElasticBody, ring: RingHeader) -> GraspStates:
        """
        Return the grasp states of a message, or that the compliance it asks for is not there yet.

        It is prepared meanwhile, so that other plans and the live hand are answered.
        """
        contacts = contacts_from_msg(msg, len(self.hand.link_names), len(self.hand.joint_names))
        wanted = contacts.configurations.elasticity
        own = (self._compliances.of(prepared)
               if wanted in (HALF_SPACE_FIRST, OWN_COMPLIANCE) else None)
        if own is not None and wanted == OWN_COMPLIANCE:
            if not own.done():
                return self._failure(ring, RingHeader.PREPARING,
                                     "prepares the object's own compliance")
            if not own.result():
                return self._failure(ring, RingHeader.NO_COMPLIANCE, prepared.warnings[-1])
        if wanted == AS_PRINTED:
            prepared = self._as_printed(prepared)
            states = evaluate_published(prepared, self.hand, contacts, LEAST_REGIONS)
        else:
            states = evaluate_contacts(prepared, self.hand, contacts)
        return grasp_states_to_msg(states, contacts.configurations, ring)

    def _at_work_since(self) -> float | None:
        """Return since when it answers, or prepares a compliance."""
        answering = super()._at_work_since()
        return self._compliances.since if answering is None else answering

    def on_answered(self, side: str, msg: Contacts, answer: GraspStates) -> None:
        """Show the live hand where somebody looks."""
        if side != 'live' or not self._markers.get_subscription_count():
            return
        try:
            grasp_object = self.objects.find(answer.ring.object_id)
            self._markers.publish(live_markers(
                contacts_from_msg(msg), grasp_states_from_msg(answer), grasp_object, self.hand,
                MarkerFrame(self.values['object_frame'])))
        except Exception as error:
            self.report_error(f'markers: {one_line(error)}')


def main(args=None) -> int:
    """Run the node."""
    return run(DeformationNode, args)


if __name__ == '__main__':
    sys.exit(main())
