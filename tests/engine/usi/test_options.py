"""The table of options, the values that GUIs send, and the scores that GUIs receive."""

import os
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import exp
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goryu.evaluators.network.model_files import models_folder
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig, EvaluatorConfig, with_fields
from goryu.players.score import MAX_CP, centipawns
from goryu.players.set_up.devices import config_of_each, searching_threads
from goryu.players.set_up.model_path import read_model_options
from goryu.usi.commands import parse_command, parse_go, parse_position, parse_setoption
from goryu.usi.console import print_options
from goryu.usi.option import Kind, Option, OptionError
from goryu.usi.option_values import OptionValues
from goryu.usi.options import OPTIONS, OPTIONS_OF_MORE_DEVICES, identification
from goryu.usi.options_file import read_options_file
from goryu.usi.output import score
from goryu.usi.presets import PRESETS
from present import present

NO_OPTIONS = {
    *("search.batch_size", "search.draw_value", "search.threads", "clock.moves_to_draw"),  # Set from others.
    *("search.formula.c_factor", "search.root_formula.c_factor"),
}


def fields_of(config: Any, path: str = "") -> Iterator[str]:
    """Yields the dotted path of every field that is neither a dataclass nor a tuple of these."""
    for field in fields(config):
        value, name = getattr(config, field.name), path + field.name
        if isinstance(value, tuple):
            for place, item in enumerate(value):
                yield from fields_of(item, f"{name}.{place}.")
        else:
            yield from fields_of(value, f"{name}.") if is_dataclass(value) else [name]


def test_every_field_is_an_option_and_every_option_a_field() -> None:
    options = (*OPTIONS, *OPTIONS_OF_MORE_DEVICES)
    assert {option.field for option in options} - {""} == set(fields_of(EngineConfig())) - NO_OPTIONS


def test_no_name_is_used_twice() -> None:
    names = [name.lower() for option in OPTIONS for name in (option.name, *dict(option.aliases))]
    names.remove("c_puct")  # It sets the constants of the root and of the other nodes.
    assert len(names) == len(set(names))


def test_an_option_is_ascii_without_blanks_and_explains_itself() -> None:
    for option in OPTIONS:
        assert option.declaration(EngineConfig()).isascii()
        assert option.help.isascii()
        assert option.help.endswith(".")
        assert " " not in option.name


def test_the_default_sent_back_is_the_default() -> None:
    for option in OPTIONS:
        if option.field:
            default = option.text(EngineConfig())
            assert option.parse(default) == attrgetter(option.field)(EngineConfig()), option.name


def test_goryu_options_explains_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_options([]) == 0
    text = capsys.readouterr().out
    for option in OPTIONS:
        assert option.name in text
        assert option.help in text
        assert option.description(EngineConfig()).partition("default")[0] in text
        assert all(alias in text for alias, _ in option.aliases)


def test_goryu_options_refuses_a_name_that_no_option_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_options(["Threads", "NoSuch"]) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert "no option is called 'NoSuch'" in written.err


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "is not a regular file"),
        ("C_init=65".encode("utf-16"), "is neither UTF-8 nor Shift_JIS"),
        (b"BookFile=\x92\xe8\x90\xd5.db", ""),
        (b"nonsense\n" * 1000, "and 995 more such lines"),
    ],
)
def test_an_options_file_of_the_model_is_read_or_its_problem_told(
    content: bytes | None, problem: str, tmp_path: Path
) -> None:
    model = tmp_path / "net.onnx"
    model.touch()
    ini = model.with_name("net.onnx.ini")
    if content is None:
        ini.mkdir()
    else:
        ini.write_bytes(content)
    options = OptionValues()
    problems = options.set_model_options(*read_model_options(EvaluatorConfig(model=str(model))))
    assert all(line.startswith("file next to the model: ") for line in problems)
    assert len(problems) <= 6
    if problem:
        assert problems[-1].endswith(problem)
    else:
        assert problems == []
        assert options.config.book_file.path == "定跡.db"


