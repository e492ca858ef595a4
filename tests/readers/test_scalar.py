"""Scalars mean what the loaders say: PyYAML, OmegaConf, the YAML 1.2 core schema, and JSON."""

import math
import re
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_gbs.model.document import Scalar
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.limits import LONGEST_NUMBER
from pytest_gbs.readers.scalar import JSON, Value, resolve

# What SafeLoader makes no number of: dates, which we leave as text, and three tags that no value can have.
TEXTS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("timestamp", "merge", "value", "yaml"))


def plain(text: str) -> Scalar:
    return Scalar(0, len(text), text, True)


@pytest.mark.parametrize(
    "text",
    [
        "2e-5",
        "1e5",
        "1.5e5",
        "0o17",
        "08",
        "09",
        "0b",
        "y",
        "n",
        "tRue",
        "NO ",
        "nULL",
        "None",
        "-",
        "+",
        ".",
        "...",
        "_1",
        "1,024",
        "8 GPUs",
        "2024-01-31",
        "2001-12-14t21:59:43.10-05:00",
        "1:60",
        "0:30",
        "<<",
        "=",
        "${batch}",
        "0x",
        "1e+5",
        "inf",
        "nan",
        "-.nan",
        "١٢",
    ],
)
def test_text_stays_text_to_pyyaml(text: str) -> None:
    assert resolve(plain(text), Loader.PYYAML) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("0", 0),
        ("-1", -1),
        ("+4", 4),
        ("010", 8),
        ("-010", -8),
        ("0b11", 3),
        ("0x1F", 31),
        ("1_024", 1024),
        ("1:30", 90),
        ("1:00:00", 3600),
        ("8.0", 8.0),
        ("2.0e-5", 2e-5),
        ("2.e+3", 2000.0),
        (".5", 0.5),
        ("1:30.5", 90.5),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("yes", True),
        ("Off", False),
        ("TRUE", True),
        ("no", False),
        ("~", None),
        ("Null", None),
        ("", None),
    ],
)
def test_pyyaml_reads_yaml_1_1(text: str, value: Value) -> None:
    found = resolve(plain(text), Loader.PYYAML)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("loader", [Loader.PYYAML, Loader.OMEGACONF, Loader.YAML12, JSON])
@pytest.mark.parametrize("text", ["8", "010", "true", "null", "", "1e-5", "~"])
def test_quotes_make_text(text: str, loader: str) -> None:
    assert resolve(Scalar(0, len(text) + 2, text, False), loader) == text


@pytest.mark.parametrize("loader", [Loader.PYYAML, Loader.OMEGACONF, Loader.YAML12, JSON])
def test_long_numbers_stay_text(loader: str) -> None:
    assert resolve(plain("1" * LONGEST_NUMBER), loader) == int("1" * 32)
    for text in ("1" * 33, "9" * 100_000, "0x" + "f" * 40, "1" * 40 + ".5"):
        assert resolve(plain(text), loader) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e-5", 1e-5), ("2E6", 2e6), ("1.5e5", 150000.0), ("1_0e1", 100.0), ("010", 8), ("yes", True), ("1:30", 90), ("8", 8)],
)
def test_omegaconf_reads_exponents(text: str, value: Value) -> None:
    found = resolve(plain(text), Loader.OMEGACONF)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["e5", "1e", "1e5x", "2024-01-31", "1__0e1", "${micro}", "???"])
def test_text_stays_text_to_omegaconf(text: str) -> None:
    assert resolve(plain(text), Loader.OMEGACONF) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("1_024", "1_024"),
        ("1:30", "1:30"),
        ("0b11", "0b11"),
        ("-0x1F", "-0x1F"),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("-7", -7),
        ("2e-5", 2e-5),
        (".5", 0.5),
        ("8.", 8.0),
        ("-.inf", -math.inf),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
    ],
)
def test_core_schema_of_yaml_1_2(text: str, value: Value) -> None:
    found = resolve(plain(text), Loader.YAML12)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("-8", -8),
        ("-0", 0),
        ("8.0", 8.0),
        ("1e5", 1e5),
        ("true", True),
        ("false", False),
        ("null", None),
        ("-Infinity", -math.inf),
    ],
)
def test_json_words_and_numbers(text: str, value: Value) -> None:
    found = resolve(plain(text), JSON)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["ppo", "2bit", "--5", "²", "-"])
