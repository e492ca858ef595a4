import pytest

from pytest_gbs.frameworks.reading import misread, read_sizes, treatment
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.document import Alias, Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.framework import Framework, Loader, Recognition, Row, SameAs, Treatment, ValueReading
from pytest_gbs.model.location import KeyPath, Location, Source
from pytest_gbs.model.quantity import Origin, Quantity, Reason, Unknown

LENIENT = ValueReading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    null=Treatment.UNSET,
    zero=Treatment.STOPS_LATE,
    negative=Treatment.NO_STEPS,
    words=(("auto", Treatment.AUTO), ("bad", Treatment.STOPS_LATE)),
)
STEPS = Row(("steps",), "steps", 1, LENIENT)
STRICT = Row(("steps",), "steps", 1)


def table(*rows: Row) -> Framework:
    return Framework("example", "Example", Recognition(), "samples", rows, ())


def plain(text: str, start: int = 0) -> Scalar:
    return Scalar(start, start + len(text), text, True)


def quoted(text: str) -> Scalar:
    return Scalar(0, len(text) + 2, text, False)


def document(*entries: tuple[KeyPath, Node], syntax: str = "yaml") -> Document:
    keyed: dict[KeyPath, tuple[Node, Node]] = {key: (plain(str(key[-1])), value) for key, value in entries}
    return Document(Source("a.yaml", ""), 1, syntax, None, keyed, (), ())


VALUES = [
    pytest.param(plain("8"), (Treatment.ACCEPTS, 8), (Treatment.ACCEPTS, 8), id="number"),
    pytest.param(plain("010"), (Treatment.ACCEPTS, 8), (Treatment.ACCEPTS, 8), id="octal"),
    pytest.param(plain("1:30"), (Treatment.ACCEPTS, 90), (Treatment.ACCEPTS, 90), id="base 60"),
    pytest.param(plain("1_024"), (Treatment.ACCEPTS, 1024), (Treatment.ACCEPTS, 1024), id="underscore"),
    pytest.param(quoted("8"), (Treatment.ACCEPTS, 8), (Treatment.STOPS, "8"), id="quoted"),
    pytest.param(quoted(" 1_024\n"), (Treatment.ACCEPTS, 1024), (Treatment.STOPS, " 1_024\n"), id="quoted with space"),
    pytest.param(quoted("-8"), (Treatment.NO_STEPS, -8), (Treatment.STOPS, "-8"), id="quoted negative"),
    pytest.param(quoted("0"), (Treatment.STOPS_LATE, 0), (Treatment.STOPS, "0"), id="quoted zero"),
    pytest.param(plain("08"), (Treatment.ACCEPTS, 8), (Treatment.STOPS, "08"), id="text that int() takes"),
    pytest.param(plain("1e1"), (Treatment.STOPS, "1e1"), (Treatment.STOPS, "1e1"), id="exponent is text"),
    pytest.param(plain("8.0"), (Treatment.ACCEPTS, 8), (Treatment.STOPS, 8.0), id="whole float"),
    pytest.param(plain("-8.0"), (Treatment.NO_STEPS, -8), (Treatment.STOPS, -8.0), id="negative whole float"),
    pytest.param(plain("8.5"), (Treatment.STOPS, 8.5), (Treatment.STOPS, 8.5), id="fraction"),
    pytest.param(plain(".inf"), (Treatment.STOPS, float("inf")), (Treatment.STOPS, float("inf")), id="infinity"),
    pytest.param(plain("true"), (Treatment.ACCEPTS, 1), (Treatment.STOPS, True), id="true"),
    pytest.param(plain("no"), (Treatment.STOPS_LATE, 0), (Treatment.STOPS, False), id="false"),
    pytest.param(plain("~"), (Treatment.UNSET, None), (Treatment.STOPS, None), id="null"),
    pytest.param(plain("0"), (Treatment.STOPS_LATE, 0), (Treatment.STOPS, 0), id="zero"),
    pytest.param(plain("-1"), (Treatment.NO_STEPS, -1), (Treatment.STOPS, -1), id="negative"),
    pytest.param(plain("eight"), (Treatment.STOPS, "eight"), (Treatment.STOPS, "eight"), id="word"),
    pytest.param(plain("auto"), (Treatment.AUTO, "auto"), (Treatment.STOPS, "auto"), id="word of its own"),
    pytest.param(plain("bad"), (Treatment.STOPS_LATE, "bad"), (Treatment.STOPS, "bad"), id="refused word"),
    pytest.param(plain("${oc.env:X}"), (Treatment.TEMPLATE, "${oc.env:X}"), (Treatment.TEMPLATE, "${oc.env:X}"), id="interpolation"),
    pytest.param(quoted("{{ x }}"), (Treatment.TEMPLATE, "{{ x }}"), (Treatment.TEMPLATE, "{{ x }}"), id="jinja"),
    pytest.param(plain("???"), (Treatment.TEMPLATE, "???"), (Treatment.TEMPLATE, "???"), id="mandatory"),
    pytest.param(plain("<N>"), (Treatment.TEMPLATE, "<N>"), (Treatment.TEMPLATE, "<N>"), id="placeholder"),
    pytest.param(plain("your-batch-size"), (Treatment.TEMPLATE, "your-batch-size"), (Treatment.TEMPLATE, "your-batch-size"), id="yours"),
    pytest.param(plain("BATCH_SIZE"), (Treatment.TEMPLATE, "BATCH_SIZE"), (Treatment.TEMPLATE, "BATCH_SIZE"), id="a name to be replaced"),
    pytest.param(plain("..."), (Treatment.TEMPLATE, "..."), (Treatment.TEMPLATE, "..."), id="dots"),
    pytest.param(quoted("9" * 100), (Treatment.STOPS, "9" * 100), (Treatment.STOPS, "9" * 100), id="absurdly long"),
]