NAMES_OF_OTHER_ENGINES = [
    "DNN_Model", "DNN_Model1", "EvalDir", "modelfile", "WeightPath", "DNN_Batch_Size", "DNN_Batch_Size1",
    "batchsize", "UCT_Threads", "UCT_Threads1", "thread", "NumSearchThreads", "gpu_id",
    "Softmax_Temperature", "temperature", "C_init", "C_base", "C_fpu_reduction", "C_init_root",
    "C_base_root", "C_fpu_reduction_root", "c_puct", "Draw_Value_Black", "Draw_Value_White",
    "DrawValueBlack", "DrawValueWhite", "BlackDrawValue", "WhiteDrawValue", "Draw_Ply", "MaxMovesToDraw",
    "USI_MaxPly", "Resign_Threshold", "Const_Playout", "NodesLimit", "playout", "UCT_NodeLimit", "USI_Hash",
    "Byoyomi_Margin", "Time_Margin", "NetworkDelay", "NetworkDelay2", "ThinkingTimeMargin",
    "MinimumThinkingTime", "MinimumThinkingTimeMilliSeconds", "OwnBook", "Book_File", "USI_OwnBook",
    "BookDir", "BookFile", "IsBookEnabled", "BookPath", "PV_Interval", "MultiPV", "Eval_Coef",
    "DebugMessage", "ReuseSubtree", "Stochastic_Ponder", "pv_interval", "debug", "EnteringKingRule",
    "Best_Book_Move", "Min_Book_Score", "BookMoves", "BookIgnoreRate", "BookEvalDiff", "BookEvalBlackLimit",
    "BookEvalWhiteLimit", "BookDepthLimit", "ConsiderBookMoveCount", "FlippedBook", "NarrowBook",
    "Random_Ply", "Random_Temperature", "Random_Temperature_Drop", "Random_Cutoff", "Random_Cutoff_Drop",
    "LeafDfpnNodesLimit", "RootMateSearchNodesLimit", "SlowMover", "RoundUpToFullSecond", "USI_MultiPV",
    "GenerateAllLegalMoves", "DepthLimit",
]  # fmt: skip


def test_the_option_names_of_other_engines_are_known() -> None:
    assert [name for name in NAMES_OF_OTHER_ENGINES if not OptionValues().find(name)] == []


def test_min_book_score_does_not_change_the_limits_of_the_colours() -> None:
    options = OptionValues()
    book = options.config.book
    assert (book.least_cp, book.least_cp_black, book.least_cp_white) == (-3000, 0, -140)
    options.set("Min_Book_Score", "-50")
    assert options.config.book.least_cp == -50


def test_a_book_is_opened_only_if_it_is_named_and_own_book_is_true() -> None:
    options = OptionValues()
    files = [options.config.book_file]
    options.set("Book_File", "book.bin")
    files.append(options.config.book_file)
    options.set("OwnBook", "false")
    files.append(options.config.book_file)
    assert [file.is_none for file in files] == [True, False, True]


@pytest.mark.parametrize("name, unused, used", [("Max_GPU", "1", "2"), ("numgpus", "1", "8")])
def test_options_for_several_gpus_are_reported_as_without_effect(name: str, unused: str, used: str) -> None:
    options = OptionValues()
    assert options.set(name, unused) == []
    assert options.set(name, used) == [f"option {name} has no effect: Goryu uses the GPUs of Device"]
    assert options.config == EngineConfig()


def test_a_path_may_have_the_quotes_of_windows() -> None:
    options = OptionValues()
    options.set("DNN_Model", r'"C:\My Models\日本 語.onnx"')
    assert options.config.evaluator.model == r"C:\My Models\日本 語.onnx"
    options.set("DNN_Model", '"')
    assert options.config.evaluator.model == '"'


