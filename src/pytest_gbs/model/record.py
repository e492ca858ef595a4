"""`NamedTuple` and the names for annotations as `typing` has them, made in a sixth of the time.

A check of one file defines a hundred of these classes. Those of `typing` compile every annotation and take three times as long as the
check itself (measured: 3.0 instead of 1.7 times `import yaml, argparse`), while nothing here looks at an annotation at run time.
To import `typing` alone takes a twentieth of the check. Type checkers see the real names; a running process gets a class that
behaves alike, and a placeholder for the others, which is never read.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar
else:
    from collections import _tuplegetter
    from functools import cache
    from types import CodeType, FunctionType

    Any = Final = Protocol = TypeAlias = object
    _NAMES = ("co_name", "co_qualname") if hasattr(CodeType, "co_qualname") else ("co_name",)  # since Python 3.11

    def TypeVar(name):
        """A name in annotations."""
        return name

    @cache
    def _constructor(number):
        """The code of a constructor of `number` fields."""
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
                code = _constructor(len(fields)).replace(co_varnames=("cls", *fields), **dict.fromkeys(_NAMES, name))
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


__all__ = ["TYPE_CHECKING", "Any", "Final", "NamedTuple", "Protocol", "TypeAlias", "TypeVar"]
