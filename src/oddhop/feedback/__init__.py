"""Learning from an analyst's answers.

>>> from oddhop.feedback import Feedback
"""

from oddhop.feedback.explain import LearnedExplanation, Question
from oddhop.feedback.feedback import Feedback

__all__ = ["Feedback", "LearnedExplanation", "Question"]