def test_c_puct_is_the_constant_of_the_root_too() -> None:
    """As in python-dlshogi2, which has one constant for all nodes."""
    options = OptionValues()
    assert options.set("c_puct", "100") == []
    assert options.config.search.formula.c_init == options.config.search.root_formula.c_init == 2.0
    assert options.describe("c_puct") == ["C_init = 100", "C_init_root = 100"]


def test_constants_of_the_win_rate_scale_are_doubled() -> None:
    options = OptionValues()
    options.set("C_init", "144")
    options.set("C_fpu_reduction", "27")
    constants = options.config.puct_config(turn=0, batch_size=4)
    assert constants.formula.c_init == pytest.approx(2.88)
    assert constants.formula.fpu_reduction == pytest.approx(0.54)
    assert constants.formula.c_factor == 2.0


def test_the_graph_is_limited_in_megabytes_and_in_nodes() -> None:
    options = OptionValues()
    options.set("USI_Hash", "3")
    options.set("UCT_NodeLimit", "1500")
    config = options.config
    assert config.puct_config(turn=0, batch_size=4).capacity == 1500
    assert config.puct_config(turn=0, batch_size=4).capacity_bytes == 3 << 20
    assert config.puct_config(turn=0, batch_size=4, memory_factor=2).capacity_bytes == 3 << 19
    assert config.puct_config(turn=0, batch_size=4, memory_factor=30).capacity_bytes == 1 << 20, "no less"


@given(st.sampled_from(OPTIONS), st.text())
@example(OPTIONS[2], "9" * 10_000)
@example(OPTIONS[2], "-" + "9" * 10_000)
@example(OPTIONS[2], "１２")
def test_no_value_breaks_an_option(option: Option, text: str) -> None:
    options = OptionValues()
    refusal = ""
    try:
        options.set(option.name, text)
    except OptionError as error:
        refusal = str(error)
    assert refusal.isascii()
    assert not refusal or options.config == EngineConfig()
    if option.kind is Kind.SPIN:
        assert option.minimum <= int(option.text(options.config)) <= option.maximum


@given(st.text())
def test_the_parsers_accept_any_line(line: str) -> None:
    parse_setoption(f"setoption {line}")
    command = present(parse_command(f"go {line}"))
    parse_position(command.arguments)
    assert parse_go(command.arguments).limits.byoyomi_ms >= 0


GO_WORDS = ("btime", "wtime", "byoyomi", "nodes", "mate", "infinite", "ponder", "5", "-3", "1e999", "nan")


@given(st.lists(st.sampled_from(GO_WORDS)))
def test_times_are_never_negative(tokens: list[str]) -> None:
    limits = parse_go(tuple(tokens)).limits
    assert limits.time_ms is None or min(limits.time_ms) >= 0
    assert limits.nodes is None or limits.nodes >= 0


def test_mate_infinite_is_no_infinite_analysis() -> None:
    command = parse_go(("mate", "infinite"))
    assert command.is_mate
    assert not command.limits.infinite
    assert command.mate_ms is None
    assert parse_go(("mate", "500")).mate_ms == 500
    assert parse_go(("ponder", "btime", "0", "wtime", "0", "byoyomi", "100")).limits.ponder


def test_words_of_go_without_a_meaning_are_kept_for_the_user() -> None:
    command = parse_go(("byoyomi", "abc", "movestogo", "40", "nodes", "9", "searchmoves", "7g7f", "x"))
    assert command.limits == Limits(nodes=9)
    assert command.searchmoves == ("7g7f",)
    assert command.ignored == ("byoyomi", "abc", "movestogo", "40", "x")


def test_a_model_file_sets_options_that_the_user_has_not_set() -> None:
    options = OptionValues()
    options.set("Threads", "7")
    problems = options.set_model_options(
        "Threads=3\r\nsoftmax_temperature = 174\n# a comment\nbad line\nC_init=x\n"
    )
    assert options.config.evaluator.threads == 7
    assert options.config.evaluator.temperature == 1.74
    assert len(problems) == 2
    options.set_model_options("")
    assert options.config.evaluator.temperature == 1.5


