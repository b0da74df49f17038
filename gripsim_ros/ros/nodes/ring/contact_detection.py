"""Node `contact_detection`: contact of the hand with the undeformed object."""

import sys
from functools import cached_property

from gripsim_interfaces.msg import Contacts, LinkStates, RingHeader

from ....core.bodies import GraspObject
from ....core.contact import ContactScene, LinkShapes, detect_contacts
from ....core.hand import compute_link_states
from ....library.hands.warm_up_scene import warm_up_configurations, warm_up_object
from ...conversions import contacts_to_msg, link_states_from_msg
from ..base.node_base import run
from .stage_node import StageNode


class ContactDetectionNode(StageNode):
    """Second stage of the ring; see the module."""

    NAME = 'contact_detection'
    INPUT = (LinkStates, 'link_states')
    OUTPUT = (Contacts, 'contacts')

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
        for batch in warm_up_configurations(self.hand):
            detect_contacts(scene, compute_link_states(self.hand, batch))

    def answer(self, msg: LinkStates, prepared: ContactScene, ring: RingHeader) -> Contacts:
        """Return the contacts of a message."""
        batch = link_states_from_msg(msg, len(self.hand.link_names),
                                     len(self.hand.joint_names))
        return contacts_to_msg(detect_contacts(prepared, batch), ring, msg.configurations)


def main(args=None) -> int:
    """Run the node."""
    return run(ContactDetectionNode, args)


if __name__ == '__main__':
    sys.exit(main())
