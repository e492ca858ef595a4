"""How composition fails: at a problem that would stop the program too, or at a limit of gbs."""

from __future__ import annotations

from pytest_gbs.composition.composed import ComposeProblem
from pytest_gbs.model.location import Location


class CompositionError(Exception):
    """The program would stop here; `problem` says why and where."""

    def __init__(self, kind: str, message: str, at: Location) -> None:
        super().__init__(message)
        self.problem = ComposeProblem(kind, message, at)


class LimitExceeded(Exception):
    """Composition goes beyond one of its limits; the message says which."""
