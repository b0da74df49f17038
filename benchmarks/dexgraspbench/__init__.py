"""The field's protocol for grasps of hands with many joints, DexGraspBench."""
