"""The language of messages: which one is chosen, and whether the catalogue is complete."""

import argparse
import ast
import inspect
import re
import string
import tomllib
from collections.abc import Iterator, Sequence
from contextvars import copy_context
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Event, Thread

import pytest

import goryu
from goryu.__main__ import COMMANDS
from goryu.base.arguments import ERRORS, ArgumentParser, translated_help
from goryu.base.language import PACKAGES, VARIABLES, both, either, language, speaking, tr
from goryu.players.config import EngineConfig
from goryu.usi.console import print_options
from goryu.usi.option_values import OptionValues
from goryu.usi.options import OPTIONS, identification
from paths import ROOT

ENGINE = Path(goryu.__file__).parents[1]
TOOLS = ROOT / "tools"


def catalogue(folder: Path, name: str) -> dict[str, str]:
    """Returns the texts of a file of a package."""
    return tomllib.loads((folder / "locale" / f"{name}.ja.toml").read_text("utf-8"))


SOURCES = {
    **{name: sorted((ENGINE / name).rglob("*.py")) for name in ("goryu", "goryu_page", "goryu_lab")},
    "bootstrap": [TOOLS / "dev.py", TOOLS / "bootstrap.py"],
}
TEXTS = {name: catalogue(TOOLS if name == "bootstrap" else ENGINE / name, "texts") for name in SOURCES}
MESSAGES = {english: text for texts in TEXTS.values() for english, text in texts.items()}
USI_OPTIONS = catalogue(ENGINE / "goryu", "usi_options")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names no language, on a system that is not a Japanese Windows."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("goryu.base.language._is_windows_japanese", lambda: False)
    return monkeypatch


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "ja_JP.eucJP"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": ""}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "GORYU_LANGUAGE": "en"}, "en"),
        ({"LC_ALL": "C", "GORYU_LANGUAGE": "ja"}, "ja"),
        ({"LANG": "Japanese_Japan.932"}, "ja"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
    ],
)
def test_the_first_variable_that_is_set_decides(
    variables: dict[str, str], expected: str, environment: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        environment.setenv(name, value)
    assert language() == expected
    assert either("yes", "はい") == {"en": "yes", "ja": "はい"}[expected]


def test_a_text_is_translated_and_filled_in(environment: pytest.MonkeyPatch) -> None:
    text = "draw: {reason}"
    assert tr(text, reason="x") == "draw: x"
    environment.setenv("GORYU_LANGUAGE", "ja")
    assert tr(text, reason="千日手") == MESSAGES[text].format(reason="千日手") != "draw: 千日手"
    assert tr("not in the catalogue {x}", x=1) == "not in the catalogue 1"
    assert tr("{braces} without values") == "{braces} without values"
    assert [tr("{n:,} {n:ply|plies}", n=n) for n in (0, 1, 1000)] == ["0 plies", "1 ply", "1,000 plies"]
    assert both("checkmate") == {"en": "checkmate", "ja": "詰み"}
    assert both("not in the catalogue") == dict.fromkeys(("en", "ja"), "not in the catalogue")


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Returns all nodes of the syntax tree of a file."""
    return [*ast.walk(ast.parse(path.read_text("utf-8")))]


def literal_texts(path: Path) -> Iterator[str]:
    """Yields every literal text that a file gives to `tr` or `both`."""
    for node in nodes(path):
        match node:
            case ast.Call(func=ast.Name("tr" | "both"), args=[ast.Constant(value), *_]):
                yield str(value)


def test_the_catalogue_has_the_texts_of_every_package() -> None:
    assert set(SOURCES) == set(PACKAGES)


@pytest.mark.parametrize("package", SOURCES)
def test_every_text_of_a_package_has_a_translation_there_or_in_the_engine(package: str) -> None:
    texts = {text for path in SOURCES[package] for text in literal_texts(path)}
    assert texts - TEXTS[package].keys() - TEXTS["goryu"].keys() == set()


UNSEEN = {
    *("AssertionError", "RuntimeError", "TypeError", "ValueError"),
    *("ConnectionError", "MessageError", "NotPairedError"),
}
"""Errors that only a defect can cause, also one of the page's JavaScript, or that come before a language is
known."""


def untranslated_errors(path: Path) -> Iterator[str]:
    """Yields every error of a file whose text has two words in English outside of `tr`."""
    for node in nodes(path):
        match node:
            case ast.Raise(ast.Call(ast.Name(name), [(ast.JoinedStr() | ast.Constant()) as text, *_])):
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                words = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
                if name not in UNSEEN and re.search(r"[a-z]{2,} [a-z]{2,}", " {} ".join(words)):
                    yield f"{path.name}: {ast.unparse(node)}"


def test_the_errors_of_the_page_are_translated() -> None:
    assert [error for path in SOURCES["goryu_page"] for error in untranslated_errors(path)] == []


def test_a_text_is_translated_once() -> None:
    assert len(MESSAGES) == sum(map(len, TEXTS.values()))


def written(paths: Sequence[Path]) -> tuple[set[str], list[str]]:
    """Returns the strings in files, also as argparse has those of help, and patterns of the f-strings.

    The names of fields are among the strings: an error names the field of a message that is wrong.
    """
    strings, patterns = set(), []
    for node in (node for path in paths for node in nodes(path)):
        match node:
            case ast.Constant(str(text)):
                start, _, value = text.partition(" (default ")
                strings |= {text, start, value[:-1], text.replace("%", "%%")}
            case ast.AnnAssign(ast.Name(field)):
                strings.add(field)
            case ast.JoinedStr([ast.Constant(str(start)), *_]) if start[0].isalpha():
                parts = [
                    re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+"
                    for part in node.values
                ]
                patterns.append("".join(parts).partition(re.escape(" (default"))[0])
    return strings, patterns


def foreign_texts() -> set[str]:
    """Returns the texts that argparse and the system say; other Pythons and systems have others."""
    file = (ENGINE / "goryu" / "locale" / "texts.ja.toml").read_text("utf-8")
    _, heading, below = file.partition("\n# Python's argparse, and what a system says about files.\n")
    assert heading
    return set(tomllib.loads(below))


@pytest.mark.parametrize("package", SOURCES)
def test_every_translation_is_used(package: str) -> None:
    """By its package; one of the engine by any."""
    paths = [path for paths in SOURCES.values() for path in paths] if package == "goryu" else SOURCES[package]
    strings, patterns = written(paths)
    unused = TEXTS[package].keys() - strings - (foreign_texts() if package == "goryu" else set())
    assert {text for text in unused if not any(re.fullmatch(pattern, text) for pattern in patterns)} == set()


def test_a_translation_has_the_fields_of_its_text() -> None:
    for english, japanese in MESSAGES.items():
        expected, fields = (
            {name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (english, japanese)
        )
        assert fields == expected, english


NEVER_SHOWN = (
    "not defined", "conflicting", "with mode", "cannot merge", "invalid argument for positionals",
    "dest= is required", "conflict_resolution", "must be optional", "multiple subparser", "not callable",
    "invalid option string", "is deprecated", "warning", "maybe you meant",
    "program's version", "subcommands", " (default: ",
)  # fmt: skip
"""Parts of the texts of argparse that no user sees: of defects in a program, and of what ours do not use."""


def texts_of_argparse() -> Iterator[str]:
    """Yields the texts that argparse, in the Python that runs this, translates."""
    for node in ast.walk(ast.parse(inspect.getsource(argparse))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("_", "ngettext")
        ):
            yield from (str(item.value) for item in node.args if isinstance(item, ast.Constant))


def test_every_text_of_argparse_that_a_user_can_see_has_a_translation_with_its_fields() -> None:
    texts = set(texts_of_argparse())
    assert {
        "usage: ",
        "expected one argument",
        "expected %s arguments",
        "unrecognized arguments: %s",
    } <= texts
    seen = {text for text in texts if not any(part in text for part in NEVER_SHOWN)}
    assert seen <= set(MESSAGES)
    others = {"usage: ", "positional arguments", "options", "show this help message and exit"}
    others |= {"%(heading)s:", "%(prog)s: error: %(message)s\n"}
    assert seen - others <= set(ERRORS) <= set(MESSAGES)
    field = re.compile(r"%(?:\(\w+\))?[a-z]")
    for text in seen:
        assert sorted(field.findall(text)) == sorted(field.findall(MESSAGES[text])), text


def parser() -> ArgumentParser:
    found = ArgumentParser("goryu test", allow_abbrev=True)
    found.add_argument("game", choices=("shogi", "reversi"))
    found.add_argument("--number", type=int)
    found.add_argument("--pair", nargs=2)
    found.add_argument("--flag", action="store_true")
    either_one = found.add_mutually_exclusive_group()
    either_one.add_argument("--black")
    either_one.add_argument("--blue")
    return found


@pytest.mark.parametrize(
    ("arguments", "english", "japanese"),
    [
        ("shogi --foo", "unrecognized arguments: --foo", "不明な引数があります：--foo"),
        ("", "the following arguments are required: game", "次の引数が必要です：game"),
        ("shogi --number", "expected one argument", "引数--number：値が1つ必要です"),
        ("shogi --number x", "invalid int value: 'x'", "引数--number：'x'はint型の値ではありません"),
        ("shogi --pair x", "expected 2 arguments", "引数--pair：値が2個必要です"),
        ("shogi --flag=x", "ignored explicit argument 'x'", "引数--flag：値は指定できません（'x'）"),
        ("go", "invalid choice: 'go'", "引数game：'go'は指定できません。"),
        ("shogi --bl x", "could match --black, --blue", "--blは一つに決まりません"),
        ("shogi --number a:b%s(c)", "invalid int value: 'a:b%s(c)'", "'a:b%s(c)'はint型の値ではありません"),
        ("shogi --black x --blue x", "not allowed with argument --black", "--blackと同時には指定できません"),
    ],
)
def test_wrong_arguments_are_explained_in_the_users_language(
    arguments: str, english: str, japanese: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, expected in (("en", english), ("ja", japanese)):
        with speaking(name), pytest.raises(SystemExit) as ended:
            parser().parse_args(arguments.split())
        shown = capsys.readouterr().err
        assert ended.value.code == 2
        assert expected in shown
        assert shown.startswith({"en": "usage: goryu test", "ja": "使い方：goryu test"}[name])
        assert ("：エラー：" in shown) == (name == "ja")
        assert (": error: " in shown) == (name == "en")


def test_other_parsers_stay_english(capsys: pytest.CaptureFixture[str]) -> None:
    with speaking("ja"):
        ours = parser()
        assert ours.format_help().startswith("使い方：goryu test")
        with pytest.raises(SystemExit):
            argparse.ArgumentParser("other").parse_args(["--foo"])
    assert "other: error: unrecognized arguments: --foo" in capsys.readouterr().err


def test_two_threads_are_told_in_two_languages(capsys: pytest.CaptureFixture[str]) -> None:
    """One parser waits in the middle of its work while the other does all of its."""
    started, ended = Event(), Event()

    def wait(text: str) -> str:
        started.set()
        ended.wait(60)
        return text

    def speak_japanese() -> None:
        waiting = ArgumentParser("goryu test")
        waiting.add_argument("--slow", type=wait)
        waiting.add_argument("game")
        with speaking("ja"), pytest.raises(SystemExit):
            waiting.parse_args(["--slow", "x"])

    thread = Thread(target=speak_japanese)
    thread.start()
    started.wait(60)
    with speaking("en"), pytest.raises(SystemExit):
        parser().parse_args([])
    assert "error: the following arguments are required: game" in capsys.readouterr().err
    ended.set()
    thread.join()
    assert "エラー：次の引数が必要です：game" in capsys.readouterr().err


def test_every_description_is_that_of_a_command_of_its_package() -> None:
    for package in ("goryu", "goryu_page", "goryu_lab"):
        for name in catalogue(ENGINE / package, "descriptions"):
            assert COMMANDS[name.removeprefix("goryu ")].function.startswith(f"{package}.")


def test_every_option_has_japanese_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {option.name for option in OPTIONS} == set(USI_OPTIONS)
    assert {option.unit.name for option in OPTIONS} - {""} <= set(MESSAGES)
    monkeypatch.setenv("GORYU_LANGUAGE", "ja")
    assert print_options([]) == 0
    text = capsys.readouterr().out
    assert "Level（0〜10。既定 0）" in text
    assert all(help_text in text for help_text in USI_OPTIONS.values())


def test_a_language_is_spoken_in_one_context_only(environment: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    with speaking("ja"):
        heard.append(language())
        thread = Thread(target=lambda: heard.append(language()))
        thread.start()
        thread.join()
        thread = Thread(target=copy_context().run, args=(lambda: heard.append(language()),))
        thread.start()
        thread.join()
    assert [*heard, language()] == ["ja", "en", "ja", "en"]


def test_the_protocol_stays_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GORYU_LANGUAGE", "ja")
    assert all(line.isascii() for line in identification(EngineConfig()))
    options = OptionValues()
    assert all(line.isascii() for line in [*options.explain("Level"), *options.describe("")])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_explained_in_japanese(command: str) -> None:
    module = import_module(COMMANDS[command].function.partition(":")[0])
    if not hasattr(module, "make_parser"):
        return
    with speaking("ja"):
        whole = module.make_parser()
        whole.prog = f"goryu {command}"  # As `program` does.
        for one in parsers(whole):
            assert re.search("[ぁ-ん]", one.format_help().split("\n\n")[1]), "the description"
            texts = [action.help for action in one._actions if action.help]
            texts += [group.title for group in one._action_groups if group.title]
            for text in texts:
                shown = translated_help(text)
                assert re.search("[ぁ-んァ-ヴ一-龠]", shown.replace("既定", "")), text
                assert not re.search(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,}", shown), text


def test_a_default_that_the_user_can_write_is_not_translated() -> None:
    parser = ArgumentParser("goryu test")
    parser.add_argument("--untried", choices=("lost", "reduced"), help="the value (default lost)")
    with speaking("ja"):
        assert "lost" in MESSAGES
        assert "（既定：lost）" in parser.format_help()


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yields a parser and those of its verbs."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from parsers(verb)
