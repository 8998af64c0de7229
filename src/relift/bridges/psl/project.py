"""A PSL project: predicates with their data, and rules; read from JSON, or from ``.psl`` and ``.data`` files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from pathlib import Path
from typing import Literal, TypeAlias, final

from relift.bridges.psl.data_file import read_data_file
from relift.bridges.psl.lenient_json import read_lenient_json
from relift.bridges.psl.rows import Rows, add_rows, no_collection
from relift.errors import FileFormatError, OptionError
from relift.language.syntax.parser import decode
from relift.language.syntax.source import Source
from relift.read_bytes import read_bytes

Part: TypeAlias = Literal["observations", "targets", "truth"]
PARTS: tuple[Part, ...] = ("observations", "targets", "truth")
_WHOLE = {"uniqueintid", "integer", "long"}
_TEXTS = {"uniquestringid", "string", "deferredfunctionaluniqueid", "date", "double"}


@final
@dataclass
class Predicate:
    """One predicate.

    Parameters
    ----------
    name, arity
        As PSL has them.
    types
        ``"int"`` or ``"text"`` for each argument.
    is_open
        Whether it has unknowns.
    rows
        For each part of the data its tuples with their values, in the order of the files.
    evaluations
        Names of evaluators, with their options.
    """

    name: str
    arity: int
    types: tuple[str, ...] = ()
    is_open: bool = False
    rows: dict[Part, Rows] = field(default_factory=dict)
    evaluations: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def of(self, part: Part) -> Rows:
        """The tuples of a part, with their values."""
        return self.rows.get(part, {})


@final
@dataclass
class Project:
    """Predicates by name in lower case (case does not count in PSL), and the text of the rules.

    Parameters
    ----------
    name
        How messages call it.
    predicates
        By name in lower case.
    rules
        All rules as one text.
    starts
        Where in it each rule begins; none for a file of rules, in which that has to be found out.
    notes
        What was found in it and is not used.
    """

    name: str
    predicates: dict[str, Predicate]
    rules: Source
    starts: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def project_from_json(content: str | Mapping[str, object], name: str, folder: Path) -> Project:
    """Read the JSON form of a project.

    Parameters
    ----------
    content
        The text, or what it stands for.
    name
        How messages call it.
    folder
        Where its file names begin.

    Raises
    ------
    FileFormatError
        If it is not a project.
    OptionError
        If it needs what relift does not do: learning of weights, functions in Java.
    """
    found = read_lenient_json(content, name) if isinstance(content, str) else content
    if not isinstance(found, Mapping) or "predicates" not in found:
        hint = 'A PSL project has "predicates" and "rules".'
        raise FileFormatError(f"{name} is not a PSL project.", hint)
    options = {str(key).lower(): value for key, value in _map(found.get("options"), "options", name).items()}
    reader = _Reader(name, folder, _is_true(options.get("runtime.db.intids")))
    for key, words in _map(found["predicates"], "predicates", name).items():
        reader.predicate(str(key), _map(words, str(key), name))
    given = found.get("rules"), _map(found.get("infer"), "infer", name).get("rules")
    rules = [rule for part in given for rule in _rules(part, folder, name)]
    starts = tuple(accumulate((len(rule) + 1 for rule in rules), initial=0))[: len(rules)]
    if _is_true(options.get("runtime.learn")) or (reader.has_learn and not reader.has_infer):
        hint = "Give the weights in the rules, and remove runtime.learn and data for learning alone."
        raise OptionError(f"{name} asks for weights to be learned, which relift does not do.", hint)
    learns = reader.has_learn or found.get("learn")
    notes = ("weights are taken as they stand in the rules; none are learned",) if learns else ()
    is_list = not any(isinstance(part, str) for part in given)
    source = Source("\n".join(rules), f"{name} (rules)")
    return Project(name, reader.predicates, source, starts if is_list else (), notes)


def project_from_psl(rules: Path, data: Path, int_ids: bool = False) -> Project:
    """Read a ``.psl`` file of rules and a ``.data`` file.

    Parameters
    ----------
    rules, data
        The files.
    int_ids
        Whether constants are whole numbers where no types are given, as with PSL's ``--int-ids``.
    """
    found = read_data_file(decode(read_bytes(data), str(data)), str(data))
    unknown = [key for key in found if key not in ("predicates", *PARTS)]
    if unknown:
        hint = f"Expected one of predicates, {', '.join(PARTS)}."
        raise FileFormatError(f"{data} has a section {unknown[0]!r}.", hint)
    reader = _Reader(str(data), data.parent, int_ids)
    for key, words in _map(found.get("predicates"), "predicates", str(data)).items():
        reader.declared(str(key), words)
    for part in PARTS:
        for name, files in _map(found.get(part), part, str(data)).items():
            predicate = reader.find(str(name), part)
            reader.read(
                predicate, part, [files] if isinstance(files, str) else _list(files, f"{part} of {name}", str(data))
            )
    text = decode(read_bytes(rules), str(rules))
    return Project(str(rules), reader.predicates, Source(text, str(rules)))


class _Reader:
    """Predicates as they are read."""

    def __init__(self, name: str, folder: Path, int_ids: bool) -> None:
        self.name, self.folder = name, folder
        self.default = "int" if int_ids else "text"
        self.predicates: dict[str, Predicate] = {}
        self.has_learn = self.has_infer = False

    def add(self, key: str, types: object, arity: int | None = None) -> Predicate:
        """Declare a predicate by a key such as ``Knows/2``."""
        name, _, count = key.partition("/")
        if not re.fullmatch(r"[A-Za-z_$][\w$]*", name) or (count and not count.isdigit()):
            raise FileFormatError(f"{self.name}: {key!r} is not the name of a predicate.", "As in: Knows/2")
        kinds = [self._type(key, kind) for kind in _list(types, f"the types of {key}", self.name)]
        sizes = {size for size in (int(count) if count else None, arity, len(kinds) or None) if size is not None}
        if len(sizes) != 1:
            problem = (
                "has no number of arguments" if not sizes else f"has {' and '.join(map(str, sorted(sizes)))} arguments"
            )
            raise FileFormatError(f"{self.name}: the predicate {name} {problem}.", f"Write {name}/2 for two.")
        if name.lower() in self.predicates:
            raise FileFormatError(f"{self.name}: the predicate {name} is there twice.", "Case does not count.")
        size = sizes.pop()
        found = Predicate(name, size, tuple(kinds) or (self.default,) * size)
        self.predicates[name.lower()] = found
        return found

    def _type(self, key: str, kind: object) -> str:
        word = str(kind).lower()
        if word not in _WHOLE | _TEXTS:
            hint = "Expected one of UniqueStringID, UniqueIntID, String, Integer, Long, Double."
            raise FileFormatError(f"{self.name}: {kind} is not a type of {key}.", hint)
        return "int" if word in _WHOLE else "text"

    def find(self, name: str, part: str) -> Predicate:
        found = self.predicates.get(name.partition("/")[0].lower())
        if found is None:
            hint = f"Declare it under predicates: {name}/2: open"
            raise FileFormatError(f"{self.name}: {part} are given for {name}, which is not a predicate.", hint)
        return found

    # --- declarations -----------------------------------------------------------------------------------------------

    def predicate(self, key: str, words: Mapping[str, object]) -> None:
        """A predicate of the JSON form, with its data."""
        for word in ("function", "model"):
            if words.get(word) is not None:
                raise OptionError(f"{self.name}: {key} is computed by {words[word]}, which only PSL can run.",
                                  "Write its values into a file of observations.")  # fmt: skip
        arity = words.get("arity")
        if arity is not None and (not isinstance(arity, int) or isinstance(arity, bool)):
            raise FileFormatError(f"{self.name}: the arity of {key} is {arity!r}.", 'Give a whole number: "arity": 2.')
        found = self.add(key, words.get("types"), arity)
        for part in PARTS:
            self.read(found, part, self._infer(words.get(part), f"{part} of {key}"))
        found.is_open = bool(found.of("targets")) or _is_true(words.get("force-open"))
        for evaluation in _list(words.get("evaluations"), f"evaluations of {key}", self.name):
            found.evaluations.append(self._evaluation(evaluation, key))

    def _infer(self, given: object, what: str) -> list[object]:
        """The data of inference: all of a list, or the parts ``all`` and ``infer`` of a map."""
        if isinstance(given, Mapping):
            unknown = [word for word in given if word not in ("all", "learn", "infer")]
            if unknown:
                raise FileFormatError(
                    f"{self.name}: {what} have a part {unknown[0]!r}.", "Expected all, learn or infer."
                )
            self.has_learn = self.has_learn or bool(given.get("learn"))
            self.has_infer = self.has_infer or bool(given.get("infer"))
            return [item for word in ("all", "infer") for item in _list(given.get(word), what, self.name)]
        return _list(given, what, self.name)

    def _evaluation(self, given: object, key: str) -> tuple[str, dict[str, object]]:
        if isinstance(given, str):
            return given, {}
        if isinstance(given, Mapping) and isinstance(given.get("evaluator"), str):
            return given["evaluator"], dict(_map(given.get("options"), f"options of {key}", self.name))
        raise FileFormatError(f"{self.name}: an evaluation of {key} is not valid.", 'As in: {"evaluator": "Discrete"}')

    def declared(self, key: str, words: object) -> None:
        """A predicate of a ``.data`` file: ``open``, ``closed``, ``block`` and types."""
        listed = words if isinstance(words, list) else [words]
        plain = {str(word).lower() for word in listed if not isinstance(word, Mapping)}
        more = {str(k): v for word in listed if isinstance(word, Mapping) for k, v in word.items()}
        for word in ("implementation", "modeltype"):
            if word in more:
                raise OptionError(f"{self.name}: {key} is computed by {more[word]}, which only PSL can run.",
                                  "Write its values into a file of observations.")  # fmt: skip
        unknown = sorted(plain - {"open", "closed", "block"})
        if unknown:
            raise FileFormatError(f"{self.name}: {key} is {unknown[0]!r}.", "Expected open, closed, block or types.")
        if ("open" in plain) == ("closed" in plain):
            raise FileFormatError(f"{self.name}: {key} is neither open nor closed.", f"Write {key}: open, or closed.")
        self.add(key, more.get("types")).is_open = "open" in plain

    # --- data -------------------------------------------------------------------------------------------------------

    def read(self, predicate: Predicate, part: Part, given: Iterable[object]) -> None:
        """Add files and rows to a part of the data."""
        rows = predicate.rows.setdefault(part, {})
        for kind, items in groupby(given, type):
            with no_collection():
                if kind in (list, tuple):
                    self._listed(predicate, rows, list(items), part)  # type: ignore[arg-type]
                else:
                    self._files(predicate, rows, items, part)

    def _listed(self, predicate: Predicate, rows: Rows, given: list[Sequence[object]], part: Part) -> None:
        place = f"{self.name}: {part} of {predicate.name}"
        add_rows(rows, predicate.name, predicate.types, given, lambda _: place)

    def _files(self, predicate: Predicate, rows: Rows, given: Iterable[object], part: Part) -> None:
        for item in given:
            if not isinstance(item, str):
                hint = 'Give paths of files, or rows such as ["a", "b", 0.5].'
                raise FileFormatError(f"{self.name}: {part} of {predicate.name} hold {item!r}.", hint)
            self._file(predicate, rows, self.folder / item, part)

    def _file(self, predicate: Predicate, rows: Rows, path: Path, part: Part) -> None:
        if not path.is_file():
            hint = f"It holds {part} of {predicate.name}; names begin in {self.folder}."
            raise FileFormatError(f"there is no file {path}.", hint)
        lines = [line.strip() for line in decode(read_bytes(path), str(path)).split("\n")]
        given = [line.split("\t") for line in lines if line]

        def place(k: int) -> str:
            return f"{path}:{[number for number, line in enumerate(lines, 1) if line][k]}"

        add_rows(rows, predicate.name, predicate.types, given, place)


def _rules(given: object, folder: Path, name: str) -> list[str]:
    """The rules: a list of them, or the text of the file of this path."""
    if isinstance(given, str):
        return [decode(read_bytes(folder / given), str(folder / given))]
    rules = []
    for rule in _list(given, "rules", name):
        if not isinstance(rule, str):
            raise FileFormatError(f"{name}: the rule {rule!r} is not a text.")
        rules.append(rule)
    return rules


def _map(given: object, what: str, name: str) -> Mapping[str, object]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise FileFormatError(f"{name}: {what} is not a map.")
    return given


def _list(given: object, what: str, name: str) -> list[object]:
    if given is None:
        return []
    if not isinstance(given, (list, tuple)):
        raise FileFormatError(f"{name}: {what} is not a list.")
    return list(given)


def _is_true(given: object) -> bool:
    return str(given).lower() == "true"
