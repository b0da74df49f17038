"""Benchmarks: ratios against peers in the same run, and the planner's own pace."""
