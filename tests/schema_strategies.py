"""Values that fit a JSON Schema of ours, or nearly: made from the schema itself, for property tests."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

Schema = dict[str, Any]
Special = Mapping[str, st.SearchStrategy[Any]]
_DEEPEST = 5


def nearly(
    schema: Schema, part: Any, texts: st.SearchStrategy[str], special: Mapping[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[Any]:
    """A strategy for values most parts of which fit `part` of `schema`.

    `texts` are what is put where any text will do, `special` strategies for parts of `$defs` by name.
    """
    return _Nearly(schema, texts, special).like(part, 0)


class _Nearly:
    def __init__(self, schema: Schema, texts: st.SearchStrategy[str], special: Special) -> None:
        self._schema = schema
        self._texts = texts
        self._special = special
        self._anything = st.recursive(
            st.one_of(texts, st.integers(-2, 9), st.booleans(), st.floats(), st.sampled_from([8.0, 10**13, 0.0])),
            lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(texts, inner, max_size=2)),
            max_leaves=4,
        )

    def like(self, part: Any, depth: int) -> st.SearchStrategy[Any]:
        fitting = self._fitting(part, depth)
        return st.integers(0, 39).flatmap(lambda number: fitting if number else self._anything) if depth else fitting

    def _fitting(self, part: Any, depth: int) -> st.SearchStrategy[Any]:
        if part is False or part is True or depth > _DEEPEST:
            return self._anything
        if "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            if name in self._special:
                return self._special[name]
            referred = self._schema if name == "#" else self._schema["$defs"][name]
            return self._fitting({**referred, **{key: each for key, each in part.items() if key != "$ref"}}, depth)
        if "enum" in part:
            return st.sampled_from([*part["enum"] * 9, "other"])
        for several in ("oneOf", "anyOf"):
            if several in part and "required" not in part[several][0] and "properties" not in part:
                return st.one_of([self.like(each, depth) for each in part[several]])
        kind = part.get("type")
        if isinstance(kind, list):
            return self._anything
        if kind == "array":
            return st.lists(self.like(part["items"], depth + 1), max_size=3)
        if kind == "object":
            return self._object(part, depth)
        if kind == "integer":
            least, most = part["minimum"], part["maximum"]
            return st.sampled_from([*(least, most, max(least, 2), max(least, 8.0)) * 4, least - 1, most + 1])
        return {"string": self._texts, "boolean": st.booleans()}.get(kind, self._anything)

    def _object(self, part: Any, depth: int) -> st.SearchStrategy[Any]:
        if "properties" not in part:
            names = self.like(part["propertyNames"], depth + 1) if "propertyNames" in part else self._texts
            inner = self.like(part["additionalProperties"], depth + 1) if "additionalProperties" in part else self._anything
            return st.dictionaries(names.filter(lambda name: isinstance(name, str)), inner, max_size=3)
        fields = {name: self.like(each, depth + 1) for name, each in part["properties"].items()}
        needed = {name: fields.pop(name) for name in part.get("required", ()) if name in fields}
        some = st.lists(st.sampled_from(sorted(fields)), max_size=4, unique=True) if fields else st.just([])
        return some.flatmap(lambda names: st.fixed_dictionaries({**needed, **{name: fields[name] for name in names}}))
