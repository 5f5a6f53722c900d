from pathlib import Path
from unittest.mock import Mock

import pytest

from goryu.base.errors import InputError
from goryu.base.language import speaking
from goryu.evaluators.network.model_files import models_folder
from goryu.players.config import EngineConfig
from goryu_page.commands.web import main
from goryu_page.dojo import network_choice
from goryu_page.dojo.database import Database, DatabaseError
from goryu_page.dojo.dojo import Dojo

SMALL = "goryu-5x64.onnx"


def test_a_chosen_network_is_that_of_all_searches_and_of_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "dojo.sqlite3"
    dojo = Dojo(path, EngineConfig())
    before = dojo.network()
    assert SMALL in network_choice.found_networks(dojo.config)
    dojo.use_network(SMALL)
    assert before.lost.is_set()  # Who has it asks again.
    assert dojo.judge.loaded is dojo.network() is dojo.reviewer().loaded
    assert Path(dojo.config.evaluator.model) == models_folder() / SMALL
    dojo.close()
    again = Dojo(path, EngineConfig())
    again.restore_network()
    assert Path(again.config.evaluator.model).name == SMALL
    again.use_network("")
    assert again.config.evaluator.model == ""
    kept = again.network()
    with monkeypatch.context() as patched:
        patched.setattr(Database, "set_setting", Mock(side_effect=DatabaseError("the disk is full")))
        with pytest.raises(DatabaseError):
            again.use_network(SMALL)
    assert not kept.lost.is_set()
    assert again.config.evaluator.model == ""
    again.database.set_setting(network_choice.KEY, "gone.onnx")
    again.restore_network()  # The strongest plays; a caller goes on, as with the watched folders.
    assert again.config.evaluator.model == ""
    again.close()


def test_a_network_of_another_game_is_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dojo = Dojo(tmp_path / "dojo.sqlite3", EngineConfig())
    before = dojo.config
    with pytest.raises(InputError, match="no such network"):
        dojo.use_network("reversi.onnx")
    monkeypatch.setattr(network_choice, "OTHER_GAMES", ("tictactoe",))
    with pytest.raises(InputError) as refused:
        dojo.use_network("reversi.onnx")
    with speaking("ja"), pytest.raises(InputError, match="Goryu の知る形式が必要"):
        dojo.use_network("reversi.onnx")
    assert dojo.config is before
    dojo.close()
    text = str(refused.value)
    assert text.startswith("reversi.onnx cannot be used as a network for shogi: expected a format")
    assert text.endswith("value [N].")
    assert main(["--no-browser", "--model", str(models_folder() / "reversi.onnx")]) == 2
    assert capsys.readouterr().err == f"goryu web: {text}\n"
