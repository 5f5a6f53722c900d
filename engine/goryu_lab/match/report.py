"""The result of a match: a line while it runs, a report at its end, and JSON values for programs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from goryu.base.language import plural
from goryu_lab.match.engine_faults import warnings
from goryu_lab.match.engine_stats import EngineStats, loser, stats_table
from goryu_lab.match.game_log import GameEntry
from goryu_lab.match.match_statistics import MatchStatistics, format_elo
from goryu_lab.match.sprt import SequentialTest
from goryu_lab.match.tournament import MatchConfig, complete_pairs, distinct_pairs


def describe(config: MatchConfig) -> str:
    """Returns what a match will play, with warnings about a useless configuration."""
    lines = []
    for number, engine in enumerate(config.engines, 1):
        options = " ".join(f"{name}={value}" for name, value in engine.options)
        lines.append(f"engine {number}: {engine.command_line} {options} ({engine.limits})")
    rules = config.rules
    lines.append(
        f"{config.games} games, {plural(len(config.openings), 'opening')}, concurrency {config.concurrency}, "
        f"declaration {rules.declaration}, max plies {rules.max_plies}"
    )
    for option in config.tuned:
        lines.append(f"tuned option of engine 1: {option.name} from {option.low} to {option.high}")
    for change in config.screened:
        lines.append(f"screened change of one engine: {change}")
    if config.engines[0] == config.engines[1] and not (config.tuned or config.screened):
        lines.append("warning: both engines are the same program with the same options and limits")
    if config.games > 2 * len(config.openings):
        lines.append(
            "warning: more pairs than openings; games that engines at fixed nodes repeat will not count"
        )
    return "\n".join(lines)


def record(scores: Sequence[float]) -> str:
    """Returns `+wins =draws -losses`."""
    return f"+{scores.count(1.0)} ={scores.count(0.5)} -{scores.count(0.0)}"


def progress_line(entries: Sequence[GameEntry], test: SequentialTest | None) -> str:
    """Returns one line about a match in progress.

    W-D-L is over all games, Elo over distinct complete pairs, and the LLR over those that `test` has counted.

    Example: `+18 =3 -16 Elo +19.4 ± 91.0 LOS 66.2 % LLR 0.12 (-2.94, 2.94)`.
    """
    statistics = MatchStatistics.from_pairs((a.score, b.score) for a, b in distinct_pairs(entries))
    parts = [record([entry.score for entry in entries])]
    if statistics.pairs:
        parts += [elo_text(statistics), f"LOS {100 * statistics.los:.1f} %"]
    if test:
        lower, upper = test.sprt.bounds
        parts.append(f"LLR {test.llr:.2f} ({lower:.2f}, {upper:.2f})")
    return " ".join(parts)


def elo_text(statistics: MatchStatistics) -> str:
    """Returns `Elo x ± y`, or the Elo with its interval if the error is infinite."""
    if isfinite(statistics.elo) and isfinite(statistics.elo_error):
        return f"Elo {format_elo(statistics.elo)} ± {statistics.elo_error:.1f}"
    low, high = statistics.elo_interval
    return f"Elo {format_elo(statistics.elo)} [{format_elo(low)}, {format_elo(high)}]"


def report(names: Sequence[str], entries: Sequence[GameEntry], test: SequentialTest | None = None) -> str:
    """Returns the report of a match, from the first engine's side.

    It counts distinct complete pairs only, but all games in the table of speeds and in the warnings.
    """
    pairs = distinct_pairs(entries)
    counted = [entry for pair in pairs for entry in pair]
    statistics = MatchStatistics.from_pairs((a.score, b.score) for a, b in pairs)
    scores = [entry.score for entry in counted]
    if not counted:
        nothing = f"{names[0]} vs {names[1]}: no complete pair of games yet"
        return "\n".join([nothing, *warnings(names, entries).values()])
    low, high = statistics.elo_interval
    ll, ld, dd, wd, ww = statistics.pentanomial
    black = record([entry.score for entry in counted if entry.black == 1])
    white = record([entry.score for entry in counted if entry.black == 2])
    black_wins = sum((entry.score == 1.0) == (entry.black == 1) for entry in counted if entry.score != 0.5)
    openings = plural(len({entry.opening for entry in counted}), "opening")
    lines = [
        f"{names[0]} vs {names[1]}: {len(counted)} games, {plural(len(pairs), 'pair')}, {openings}",
        f"  score        {record(scores)}  {sum(scores):g}/{len(scores)} ({100 * statistics.score:.1f} %)",
        f"  by colour    black {black}, white {white}; black won {black_wins} of {len(counted)}",
        f"  pairs        LL {ll}, LD {ld}, DD/WL {dd}, WD {wd}, WW {ww}",
        f"  strength     {elo_text(statistics)} (95 %: {format_elo(low)} to {format_elo(high)})",
        f"  LOS          {100 * statistics.los:.1f} %",
        f"  normalised   {format_elo(statistics.normalised_elo)} ± {statistics.normalised_elo_error:.1f}",
        f"  draws        {100 * scores.count(0.5) / len(scores):.1f} %",
        f"  length       {sum(entry.plies for entry in counted) / len(counted):.1f} plies on average",
        f"  reasons      {reasons_text(counted, names)}",
    ]
    if test:
        lines.append(f"  SPRT         {sprt_text(test)}")
    paired = 2 * len(complete_pairs(entries))
    if paired > len(counted):
        repeated = plural(paired - len(counted), "game")
        lines.append(f"  not counted  {repeated} of pairs that repeat an earlier one move by move")
    if len(entries) > paired:
        lines.append(f"  not counted  {plural(len(entries) - paired, 'game')} of unfinished pairs")
    return "\n".join([*lines, *stats_table(names, entries), *warnings(names, entries).values()])


def reasons_text(entries: Sequence[GameEntry], names: Sequence[str]) -> str:
    """Returns how often each reason ended a game, and how often each engine lost by it."""
    parts = []
    for reason, count in Counter(entry.reason for entry in entries).most_common():
        lost = Counter(loser(entry) for entry in entries if entry.reason == reason)
        who = ", ".join(f"{names[engine - 1]} lost {lost[engine]}" for engine in (1, 2) if lost[engine])
        parts.append(f"{reason} {count}" + (f" ({who})" if who else ""))
    return "; ".join(parts)


def sprt_text(test: SequentialTest) -> str:
    """Returns the state of the sequential test."""
    sprt = test.sprt
    lower, upper = sprt.bounds
    accepted = "undecided" if test.verdict is None else f"{test.verdict} accepted"
    return (
        f"{sprt.elo_kind} [{sprt.elo0:g}, {sprt.elo1:g}], alpha {sprt.alpha:g}, beta {sprt.beta:g}: "
        f"LLR {test.llr:.2f} ({lower:.2f}, {upper:.2f}), {accepted} after "
        f"{plural(test.statistics.pairs, 'pair')}"
    )


def summary(
    names: Sequence[str], entries: Sequence[GameEntry], test: SequentialTest | None = None
) -> dict[str, Any]:
    """Returns the result as JSON values; infinite numbers become None."""
    pairs = distinct_pairs(entries)
    counted = [entry for pair in pairs for entry in pair]
    statistics = MatchStatistics.from_pairs((a.score, b.score) for a, b in pairs)
    scores = [entry.score for entry in counted]
    engines = [
        {"name": name, **asdict(EngineStats.of(engine, entries))} for engine, name in enumerate(names, 1)
    ]
    result: dict[str, Any] = {
        "engines": engines,
        "games": len(counted),
        "repeated_games": 2 * len(complete_pairs(entries)) - len(counted),
        "wins": scores.count(1.0),
        "draws": scores.count(0.5),
        "losses": scores.count(0.0),
        "pentanomial": list(statistics.pentanomial),
        "score": statistics.score,
        "elo": finite(statistics.elo),
        "elo_interval": [finite(end) for end in statistics.elo_interval],
        "normalised_elo": finite(statistics.normalised_elo),
        "los": statistics.los,
        "reasons": dict(Counter(entry.reason for entry in counted)),
        "warnings": list(warnings(names, entries).values()),
        "mean_plies": sum(entry.plies for entry in counted) / len(counted) if counted else None,
    }
    if test:
        result["sprt"] = {
            "llr": test.llr, "bounds": list(test.sprt.bounds), "verdict": test.verdict,
            "pairs": test.statistics.pairs,
        }  # fmt: skip
    return result


def finite(value: float) -> float | None:
    """Returns the number, or None if it is infinite, for which JSON has no number."""
    return value if isfinite(value) else None
