"""Which rules are meant: codes, prefixes of codes and names resolved to codes, and the command line put above the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_gbs.arithmetic.near_miss import suggestion
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.settings import Settings


def merge(
    settings: Settings,
    *,
    rules: Mapping[str, str],
    select: Sequence[str] | None = None,
    extend_select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    strict: bool | None = None,
    strict_all: bool | None = None,
    exclude: Sequence[str] | None = None,
    max_file_size: int | None = None,
) -> Settings:
    """`settings` with what the command line says in front; None and empty lists say nothing.

    Rules asked for there run whatever the file says. Each text may hold several, separated by commas. `exclude` adds to the file's.
    `rules` are the names of all rules by code.

    Raises:
        UsageError: a text names no rule.
    """
    if select:
        settings = settings._replace(select=_asked(select, rules), extend_select=(), ignore=())
    if extend_select:
        more = _asked(extend_select, rules)
        kept = tuple(code for code in settings.ignore if code not in more)
        settings = settings._replace(extend_select=_once((*settings.extend_select, *more)), ignore=kept)
    if ignore:
        settings = settings._replace(ignore=_once((*settings.ignore, *_asked(ignore, rules))))
    if strict is not None:
        settings = settings._replace(strict=strict, strict_all=settings.strict_all and strict)
    if strict_all is not None:
        settings = settings._replace(strict=settings.strict or strict_all, strict_all=strict_all)
    if exclude:
        settings = settings._replace(exclude=(*settings.exclude, *exclude))
    return settings if max_file_size is None else settings._replace(max_file_size=max_file_size)


def resolve(text: str, rules: Mapping[str, str]) -> tuple[str, ...]:
    """The codes of the rules that `text` names (a code, the start of codes, a name, ALL), or nothing."""
    wanted = text.strip()
    upper, name = wanted.upper(), wanted.lower().replace("_", "-")
    if not wanted:
        return ()
    if upper == "ALL":
        return tuple(sorted(rules))
    if upper in rules:
        return (upper,)
    by_name = tuple(code for code, called in rules.items() if called == name)
    return by_name or tuple(sorted(code for code in rules if code.startswith(upper)))


def advice(text: str, rules: Mapping[str, str]) -> str:
    """What to do about a text that names no rule: `did you mean stale-factor? gbs rules lists them`."""
    return f"{suggestion(text.strip().lower().replace('_', '-'), rules.values())}gbs rules lists them"


def _asked(texts: Sequence[str], rules: Mapping[str, str]) -> tuple[str, ...]:
    words = [word for text in texts for word in text.split(",") if word.strip()]
    unknown = [f"no rule is called {word.strip()}; {advice(word, rules)}" for word in words if not resolve(word, rules)]
    if unknown:
        raise UsageError("\n".join(unknown))
    return _once(code for word in words for code in resolve(word, rules))


def _once(codes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(codes))
