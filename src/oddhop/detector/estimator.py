"""What scikit-learn expects of an estimator, without importing it: that takes longer than judging a small network."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, Concatenate, ParamSpec, Self, cast

from oddhop.base.settings import Settings, keywords_of

Given = ParamSpec("Given")


class Estimator:
    """Base of what has scikit-learn's parameters: all of ``__init__``, each kept under its own name.

    ``sklearn.base.clone``, pipelines and searches work with it.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's signature
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in sorted(_defaults(type(self)))}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        known = _defaults(type(self))
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(sorted(known))}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = _defaults(type(self))
        changed = {name: value for name, value in self.get_params().items() if value != defaults[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type="outlier_detector", target_tags=TargetTags(required=False))


def parameters_of(
    model: Callable[Given, Settings],
) -> Callable[[Callable[[Any], None]], Callable[Concatenate[Any, Given], None]]:
    """Make the fields of a settings class the parameters of a constructor, which keeps each under its own name."""
    keywords = Signature(keywords_of(cast("type[Settings]", model)))

    def constructor(declared: Callable[[Any], None]) -> Callable[Concatenate[Any, Given], None]:
        @wraps(declared)
        def init(self: Any, *nothing: Given.args, **given: Given.kwargs) -> None:
            try:
                bound = keywords.bind(*nothing, **given)
            except TypeError as error:
                raise TypeError(f"{type(self).__name__}.__init__() {error}") from None
            bound.apply_defaults()
            vars(self).update(bound.arguments)

        itself = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
        init.__signature__ = keywords.replace(parameters=[itself, *keywords.parameters.values()])  # type: ignore[attr-defined]
        return init  # type: ignore[return-value]

    return constructor


def check_is_fitted(estimator: Any, attribute: str) -> None:
    """Raise scikit-learn's ``NotFittedError`` where an attribute of the fit is missing."""
    if attribute not in vars(estimator):
        raise not_fitted(f"this {type(estimator).__name__} is not fitted yet; call fit first")


def not_fitted(message: str) -> Exception:
    """Return scikit-learn's ``NotFittedError``, or a ``ValueError`` where scikit-learn is not installed."""
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return ValueError(message)
    return NotFittedError(message)  # type: ignore[no-any-return]


def _defaults(of: type) -> dict[str, Any]:
    """Return the parameters of ``__init__`` and their defaults."""
    return {name: one.default for name, one in signature(of).parameters.items()}
