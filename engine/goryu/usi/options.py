"""The options of the USI protocol: one table over the fields of `EngineConfig`.

Every option is stated once: name, kind, bounds, help, and the other names under which users'
GUI profiles may know it, with the factor between the units. The default is the field's.
Names are matched without regard to case. Unknown names are ignored: GUIs also send options
that were never offered.
"""

from collections.abc import Iterator

from goryu import __version__
from goryu.usi.opening_options import OPENING_OPTIONS
from goryu.usi.option import INT32_MAX, Kind, Option, check, combo, spin, string

__all__ = ["OPTIONS", "identification"]


OPTIONS: tuple[Option, ...] = (
    check(
        "USI_Ponder",
        "ponder",
        "The GUI may let the engine think on the opponent's time; spends a little more.",
    ),
    check(
        "Stochastic_Ponder",
        "stochastic_ponder",
        "While pondering, think about all of the opponent's moves, not only the predicted one.",
    ),
    spin("USI_Hash", "hash_mb", 1, 1_048_576, "Memory for the search graph, in MB."),
    spin(
        "Threads",
        "threads",
        1,
        1024,
        "CPU threads of the search; with one a search can be repeated exactly.",
        *("UCT_Threads", "UCT_Threads1", "thread", "NumSearchThreads"),
    ),
    spin("MultiPV", "multi_pv", 1, 600, "How many lines of play to show.", "USI_MultiPV"),
    # The model and where it runs.
    combo(
        "Evaluator",
        "evaluator",
        "network material uniform hashed",
        "What judges positions: the network, the pieces, nothing, or reproducible noise (for tests).",
    ),
    string(
        "DNN_Model",
        "model",
        "ONNX model; empty for the one shipped with Goryu.",
        *("DNN_Model1", "modelfile", "WeightPath"),
        kind=Kind.FILENAME,
    ),
    string("EvalDir", "model_folder", "Folder in which a relative DNN_Model is looked for first."),
    combo(
        "Backend",
        "backend",
        "auto tensorrt cuda directml cpu",
        "What runs the network; auto takes the fastest.",
    ),
    check(
        "AllowFallback",
        "allows_fallback",
        "If the model or the backend fails: go on with a weaker one, and say so.",
    ),
    spin("Device", "device", 0, 1023, "Number of the GPU.", "gpu_id"),
    spin(
        "DNN_Batch_Size",
        "batch_size",
        0,
        4096,
        "Positions per call of the network; 0: 4 on a CPU, 128 on a GPU. More is less precise.",
        *("DNN_Batch_Size1", "BatchSize"),
    ),
    spin(
        "Softmax_Temperature",
        "softmax_temperature_percent",
        1,
        10_000,
        "Temperature of the policy in percent; 100 leaves it as it is, more makes the search broader.",
        "temperature",
    ),
    # The search.
    spin(
        "UCT_NodeLimit",
        "graph_capacity",
        100,
        1_000_000_000,
        "Most positions in the search graph; see also USI_Hash.",
    ),
    spin("C_init", "c_init_percent", 0, 500, "Exploration on the win-rate scale, percent.", "c_puct"),
    spin("C_base", "c_base", 1000, 1_000_000, "Visits after which exploration grows."),
    spin(
        "C_fpu_reduction",
        "c_fpu_reduction_percent",
        0,
        100,
        "How much worse an unvisited move is assumed, percent.",
    ),
    spin("C_init_root", "c_init_root_percent", 0, 500, "C_init at the root."),
    spin("C_base_root", "c_base_root", 1000, 1_000_000, "C_base at the root."),
    spin("C_fpu_reduction_root", "c_fpu_reduction_root_percent", 0, 100, "C_fpu_reduction at the root."),
    combo(
        "Final_Move",
        "final_move",
        "lcb visits",
        "Play the best lower confidence bound, or the most visited move.",
    ),
    spin(
        "LeafDfpnNodesLimit",
        "leaf_mate_nodes",
        0,
        10_000,
        "Mate search at every leaf, in nodes; 0 for none. The Python search takes 1 at most.",
    ),
    spin(
        "RootMateSearchNodesLimit",
        "root_mate_nodes",
        0,
        INT32_MAX,
        "Mate search before each move, in nodes; 0 for none.",
    ),
    check("Mate_Solver", "solves_mates", "Solve mates on go mate; else the answer is notimplemented."),
    spin(
        "PV_Mate_Search_Threads",
        "pv_mate_search_threads",
        0,
        256,
        "Threads that search mates along the expected line; 0 for none. A search is not the same twice then.",
    ),
    spin(
        "PV_Mate_Search_Nodes",
        "pv_mate_search_nodes",
        0,
        INT32_MAX,
        "Mate search at each position of the expected line, in nodes.",
    ),
    check("ReuseSubtree", "reuse_subtree", "Keep what the last search found about this position."),
    spin(
        "NodesLimit",
        "playout_limit",
        0,
        INT32_MAX,
        "Playouts per move in place of the clock; 0 for none.",
        *("Const_Playout", "playout"),
    ),
    spin("DepthLimit", "depth_limit", 0, 1000, "Stop at this mean depth; 0 for none."),
    # The rules.
    spin(
        "MaxMovesToDraw",
        "moves_to_draw",
        0,
        100_000,
        "The game is drawn after so many moves; 0 for never.",
        "Draw_Ply",
        "USI_MaxPly",
    ),
    spin(
        "DrawValueBlack",
        "draw_value_black_permille",
        0,
        1000,
        "What a draw is worth when the engine plays black, per mille.",
        "Draw_Value_Black",
        ("BlackDrawValue", 10),
    ),
    spin(
        "DrawValueWhite",
        "draw_value_white_permille",
        0,
        1000,
        "What a draw is worth when the engine plays white, per mille.",
        "Draw_Value_White",
        ("WhiteDrawValue", 10),
    ),
    combo(
        "EnteringKingRule",
        "entering_king_rule",
        "NoEnteringKing CSARule24 CSARule24H CSARule27 CSARule27H TryRule",
        "When an entered king wins.",
    ),
    check(
        "First_Recurrence",
        "first_recurrence",
        "In the search, take the first recurrence of a position for the result; else the fourth.",
    ),
    check("GenerateAllLegalMoves", "generates_all_legal_moves", "Also search pointless non-promotions."),
    # Time.
    spin(
        "NetworkDelay",
        "network_delay_ms",
        0,
        10_000,
        "How much later than ours the GUI's clock stops, on average, ms.",
    ),
    spin(
        "NetworkDelay2",
        "network_delay2_ms",
        0,
        60_000,
        "The same at worst, ms; kept back from clocks and byoyomi, up to half of it.",
        *("Byoyomi_Margin", "ThinkingTimeMargin"),
    ),
    spin(
        "Time_Margin",
        "time_margin_ms",
        0,
        60_000,
        "Kept back from the main time if there is no byoyomi, ms; up to half of it.",
    ),
    spin(
        "MinimumThinkingTime",
        "minimum_thinking_time_ms",
        0,
        9_999_999,
        "Answer no sooner than this, ms, except with a proven or the only move.",
        "MinimumThinkingTimeMilliSeconds",
    ),
    spin("SlowMover", "slow_mover_percent", 1, 1000, "Share of the usual time to spend on a move, percent."),
    check(
        "RoundUpToFullSecond",
        "does_round_up_to_full_second",
        "The clock counts whole seconds: use up the second that was begun.",
    ),
    check(
        "Byoyomi_Early_Stop",
        "stops_early_in_byoyomi",
        "Also in byoyomi, answer as soon as the second move cannot catch up.",
    ),
    # Output and manners.
    spin(
        "PvInterval",
        "pv_interval_ms",
        0,
        1_000_000,
        "Time between info lines, ms; 0 for only the last.",
        "PV_Interval",
    ),
    spin("Eval_Coef", "eval_coef", 1, 10_000, "Coefficient between win rate and centipawns."),
    spin(
        "Resign_Threshold",
        "resign_threshold_permille",
        0,
        1000,
        "Resign below this win rate, per mille; 0 for never.",
    ),
    check("DebugMessage", "debug_message", "Show a table of the moves before every answer.", "debug"),
    string(
        "LogFile",
        "log_file",
        "Write the session and all messages of the libraries to this file.",
        "DebugLogFile",
        kind=Kind.FILENAME,
    ),
    *OPENING_OPTIONS,
    spin("Seed", "seed", 0, INT32_MAX, "Seed of all random choices; 0 for a new one every time."),
    Option(
        "Clear_Hash", Kind.BUTTON, "", "Forget everything that was searched.", aliases=(("ClearHash", 1),)
    ),
)
"""Every option, in the order in which `usi` lists them."""


def identification() -> Iterator[str]:
    """Yields the answer to `usi`."""
    yield f"id name Goryu {__version__}"
    yield "id author the Goryu authors"
    for option in OPTIONS:
        yield option.declaration()
    yield "usiok"