@pytest.mark.parametrize(("node", "lenient", "strict"), VALUES)
def test_a_value_is_treated_as_its_row_says(node: Node, lenient: tuple[str, object], strict: tuple[str, object]) -> None:
    assert treatment(STEPS, node, table(), "yaml") == lenient
    assert treatment(STRICT, node, table(), "yaml") == strict


def test_a_variable_of_the_environment_is_text_once_it_is_resolved() -> None:
    resolving = table()._replace(loader=Loader.OMEGACONF)
    assert treatment(STRICT, plain("${oc.env:X,8}"), resolving, "yaml") == (Treatment.STOPS, "${oc.env:X,8}")
    assert treatment(STEPS, plain("${oc.env:X,8}"), resolving, "yaml")[0] == Treatment.TEMPLATE  # a row that takes "8"
    assert treatment(STRICT, plain("${oc.decode:${oc.env:X,8}}"), resolving, "yaml")[0] == Treatment.TEMPLATE
    assert treatment(STRICT, plain("${batch}"), resolving, "yaml")[0] == Treatment.TEMPLATE


def test_json_has_its_own_numbers() -> None:
    assert treatment(STRICT, plain("1e1"), table(), "json") == (Treatment.STOPS, 10.0)
    assert treatment(STEPS, plain("1e1"), table(), "json") == (Treatment.ACCEPTS, 10)


def test_an_alias_is_what_it_names() -> None:
    assert treatment(STEPS, Alias(0, 2, "a", plain("8")), table(), "yaml") == (Treatment.ACCEPTS, 8)
    assert treatment(STEPS, Alias(0, 2, "a", None), table(), "yaml")[0] == Treatment.STOPS


@pytest.mark.parametrize("node", [Sequence(0, 3, (plain("8"),)), Mapping(0, 2, ())], ids=["list", "mapping"])
def test_a_collection_is_not_a_size(node: Node) -> None:
    assert treatment(STEPS, node, table(), "yaml") == (Treatment.STOPS, node)


@pytest.mark.parametrize(
    ("tag", "expected"), [("!env", Treatment.TEMPLATE), ("tag:yaml.org,2002:int", Treatment.ACCEPTS), ("!", Treatment.ACCEPTS)]
)
def test_a_tag_of_the_program_s_own_means_something_else(tag: str, expected: str) -> None:
    assert treatment(STEPS, plain("8")._replace(tag=tag), table(), "yaml")[0] == expected


def test_a_share_of_the_run_is_neither_a_size_nor_a_mistake() -> None:
    row = Row(("save",), "save", 500, ValueReading(), ratio=True)
    shared = document((("save",), plain("0.05")))
    assert read_sizes(shared, table(row)) == {"save": Unknown("save", Reason.NOT_AN_INTEGER, Location("a.yaml", 0, 4, ("save",)))}
    assert list(misread(shared, table(row))) == []
    assert [each.treatment for each in misread(document((("save",), plain("1.5"))), table(row))] == [Treatment.STOPS]


