"""What the project uses of `typing`, under the same names, without importing it.

Importing `typing` takes as long as checking several recipes, and each of its named tuples six times as long as one made here, while
nothing looks at an annotation at run time. Type checkers see the real thing; a running process gets names that stand for nothing,
and a `NamedTuple` that behaves as the one of `typing` does, but compiles one constructor for all classes of as many fields.

Modules on the way of `gbs check` import from here; `tests/architecture/test_start_up.py` tells when one does not.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar, cast
else:
    from collections import _tuplegetter
    from functools import cache
    from types import FunctionType

    Any = Final = TypeAlias = None
    Protocol = object

    def TypeVar(_name):
        """Return what stands for any type: nothing looks at it."""

    def cast(_kind, value):
        """Return `value`."""
        return value

    @cache
    def _constructor(number):
        """Return the code of a constructor of `number` fields."""
        fields = ", ".join(f"field_{index}" for index in range(number))
        return eval(f"lambda cls, {fields}: new(cls, ({fields},))").__code__

    class _RecordType(type):
        """The type of all record classes: makes the annotations of a class body the fields of a tuple."""

        def __new__(cls, name, bases, body):
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            body.update(__slots__=(), __match_args__=fields, _fields=fields, _field_defaults=defaults)
            for index, field in enumerate(fields):
                body[field] = _tuplegetter(index, "")
            if fields:
                code = _constructor(len(fields)).replace(co_varnames=("cls", *fields), co_name=name, co_qualname=name)
                body["__new__"] = FunctionType(code, {"new": tuple.__new__}, name, tuple(defaults.values()))
            return type.__new__(cls, name, bases, body)

    class NamedTuple(tuple, metaclass=_RecordType):
        """A tuple whose fields have names; `typing.NamedTuple` says all else."""

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **changes):
            result = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f"{type(self).__name__} has no field {', '.join(changes)}")
            return result

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self, strict=True))})"

        def __getnewargs__(self):
            return tuple(self)


__all__ = ["TYPE_CHECKING", "Any", "Final", "NamedTuple", "Protocol", "TypeAlias", "TypeVar", "cast"]
