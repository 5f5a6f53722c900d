"""The table of USI options.

A row has the option's name, the field of `EngineConfig` that it sets, its bounds and unit, its help, and the
names under which other engines know it. The default is the field's.
"""

from collections.abc import Iterator
from dataclasses import replace

from goryu import __version__
from goryu.players.agents.usi_traits import USI_TRAITS
from goryu.players.config import MOST_DEVICES, EngineConfig
from goryu.usi.option import (
    CP,
    INT32_MAX,
    MB,
    MS,
    NUMBER,
    PERCENT,
    PERCENT_AS_IS,
    PERMILLE,
    RATE_PERCENT,
    RATE_PERMILLE,
    RESULT_PERCENT,
    RESULT_PERMILLE,
    Option,
    button,
    check,
    combo,
    filename,
    spin,
    string,
)
from goryu.usi.presets import NO_PRESET, OFFERED, PRESETS

MAX_CP = 99_999

# fmt: off
OPTIONS: tuple[Option, ...] = (
    check("USI_Ponder", "clock.ponders",
          "The GUI may let the engine think on the opponent's time; it then plans more time per move."),
    check("Stochastic_Ponder", "ponders_on_all_replies",
          "While pondering, think about all of the opponent's moves, not only the predicted one."),
    spin("USI_Hash", "search.capacity_bytes", 0, 1_048_576, MB,
         "Memory for the search graph. 0: 1 GB, or with a GPU a quarter of the machine's memory."),
    spin("Threads", "evaluator.threads", 0, 1024, NUMBER,
         "CPU threads of the search for each device, at most 4 per core. 0: measured once for each machine "
         "and network, with the batch size if that is 0. A search with one thread can be repeated exactly.",
         "UCT_Threads", "UCT_Threads1", "thread", "NumSearchThreads"),
    spin("MultiPV", "output.lines", 1, 600, NUMBER, "Number of lines of play to show.", "USI_MultiPV"),
    # The algorithm.
    combo("Preset", "preset", " ".join(PRESETS),
          "mcts-player: answer like python-dlshogi's MCTS_player, with its names and defaults of options; "
          "those that you change keep your values."),
    combo("Algorithm", "algorithm.name", " ".join(USI_TRAITS),
          "What chooses the moves. puct is the engine's own search, the only one that searches for mates; "
          "the others are those of the books and tutorials, see docs/algorithms.md."),
    combo("AlphaBeta_Value", "algorithm.leaf_value", "material network",
          "What evaluates the positions where alpha-beta stops: the material, or the value of Evaluator."),
    spin("Policy_Temperature", "algorithm.temperature", 0, 10_000, PERCENT,
         "Algorithm policy draws its move at this temperature of the network's policy. 100 draws by the "
         "network's probabilities, 0 plays the most probable move."),
    # The model and where it runs.
    combo("Evaluator", "evaluator.kind", "network material uniform hashed",
          "What evaluates positions: the network, the material, nothing, or reproducible noise for tests."),
    filename("DNN_Model", "evaluator.model",
             "ONNX model. Empty: the strongest network that is there and that this machine runs well.",
             "DNN_Model1", "modelfile", "WeightPath"),
    string("EvalDir", "evaluator.model_folder", "Folder in which a relative DNN_Model is looked for first."),
    combo("DNN_Format", "evaluator.model_format",
          "auto dlshogi python-dlshogi2 python-dlshogi nshogi aobazero miniosl",
          "What the model's planes and labels mean. auto: recognised by the file. Only a network of the "
          "first book (python-dlshogi) that goryu convert has not written needs to be named."),
    combo("Backend", "evaluator.backend",
          "auto tensorrt cuda directml coreml openvino-gpu openvino cpu winograd winograd-float onnxruntime",
          "What runs the network. auto: the first of CUDA, DirectML and CPU that works. cpu: Goryu's own "
          "code (winograd) for the networks that it knows, onnxruntime for others."),
    check("AllowFallback", "evaluator.allows_fallback",
          "If the model or the backend fails, report it and play with a weaker one instead of resigning."),
    replace(
        string("Device", "evaluator.device",
               "Number of the GPU, or of several as in 0,1. -1: the CPU.", "gpu_id"),
        pattern=r"(-1|[0-9]{1,3})( *, *(-1|[0-9]{1,3})){0,7}", expected="numbers such as 0 or 0,1",
    ),
    combo("DNN_FP16", "evaluator.fp16", "auto on off",
          "Compute in 16-bit floats on a GPU. auto: with CUDA and DirectML, if the model answers nearly as "
          "in 32 bits. on: also with other backends of onnxruntime, or it is an error."),
    spin("DNN_Batch_Size", "evaluator.batch_size", 0, 4096, NUMBER,
         "Positions per network call. 0: 1, 2 or 4 on a CPU, 128 on a GPU. A larger batch makes the search "
         "less precise.",
         "DNN_Batch_Size1", "BatchSize"),
    spin("Softmax_Temperature", "evaluator.temperature", 1, 10_000, PERCENT,
         "Temperature of the policy. 100 leaves it as it is; a higher one broadens the search.",
         "temperature"),
    # The search.
    spin("UCT_NodeLimit", "search.capacity", 100, 1_000_000_000, NUMBER,
         "Maximum number of positions in the search graph; see also USI_Hash."),
    spin("C_init", "search.formula.c_init", 0, 500, RATE_PERCENT, "Exploration constant.", "c_puct"),
    spin("C_base", "search.formula.c_base", 1000, 1_000_000, NUMBER, "Visits after which exploration grows."),
    spin("C_fpu_reduction", "search.formula.fpu_reduction", 0, 100, RATE_PERCENT,
         "How much worse than its position an unvisited move is assumed to be."),
    spin("C_init_root", "search.root_formula.c_init", 0, 500, RATE_PERCENT, "C_init at the root.", "c_puct"),
    spin("C_base_root", "search.root_formula.c_base", 1000, 1_000_000, NUMBER, "C_base at the root."),
    spin("C_fpu_reduction_root", "search.root_formula.fpu_reduction", 0, 100, RATE_PERCENT,
         "C_fpu_reduction at the root."),
    combo("Final_Move", "search.final_move", "lcb visits",
          "Play the move with the best lower confidence bound, or the most visited one."),
    spin("LeafDfpnNodesLimit", "mate.leaf_nodes", 0, 10_000, NUMBER,
         "Nodes of the mate search at every new position. 0: none. The Python search uses at most 1."),
    spin("DfpnNodesPerVisit", "mate.nodes_per_visit", 0, 100, NUMBER,
         "Nodes of another mate search at a position with 32, 64, 128, 256 and 512 visits, for each of these "
         "visits. 0: none. The Python search has none."),
    spin("RootMateSearchNodesLimit", "mate.root_nodes", 0, INT32_MAX, NUMBER,
         "Nodes of the mate search before each move. 0: none."),
    spin("ReplyMateSearchNodesLimit", "mate.reply_nodes", 0, INT32_MAX, NUMBER,
         "Nodes of the search for the opponent's mate after the move to be played. If there is one, another "
         "move is played. 0: none. 40000 take up to 75 ms, but 2 ms on average."),
    check("Mate_Solver", "mate.solves_mates", "Answer go mate by a search; otherwise by notimplemented."),
    check("ReuseSubtree", "reuses_subtree", "Keep what the last search found about the position."),
    spin("NodesLimit", "nodes", 0, INT32_MAX, NUMBER,
         "Positions to evaluate per move, regardless of the clock; random games with uct and flat-mc. 0: no "
         "such limit.", "Const_Playout", "playout"),
    check("NodesLimit_Early_Stop", "nodes_stop_early",
          "End a search of N positions (NodesLimit, go nodes N) as soon as no other move can catch up, as in "
          "python-dlshogi."),
    spin("DepthLimit", "depth", 0, 1000, NUMBER,
         "Stop when the longest playout, or the search of alpha-beta, is this many plies long. 0: no such "
         "limit."),
    # Strength.
    spin("Level", "level", 0, 10, NUMBER,
         "Strength of the play: 1 is a child's first opponent, 10 and 0 are full strength. Analyses are not "
         "affected, nor are Algorithms other than puct. A lower level uses no book, and its playouts do not "
         "depend on the clock."),
    check("USI_LimitStrength", "limits_strength",
          "If Level is 0, play at the level nearest to USI_Elo.", "UCI_LimitStrength"),
    spin("USI_Elo", "elo", 0, 4000, NUMBER,
         "Rating for USI_LimitStrength, on the scale of the table of levels.", "UCI_Elo"),
    # The rules.
    spin("MaxMovesToDraw", "rules.moves_to_draw", 0, 100_000, NUMBER,
         "Number of moves after which the game is drawn. 0: never.", "Draw_Ply", "USI_MaxPly"),
    spin("DrawValueBlack", "rules.draw_value_black", 0, 1000, RESULT_PERMILLE,
         "Value of a draw when the engine plays black.", "Draw_Value_Black", "BlackDrawValue*10"),
    spin("DrawValueWhite", "rules.draw_value_white", 0, 1000, RESULT_PERMILLE,
         "Value of a draw when the engine plays white.", "Draw_Value_White", "WhiteDrawValue*10"),
    combo("EnteringKingRule", "rules.entering_king",
          "NoEnteringKing CSARule24 CSARule24H CSARule27 CSARule27H TryRule",
          "When a king in the enemy camp wins."),
    check("First_Recurrence", "rules.first_recurrence",
          "Within the search, the first recurrence of a position counts as a repetition; otherwise only the "
          "fourth occurrence."),
    check("GenerateAllLegalMoves", "rules.all_moves", "Also search pointless non-promotions."),
    # Time.
    spin("NetworkDelay", "clock.network_delay_ms", 0, 10_000, MS,
         "How much later than Goryu's the GUI's clock stops, on average."),
    spin("NetworkDelay2", "clock.network_delay2_ms", 0, 60_000, MS,
         "The same at worst; kept back from clocks and byoyomi, up to half of them.",
         "Byoyomi_Margin", "ThinkingTimeMargin"),
    spin("Time_Margin", "clock.time_margin_ms", 0, 60_000, MS,
         "Kept back from the main time if there is no byoyomi, up to half of it."),
    spin("MinimumThinkingTime", "clock.minimum_ms", 0, 9_999_999, MS,
         "Do not answer sooner, except with a proven or the only move.", "MinimumThinkingTimeMilliSeconds"),
    spin("SlowMover", "clock.slow_mover_percent", 1, 1000, PERCENT_AS_IS,
         "Share of the usual time to spend on a move."),
    check("RoundUpToFullSecond", "clock.does_round_up",
          "The GUI's clock counts whole seconds: use up every second that has begun."),
    check("Byoyomi_Early_Stop", "clock.stops_early_in_byoyomi",
          "Also in byoyomi, answer as soon as no other move can catch up."),
    # Output and resignation.
    spin("PvInterval", "output.interval_ms", 0, 1_000_000, MS,
         "Time between info lines. 0: only the last ones.", "PV_Interval"),
    spin("Eval_Coef", "output.eval_coef", 1, 10_000, NUMBER,
         "A score is Eval_Coef * ln(p / (1 - p)) centipawns for a win rate p. With 285 scores are about as "
         "large as those of other engines; with the GUI's own coefficient, often 600, the GUI shows the "
         "engine's win rates."),
    spin("Resign_Threshold", "resign_value", 0, 1000, RESULT_PERMILLE,
         "Resign below this win rate. 0: never. The greater of this and Resign_Percent counts."),
    replace(
        spin("Resign_Percent", "resign_value_percent", 0, 100, RESULT_PERCENT,
             "Resign below this win rate, in percent as in both python-dlshogi books. 0: never."),
        exact_alias="resign_threshold",
    ),
    check("DebugMessage", "output.shows_moves",
          "Show a table of all moves before every answer, and the SFEN after every position.", "debug"),
    combo("DebugMessage_Order", "output.table_order", "visits moves",
          "Order of this table: by falling visits, or as python-shogi generates the legal moves."),
    filename("LogFile", "output.log_file",
             "Write the session and all messages of the libraries to this file.", "DebugLogFile"),
    # Opening books.
    check("USI_OwnBook", "book_file.is_wanted", "Play from the opening book.", "OwnBook", "IsBookEnabled"),
    filename("BookFile", "book_file.path",
             "Opening book of YaneuraOu (.db, .ybb), ShogiGUI (.sbk) or Apery (.bin), or several, separated "
             "by semicolons. Empty: Goryu's own, when one of Goryu's networks plays at full strength with a "
             "time limit. no_book: none.", "Book_File", "BookPath"),
    string("BookDir", "book_file.folder", "Folder in which a relative BookFile is looked for first."),
    spin("BookMoves", "book.max_ply", 0, 10_000, NUMBER,
         "Number of the last move for which the book is used."),
    spin("BookIgnoreRate", "book.ignore_rate", 0, 100, PERCENT,
         "Share of games that are played without the book."),
    check("Best_Book_Move", "book.plays_best", "Always play the best move of the book, never a random one."),
    check("ConsiderBookMoveCount", "book.draws_by_count",
          "Choose among the book's moves in proportion to their counts instead of evenly."),
    check("NarrowBook", "book.is_narrow", "Leave out moves that were played in less than 10 % of the games."),
    spin("BookEvalDiff", "book.most_worse_cp", 0, MAX_CP, CP,
         "How much worse than the book's best move a move may be."),
    spin("BookEvalBlackLimit", "book.least_cp_black", -MAX_CP, MAX_CP, CP,
         "Lowest book evaluation of a move to play as black."),
    spin("BookEvalWhiteLimit", "book.least_cp_white", -MAX_CP, MAX_CP, CP,
         "Lowest book evaluation of a move to play as white."),
    spin("Min_Book_Score", "book.least_cp", -MAX_CP, MAX_CP, CP,
         "Lowest book evaluation of a move to play as either colour."),
    spin("BookDepthLimit", "book.least_depth", 0, MAX_CP, NUMBER,
         "Do not use the book if it searched its best move less deeply. 0: always use it."),
    check("FlippedBook", "book.flips", "Also look up the position with the colours exchanged."),
    # Random moves.
    spin("Random_Ply", "random_opening.plies", 0, 1000, NUMBER,
         "Choose moves at random by their visits up to this ply. 0: never."),
    spin("Random_Temperature", "random_opening.temperature", 0, 100_000, PERMILLE,
         "1000 chooses in proportion to visits; a higher temperature more evenly."),
    spin("Random_Temperature_Drop", "random_opening.temperature_drop", 0, 100_000, PERMILLE,
         "How much Random_Temperature falls with each move of the engine."),
    spin("Random_Cutoff", "random_opening.cutoff", 0, 1000, RATE_PERMILLE,
         "How much worse than the best a random move may be."),
    spin("Random_Cutoff_Drop", "random_opening.cutoff_drop", 0, 1000, RATE_PERMILLE,
         "How much Random_Cutoff falls with each move of the engine."),
    spin("Seed", "seed", 0, INT32_MAX, NUMBER, "Seed of all random choices. 0: a new one every time."),
    button("Clear_Hash", "Forget everything that was searched.", "ClearHash"),
)
"""Every option, in the order in which `usi` lists them."""
# fmt: on

