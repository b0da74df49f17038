"""Node `contact_detection`: contact of the hand with the undeformed object."""

import sys
from functools import cached_property
from weakref import WeakKeyDictionary

from gripsim_interfaces.msg import Contacts, LinkStates, RingHeader

from ....core.batches import AS_PRINTED
from ....core.bodies import GraspObject
from ....core.contact import ContactScene, LinkShapes, detect_contacts
from ....core.contact.published.rule_stage import RuleScene, detect_rule_contacts
from ....core.hand import compute_link_states
from ....library.hands.warm_up_scene import warm_up_configurations, warm_up_object
from ...conversions import contacts_to_msg, link_states_from_msg
from ..base.node_base import run
from .stage_node import PUBLISHED, StageNode

PARAMETERS = (PUBLISHED,)


class ContactDetectionNode(StageNode):
    """Second stage of the ring; see the module."""

    NAME = 'contact_detection'
    INPUT = (LinkStates, 'link_states')
    OUTPUT = (Contacts, 'contacts')

    def __init__(self, **kwargs) -> None:
        """Join the ring."""
        #: Of the objects that were asked about by the printed rule.
        self._rule_scenes: WeakKeyDictionary[ContactScene, RuleScene] = WeakKeyDictionary()
        super().__init__(PARAMETERS, **kwargs)

    @cached_property
    def shapes(self) -> LinkShapes:
        """Return trees and hulls of the hand's links, built once for all objects."""
        return LinkShapes.of_hand(self.hand)

    def prepare(self, grasp_object: GraspObject) -> ContactScene:
        """Return the hand and the object, ready for queries."""
        scene = ContactScene(self.hand, grasp_object, self.shapes)
        scene.prepare()
        return scene

    def warm_up(self) -> None:
        """Detect the contacts of a small scene."""
        scene = self.prepare(warm_up_object())
        printed = RuleScene(self.hand, warm_up_object()) if self.values['published'] else None
        for batch in warm_up_configurations(self.hand):
            states = compute_link_states(self.hand, batch)
            detect_contacts(scene, states)
            if printed is not None:
                detect_rule_contacts(printed, states)

    def answer(self, msg: LinkStates, prepared: ContactScene, ring: RingHeader) -> Contacts:
        """Return the contacts of a message."""
        batch = link_states_from_msg(msg, len(self.hand.link_names),
                                     len(self.hand.joint_names))
        if batch.configurations.elasticity == AS_PRINTED:
            contacts = detect_rule_contacts(self._rule_scene(prepared, ring.object_id), batch)
        else:
            contacts = detect_contacts(prepared, batch)
        return contacts_to_msg(contacts, ring, msg.configurations)

    def _rule_scene(self, prepared: ContactScene, object_id: str) -> RuleScene:
        """Return hand and object for the printed rule, kept as long as those for ours."""
        if prepared not in self._rule_scenes:
            self._rule_scenes[prepared] = RuleScene(self.hand, self.objects.find(object_id))
        return self._rule_scenes[prepared]


def main(args=None) -> int:
    """Run the node."""
    return run(ContactDetectionNode, args)


if __name__ == '__main__':
    sys.exit(main())
