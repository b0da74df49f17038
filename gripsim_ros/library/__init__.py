"""The front door in one process: plan, evaluate, configuration, files of grasps and tasks."""
