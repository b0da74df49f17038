"""Everything that knows ROS 2: nodes, messages, markers, recordings, clients."""
