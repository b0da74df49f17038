"""A plan in one process whose questions and answers are written as the nodes send them."""

from gripsim_interfaces.msg import GraspObject, GraspStates, HandConfigurations, RingHeader
from rclpy.serialization import serialize_message

from gripsim_ros.core.pipeline import Pipeline, run
from gripsim_ros.core.planning import GraspPlanner, PlannerOptions, Task
from gripsim_ros.library.in_process import link_shapes, mechanics_options
from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.ros.conversions import (
    configurations_to_msg, grasp_object_to_msg, grasp_states_to_msg)
from gripsim_ros.ros.record.mcap_file import RecordingWriter

START = 1_700_000_000_000_000_000


class WritingPipeline:
    """The stages in this process; what goes in and comes out is written to a recording."""

    def __init__(self, writer, pipeline, grasp_object, hand, namespace=''):
        self._writer, self._pipeline, self._namespace = writer, pipeline, namespace
        self._object, self._hand, self._time = grasp_object, hand, START
        self.count = 0
        self.write('grasp_object', grasp_object_to_msg(grasp_object))

    def write(self, topic, msg):
        """Write a message a microsecond after the one before."""
        self._time += 1000
        self._writer.write(f'{self._namespace}/{topic}', type(msg), serialize_message(msg),
                           self._time)

    def evaluate(self, configurations):
        """Return the answer to a question."""
        ring = RingHeader(planner_id='test', request_id='1', batch_id=self.count,
                          object_id=self._object.id, hand_id=self._hand.id)
        self.count += 1
        states = self._pipeline.evaluate(configurations)
        self.write('plan/hand_configurations', configurations_to_msg(configurations, ring))
        self.write('plan/grasp_states', grasp_states_to_msg(states, configurations, ring))
        return states


def record_plan(path, grasp_object, options, hypotheses, namespace=''):
    """Write the recording of a plan; return its grasps and how many questions were asked."""
    hand = load_default_hand()
    pipeline = Pipeline(hand, grasp_object, mechanics_options(), link_shapes(hand))
    planner = GraspPlanner(grasp_object, hand, Task(), PlannerOptions.from_mapping(options),
                           max_hypotheses=hypotheses)
    with RecordingWriter(path, {'hand': hand.id}) as writer:
        writing = WritingPipeline(writer, pipeline, grasp_object, hand, namespace)
        run(planner, writing)
    return planner.ranked(), writing.count


RING_TYPES = {'/grasp_object': GraspObject, '/plan/hand_configurations': HandConfigurations,
              '/plan/grasp_states': GraspStates}
