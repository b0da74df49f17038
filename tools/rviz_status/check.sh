#!/bin/bash
# check.sh HARDWARE FOLDER: start the suite, let RViz look before and after a plan, end with
# code 1 where a display is not OK. Pictures of its window go to FOLDER.
set -euo pipefail
hardware=$1 folder=$2
config=gripsim.rviz time=false
if [ "$hardware" != none ]; then config=gripsim_live.rviz time=true; fi
mkdir -p "$folder"
python3 - "$folder/ball.stl" <<'END'
import sys
import trimesh
from gripsim_ros.core.bodies import shapes
ball = shapes.sphere(0.035, 0.008)
trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(sys.argv[1])
END
setsid ros2 launch gripsim_ros gripsim.launch.py hardware:="$hardware" \
    object_mesh:="$folder/ball.stl" object_material:=wood &
suite=$!
# Launch first, which would start nodes again that end before it, and by the signal that a script's
# background jobs do not ignore; then what it left.
end() {
    kill -TERM "$suite" || true
    wait "$suite" || true
    kill -TERM -- "-$suite" 2> /dev/null || true
}
trap end EXIT

look() {
    RVIZ_STATUS_SECONDS=20 RVIZ_STATUS_PICTURE="$folder/$hardware-$1.png" \
        xvfb-run -a -s '-screen 0 1280x1024x24' ros2 run rviz_status rviz_status \
        -d "$(ros2 pkg prefix --share gripsim_ros)/config/$config" \
        --ros-args -p use_sim_time:=$time
}

# The planner offers its services once all is compiled.
timeout 300 ros2 service call /evaluate_grasp gripsim_interfaces/srv/EvaluateGrasp '{}' > /dev/null
look before
timeout 120 ros2 service call /plan_grasp gripsim_interfaces/srv/PlanGrasp \
    '{object_id: ball, max_hypotheses: 8}' > /dev/null
look after
