"""Planning: hypotheses, closing, ranking; it asks and is told, and calls no stage."""

from .ask_and_tell import AskAndTell
from .evaluator import GraspEvaluator
from .options import SCORE_TERMS, PlannerOptions
from .planner import GraspPlanner
from .progress import Ask, Progress
from .published.planner import PublishedPlanner
from .published.rules import PublishedRules
from .ranked_grasp import GraspContact, NearestMiss, RankedGrasp, ScoreTerm
from .task import Task, task_load_cases

__all__ = ['Ask', 'AskAndTell', 'GraspContact', 'GraspEvaluator', 'GraspPlanner',
           'NearestMiss', 'PlannerOptions', 'Progress', 'PublishedPlanner', 'PublishedRules',
           'RankedGrasp', 'SCORE_TERMS', 'ScoreTerm', 'Task', 'task_load_cases']
