"""Learning from answers: a ranking that follows what an analyst says, and audits that say how good a list is."""

from oddhop.feedback.answers import Answers, as_answers
from oddhop.feedback.audit import Audit
from oddhop.feedback.audit_result import AuditResult
from oddhop.feedback.explain import LearnedExplanation, Question
from oddhop.feedback.feedback import Feedback
from oddhop.feedback.learner import compile_learner

__all__ = [
    "Answers",
    "Audit",
    "AuditResult",
    "Feedback",
    "LearnedExplanation",
    "Question",
    "as_answers",
    "compile_learner",
]
