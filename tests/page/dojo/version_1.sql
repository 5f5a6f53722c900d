PRAGMA user_version = 1;
PRAGMA application_id = 1196380761;
BEGIN TRANSACTION;
CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        problem INTEGER NOT NULL REFERENCES problems ON DELETE CASCADE,
        at TEXT NOT NULL,
        move TEXT NOT NULL,            -- the first answer, in USI; '' if the user asked for the solution
        is_right INTEGER NOT NULL,
        hints INTEGER NOT NULL,
        seconds REAL NOT NULL
    );
CREATE TABLE cards (
        problem INTEGER PRIMARY KEY REFERENCES problems ON DELETE CASCADE,
        due TEXT NOT NULL,
        card TEXT NOT NULL             -- JSON
    );
CREATE TABLE faults (
        id INTEGER PRIMARY KEY,
        file TEXT NOT NULL,
        line INTEGER,                  -- from 1; NULL if the fault has no line
        problem TEXT NOT NULL,
        seen TEXT NOT NULL
    );
INSERT INTO "faults" VALUES(2,'below/2.usi',1,'move 1: ''1g1e'' is not legal in lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1','2026-11-26T23:18:35+00:00');
INSERT INTO "faults" VALUES(3,'1.usi',2,'move 1: ''2g2e'' is not legal in lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1','2026-11-26T23:18:35+00:00');
INSERT INTO "faults" VALUES(4,'sent.usi',1,'move 1: ''9g9e'' is not legal in lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1','2026-11-26T23:18:35+00:00');
CREATE TABLE files (
        path TEXT PRIMARY KEY,
        size INTEGER NOT NULL,
        modified REAL NOT NULL         -- seconds since 1970
    ) WITHOUT ROWID;
INSERT INTO "files" VALUES('/home/user/games/1.usi',63,1700000000.0);
INSERT INTO "files" VALUES('/home/user/games/below/2.usi',29,1700000000.0);
INSERT INTO "files" VALUES('/home/user/records/1.usi',63,1700000000.0);
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
        opening TEXT NOT NULL,         -- a code of goryu.dojo.openings; '' if none fits
        file TEXT NOT NULL,            -- the name of the file it came from
        record TEXT NOT NULL,          -- the whole game in KIF, with comments and variations
        imported TEXT NOT NULL         -- when
    );
INSERT INTO "games" VALUES(1,'mine',X'C177DF3107C92E836B1F2F563745D445','lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1','7g7f 3c3d','','','',NULL,'','','1.usi','#KIF version=2.0 encoding=UTF-8
手合割：平手
手数----指手---------消費時間--
   1 ７六歩(77)
   2 ３四歩(33)
','2026-11-26T23:18:35+00:00');
INSERT INTO "games" VALUES(2,'records',X'07311A6255243B6F4FDC0956413C2CC3','lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1','2g2f 8c8d','','','',NULL,'','','1.usi','#KIF version=2.0 encoding=UTF-8
手合割：平手
手数----指手---------消費時間--
   1 ２六歩(27)
   2 ８四歩(83)
','2026-11-26T23:18:35+00:00');
CREATE TABLE me (name TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO "me" VALUES('user');
CREATE TABLE plies (
        game INTEGER NOT NULL REFERENCES games ON DELETE CASCADE,
        ply INTEGER NOT NULL,          -- 1 for the first move
        turn INTEGER NOT NULL,
        kind TEXT NOT NULL,            -- a value of goryu.analysis.judgement.MoveClass
        loss REAL NOT NULL,            -- win rate, 0 to 1
        phase TEXT NOT NULL,           -- a value of goryu.dojo.phases.Phase
        judgement TEXT NOT NULL,       -- goryu.analysis.review.PlyReview as JSON
        PRIMARY KEY (game, ply)
    ) WITHOUT ROWID;
CREATE TABLE positions (
        key BLOB NOT NULL,             -- goryu.dojo.games.position_key
        game INTEGER NOT NULL REFERENCES games ON DELETE CASCADE,
        ply INTEGER NOT NULL,          -- of the move: 1 for the first
        move TEXT NOT NULL,            -- the one played here, in USI; '' after the last move
        PRIMARY KEY (key, game, ply)
    ) WITHOUT ROWID;
INSERT INTO "positions" VALUES(X'7401251DA561A83C',2,3,'');
INSERT INTO "positions" VALUES(X'7D720294AEDFCE07',2,2,'8c8d');
INSERT INTO "positions" VALUES(X'DB381172B2D0694C',1,3,'');
INSERT INTO "positions" VALUES(X'E50F4ABFCCC19AFA',1,1,'7g7f');
INSERT INTO "positions" VALUES(X'E50F4ABFCCC19AFA',2,1,'2g2f');
INSERT INTO "positions" VALUES(X'F8A04F366B9EB671',1,2,'3c3d');
CREATE TABLE problems (
        id INTEGER PRIMARY KEY,
        game INTEGER REFERENCES games ON DELETE SET NULL,
        ply INTEGER,                   -- of the move that was played here
        kind TEXT NOT NULL,            -- a value of goryu.dojo.problems.ProblemKind
        start TEXT NOT NULL,           -- SFEN before the first of `moves`
        moves TEXT NOT NULL,           -- USI: the way to the position
        key BLOB NOT NULL,             -- goryu.dojo.games.position_key of the position
        played TEXT NOT NULL,          -- the move of the game; '' if there is none
        state TEXT NOT NULL,           -- candidate, sound, unsound, removed
        playouts INTEGER NOT NULL,     -- of the check; 0 before it
        content TEXT NOT NULL,         -- JSON, as the kind needs it
        made TEXT NOT NULL,
        UNIQUE (key, kind)
    );
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
INSERT INTO "reviews" VALUES(1,10,'goryu-5x64.onnx',NULL,NULL,0,0,'2026-11-26T23:18:35+00:00');
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "settings" VALUES('review.playouts','800');
CREATE INDEX games_by_date ON games (date, id);
CREATE INDEX positions_by_game ON positions (game);
CREATE INDEX mistakes ON plies (game, turn, phase, kind) WHERE kind IN ('dubious', 'mistake', 'blunder');
CREATE INDEX problems_by_state ON problems (state, kind);
CREATE INDEX problems_by_game ON problems (game);
CREATE INDEX attempts_by_problem ON attempts (problem, at);
CREATE INDEX cards_by_due ON cards (due);
COMMIT;
