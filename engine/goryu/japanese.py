"""The Japanese messages: English text -> Japanese text with the same {fields}; see `language.py`."""

MESSAGES: dict[str, str] = {
    ", ": "、",
    "{side}: {name}": "{side}：{name}",
    "{name} (level {number})": "{name}（レベル{number}）",
    "nothing": "なし",
    # The sides and the reasons of an ending.
    "black (sente)": "先手",
    "white (gote)": "後手",
    "black (shitate)": "下手",
    "white (uwate)": "上手",
    "black (X)": "黒（X）",
    "white (O)": "白（O）",
    "person": "あなた",
    "checkmate": "詰み",
    "no legal move": "指せる手なし",
    "entering-king declaration": "入玉宣言",
    "declaration": "入玉宣言",
    "fourfold repetition": "千日手",
    "perpetual check": "連続王手の千日手",
    "maximum ply": "最大手数",
    "try": "トライ",
    "resignation": "投了",
    "time": "時間切れ",
    "three in a row": "一列完成",
    "full board": "盤がすべて埋まった",
    "no move left for either side": "両者とも打つ場所がない",
    # A game at the terminal.
    "board": "盤面（board）",
    "help": "ヘルプ（help）",
    "quit": "終了（quit）",
    "draw: {reason}": "引き分け：{reason}",
    "{side} wins: {reason}": "{side}の勝ち：{reason}",
    ", {discs} discs ahead": "（{discs}石差）",
    "{side} to move> ": "{side}の手番> ",
    "save FILE, undo or quit> ": "保存 ファイル名、待った、終了のどれか> ",
    "undo or quit> ": "待った、終了のどちらか> ",
    "check": "王手！",
    "in hand: {pieces}": "持駒：{pieces}",
    "thinking ...": "考えています…",
    "byoyomi {seconds:g} s": "秒読み{seconds:g}秒",
    "Write {example}.": "入力：{example}",
    "Or one of: {words}.": "ほかに：{words}",
    "a move such as 7g7f, P-7f or 7六歩; 8h2b+ promotes, P*5e drops a pawn; capitals are black": (
        "指し手は 7六歩、同銀、2二角成、5五歩打 など。7g7f や P-7f でもかまいません"
    ),
    "column and row of a square marked *, such as d3": "打てるマスの列と行（例：d3）",
    "the number of a free square, such as 4": "空いたマスの番号（例：4）",
    "moves (lists the legal moves)": "合法手（moves）",
    "undo (takes your last move back)": "待った（undo）",
    "hint": "ヒント（hint）",
    "resign": "投了（resign）",
    "declare (wins by an entered king)": "宣言（declare、入玉宣言勝ち）",
    "save FILE.kif": "保存 ファイル名.kif（save）",
    "{text} is not a legal move. {help}": "{text}は指せません。{help}",
    "{text} may be {moves}": "{text}は一通りに決まりません：{moves}",
    "{text} is not legal here{reason}": "{text}は指せません{reason}",
    ": your king is in check": "（王手がかかっています）",
    ": a second pawn on the file (nifu)": "（二歩です）",
    "the game is over": "対局は終わっています",
    "there are no hints in this game": "この対局にヒントはありません",
    "hint: {move}": "ヒント：{move}",
    " (win rate {rate:.0f} %)": "（勝率{rate:.0f}%）",
    "you cannot declare a win here": "ここでは宣言勝ちできません",
    "you may declare a win: declare": "入玉宣言で勝てます。「宣言」と入力してください",
    "this position has occurred {times} times; the fourth ends the game": (
        "同一局面{times}回目です。4回目で千日手になります"
    ),
    "you have no move to take back": "戻せる手がありません",
    "only games of shogi can be saved": "保存できるのは将棋の棋譜だけです",
    "saved as {path}": "{path}に保存しました",
    "{name}: expected a name that ends in one of {suffixes}": (
        "{name}：ファイル名の末尾は次のどれかにしてください：{suffixes}"
    ),
    "{name} exists; save! {name} replaces it": "{name}はすでにあります。上書きするには save! {name}",
    # Errors and help of `goryu play`.
    "--model: expected a player with a network: {players}": (
        "--model：ネットワークを使う対局者を指定してください：{players}"
    ),
    "{error}, or {person!r}": "{error}、または{person!r}",
    "{name} searches the whole game, which takes years in {game}; expected another player, such as "
    "depth-limited": (
        "{name}はゲームの最後まで探索するため、{game}では何年もかかります。"
        "depth-limitedなど、ほかの対局者を指定してください"
    ),
    "--level and --side: expected no --first or --second with them": (
        "--level・--sideと--first・--secondは同時に指定できません"
    ),
    "level {text!r}: expected one of {names}": "レベル{text!r}はありません。次から選んでください：{names}",
    "--increment: expected --time or --byoyomi with it": ("--incrementには--timeか--byoyomiの指定が必要です"),
    "{option}: only shogi has this option": "{option}は将棋だけで使えます",
    "{options}: expected only one of them": "{options}は一つだけ指定してください",
    "--ply: expected --record with it": "--plyには--recordの指定が必要です",
    "--ply {ply}: the game has {moves} moves": "--ply {ply}：棋譜は{moves}手までです",
    "--handicap {name}: expected one of {names}": "--handicap {name}：次から選んでください：{names}",
    "{text}: expected a number above 0": "{text}：0より大きい数を指定してください",
    "you, at this terminal": "この端末のあなた",
    "levels:": "レベル：",
    "Plays a game at the terminal. Shogi uses the engine's options of network and search, with "
    "engine_options.txt, but no book. During the game, help lists what you can write.": (
        "端末で対局します。将棋では engine_options.txt を含むエンジンのオプション"
        "（ネットワークと探索）を使い、定跡は使いません。"
        "対局中に help と入力すると、入力できる言葉が表示されます。"
    ),
    "players (the number after the colon is N, with its default):": (
        "対局者（コロンの後の数がN、ここでは既定値）："
    ),
    "players": "対局者",
    "start and clock": "開始局面と持ち時間",
    "display": "表示",
    "strength of the opponent, 1 to 10 or a name": "相手の強さ。1から10、または名前",
    "your side; black is the first (default: first)": "あなたの手番。firstが先手（既定：first）",
    "plays black (default: person)": "先手の対局者（既定：person）",
    "plays white (default: an algorithm, or person)": "後手の対局者（既定：コンピュータ、またはperson）",
    "network that replaces the shipped one": "付属のものの代わりに使うネットワーク",
    "makes random moves reproducible": "乱数の種。同じ種なら同じ手を指す",
    "position of shogi to start from": "開始局面（将棋のSFEN）",
    "game to go on with: KIF, CSA ...": "続きから指す棋譜（KIF、CSAなど）",
    "with --record: go on after this move": "--recordの棋譜のこの手数から指す",
    "such as 4-piece or 四枚落ち": "駒落ち。四枚落ち、4-pieceなど",
    "main time in minutes": "持ち時間（分）",
    "seconds for every move after it": "秒読み（秒）",
    "seconds gained by every move": "一手ごとの加算（秒）",
    "kanji and colours, or letters (default: auto)": "漢字とカラー、または英字（既定：auto）",
    "of shown moves of shogi; you may write any (default: auto)": (
        "表示する指し手の書き方。入力はどれでもよい（既定：auto）"
    ),
    "writes the game there at the end": "終わったときに棋譜をこのファイルに書く",
    "unknown command {name!r}; expected one of {expected}": (
        "{name!r}というコマンドはありません。次のどれかを指定してください：{expected}"
    ),
    # goryu options
    "{name} (button)": "{name}（ボタン）",
    "true or false": "trueかfalse",
    "text": "文字列",
    "file": "ファイル",
    "{low} to {high}": "{low}〜{high}",
    "{first} or {last}": "{first}, {last}のどれか",
    "none": "なし",
    "{name} ({values}; default {default})": "{name}（{values}。既定 {default}）",
    "{name} (times {factor})": "{name}（{factor}倍）",
    "{name} (in lower case)": "{name}（小文字）",
    "also: {names}": "別名：{names}",
    "milliseconds": "ミリ秒",
    "centipawns": "センチポーン",
    "MB": "MB",
    "percent": "%",
    "per mille": "‰",
    "percent of win rate": "勝率%",
    "per mille of win rate": "勝率‰",
    # goryu doctor
    "Checks the installation and measures its speed.": "インストールの状態を調べ、速さを測ります。",
    "ONNX model (default: the shipped one)": "ONNXモデル（既定：付属のもの）",
    "search and rules: {reason}": "探索とルール：{reason}",
    "; tools/dev.py setup builds the native code or explains why it cannot": (
        "。tools/dev.py setup でネイティブコードをビルドできます（できないときは理由が表示されます）"
    ),
    "{name} is not installed": "{name}がインストールされていません",
    "onnxruntime offers: {providers}": "onnxruntimeで使えるもの：{providers}",
    "model {path}": "モデル {path}",
    "model {path}: no such file": "モデル {path}：ファイルがありません",
    "backend {backend}: {error}": "バックエンド {backend}：{error}",
    "backend {backend}: {rate:.0f} positions/s; {network}": (
        "バックエンド {backend}：毎秒{rate:.0f}局面、{network}"
    ),
    "the search found no move": "探索で指し手が見つかりませんでした",
    "search: {rate:.0f} playouts/s, the first move would be {move}": (
        "探索：毎秒{rate:.0f}プレイアウト、初手は {move}"
    ),
    "register in the GUI: {program}": "GUIに登録するプログラム：{program}",
    "{program} is missing: `pip install goryu`, or `pip install -e .` in the checkout": (
        "{program}がありません。`pip install goryu` か、チェックアウトで `pip install -e .` を実行"
    ),
    # Agents.
    "any legal move": "でたらめに指す",
    "perfect play: searches the whole game": "最後まで読み切る",
    "the same, without moves that cannot matter": "同じ。結果に関わらない手を省く（アルファベータ法）",
    "searches N plies, then uses a heuristic": "N手読み、簡単な評価関数を使う",
    "plays N random games after each move": "各手の後にN回ずつランダムに対局してみる",
    "plays N random games and grows a tree": "N回ランダムに対局しながら木を育てる（UCT）",
    "the same with a tree of one ply": "同じ。木は一手だけ",
    "N playouts of AlphaZero's search, with a network": "ネットワークとAlphaZeroの探索、Nプレイアウト",
    "the engine's search: the same on a graph, in batches": "エンジンの探索。合流を扱い、まとめて評価する",
    "Gumbel AlphaZero's search, made for few playouts": "少ないプレイアウト向けのGumbel AlphaZero",
    "plays like a person; N from 1, for beginners, to 10, full strength": (
        "人間らしく指す。Nは1（入門）から10（全力）まで"
    ),
    "searches N plies, then uses a value network": "N手読み、価値ネットワークを使う",
    # goryu analyze
    "Reviews games: the win rate after every move, the mistakes and what was better.": (
        "棋譜を解析します。一手ごとの勝率、悪手、代わりの最善手を表示します。"
    ),
    "A game is a record in KIF, KI2, CSA, JKF, SFEN or USI; - reads it from standard input. Analyses "
    "are kept, so an interrupted review goes on, and the same review is instant. A review with more "
    "playouts searches again what has too few.": (
        "棋譜は KIF、KI2、CSA、JKF、SFEN、USI を読めます。- は標準入力です。解析結果は保存されるので、"
        "中断しても続きから始まり、同じ条件の解析はすぐに表示されます。プレイアウト数を増やすと、足りない局面だけを解析し直します。"
    ),
    "a game record, or - for standard input": "棋譜ファイル、または -（標準入力）",
    "for each position (default {default})": "一局面あたりのプレイアウト数（既定値 {default}）",
    "write a page that needs neither network nor server": "単体で開ける HTML を書き出す",
    "write a KIF record with comments": "コメント付きの KIF を書き出す",
    "write a line of JSON for each move": "一手一行の JSON を書き出す",
    "positions searched at once (default: UCT_Threads)": "同時に探索する局面の数（既定値は UCT_Threads）",
    "database of analyses (default: {path})": "解析結果のデータベース（既定値 {path}）",
    "neither read nor write the database of analyses": "解析結果のデータベースを使わない",
    "print only errors": "エラーだけを表示する",
    "{text}: expected a whole number from 1 to {most}": "{text}: 1 から {most} までの整数を指定してください",
    "interrupted; the same command goes on from here": "中断しました。同じコマンドで続きから再開できます",
    "{name}: no game was found": "{name}: 棋譜が見つかりません",
    "about {seconds} s left": "残り約 {seconds} 秒",
    "{moves} moves": "{moves}手",
    "castles: {castles}": "囲い：{castles}",
    "mistakes:": "疑問手・悪手：",
    "no mistakes": "疑問手・悪手はありません",
    "Black won": "先手の勝ち",
    "White won": "後手の勝ち",
    "win rate of Black (▲) after each move": "一手ごとの先手（▲）の勝率",
    "better: {line}": "最善：{line}",
    "refuted by: {line}": "以下：{line}",
    "missed a mate in {plies}": "{plies}手詰を逃した",
    "allows a mate in {plies}": "{plies}手詰がある",
    "{path} is a file: expected a folder, for there are several games": (
        "{path} はファイルです。複数の棋譜にはフォルダを指定してください"
    ),
    "{path} is a folder: expected a file": "{path} はフォルダです。ファイルを指定してください",
}
