"""A game as the page knows it, without a browser."""

from goryu_page.views.game import PageGame

BOTH = (True, True)


def play(game: PageGame, moves: str) -> None:
    for move in moves.split():
        game.push(game.move_named(move))


def test_tic_tac_toe_marks_the_line_that_won() -> None:
    game = PageGame("tictactoe", people=BOTH)
    play(game, "0 3 1 4 2")
    assert game.over is not None
    assert game.over.winner == 0
    assert game.winning_line() == [0, 1, 2]


def test_moves_that_do_not_promote_have_names_too() -> None:
    game = PageGame("shogi", people=BOTH)
    play(game, "7g7f 3c3d")
    assert {"8h2b", "8h2b+"} <= set(game.names_of_moves())


def test_the_page_knows_each_move_until_it_is_taken_back() -> None:
    game = PageGame("shogi", people=BOTH)
    play(game, "7g7f 3c3d 8h2b+")
    assert [one["ja"] for one in game.shown] == ["▲７六歩", "△３四歩", "▲２二角成"]
    assert game.shown[-1]["position"] == game.position()
    game.undo()
    assert [one["name"] for one in game.shown] == ["7g7f", "3c3d"]


def test_reversi_is_saved_as_the_usual_line() -> None:
    game = PageGame("reversi", people=BOTH)
    play(game, "19 18")
    assert game.saved("txt")["text"] == "d3c3\n"
