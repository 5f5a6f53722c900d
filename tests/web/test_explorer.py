from typing import Any

from goryu.dojo.problems import ProblemKind
from goryu.kifu.record import GameRecord, Ply


def test_two_orders_of_moves_meet_and_a_game_opens_at_the_position(server: Any, open_page: Any) -> None:
    for line in ("7g7f 3c3d 2g2f 4c4d", "2g2f 3c3d 7g7f 8c8d"):
        server.dojo.games.add(GameRecord(plies=tuple(map(Ply, line.split())), names=("甲", "乙")))
    page = open_page("#explorer", language="ja")
    move = page.locator(".explored .line-move")
    for name in ("▲７六歩", "△３四歩", "▲２六歩"):
        if name == "▲２六歩":
            page.get_by_text("合流 2 局").wait_for()
        move.get_by_text(name, exact=True).click()
    page.get_by_role("heading", name="この局面の対局：2 局").wait_for()
    page.locator(".explored").get_by_text("△８四歩").wait_for()
    page.get_by_role("button", name="△８四歩 この手を覚える").click()
    page.get_by_role("button", name="△８四歩 自分の定跡の手です").wait_for()
    page.get_by_role("button", name="最後の手を覚える").click()
    page.get_by_role("button", name="最後の手を自分の定跡から外す").wait_for()
    learnt = [one for one in server.dojo.problems.sound() if one.kind is ProblemKind.OPENING]
    assert [(len(one.moves), one.content["answers"][0]["move"]) for one in learnt] == [
        (2, "2g2f"),
        (3, "8c8d"),
    ]
    page.locator(".explored-games button").first.click()
    page.locator(".review .game-move[aria-current]").get_by_text("▲７六歩").wait_for()
