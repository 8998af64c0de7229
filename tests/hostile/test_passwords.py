"""No password is printed, however an address is written: in errors, causes, reprs, logs and on the command line."""

from __future__ import annotations

import logging
import string
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import relift
from relift.cli.models import ModelArguments
from relift.cli.run import run
from relift.errors import ReliftError
from relift.redaction import redacted
from relift.tables.open_engine import open_engine
from relift.tables.postgres.address import holds_secret, shown_address
from relift.tables.postgres.errors import REASONS
from relift.tables.sources.table import Stored, source_from_data

pytest.importorskip("adbc_driver_postgresql")

NOWHERE = "/nonexistent"
"""A folder of sockets where no server answers."""
NO_HOST = "postgresql://me:{0}"
PLAIN = [
    "postgresql://me:{0}@/db?host=/nonexistent",
    "postgres://me:{0}@/db?host=/nonexistent",
    "PostgreSQL://me:{0}@/db?host=/nonexistent",
    "postgresql://:{0}@/db?host=/nonexistent",
    "postgresql://me:{0}@nowhere.invalid:5432/db",
    "postgresql://me:{0}@nowhere.invalid:5432,elsewhere.invalid:5433/db?sslmode=require",
    "postgresql://me:{0}@[::1]:1/db",
    "postgresql:///me:{0}@nowhere.invalid/db",
    "postgresql:///db?user=me&password={0}&host=/nonexistent",
    "postgresql://?host=/nonexistent&password={0}",
    "postgresql://nowhere.invalid/db?sslpassword={0}",
    "postgresql://me@{0}@nowhere.invalid/db",
    "postgresql://me:x@y:{0}@nowhere.invalid/db",
    NO_HOST,
    "postgresql://me:{0}@",
    "postgresql://nowhere.invalid/db?options=-c%20x&password={0}#x",
    "postgresql://me%3A{0}@nowhere.invalid/db",
    "postgresql://nowhere.invalid/db?pass%77ord={0}",
]
"""Addresses: read, or refused by the client library."""
OTHERS = [
    "postgresql:/me:{0}@host/db",
    "postgresql:me:{0}@host/db",
    "postgre://me:{0}@host/db",
    "postgresql+psycopg://me:{0}@host/db",
    "jdbc:postgresql://host/db?user=me&password={0}",
    "me:{0}@host/db",
    "host=db user=me password={0}",
    "host=db user=me password='{0}' dbname=x",
    "host=db password = '{0}'",
    'password="{0}" host=x',
    "PGPASSWORD={0}",
    "{{'host': 'db', 'password': '{0}'}}",
    '{{"user": "me", "password": "{0}"}}',
    "pwd={0};host=db",
    "mysql://me:{0}@host/db",
]
"""Texts that are no address here, and are quoted in errors."""
SECRETS = [
    "Hq7XvZ3k",
    "Hq7/XvZ3",
    "Hq7@XvZ3",
    "Hq7:XvZ3",
    "Hq7?XvZ3",
    "Hq7#XvZ3",
    "Hq7%2FXvZ3",
    "Hq7 XvZ3",
    "Hq7=XvZ3",
    "Hq7\\XvZ3",
]
TEXT = "relation p/1; var x(I) in p(I); minimize: sum{I in p(I)} x(I);"