def test_a_stated_size_knows_its_place_and_its_key() -> None:
    row = Row(("a", "steps"), "steps", 1, unit="samples")
    found = read_sizes(document((("a", "steps"), plain("8", start=10))), table(row))
    assert found == {"steps": Quantity("steps", 8, Origin.FILE, "samples", Location("a.yaml", 10, 11, ("a", "steps")), "a.steps")}


def test_an_absent_size_is_the_default() -> None:
    assert read_sizes(document(), table(STEPS)) == {"steps": Quantity("steps", 1, Origin.DEFAULT, key="steps")}
    assert read_sizes(document(), table(Row(("steps",), "steps"))) == {}


def test_a_value_that_counts_as_absent_gives_way_to_the_default() -> None:
    assert read_sizes(document((("steps",), plain("~"))), table(STEPS))["steps"] == Quantity("steps", 1, Origin.DEFAULT, key="steps")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("auto", Reason.AUTO),
        ("${steps}", Reason.INTERPOLATED),
        ("$STEPS", Reason.INTERPOLATED),
        ("???", Reason.PLACEHOLDER),
        ("<steps>", Reason.PLACEHOLDER),
        ("__STEPS__", Reason.PLACEHOLDER),
        ("eight", Reason.NOT_AN_INTEGER),
        ("0", Reason.NOT_AN_INTEGER),
    ],
)
def test_what_is_not_a_number_is_not_known_and_says_where(text: str, reason: str) -> None:
    found = read_sizes(document((("steps",), plain(text, start=3))), table(STEPS))
    assert found == {"steps": Unknown("steps", reason, Location("a.yaml", 3, 3 + len(text), ("steps",)))}


def test_the_first_key_that_is_there_wins() -> None:
    rows = table(Row(("new",), "length", 1024, LENIENT), Row(("old",), "length", reading=LENIENT))
    both = document((("old",), plain("512")), (("new",), plain("2048")))
    assert read_sizes(both, rows)["length"] == Quantity("length", 2048, Origin.FILE, at=Location("a.yaml", 0, 4, ("new",)), key="new")
    older = read_sizes(document((("old",), plain("512")), (("new",), plain("~"))), rows)["length"]
    assert isinstance(older, Quantity)
    assert (older.value, older.key) == (512, "old")


SAME = Row(("per",), "per", SameAs("steps", unless="batch"))
BATCH = Row(("batch",), "batch")


def test_a_default_may_be_another_size_whichever_comes_first() -> None:
    for rows in ((STEPS, SAME, BATCH), (SAME, BATCH, STEPS)):
        found = read_sizes(document((("steps",), plain("4"))), table(*rows))["per"]
        assert isinstance(found, Quantity)
        assert (found.value, found.origin, found.at) == (4, Origin.DEFAULT, None)
        assert [(part.name, part.value) for part in found.because] == [("steps", 4)]


def test_a_default_may_be_the_default_of_another_size() -> None:
    found = read_sizes(document(), table(SAME, STEPS))["per"]
    assert isinstance(found, Quantity)
    assert found.value == 1


def test_a_default_is_not_taken_where_another_size_decides() -> None:
    assert "per" not in read_sizes(document((("batch",), plain("64"))), table(STEPS, SAME, BATCH))


def test_a_default_of_what_is_not_known_is_not_known() -> None:
    found = read_sizes(document((("steps",), plain("auto"))), table(STEPS, SAME))["per"]
    assert found == Unknown("per", Reason.AUTO, Location("a.yaml", 0, 4, ("steps",)))


EVALUATED = Row(("eval",), "eval", 8, when=(Condition(("strategy",), ("no",), negated=True, default="no"),))


def test_a_row_that_nothing_looks_at_gives_nothing() -> None:
    assert read_sizes(document((("eval",), plain("0"))), table(EVALUATED)) == {}
    assert list(misread(document((("eval",), plain("0"))), table(EVALUATED))) == []


def test_a_row_counts_where_its_condition_holds() -> None:
    on = (("strategy",), plain("steps"))
    assert read_sizes(document(on), table(EVALUATED))["eval"] == Quantity("eval", 8, Origin.DEFAULT, key="eval")
    (found,) = misread(document(on, (("eval",), plain("0"))), table(EVALUATED))
    assert (found.row.key, found.value, found.at) == (("eval",), 0, Location("a.yaml", 0, 1, ("eval",)))


def test_a_key_of_two_rows_is_misread_once() -> None:
    always = Row(("eval",), "eval", 8)
    assert len(list(misread(document((("eval",), plain("-1"))), table(always, always)))) == 1