def test_the_options_file_overrides_the_gui_and_the_model_file() -> None:
    options = OptionValues()
    problems = options.fix(
        "# a comment\r\nThreads 3\r\nC_init=125\n\nDNN_Model  C:\\my nets\\a=b.onnx \n"
        "option name USI_Hash type spin default 64 min 1 max 33554432\n"
        "option name BookFile type string default\nMultiPV x\nEvalShare true\nLogFile a.log\n"
        "NetworkDelay 999999\n"
    )
    assert [problem.partition(": ")[2] for problem in problems] == [
        "option MultiPV expects a whole number from 1 to 600, received 'x'",
        "no option is called 'EvalShare'",
        "LogFile cannot be set here",
        "option NetworkDelay: '999999' became 10000",
    ]
    assert options.config.evaluator.model == "C:\\my nets\\a=b.onnx"
    assert options.set("threads", "8") == ["option Threads stays 3: engine_options.txt"]
    assert options.set("Threads", "3") == []
    assert options.set_model_options("C_init=65\nC_init_root=75") == []
    assert options.config.search.formula.c_init == 2.5
    assert options.config.search.root_formula.c_init == 1.5
    assert " ".join(options.fixed_messages()) == (
        "set by engine_options.txt: USI_Hash=64 Threads=3 DNN_Model=C:\\my nets\\a=b.onnx "
        "C_init=125 NetworkDelay=10000 BookFile=<empty>"
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932"])
def test_the_options_file_may_be_in_the_encodings_of_japanese_editors(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "options").write_bytes("BookFile 定跡.db\n".encode(encoding))
    monkeypatch.setenv("GORYU_OPTIONS", str(tmp_path / "options"))
    assert read_options_file() == ("BookFile 定跡.db\n", "")


def test_an_options_file_without_read_permission_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setenv("GORYU_OPTIONS", str(tmp_path / "options"))
    assert read_options_file() == ("", "")  # It is not there.
    monkeypatch.setattr(Path, "read_bytes", refused)
    text, problem = read_options_file()
    assert text == ""
    assert problem.startswith("Error! engine_options.txt cannot be read: [Errno 13] Permission denied")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_an_options_file_that_is_a_fifo_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening a FIFO waits until a process writes to it."""
    os.mkfifo(tmp_path / "options")
    monkeypatch.setenv("GORYU_OPTIONS", str(tmp_path / "options"))
    text, problem = read_options_file()
    assert text == ""
    assert problem.endswith("is not a regular file")


@pytest.mark.parametrize("program", ["", "engine/goryu/__main__.py"])
def test_python_m_goryu_reads_no_options_file(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GORYU_OPTIONS", raising=False)
    monkeypatch.setattr(sys, "argv", [program])
    assert read_options_file() == ("", "")


def test_the_model_files_of_the_shipped_networks_have_no_problems() -> None:
    files = sorted(models_folder().glob("goryu-*.onnx.ini"))
    assert [path.name.removesuffix(".ini") for path in files] == [
        path.name for path in sorted(models_folder().glob("goryu-*.onnx"))
    ]
    for path in files:
        options = OptionValues()
        assert options.set_model_options(path.read_text("utf-8")) == []
        assert options.config.search.formula.c_init != EngineConfig().search.formula.c_init


@pytest.mark.parametrize(
    "line", ["Evaluator=material", "EvalDir=x", "DNN_Model=x", "LogFile=x", "Clear_Hash="]
)
def test_a_model_file_may_not_choose_the_model(line: str) -> None:
    options = OptionValues()
    assert len(options.set_model_options(line)) == 1
    assert options.config == EngineConfig()


@given(st.floats(-0.999, 0.999), st.integers(1, 10_000))
def test_centipawns_are_finite_odd_and_monotone(value: float, coefficient: int) -> None:
    cp = centipawns(value, coefficient)
    assert abs(cp) <= MAX_CP
    assert centipawns(-value, coefficient) == pytest.approx(-cp, abs=1)
    assert centipawns(min(1.0, value + 0.1), coefficient) >= cp


@pytest.mark.parametrize("value", [-1.0, 1.0, -1.0 - 1e-12, 1.0 + 1e-12])
def test_certain_results_have_finite_scores(value: float) -> None:
    assert abs(centipawns(value, 600)) == MAX_CP


@given(st.integers(-5000, 5000))
def test_centipawns_are_inverted_by_the_published_formula(cp: int) -> None:
    win_rate = 1 / (1 + exp(-cp / 600))
    assert centipawns(2 * win_rate - 1, 600) == cp


def test_a_mate_score_has_a_number() -> None:
    assert score(1.0, 5, 600) == "mate 5"
    assert score(-1.0, -4, 600) == "mate -4"


def test_device_is_a_list_of_gpus() -> None:
    options = OptionValues()
    options.set("Device", "0, 1,0")
    options.set("UCT_Threads", "2")
    devices = config_of_each(options.config.evaluator)
    assert [(each.device, each.threads) for each in devices] == [("0", 2), ("1", 2), ("0", 2)]
    for wrong in ("", "0;1", "GPU0", "-2", "0,,1", "0,1,2,3,4,5,6,7,8"):
        with pytest.raises(OptionError, match="expects numbers such as 0 or 0,1"):
            options.set("Device", wrong)
    assert options.config.evaluator.device == "0, 1,0", "the last good value stays"


def test_the_options_of_dlshogi_for_several_gpus_are_accepted() -> None:
    options = OptionValues()
    values = "UCT_Threads=3 DNN_Batch_Size=128 UCT_Threads2=2 DNN_Model2=other.onnx DNN_Batch_Size2=64"
    for setting in [*values.split(), "UCT_Threads3=0", "DNN_Model3="]:
        assert options.set(*setting.split("=")) == []
    first, second = config_of_each(options.config.evaluator)
    assert (first.device, first.threads, first.batch_size, first.model) == ("0", 3, 128, "")
    assert (second.device, second.threads, second.batch_size, second.model) == ("1", 2, 64, "other.onnx")
    assert searching_threads(options.config.evaluator) == 5


def sent_back(options: OptionValues) -> None:
    """Sends every option with the default that was offered, as GUIs do."""
    offered = options.offer()
    for option in OPTIONS:
        if option.field:
            options.set(option.name, option.text(offered))


def test_a_preset_wins_against_what_a_gui_sends_back_and_the_file_of_the_model_but_not_the_user() -> None:
    options = OptionValues()
    options.set_model_options("C_init=65\nSoftmax_Temperature=174\nUSI_Hash=64")
    sent_back(options)
    options.set("Preset", "mcts-player")
    options.set("playout", "150")
    config = options.config
    assert config == with_fields(
        EngineConfig(),
        {
            **PRESETS["mcts-player"],
            "preset": "mcts-player",
            "nodes": 150,
            "search.capacity_bytes": 64 << 20,
            "search.formula.c_init": 1.3,  # Of the file: the preset has no say in it.
        },
    )
    options.set("Preset", "none")
    assert options.config.evaluator.temperature == 1.74
    assert options.config.nodes == 150


def test_a_preset_started_with_can_be_left_again() -> None:
    options = OptionValues(EngineConfig(preset="mcts-player"))
    sent_back(options)
    assert options.config == options.defaults
    assert options.config.nodes == 300
    options.set("Preset", "none")
    assert options.config == EngineConfig()


def test_usi_offers_the_options_of_a_preset_under_the_names_of_its_program() -> None:
    options = OptionValues(EngineConfig(preset="mcts-player"))
    lines = {line.split(" type ")[0]: line for line in identification(options.offer())}
    assert lines["option name playout"].startswith("option name playout type spin default 300 ")
    assert lines["option name temperature"].startswith("option name temperature type spin default 100 ")
    assert "option name modelfile" in lines
    assert "option name NodesLimit" not in lines
    assert all(options.find(name.removeprefix("option name ")) for name in lines if name.startswith("option"))