@pytest.fixture(autouse=True)
def names_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts that are nowhere are looked up for a second, not for ten, where no server of names answers."""
    monkeypatch.setenv("RES_OPTIONS", "timeout:1 attempts:1")


def some(template: str, count: int) -> list[str]:
    """A few of the passwords, others for each way to write an address."""
    start = [*PLAIN, *OTHERS].index(template)
    return [SECRETS[(start + 3 * k) % len(SECRETS)] for k in range(count)]


def pieces(secret: str) -> list[str]:
    """What must not be seen: four characters of it in a row, in any writing."""
    return [secret[k : k + 4] for k in range(len(secret) - 3) if any(c.isalnum() for c in secret[k : k + 4])]


def chain(error: BaseException | None) -> list[str]:
    """Everything that an error and those behind it hold."""
    told: list[str] = []
    while error is not None:
        told += [str(error), repr(error), repr(error.args), repr(vars(error))]
        error = error.__cause__ or error.__context__
    return told


def attempts(address: str, model: Path) -> list[Callable[[], Any]]:
    return [
        lambda: open_engine(address),
        lambda: relift.solve_model(TEXT, engine=address),
        lambda: relift.solve_model(TEXT, address),
        lambda: relift.solve_model(TEXT, {"p": address}),
        lambda: relift.solve_model(TEXT, {"p": (address, "t")}),
        lambda: relift.solve_model(TEXT, {"p": relift.Table((address, "t"), ["x"])}),
        lambda: relift.solve_model(TEXT, {"p": relift.Table(address)}),
        lambda: relift.solve_model(TEXT, {"p": relift.files(address)}),
        lambda: relift.solve_model(TEXT.replace("p/1;", f'p/1 from "{address}";', 1)),
        lambda: relift.solve_model(address),
        lambda: relift.solve_model(TEXT, {address: [1]}),
        lambda: relift.solve_model(TEXT, relift.ServerTables(address)),
        lambda: relift.ServerTables(address).names(),
        lambda: relift.solve_model_in_engine(TEXT, engine=address),
        lambda: relift.solve_model_in_engine(TEXT, {"p": [1]}, engine=address, database="x"),
    ]


def assert_silent(told: list[str], secret: str) -> None:
    for text in told:
        for piece in pieces(secret):
            assert piece not in text, text


@pytest.mark.parametrize("template", [*PLAIN, *OTHERS])
def test_no_error_of_python_holds_a_piece_of_a_password(
    template: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    for secret in some(template, 4):
        if template == NO_HOST and "@" in secret:
            continue  # what follows the @ is a host
        address = template.format(secret)
        told: list[str] = []
        for attempt in attempts(address, tmp_path):
            try:
                with warnings.catch_warnings(record=True) as found:
                    attempt()
            except (ReliftError, OSError) as error:
                told += [*chain(error), "".join(traceback.format_exception(error))]
            told += [str(warning.message) for warning in found]
        assert told
        told += [
            repr(relift.ServerTables(address)),
            repr(relift.Table((address, "t"), ["x"])),
            repr(Stored(address, ("t",))),
            repr(source_from_data("p", (address, "t"))) if template in PLAIN else "",
            repr(ModelArguments(tmp_path / "m.rlp", address, engine=address)),
            shown_address(address) if template in PLAIN else "",
            redacted(f"cannot open {address!r}: no such file"),
            redacted(f"cannot open {address}"),
        ]
        output = capfd.readouterr()
        assert_silent([*told, output.out, output.err, caplog.text], secret)


@pytest.mark.parametrize("template", [*PLAIN[:4], *PLAIN[7:10], *OTHERS])
def test_the_command_line_prints_no_piece_of_a_password(
    template: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.rlp").write_text(TEXT)
    model = str(tmp_path / "m.rlp")
    for secret in some(template, 2):
        address = template.format(secret)
        (tmp_path / "named.rlp").write_text(TEXT.replace("p/1;", f"p/1 from '{address}';".replace("'", '"'), 1))
        for words in (
            ["solve", model, "--engine", address],
            ["solve", model, "--data", address, "--debug"],
            ["solve", model, "--lift-in-engine", "--engine", address],
            ["ground", model, "--data", address],
            ["check", model, "--engine", address],
            ["show", model, "--data", address],
            ["solve", address],
            [address],
            ["solve", model, address],
            ["solve", model, "--param", address],
            ["solve", model, "--header", address],
            ["solve", model, "--schema", address],
            ["solve", model, "--backend", address],
            ["solve", model, "--time-limit", address],
            ["solve", model, f"--{address}"],
            ["solve", model, "-o", address],
            ["solve", str(tmp_path / "named.rlp")],
            ["fmt", address],
            ["check", address],
        ):
            assert run(words) in {2, 6}, words
        output = capfd.readouterr()
        assert output.err
        assert "Traceback" not in output.err
        assert_silent([output.out, output.err], secret)


WORD = st.text(string.ascii_letters + string.digits, min_size=1, max_size=5)
ODD = st.text("/:@?#&=%'\" \\.,;![]{}<>|", max_size=3)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=WORD,
    odd=ODD,
    after=WORD,
    template=st.sampled_from([*PLAIN, *OTHERS]),
    frame=st.sampled_from(["{}", "there is no file {!r}.", "engine={} is not known. Choose one.", "({})", "a: {}"]),
)
def test_random_passwords_are_taken_out_of_random_texts(
    before: str, odd: str, after: str, template: str, frame: str
) -> None:
    """A password of two marked parts with any signs between them; both marks must be gone."""
    secret = f"QZ{before}QZ{odd}QX{after}QX"
    if "'{0}'" in template or '"{0}"' in template:  # in quotation marks these are escaped
        secret = secret.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
    elif "password={0}" in template or "PASSWORD" in template or "pwd=" in template or "pass%" in template:
        secret = secret.replace("&", "").replace("'", "").replace('"', "")  # there they end the setting
    if template == NO_HOST:
        secret = secret.replace("@", "")  # what follows it is a host
    address = template.format(secret)
    shown = redacted(frame.format(address))
    assert f"QZ{before}QZ" not in shown
    assert f"QX{after}QX" not in shown
    if template in PLAIN:
        assert "QZ" not in shown_address(address)
        assert "QX" not in shown_address(address)
        assert holds_secret(address)


def test_addresses_without_a_password_are_shown() -> None:
    for address in ("postgresql://me@db.example.org:5433/sales", "postgresql://db/x", "postgresql:///sales"):
        assert shown_address(address) == address
        assert redacted(f"at {address}: no") == f"at {address}: no"
        assert not holds_secret(address)
    assert shown_address("postgresql://me@/db?host=/run/postgresql") == "postgresql://me@/db?host=/run/postgresql"


@pytest.mark.parametrize(
    "text",
    [
        "the password is wrong, or the user is.",
        "Set PGPASSWORD, or write it into the password file (~/.pgpass).",
        *(f"postgresql://me@db:5433/x cannot be reached: {what} {hint}" for _, what, hint in REASONS),
        "the constraint 'c': 3 rows",
        "model.rlp:3:5",
        "write to someone@example.org",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert redacted(text) == text
