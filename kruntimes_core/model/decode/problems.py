"""How the decoding functions say no: one exception inside of this package, one value outside."""

from __future__ import annotations

from kruntimes_core.model.run import InvalidInput


class FieldError(ValueError):
    """A field that cannot be used. Raised and caught while an object is decoded; nobody else meets it.

    path: the field, from the object's root. problem: what is wrong and what to write instead.
    unreadable: True when it could not be read, False when what was read is not allowed there.
    """

    def __init__(self, path: str, problem: str, *, unreadable: bool = True) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem
        self.unreadable = unreadable

    def below(self, parent: str) -> FieldError:
        """The same problem, its path told from one level further up."""
        return FieldError(f"{parent}.{self.path}", self.problem, unreadable=self.unreadable)

    def as_invalid(self, reason: str) -> InvalidInput:
        """The verdict on the Run that the field belongs to."""
        return InvalidInput(reason, self.path, str(self), self.unreadable)
