"""Answers to the planner's questions that fit no question, as another suite may send them."""

import time
from contextlib import contextmanager

import numpy as np
from gripsim_interfaces.msg import GraspStates, HandConfigurations, LinkStates, RingHeader
from suite_cases import ball, wait_for

from gripsim_ros.core.batches import (
    ConfigurationBatch, ContactBatch, LinkStateBatch)
from gripsim_ros.core.hand import compute_link_states
from gripsim_ros.core.mechanics.state_builder import StateBuilder
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.ros import conversions
from gripsim_ros.ros.nodes.base.node_base import reliable
from gripsim_ros.ros.nodes.ring.stage_node import PLAN_DEPTH


@contextmanager
def forger(client, forge):
    """Answer every question of the planner at once; yield the list of what was sent."""
    hand = load_default_hand()
    joints = np.zeros((1, len(hand.joint_names)))
    forge(conversions.configurations_to_msg(ConfigurationBatch(     # compiles
        np.eye(4)[None], joints, joints, np.zeros((1, 3))), RingHeader()))
    kind, topic = TOPICS[forge]
    publisher = client.node.create_publisher(kind, topic, reliable(PLAN_DEPTH))
    sent = []

    def answer(question):
        sent.append(forge(question))
        publisher.publish(sent[-1])
    heard = client.node.create_subscription(
        HandConfigurations, 'plan/hand_configurations', answer, reliable(PLAN_DEPTH))
    assert wait_for(lambda: publisher.get_subscription_count()
                    and client.node.count_publishers('plan/hand_configurations'))
    time.sleep(0.5)         # the planner, too, is to have found the forger
    try:
        yield sent
    finally:
        client.node.destroy_subscription(heard)
        client.node.destroy_publisher(publisher)


def without_contact(question):
    """Return an answer by which nothing is touched."""
    configurations = conversions.configurations_from_msg(question)
    n = configurations.count
    clear = np.full((n, len(load_default_hand().link_names)), 0.001)
    none, zero = np.zeros(0), np.zeros(1, np.int64)
    contacts = ContactBatch(
        configurations, clear, np.full(n, np.inf), np.full(n, np.inf), 0.0 * clear,
        np.zeros(n + 1, np.int64), none.astype(int), none.astype(int), none, zero,
        np.zeros((0, 3)), np.zeros((0, 3)), none, none, none, np.zeros(n + 1, np.int64),
        np.zeros((0, 3)), np.zeros((0, 3)))
    states = StateBuilder(contacts, ball().mesh.vertices).build()
    return conversions.grasp_states_to_msg(states, configurations, question.ring)


def foreign(question):
    """Return an answer about another object and hand."""
    msg = without_contact(question)
    msg.ring.object_id, msg.ring.hand_id = 'f' * 64, 'e' * 64
    return msg


def not_finite(question):
    """Return an answer whose distances are no numbers."""
    msg = without_contact(question)
    msg.clearance[:] = type(msg.clearance)('d', [np.nan] * len(msg.clearance))
    return msg


def misrouted(question):
    """Return an answer to another question under this one's name."""
    msg = without_contact(question)
    msg.joint_positions[0] += 0.1
    return msg


def links_without_numbers(question):
    """Return kinematics that are no numbers."""
    configurations = conversions.configurations_from_msg(question)
    links = compute_link_states(load_default_hand(), configurations)
    links = LinkStateBatch(configurations, links.T_object_link, links.twists_object)
    links.T_object_link[:] = np.nan
    return conversions.link_states_to_msg(links, question.ring)


#: What forges an answer -> type and topic of the answer.
TOPICS = {forge: (GraspStates, 'plan/grasp_states') for forge in (foreign, not_finite, misrouted)}
TOPICS[links_without_numbers] = (LinkStates, 'plan/link_states')
