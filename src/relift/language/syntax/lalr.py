"""Read a text by the stored LALR table of the grammar, without the package that made the table.

Building the table takes longer than everything else that a small model needs, so it is stored beside the grammar
(:mod:`relift.language.syntax.grammar_table`). What is done with it is short: take the next token, reduce as long as the
table says so, then shift.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, TypeAlias, final

END = "$END"
"""The terminal behind the last character."""

Children: TypeAlias = list[Any]
"""What a rule is called with: what the rules inside of it have made, tokens, and None for what was left out."""

Maker: TypeAlias = Callable[[Children], Any]


@final
class Token(str):
    """A word of a text, with its terminal and its place.

    Parameters
    ----------
    text
        The word.
    kind
        The terminal.
    start_pos, end_pos
        Offsets in characters, from 0.
    """

    __slots__ = ("end_pos", "kind", "start_pos")

    kind: str
    start_pos: int
    end_pos: int

    def __new__(cls, text: str, kind: str, start_pos: int, end_pos: int) -> Token:
        """Make it of a text, which a string cannot change later."""
        token = super().__new__(cls, text)
        token.kind, token.start_pos, token.end_pos = kind, start_pos, end_pos
        return token


class UnexpectedCharacterError(Exception):
    """A character with which nothing begins.

    Parameters
    ----------
    place
        Its offset.
    """

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class UnexpectedTokenError(Exception):
    """A token that cannot stand where it does.

    Parameters
    ----------
    token
        The token.
    accepted
        The terminals that could stand there.
    """

    def __init__(self, token: Token, accepted: set[str]) -> None:
        super().__init__(token, accepted)
        self.token = token
        self.accepted = accepted


@final
@dataclass(frozen=True)
class Kept:
    """A symbol of a rule whose value is handed on.

    Parameters
    ----------
    place
        Which symbol of the rule it is.
    is_list
        Whether its values are listed with those around it: a repetition.
    nones
        How many things were left out before it.
    """

    place: int
    is_list: bool
    nones: int


@final
@dataclass(frozen=True)
class Production:
    """A rule of the grammar, as the table reduces by it.

    Parameters
    ----------
    origin
        The nonterminal that it makes.
    length
        How many symbols it takes.
    name
        What makes the node; None for a list, which the rule around it takes up.
    kept
        The symbols whose values are handed on.
    nones
        How many things were left out at the end.
    hands_on
        Whether a single value is handed on as it is.
    """

    origin: str
    length: int
    name: str | None
    kept: tuple[Kept, ...]
    nones: int
    hands_on: bool


@final
@dataclass(frozen=True)
class Table:
    """The grammar as a machine.

    Parameters
    ----------
    words
        One regular expression for all tokens; the group that matches names the terminal.
    skipped
        Terminals that are left out.
    reserved
        For a terminal, the words that are terminals of their own.
    patterns
        How the terminals are written.
    rules
        The rules.
    states
        For each state and symbol: the next state, or -1 - r to reduce by rule r.
    end
        The state in which a whole text has been read; the first is 0.
    """

    words: str
    skipped: Sequence[str]
    reserved: Mapping[str, Mapping[str, str]]
    patterns: Mapping[str, str]
    rules: Sequence[Production]
    states: Sequence[Mapping[str, int]]
    end: int

    @cached_property
    def _scan(self) -> Callable[[str, int], re.Match[str] | None]:
        return re.compile(self.words).match

    def tokens(self, text: str) -> Iterator[Token]:
        """Cut a text into tokens, one at a time.

        Raises
        ------
        UnexpectedCharacterError
            Where none begins.
        """
        scan, skipped, reserved, place = self._scan, frozenset(self.skipped), self.reserved, 0
        while place < len(text):
            match = scan(text, place)
            if match is None or match.end() == place:
                raise UnexpectedCharacterError(place)
            kind, stop = str(match.lastgroup), match.end()
            if kind not in skipped:
                word = match[0]
                if kind in reserved:
                    kind = reserved[kind].get(word, kind)
                yield Token(word, kind, place, stop)
            place = stop
        yield Token("", END, place, place)

    def parse(self, text: str, makers: object) -> Any:
        """Read a text.

        Parameters
        ----------
        text
            The text.
        makers
            Has a method for each rule, by the name of the rule, which gets its children.

        Returns
        -------
        Any
            What the method of the first rule returns.

        Raises
        ------
        UnexpectedCharacterError
            If no token begins at a place.
        UnexpectedTokenError
            If a token cannot stand at its place.
        """
        steps = [(rule.length, rule.origin, _reduction(rule, makers)) for rule in self.rules]
        states, stack, values = self.states, [0], list[Any]()
        for token in self.tokens(text):
            kind = token.kind
            while (action := states[stack[-1]].get(kind)) is not None and action < 0:
                length, origin, reduce = steps[-1 - action]
                children = values[len(values) - length :]
                del stack[len(stack) - length :], values[len(values) - length :]
                values.append(reduce(children))
                stack.append(states[stack[-1]][origin])
                if stack[-1] == self.end and kind == END:
                    return values[0]
            if action is None:
                raise UnexpectedTokenError(token, self._accepted(stack))
            stack.append(action)
            values.append(token)
        raise AssertionError("the table ends a text at its end")  # pragma: no cover

    def _accepted(self, stack: list[int]) -> set[str]:
        """The terminals that can follow: those that are shifted after the reductions that the table has for them."""
        return {kind for kind in self.states[stack[-1]] if self._is_terminal(kind) and self._takes(list(stack), kind)}

    def _is_terminal(self, symbol: str) -> bool:
        return symbol in self.patterns or symbol == END

    def _takes(self, stack: list[int], kind: str) -> bool:
        while (action := self.states[stack[-1]].get(kind)) is not None and action < 0:
            rule = self.rules[-1 - action]
            del stack[len(stack) - rule.length :]
            stack.append(self.states[stack[-1]][rule.origin])
            if stack[-1] == self.end and kind == END:
                return True
        return action is not None


def _reduction(rule: Production, makers: object) -> Maker:
    """What a rule does with the values of all its symbols."""
    if rule.hands_on and rule.nones == 0 and [(k.is_list, k.nones) for k in rule.kept] == [(False, 0)]:
        return itemgetter(rule.kept[0].place)
    make: Maker = _as_list if rule.name is None else getattr(makers, rule.name)
    if rule.hands_on:
        make = _unless_alone(make)
    if rule.nones == 0 and [(k.place, k.is_list, k.nones) for k in rule.kept] == [
        (place, False, 0) for place in range(rule.length)
    ]:
        return make
    kept, last = [(k.place, k.is_list, k.nones) for k in rule.kept], [None] * rule.nones

    def reduce(values: Children) -> Any:
        children: Children = []
        for place, is_list, nones in kept:
            if nones:
                children += [None] * nones
            if not is_list:
                children.append(values[place])
            elif children:
                children += values[place]
            else:
                children = values[place]  # a long repetition is not copied for each of its parts
        return make(children + last if last else children)

    return reduce


def _as_list(children: Children) -> Children:
    return children


def _unless_alone(make: Maker) -> Maker:
    return lambda children: children[0] if len(children) == 1 else make(children)
