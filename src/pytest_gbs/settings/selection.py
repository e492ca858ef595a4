"""Which rules are meant: codes, prefixes of codes and names resolved to codes, and the command line put above the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_gbs.arithmetic.near_miss import suggestion
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.settings import Overrides, Settings


def merge(settings: Settings, said: Overrides, rules: Mapping[str, str]) -> Settings:
    """`settings` with what is `said` on the command line in front, but for local rules; None and empty lists say nothing.

    Rules asked for there run whatever the file says. Each text may hold several, separated by commas. What it excludes is added to the
    file's. `rules` are the names of all rules by code.

    Raises:
        UsageError: a text names no rule.
    """
    if said.select:
        settings = settings._replace(select=_asked(said.select, rules), extend_select=(), ignore=())
    if said.extend_select:
        more = _asked(said.extend_select, rules)
        kept = tuple(code for code in settings.ignore if code not in more)
        settings = settings._replace(extend_select=_once((*settings.extend_select, *more)), ignore=kept)
    if said.ignore:
        settings = settings._replace(ignore=_once((*settings.ignore, *_asked(said.ignore, rules))))
    if said.strict is not None:
        settings = settings._replace(strict=said.strict, strict_all=settings.strict_all and said.strict)
    if said.strict_all is not None:
        settings = settings._replace(strict=settings.strict or said.strict_all, strict_all=said.strict_all)
    if said.exclude:
        settings = settings._replace(exclude=(*settings.exclude, *said.exclude))
    return settings if said.max_file_size is None else settings._replace(max_file_size=said.max_file_size)


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
    word = text.strip().lower().replace("_", "-")
    return f"{suggestion(word.upper(), rules) if word.isdecimal() else suggestion(word, rules.values())}gbs rules lists them"


def _asked(texts: Sequence[str], rules: Mapping[str, str]) -> tuple[str, ...]:
    words = [word for text in texts for word in text.split(",") if word.strip()]
    unknown = [f"no rule is called {word.strip()}; {advice(word, rules)}" for word in words if not resolve(word, rules)]
    if unknown:
        raise UsageError("\n".join(unknown))
    return _once(code for word in words for code in resolve(word, rules))


def _once(codes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(codes))
