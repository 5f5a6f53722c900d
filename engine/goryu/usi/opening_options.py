"""The options for opening moves: books, and moves drawn at random."""

from goryu.usi.option import Kind, Option, check, spin, string

__all__ = ["OPENING_OPTIONS"]

MOST_CP = 99_999

_BOOK_OPTIONS = (
    check("USI_OwnBook", "own_book", "Play from the opening book.", "OwnBook", "IsBookEnabled"),
    string(
        "BookFile",
        "book_file",
        "Opening book of YaneuraOu (.db) or Apery (.bin); empty for none.",
        *("Book_File", "BookPath"),
        kind=Kind.FILENAME,
    ),
    string("BookDir", "book_folder", "Folder in which a relative BookFile is looked for first."),
    spin("BookMoves", "book_moves", 0, 10_000, "The last move number at which the book is asked."),
    spin("BookIgnoreRate", "book_ignore_rate_percent", 0, 100, "Games that are played without it, percent."),
    check("Best_Book_Move", "best_book_move", "Always play the best move of the book, never a random one."),
    check(
        "ConsiderBookMoveCount",
        "considers_book_move_count",
        "Draw moves of the book in proportion to their counts instead of evenly.",
    ),
    check("NarrowBook", "narrow_book", "Leave out moves that were played in less than 10 % of the games."),
    spin(
        "BookEvalDiff",
        "book_eval_diff",
        0,
        MOST_CP,
        "How much worse than the book's best a move may be, centipawns.",
    ),
    spin(
        "BookEvalBlackLimit",
        "book_eval_black_limit",
        -MOST_CP,
        MOST_CP,
        "Play no move as black that the book values less, centipawns.",
    ),
    spin(
        "BookEvalWhiteLimit",
        "book_eval_white_limit",
        -MOST_CP,
        MOST_CP,
        "Play no move as white that the book values less, centipawns.",
    ),
    spin(
        "Min_Book_Score",
        "min_book_score",
        -MOST_CP,
        MOST_CP,
        "Play no move that the book values less, centipawns; the same for both colours.",
    ),
    spin(
        "BookDepthLimit",
        "book_depth_limit",
        0,
        MOST_CP,
        "Do not ask the book where its best move was searched less deeply; 0 for always.",
    ),
    spin("BookPvMoves", "book_pv_moves", 1, 256, "How many moves of the book are shown."),
    check(
        "IgnoreBookPly", "ignores_book_ply", "The move number does not matter when a position is looked up."
    ),
    check("FlippedBook", "flipped_book", "Also look for the position with the colours exchanged."),
)

_RANDOM_OPTIONS = (
    spin(
        "Random_Ply", "random_ply", 0, 1000, "Up to this ply, draw the move at random by visits; 0 for never."
    ),
    spin(
        "Random_Temperature",
        "random_temperature_permille",
        0,
        100_000,
        "Per mille; 1000 is proportional to visits.",
    ),
    spin(
        "Random_Temperature_Drop",
        "random_temperature_drop_permille",
        0,
        100_000,
        "Fall of it per own move, per mille.",
    ),
    spin(
        "Random_Cutoff",
        "random_cutoff_permille",
        0,
        1000,
        "Never draw a move worse than the best by this win rate, per mille.",
    ),
    spin("Random_Cutoff_Drop", "random_cutoff_drop_permille", 0, 1000, "Fall of it per own move, per mille."),
    spin("Random2_Ply", "random2_ply", 0, 1000, "Up to this ply, draw single moves; 0 for never."),
    spin(
        "Random2_Probability",
        "random2_probability_permille",
        0,
        1000,
        "How often a move is drawn, per mille.",
    ),
    spin(
        "Random2_Temperature",
        "random2_temperature_permille",
        0,
        100_000,
        "Like Random_Temperature, for these moves.",
    ),
    spin("Random2_Cutoff", "random2_cutoff_permille", 0, 1000, "Like Random_Cutoff, for these moves."),
    spin(
        "Random2_Value_Limit",
        "random2_value_limit_permille",
        0,
        1000,
        "Draw none of these moves at a better win rate, per mille.",
    ),
)

OPENING_OPTIONS: tuple[Option, ...] = (*_BOOK_OPTIONS, *_RANDOM_OPTIONS)
"""Books first, then randomness."""
