"""The tables of the dojo's database, version by version; `database.py` says what their values are."""

MIGRATIONS = (
    """
    PRAGMA application_id = 1196380761;  -- "GORY": a file of another program is not taken for a backup

    -- A game is kept once: `digest` is that of its start and its moves.
    CREATE TABLE games (
        id INTEGER PRIMARY KEY,
        collection TEXT NOT NULL,      -- 'mine', or 'records' for games to look at only
        digest BLOB NOT NULL UNIQUE,
        start TEXT NOT NULL,           -- SFEN before the first move
        moves TEXT NOT NULL,           -- USI, separated by spaces
        black TEXT NOT NULL,           -- names; '' if unknown
        white TEXT NOT NULL,
        date TEXT NOT NULL,            -- of the game: 2026-11-26, or '' if unknown
        winner INTEGER,                -- 0, 1; NULL for a draw or an unknown result
        ending TEXT NOT NULL,          -- a value of goryu.kifu.record.Ending
        opening TEXT NOT NULL,         -- a code of goryu_page.dojo.openings; '' if none fits
        file TEXT NOT NULL,            -- the name of the file it came from
        record TEXT NOT NULL,          -- the whole game in KIF, with comments and variations
        imported TEXT NOT NULL         -- when
    );
    CREATE INDEX games_by_date ON games (date, id);

    -- Files of watched folders that were read, so that they are read again only when they change.
    CREATE TABLE files (
        path TEXT PRIMARY KEY,
        size INTEGER NOT NULL,
        modified REAL NOT NULL         -- seconds since 1970
    ) WITHOUT ROWID;

    -- Games that could not be read. A new import of the file replaces its lines.
    CREATE TABLE faults (
        id INTEGER PRIMARY KEY,
        file TEXT NOT NULL,
        line INTEGER,                  -- from 1; NULL if the fault has no line
        problem TEXT NOT NULL,
        seen TEXT NOT NULL
    );

    -- The names under which the user plays.
    CREATE TABLE me (name TEXT PRIMARY KEY) WITHOUT ROWID;

    -- Every position of every game, for the explorer: two orders of moves meet in one key.
    CREATE TABLE positions (
        key BLOB NOT NULL,             -- goryu_page.dojo.games.position_key
        game INTEGER NOT NULL REFERENCES games ON DELETE CASCADE,
        ply INTEGER NOT NULL,          -- of the move: 1 for the first
        move TEXT NOT NULL,            -- the one played here, in USI; '' after the last move
        PRIMARY KEY (key, game, ply)
    ) WITHOUT ROWID;
    CREATE INDEX positions_by_game ON positions (game);

    -- A reviewed game. A review that was not finished has no row here.
    CREATE TABLE reviews (
        game INTEGER PRIMARY KEY REFERENCES games ON DELETE CASCADE,
        playouts INTEGER NOT NULL,     -- for each position
        engine TEXT NOT NULL,          -- the network
        black_accuracy REAL,           -- 0 to 100; NULL without a move
        white_accuracy REAL,
        black_mistakes INTEGER NOT NULL,  -- moves of the classes of goryu.analysis.judgement.MISTAKES
        white_mistakes INTEGER NOT NULL,
        reviewed TEXT NOT NULL
    );

    -- The judgement of each move of a reviewed game.
    CREATE TABLE plies (
        game INTEGER NOT NULL REFERENCES games ON DELETE CASCADE,
        ply INTEGER NOT NULL,          -- 1 for the first move
        turn INTEGER NOT NULL,
        kind TEXT NOT NULL,            -- a value of goryu.analysis.judgement.MoveClass
        loss REAL NOT NULL,            -- win rate, 0 to 1
        phase TEXT NOT NULL,           -- a value of goryu_page.dojo.phases.Phase
        judgement TEXT NOT NULL,       -- goryu.analysis.review.PlyReview as JSON, and lead (reviews.lead)
        PRIMARY KEY (game, ply)
    ) WITHOUT ROWID;
    CREATE INDEX mistakes ON plies (game, turn, phase, kind) WHERE kind IN ('dubious', 'mistake', 'blunder');

    CREATE TABLE problems (
        id INTEGER PRIMARY KEY,
        game INTEGER REFERENCES games ON DELETE SET NULL,
        ply INTEGER,                   -- of the move that was played here
        kind TEXT NOT NULL,            -- a value of goryu_page.dojo.problems.ProblemKind
        start TEXT NOT NULL,           -- SFEN before the first of `moves`
        moves TEXT NOT NULL,           -- USI: the way to the position
        key BLOB NOT NULL,             -- goryu_page.dojo.games.position_key of the position
        played TEXT NOT NULL,          -- the move of the game; '' if there is none
        state TEXT NOT NULL,           -- candidate, sound, unsound, removed
        playouts INTEGER NOT NULL,     -- of the check; 0 before it
        content TEXT NOT NULL,         -- JSON, as the kind needs it
        made TEXT NOT NULL,
        UNIQUE (key, kind)
    );
    CREATE INDEX problems_by_state ON problems (state, kind);
    CREATE INDEX problems_by_game ON problems (game);

    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        problem INTEGER NOT NULL REFERENCES problems ON DELETE CASCADE,
        at TEXT NOT NULL,
        move TEXT NOT NULL,            -- the first answer, in USI; '' if the user asked for the solution
        is_right INTEGER NOT NULL,
        hints INTEGER NOT NULL,
        seconds REAL NOT NULL
    );
    CREATE INDEX attempts_by_problem ON attempts (problem, at);

    -- When a problem is due: a card of the library fsrs.
    CREATE TABLE cards (
        problem INTEGER PRIMARY KEY REFERENCES problems ON DELETE CASCADE,
        due TEXT NOT NULL,
        card TEXT NOT NULL             -- JSON
    );
    CREATE INDEX cards_by_due ON cards (due);

    CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;  -- values are JSON
    """,
    """
    -- Two folders may have files of the same relative name: the watched folder, '' for a file that was sent.
    ALTER TABLE faults ADD COLUMN folder TEXT NOT NULL DEFAULT '';
    UPDATE faults SET folder = (
        SELECT CASE COUNT(*) WHEN 1 THEN substr(path, 1, length(path) - length(file) - 1) ELSE '' END
        FROM files WHERE substr(replace(path, char(92), '/'), -length(file) - 1) = '/' || file
    );

    -- A folder may be watched for each collection.
    ALTER TABLE files RENAME TO old_files;
    CREATE TABLE files (
        collection TEXT NOT NULL,
        path TEXT NOT NULL,
        size INTEGER NOT NULL,
        modified REAL NOT NULL,        -- seconds since 1970
        PRIMARY KEY (collection, path)
    ) WITHOUT ROWID;
    INSERT INTO files SELECT 'mine', path, size, modified FROM old_files;
    DROP TABLE old_files;
    """,
    """
    -- An answer outside the list of the day, which it does not use up.
    ALTER TABLE attempts ADD COLUMN is_free INTEGER NOT NULL DEFAULT 0;
    """,
    """
    -- What views ask of all games at once stands apart from the judgements, which are large
    -- (goryu_page.dojo.reviews.summarise).
    ALTER TABLE positions ADD COLUMN rate REAL;  -- of the move: win rate, 0 to 1; NULL without a review
    UPDATE positions SET rate = (
        SELECT json_extract(judgement, '$.played_win_rate') FROM plies
        WHERE plies.game = positions.game AND plies.ply = positions.ply AND json_valid(judgement)
    );
    ALTER TABLE reviews ADD COLUMN black_phases TEXT NOT NULL DEFAULT '{}';  -- JSON: how many mistakes
    ALTER TABLE reviews ADD COLUMN white_phases TEXT NOT NULL DEFAULT '{}';  -- of each "CLASS PHASE"
    UPDATE reviews SET black_phases = (
        SELECT json_group_object(name, n) FROM (
            SELECT kind || ' ' || phase AS name, COUNT(*) AS n FROM plies
            WHERE game = reviews.game AND turn = 0 AND kind IN ('dubious', 'mistake', 'blunder') GROUP BY name
        )
    ), white_phases = (
        SELECT json_group_object(name, n) FROM (
            SELECT kind || ' ' || phase AS name, COUNT(*) AS n FROM plies
            WHERE game = reviews.game AND turn = 1 AND kind IN ('dubious', 'mistake', 'blunder') GROUP BY name
        )
    );
    DROP INDEX mistakes;

    -- Have candidates of problems been made of the review?
    ALTER TABLE reviews ADD COLUMN is_collected INTEGER NOT NULL DEFAULT 0;
    UPDATE reviews SET is_collected = 1 WHERE reviewed < (
        SELECT json_extract(value, '$.reviewed') FROM settings
        WHERE key = 'problems.collected' AND json_valid(value)
    );
    CREATE INDEX reviews_to_collect ON reviews (reviewed) WHERE is_collected = 0;
    """,
    """
    ALTER TABLE problems ADD COLUMN reason TEXT  -- why a check refused it
        AS (CASE WHEN json_valid(content) THEN json_extract(content, '$.reason') END);
    DROP INDEX problems_by_state;
    CREATE INDEX problems_by_state ON problems (state, kind, reason);
    CREATE INDEX problems_to_check ON problems (game) WHERE state = 'candidate';
    """,
)
"""The statements that lead from each version to the next; `PRAGMA user_version` counts those already run."""