def test_what_the_lines_of_broken_json_show_stays_text(text: str) -> None:
    assert resolve(plain(text), JSON) == text


@pytest.mark.parametrize("loader", [Loader.PYYAML, Loader.YAML12, JSON])
def test_not_a_number_is_a_float(loader: str) -> None:
    found = resolve(plain("NaN" if loader == JSON else ".nan"), loader)
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("int", "eight", "eight"),
        ("int", "", ""),
        ("int", "0x", "0x"),
        ("float", "", ""),
        ("float", "x", "x"),
        ("bool", "maybe", "maybe"),
        ("str", "8", "8"),
        ("binary", "OA==", "OA=="),
        ("python/object/apply:os.system", "8", "8"),
        ("int", "8", 8),
        ("int", "010", 8),
        ("float", "8", 8.0),
        ("float", "2e-5", 2e-5),
        ("bool", "Yes", True),
        ("null", "x", None),
    ],
)
def test_tags_of_yaml_itself(tag: str, text: str, value: Value) -> None:
    found = resolve(Scalar(0, 0, text, False, f"tag:yaml.org,2002:{tag}"), Loader.PYYAML)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("tag", ["!", "!include", "tag:example.org,2000:int"])
def test_other_tags_leave_text(tag: str) -> None:
    assert resolve(Scalar(0, 0, "8", True, tag), Loader.PYYAML) == "8"


class _OmegaConf(yaml.SafeLoader):
    """The loader of OmegaConf 2.3.0, omegaconf/_utils.py, `get_yaml_loader`, whose pattern this is."""


_OmegaConf.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        """^(?:
         [-+]?[0-9]+(?:_[0-9]+)*\\.[0-9_]*(?:[eE][-+]?[0-9]+)?
        |[-+]?[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+)
        |\\.[0-9]+(?:_[0-9]+)*(?:[eE][-+][0-9]+)?
        |[-+]?[0-9]+(?:_[0-9]+)*(?::[0-5]?[0-9])+\\.[0-9_]*
        |[-+]?\\.(?:inf|Inf|INF)
        |\\.(?:nan|NaN|NAN))$""",
        re.X,
    ),
    list("-+0123456789."),
)


def loaded(text: str, loader: Any) -> Any:
    """What `loader` makes of the plain scalar `text`: dates, and what the loader stops at, stay text."""
    instance = loader("")
    tag = instance.resolve(yaml.ScalarNode, text, (True, False))
    if tag in TEXTS:
        return text
    try:
        return instance.construct_object(yaml.ScalarNode(tag, text))
    except ValueError:  # PyYAML's pattern lets `0x_` through and its constructor does not
        return text


NUMBERS = st.text("0123456789_.:+-eExXobBinfNaA", max_size=12)
WORDS = st.sampled_from(["yes", "no", "on", "off", "true", "false", "null", "~", "y", "n", "none", ".inf", ".nan"]).flatmap(
    lambda word: st.sampled_from([word, word.upper(), word.capitalize(), word.title(), word + " ", word[::-1]])
)


@pytest.mark.parametrize(
    ("name", "loader"), [(Loader.PYYAML, yaml.SafeLoader), (Loader.OMEGACONF, _OmegaConf)], ids=["pyyaml", "omegaconf"]
)
@given(text=NUMBERS | WORDS | st.text(st.characters(exclude_characters="\n"), max_size=LONGEST_NUMBER))
@example(text="0x_")
@example(text="190:20:30.15")
@example(text="1_:3_")
def test_it_agrees_with_the_loader(name: str, loader: Any, text: str) -> None:
    expected = loaded(text, loader)
    found = resolve(plain(text), name)
    assert type(found) is type(expected)
    assert found == expected or (found != found and expected != expected)  # noqa: PLR0124 - not a number