OPTIONS_OF_MORE_DEVICES = tuple(
    option
    for n in range(2, MOST_DEVICES + 1)
    for device in (f"evaluator.more_devices.{n - 2}",)
    for option in (
        filename(f"DNN_Model{n}", f"{device}.model", f"Model of device {n}. Empty: the same."),
        spin(f"UCT_Threads{n}", f"{device}.threads", 0, 256, NUMBER,
             f"Threads of device {n}. 0: as many as for the first, if Device names it."),
        spin(f"DNN_Batch_Size{n}", f"{device}.batch_size", 0, 4096, NUMBER,
             f"Positions per network call of device {n}. 0: the same."),
    )
)  # fmt: skip
"""dlshogi's options for several GPUs. They are accepted, but not offered: for most users `Device` does."""


def identification(config: EngineConfig) -> Iterator[str]:
    """Yields the answer to `usi`; the options' defaults are their values in `config`."""
    algorithm, preset = config.algorithm.name, config.preset
    differs = [word for word in (algorithm, preset) if word not in ("puct", NO_PRESET)]
    yield f"id name {' '.join(['Goryu', __version__, *dict.fromkeys(differs)])}"
    yield "id author the Goryu authors"
    for option in OPTIONS:
        yield replace(option, **OFFERED[preset].get(option.name, {})).declaration(config)
    yield "usiok"
