#!/bin/bash
# Runs a command with ROS, the virtual environment and the workspace.
set -e
source /opt/ros/jazzy/setup.bash
source /ws/venv/bin/activate
source /ws/install/setup.bash
exec "$@"
