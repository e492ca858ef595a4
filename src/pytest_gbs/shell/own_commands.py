"""Commands of the shell itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from pytest_gbs.model.command import Folder, Part, Word
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.shell import truth, values
from pytest_gbs.shell.fields import BLANKS, Fields
from pytest_gbs.shell.launching import Launching
from pytest_gbs.shell.limits import DEEPEST_CALL, MOST_CHARACTERS, MOST_PUSHED
from pytest_gbs.shell.reading import Assignments, Words
from pytest_gbs.shell.state import BREAK, CONTINUE, EXIT, RETURN, Variable, text_of
from pytest_gbs.shell.text import Parts, whole
from pytest_gbs.shell.truth import EXPECTED, NO, UNKNOWN, YES, Truth
from pytest_gbs.shell.wrappers import words_of

# How a script puts a heredoc into a variable: `read -r -d '' NAME <<EOF`.
_READS_ALL: Final = (["-r", "-d", ""], ["-d", "", "-r"], ["-rd", ""])


class OwnCommands(Launching):
    """A file of which the commands are read that change the shell itself."""

    def _test(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        return self.test_words(words[1:-1] if words[0].text == "[" else words[1:])

    def _exit(self, _words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        self.state.over = EXIT
        return UNKNOWN

    def _return(self, _words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        if self.calls:
            self.calls[-1].left.append(self.state.copy())
        self.state.over = RETURN
        return UNKNOWN

    def _break(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        if self.loops:
            self.state.over = BREAK if words[0].text == "break" else CONTINUE
            self.loops[-1].left.append(self.state.copy())
        return UNKNOWN

    def _shift(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        count = 1 if len(words) == 1 else self.calculate(words[1].parts)[0]
        known = self.state.arguments
        if known is None or count is None or count < 0:
            self.state.arguments = None
            return UNKNOWN
        if values.any_number(known[:count])[0]:
            self.state.arguments = None
            return UNKNOWN
        if count > len(known):
            return NO
        self.state.arguments = known[count:]
        return YES

    def _set(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `set`: the arguments behind its options, and `-a`."""
        for index, word in enumerate(words[1:], 1):
            known = word.starts_with
            if known[:1] == "-" and known[1:2] != "-" and "a" in known:
                self.state.exporting = True
            elif word.text == "+a":
                self.state.exporting = False
            if word.text == "--" or not known.startswith(("-", "+")):
                if _takes_a_name(words[index - 1].text or ""):
                    continue
                rest = words[index + 1 :] if word.text == "--" else words[index:]
                self.state.arguments = None if any(entry.many for entry in rest) else tuple(entry.parts for entry in rest)
                break
        return YES

    def _cd(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        targets = [word for word in words[1:] if not (word.text or "").startswith("-")]
        here, (last, *pushed) = self.state.folder, self.state.left
        if words[0].text == "pushd":
            pushed = [here, *pushed[:MOST_PUSHED]]
        went_back = [word.text for word in words[1:]] == ["-"]
        self.state.folder = last if went_back else self.moved(targets[0]) if len(targets) == 1 else Folder(None)
        self.state.left = (here, *pushed)
        return YES

    def _popd(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        here, (_, *pushed) = self.state.folder, self.state.left
        self.state.folder = pushed[0] if pushed and len(words) == 1 else Folder(None)
        self.state.left = (here, *pushed[1:])
        return YES

    def _source(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read another file in this shell; what it sets is unknown if it can't be read, and what environments are if the tree lacks it."""
        source = self.file(words[1]) if len(words) > 1 else None
        if source is None and len(words) > 1 and self.others is not None:
            self.missing_sources += [(path, words[1].at) for path in self.candidates(words[1])]
        if source is None or self.shells >= DEEPEST_CALL:
            if source is not None and source.path not in self.sources:  # one that sources itself was read
                self.stop(f"shells nested more than {DEEPEST_CALL} deep", words[1].at)
            if source is None and self.others is not None and len(words) > 1 and self.is_elsewhere(words[1]):
                self.state.unseen = True
            else:
                self.state.forgotten = True
            return EXPECTED
        self.sources[source.path] = source.text
        outer, arguments = self.text_path, self.state.arguments
        self.text_path = source.path
        if len(words) > 2:
            self.state.arguments = tuple(word.parts for word in words[2:])
        try:
            self.evaluate((whole(source.path, source.text),), most=MOST_CHARACTERS)
        finally:
            self.text_path, self.state.arguments = outer, arguments
        return EXPECTED

    def is_elsewhere(self, word: Word) -> bool:
        """Whether a file that is sourced, and not found, is none of the tree: its whole path is known, or it sets up a shell."""
        path = word.text
        if path is None:
            return bool(word.parts) and bool(_sets_up_a_shell().search(word.parts[-1].text or ""))
        return path.startswith(("/", "~")) or self.state.folder.path is not None

    def _eval(self, words: Words, _before: Assignments, feed: Parts | None) -> Truth:
        self.launch(words, {}, feed, words[0].at)
        return EXPECTED

    def _let(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        result = UNKNOWN
        for word in words[1:]:
            value, defaults, _ = self.calculate(word.parts)
            result = Truth(None if value is None else value != 0, bool(defaults))
            if value is None:
                self.state.forget(word.starts_with.split("=")[0].rstrip("+-*/%&|^<>"), word.at)
        return result

    def _read(self, words: Words, before: Assignments, feed: Parts | None) -> Truth:
        """Read `read`: the words of a herestring, the whole of a heredoc with `-d ''`, or something unknown."""
        if feed is not None and [word.text for word in words[1:-1]] in _READS_ALL and (words[-1].text or "").isidentifier():
            self.state.assign(words[-1].text or "", Variable(_trimmed(feed)))
            return NO  # the end of the input comes before the delimiter
        options = [word.text or "" for word in words[1:] if word.starts_with.startswith("-")]
        names = [word.text for word in words[1:] if word.text and word.text.isidentifier()]
        separators = next((variable.text for name, variable in before if name == "IFS"), BLANKS)
        known = feed is not None and text_of(feed) is not None and separators is not None
        if not names or not known or not all(option in ("-r", "-a", "-ra", "-ar") for option in options):
            return self.forget_words(names, words[0].at)
        fields = Fields(separators or "")
        fields.add_split(tuple(part for part in feed or () if part.text), words[0].at)
        found = tuple(tuple(part.cut(0, len((part.text or "").rstrip("\n"))) for part in parts) for parts in fields.finish())
        if any("a" in option for option in options):
            self.state.assign(names[0], Variable(items=tuple((str(i), parts) for i, parts in enumerate(found))))
        elif len(found) > len(names):
            return self.forget_words(names, words[0].at)
        else:
            for name, parts in zip(names, (*found, *((),) * len(names)), strict=False):
                self.state.assign(name, Variable(parts))
        return YES

    def _fill(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `mapfile`: the names among the words become unknown."""
        return self.forget_words((word.text for word in words[1:] if word.text and word.text.isidentifier()), words[0].at)

    def _getopts(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `getopts`: the next option and what it is given, as far as they are known; of no arguments it finds no option."""
        given, at = self.state.arguments or (), words[0].at
        spec, name = (words[1].text, words[2].text) if len(words) == 3 else (None, None)
        index = self.state.variables.get("OPTIND")
        number = 1 if index is None else int(index.text) if index.text is not None and index.text.isdecimal() else 0
        option = text_of(given[number - 1]) if 0 < number <= len(given) else None
        known = number > 0 and not values.any_number(given[: number + 1])[0] and (option is not None or number > len(given))
        if known and (option is None or option[:1] != "-" or option in ("-", "--")) and given:
            return NO
        takes = option is not None and f"{option[1:2]}:" in (spec or "")
        alone = option is not None and (len(option) == 2 or (takes and len(given[number - 1]) == 1))
        if option is None or not spec or not name or not known or not alone or option[1] not in spec.replace(":", ""):
            self.forget_words(("OPTARG", "OPTIND", *(word.text for word in words[2:3] if word.text)), at)
            none = truth.are_arguments(self.look_up("@", at).elements)
            return Truth(False, default=True) if none else UNKNOWN
        apart = takes and len(option) == 2
        value = given[number : number + 1] if apart else ((given[number - 1][0].cut(2, len(option)),),)
        self.state.assign(name, Variable((Part(option[1], at, at),)))
        self.state.assign("OPTARG", Variable(value[0] if takes and value else ()))
        self.state.assign("OPTIND", Variable((Part(str(number + 1 + apart), at, at),)))
        return YES

    def _printf(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `printf -v NAME`."""
        if len(words) > 2 and words[1].text == "-v" and words[2].text:
            self.state.forget(words[2].text.split("[")[0], words[2].at)
        return YES

    def forget_words(self, names: Iterable[str], at: Location) -> Truth:
        """Make variables unknown that a command sets."""
        for name in names:
            self.state.forget(name, at)
        return UNKNOWN


def _takes_a_name(options: str) -> bool:
    """Whether the next word belongs to `options` of `set`: the name behind `-euo`, and behind `-euox` just as well."""
    return options[:1] in ("-", "+") and options[1:2] != "-" and "o" in options


_sets_up_a_shell = lazy_pattern(r"/(?:(?:etc/)?profile|activate|(?:conda|mamba)\.sh|\.(?:bash_?)?(?:rc|profile))$")


def _trimmed(parts: Parts) -> Parts:
    """`parts` without the white space around them."""
    kept = list(parts)
    for end, strip in ((0, str.lstrip), (-1, str.rstrip)):
        while kept and (text := kept[end].text) is not None:
            rest = strip(text)
            if rest:
                kept[end] = kept[end].cut(len(text) - len(rest), len(text)) if end == 0 else kept[end].cut(0, len(rest))
                break
            kept.pop(end)
    return tuple(kept)


OWN_COMMANDS: Final[dict[str, Callable[[OwnCommands, Words, Assignments, Parts | None], Truth]]] = {
    **dict.fromkeys(
        words_of(": true echo pwd trap shopt ulimit umask wait jobs alias unalias hash enable bind disown times complete fg bg"),
        lambda *_: YES,
    ),
    "false": lambda *_: NO, "test": OwnCommands._test, "[": OwnCommands._test, "exit": OwnCommands._exit,
    "return": OwnCommands._return, "break": OwnCommands._break, "continue": OwnCommands._break, "shift": OwnCommands._shift,
    "set": OwnCommands._set, "cd": OwnCommands._cd, "pushd": OwnCommands._cd, "popd": OwnCommands._popd,
    "source": OwnCommands._source,
    ".": OwnCommands._source, "eval": OwnCommands._eval, "let": OwnCommands._let, "read": OwnCommands._read,
    "mapfile": OwnCommands._fill, "readarray": OwnCommands._fill, "getopts": OwnCommands._getopts, "printf": OwnCommands._printf,
}  # fmt: skip
