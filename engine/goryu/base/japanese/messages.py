"""The messages of commands and games in Japanese."""

TEXTS: dict[str, str] = {
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
    "no legal move": "合法手なし",
    "entering-king declaration": "入玉宣言",
    "declaration": "入玉宣言",
    "repetition": "千日手",
    "fourfold repetition": "千日手",
    "perpetual check": "連続王手の千日手",
    "superior position": "優等局面",
    "inferior position": "劣等局面",
    "maximum ply": "最大手数",
    "try": "トライ",
    "resignation": "投了",
    "time": "時間切れ",
    "illegal move": "反則",
    "impasse": "持将棋",
    "three in a row": "一列完成",
    "full board": "盤がすべて埋まった",
    "given value": "与えられた値",
    "the value of every move beside the board": "盤の横に全候補手の評価値を表示する",
    "--scores: expected a player that knows values: {players}": (
        "--scores：評価値のわかる対局者が必要です：{players}"
    ),
    "an SFEN; of the small games moves, or a board, XO./.X./..O, ..../.XO./.OX./.... X": (
        "開始局面。将棋は SFEN、ほかは指し手の列か盤（XO./.X./..O、..../.XO./.OX./.... X）"
    ),
    "--position: expected a board of {size}x{size}": "--position：盤の大きさは{size}x{size}です",
    "board {text!r}: {problem}": "盤 {text!r}：{problem}",
    "board {text!r}: expected three rows of X, O and ., as in XO./.X./..O": (
        "盤 {text!r}：XO./.X./..O のように、X、O、. を3段書いてください"
    ),
    "expected as many X as O, or one more, received {crosses} and {noughts}": (
        "X は O と同数か一つ多いはずですが、{crosses}個と{noughts}個です"
    ),
    "the side to move has three in a row already": "手番側がすでに三つ並んでいます",
    "expected 4, 6 or 8 rows of as many X, O and ., as in ..../.XO./.OX./.... X": (
        "..../.XO./.OX./.... X のように、X、O、. を4、6、8段、同じ幅で書いてください"
    ),
    "expected X or O after the board: the side to move": "盤の後に書く手番は X か O です",
    # Trees of given numbers.
    "line {line}: {problem}": "{line}行目：{problem}",
    "expected at most {most} positions": "局面は{most}個までです",
    "expected at most {most} plies": "深さは{most}手までです",
    "{name} is after no position; expected the root {root} or one of a line above": (
        "{name}はまだ出てきていません。根の{root}か、上の行に出てきた局面を書いてください"
    ),
    "a value": "値",
    "positions after it": "次の局面",
    "{name} has {known} already": "{name}にはすでに{known}があります",
    "{name} is in the tree already": "{name}はすでに木の中にあります",
    "the tree is empty: expected lines such as A: B C=5": "木が空です。A: B C=5 のような行を書いてください",
    "{name} has neither a value nor positions after it": "{name}には値も次の局面もありません",
    "expected a position and those after it, such as A: B C=5, received {text!r}": (
        "A: B C=5 のように、局面とその次の局面を書いてください：{text!r}"
    ),
    "{name}: expected a number from -1e9 to 1e9, received {text!r}": (
        "{name}の値は -1e9 から 1e9 までの数です：{text!r}"
    ),
    "{path}: expected a text in UTF-8 ({error})": "{path}：UTF-8のテキストではありません（{error}）",
    "no move left for either side": "両者とも打つ場所がない",
    # Games on a CSA server.
    "won": "勝ち",
    "lost": "負け",
    "drawn": "引き分けなど",
    "waiting for a game": "対局待ち",
    "game {id} begins": "対局開始 {id}",
    "the game is lost: {reason}": "対局を続けられず負けになります：{reason}",
    "the connection is lost: {error}": "接続が切れました：{error}",
    "the server has closed the connection": "サーバーが接続を切りました",
    "{server} cannot be reached: {error}": "{server}に接続できません：{error}",
    "{problem}; next try in {wait:.0f} s": "{problem}（{wait:.0f}秒後に接続し直します）",
    "the server refuses the login of {name}": "サーバーが{name}のログインを拒否しました",
    "the server does not answer the login": "ログインへの応答がありません",
    "the engine is started again: {error}": "エンジンを起動し直します：{error}",
    "the record cannot be written, the game goes on: {error}": (
        "棋譜を書き込めません（対局は続けます）：{error}"
    ),
    "the record is complete again": "書けなかった分の棋譜も書き込みました",
    "ends after the games that are being played; Ctrl-C again interrupts them": (
        "進行中の対局が終わりしだい終了します。もう一度 Ctrl-C を押すと対局を中断します"
    ),
    "--parallel {count}: expected as many [[login]] in {path}, found {found}": (
        "--parallel {count}：{path}に[[login]]が{count}個必要ですが、{found}個しかありません"
    ),
    "{path} holds a password and others may read it: {command}": (
        "{path}にはパスワードがありますが、ほかの人も読めます。次を実行してください：{command}"
    ),
    "wrong or missing: {key}; expected {expected}": "{key}がないか、正しくありません。例：{expected}",
    "the server's {key}: expected a number, received {text!r}": (
        "サーバーの送った{key}が数ではありません：{text!r}"
    ),
    "the server's Time_Unit: expected one such as 1sec, received {text!r}": (
        "サーバーの送ったTime_Unitが1secなどの形ではありません：{text!r}"
    ),
    "the server's summary: expected Your_Turn:+ or Your_Turn:-": (
        "サーバーの送った対局条件に正しいYour_Turn（+か-）がありません"
    ),
    "the server's summary has no end": "サーバーの送った対局条件に終わりがありません",
    "the server's position: {error}": "サーバーの送った局面：{error}",
    "the server's move: {error}": "サーバーの送った指し手：{error}",
    # The USI engine at a terminal.
    "goryu: the USI engine waits for commands, such as usi, help and quit": (
        "goryu: USIコマンドを待っています（usi、help、quit など）"
    ),
    "{path} lacks {names}; to install: {command}": "{path}に{names}がありません。インストール：{command}",
    # Setting up a checkout: tools/dev.py and tools/bootstrap.py.
    "creating .venv": ".venvの作成",
    "installing the build tools": "ビルド用ツールのインストール",
    "installing goryu and its dependencies, {target}": ("goryuと必要なパッケージのインストール：{target}"),
    "the first time this takes minutes": "初回は数分かかります",
    "installing PyTorch for the CPU": "CPU版PyTorchのインストール",
    "{url} cannot be reached: installing PyPI's PyTorch, with CUDA (3 GB)": (
        "{url}に接続できないため、PyPIにあるCUDA込みのPyTorch（3GB）をインストールします"
    ),
    "removing the onnxruntime that is there": "以前のonnxruntimeの削除",
    "if an engine is running, end it": "動作中のエンジンがあれば終了してください",
    "building the native code": "ネイティブコードのビルド",
    "this takes a minute or two": "1〜2分かかります",
    "... done ({seconds:.0f} s)": "完了（{seconds:.0f}秒）",
    "{step} failed": "失敗しました（{step}）",
    "  whole log: {path}": "  ログ全体：{path}",
    "ready. The engine for a shogi GUI: {program}": "準備ができました。将棋GUIに登録するエンジン：{program}",
    "no extra named {names}; there are: {known}": (
        "{names}という追加パッケージはありません。使えるもの：{known}"
    ),
    "name one of {names}: each brings an onnxruntime of its own": (
        "{names}のうち1つだけを指定してください。それぞれ別のonnxruntimeを含みます"
    ),
    "found a GPU of NVIDIA: installing onnxruntime and CUDA {cuda}, about 1.6 GB": (
        "NVIDIAのGPUが見つかりました。onnxruntimeとCUDA {cuda}をインストールします（約1.6GB）"
    ),
    "(`dev.py setup cpu` installs the small onnxruntime for the CPU instead)": (
        "（`dev.py setup cpu`を実行すると、代わりに小さなCPU版のonnxruntimeを入れます）"
    ),
    "no C++ compiler found": "C++コンパイラが見つかりません",
    "continuing without native code: pure Python plays the same, but slowly": (
        "ネイティブコードなしで続けます。Pythonだけでも指し手は同じですが、遅くなります"
    ),
    "downloading the network of miniosl, much stronger than the shipped ones": (
        "付属のものよりずっと強いminioslのネットワークをダウンロードしています"
    ),
    "not downloaded, goryu-10x96 plays (`dev.py setup` tries again): {reason}": (
        "ダウンロードできないので、付属のgoryu-10x96で指します（`dev.py setup`でもう一度試します）：{reason}"
    ),
    "goryu-10x96 plays; `dev.py setup` downloads a much stronger one": (
        "付属のgoryu-10x96で指します。`dev.py setup`でずっと強いものをダウンロードできます"
    ),
    "running without native code: {failure} (`dev.py setup` tries again)": (
        "ネイティブコードなしで動いています：{failure}（`dev.py setup`でもう一度ビルドします）"
    ),
    "waiting for another set-up of this checkout to finish ...": (
        "このフォルダで動いている別のセットアップの終了を待っています..."
    ),
    "on Debian and Ubuntu this needs `apt install python3-venv`": (
        "DebianとUbuntuでは`apt install python3-venv`が必要です"
    ),
    "is the network available? Run the same command again to resume. If pip finds no matching distribution, "
    "this Python may be too new: remove .venv, and set up with an older Python "
    "(python3.14 tools/dev.py setup; Windows: py -3.14 tools\\dev.py setup)": (
        "ネットワークに接続していますか。同じコマンドをもう一度実行すると続きから始まります。"
        "pipが「no matching distribution」と表示した場合は、Pythonが新しすぎるのかもしれません。"
        ".venvを削除し、古いPythonでセットアップしてください"
        "（python3.14 tools/dev.py setup、Windowsでは py -3.14 tools\\dev.py setup）"
    ),
    "the native code needs a C++20 compiler and Python's headers (Debian: apt install g++ python3-dev; "
    "macOS: xcode-select --install; Windows: Visual Studio Build Tools with C++)": (
        "ネイティブコードのビルドには、C++20のコンパイラとPythonのヘッダーが必要です"
        "（Debian：apt install g++ python3-dev、macOS：xcode-select --install、"
        "Windows：Visual Studio Build ToolsのC++）"
    ),
    # A game at the terminal.
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
    "Write {example}. help lists the commands.": "入力：{example}。「ヘルプ」でコマンドの一覧",
    "a move such as 7g7f, P-7f or 7六歩; 8h2b+ promotes, P*5e drops a pawn": (
        "指し手は 7六歩、同銀、2二角成、5五歩打 など。7g7f や P-7f でもかまいません"
    ),
    "column and row of a square marked *, such as d3": "*印のマスの列と行（例：d3）",
    "the number of a free square, such as 4": "空いたマスの番号（例：4）",
    "moves          lists the legal moves": "合法手（moves）       指せる手の一覧",
    "undo           takes your last move back, and the answer": "待った（undo）        自分の手番に戻す",
    "hint           shows what the engine would play": "ヒント（hint）        エンジンならどう指すか",
    "resign         gives up the game": "投了（resign）        負けを認める",
    "declare        wins by an entered king": "宣言（declare）       入玉宣言をする",
    "save FILE.kif  saves the game": "保存 棋譜.kif（save） 棋譜を保存する",
    "board          shows the board again": "盤面（board）         盤をもう一度表示する",
    "quit           ends": "終了（quit）          やめる",
    "{text} is not a legal move. {help}": "{text}は合法手ではありません。{help}",
    "; to build the native code, install a C++ compiler and then goryu again": (
        "。ネイティブコードには C++ コンパイラが必要です。入れてから goryu を入れ直してください"
    ),
    "the native code that is there is kept": "今あるネイティブコードをそのまま使います",
    "{text} may be {moves}": "{text}は一通りに決まりません：{moves}",
    "“{text}” is not a legal move here.": "「{text}」は合法手ではありません。",
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
    "{name} exists; save! {name} replaces it": "{name}はすでにあります。上書きするには 保存! {name}",
    # The headings of argparse, for every command.
    "usage: ": "使い方：",
    "positional arguments": "引数",
    "options": "オプション",
    "show this help message and exit": "このヘルプを表示して終わる",
    "%(heading)s:": "%(heading)s：",
    "%(prog)s: error: %(message)s\n": "%(prog)s：エラー：%(message)s\n",
    "argument %(argument_name)s: %(message)s": "引数%(argument_name)s：%(message)s",
    "the following arguments are required: %s": "次の引数が必要です：%s",
    "one of the arguments %s is required": "次の引数のどれかが必要です：%s",
    "unrecognized arguments: %s": "不明な引数があります：%s",
    "expected one argument": "値が1つ必要です",
    "expected at most one argument": "値は1つまでです",
    "expected at least one argument": "値が1つ以上必要です",
    "expected %s argument": "値が%s個必要です",
    "expected %s arguments": "値が%s個必要です",
    "ignored explicit argument %r": "値は指定できません（%r）",
    "invalid %(type)s value: %(value)r": "%(value)rは%(type)s型の値ではありません",
    "invalid choice: %(value)r (choose from %(choices)s)": (
        "%(value)rは指定できません。次のどれかを指定してください：%(choices)s"
    ),
    "unknown parser %(parser_name)r (choices: %(choices)s)": (
        "%(parser_name)rは指定できません。次のどれかを指定してください：%(choices)s"
    ),
    "not allowed with argument %s": "%sと同時には指定できません",
    "ambiguous option: %(option)s could match %(matches)s": (
        "%(option)sは一つに決まりません（候補：%(matches)s）"
    ),
    "unexpected option string: %s": "不明なオプションです：%s",
    "can't open '%(filename)s': %(error)s": "%(filename)sを開けません：%(error)s",
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
    "you, at this terminal": "あなた（この端末で指す）",
    "levels:": "レベル：",
    "Plays a game at the terminal. During the game, help lists what you can write.\n"
    "Shogi uses the engine's options in engine_options.txt; level 10 also uses the opening book.": (
        "端末で対局します。対局中に「ヘルプ」と入力すると、使えるコマンドを表示します。\n"
        "将棋では engine_options.txt のエンジンオプションが有効です。レベル10は定跡も使います。"
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
    "database of your games and problems (default: in your data folder)": (
        "対局と問題のデータベース（既定：利用者のデータ用フォルダー）"
    ),
    "{path}: written by a newer Goryu (version {version})": (
        "{path}：新しい版の Goryu が書いたファイルです（形式 {version}）"
    ),
    "{path}: the disk is full, so nothing was written; make room and try again": (
        "{path}：ディスクに空きがないため書き込めませんでした。空きを作ってから、もう一度お試しください"
    ),
    "{path}: the database of analyses cannot be used ({error}); {advice}. "
    "The review goes on and keeps nothing.": (
        "{path}：解析結果のデータベースを使えません（{error}）。{advice}。解析は続けますが、結果は保存しません"
    ),
    "analyses are not kept: {error}": "解析結果を保存しません：{error}",
    "check the folder, the space on the disk, and whether another program locks the file": (
        "フォルダ、ディスクの空き、ほかのプログラムがファイルを使っていないかを確かめてください"
    ),
    "delete the file if it is a damaged database": "壊れたデータベースなら削除してください",
    "check the space on the disk, and whether another program locks the file": (
        "ディスクの空きと、ほかのプログラムがファイルを使っていないかを確かめてください"
    ),
    "the file is damaged: restore a copy, or move it away to begin anew": (
        "ファイルが壊れています。控えを戻すか、別の場所に移してやり直してください"
    ),
    "the book is not used: {error}": "定跡を使えません：{error}",
    "game {number}: there is none": "対局 {number} はありません",
    "expected a backup of your games (a file dojo.sqlite3)": (
        "棋譜の控え（dojo.sqlite3 の複製）を指定してください"
    ),
    "the backup is damaged": "控えのファイルが壊れています",
    "the backup is too large": "控えのファイルが大きすぎます",
    "expected at most {count} names": "名前は {count} 個までです",
    "import the games of this folder, also later ones; may be given several times": (
        "このフォルダの棋譜を取り込む。後から増えた棋譜も取り込む。複数指定できる"
    ),
    "the same for games of others, which only the explorer shows": (
        "同じく、ほかの人の棋譜のフォルダ。「棋譜の樹」だけに出る"
    ),
    "the game has no move": "指し手がありません",
    "network (default: the strongest one here)": "使うネットワーク（既定：手元で最強のもの）",
    "makes random moves reproducible": "乱数のシード。同じシードなら同じ手を指す",
    "game to go on with: KIF, CSA ...": "続きから指す棋譜（KIF、CSAなど）",
    "with --record: go on after this move": "--recordの棋譜を、この手数から指し継ぐ",
    "such as 4-piece or 四枚落ち": "手合割（四枚落ち、4-pieceなど）",
    "main time in minutes": "持ち時間（分）",
    "seconds for every move after it": "秒読み（秒）",
    "seconds gained by every move": "一手ごとの加算時間（秒）",
    "kanji and colours, or letters (default: auto)": "漢字とカラー、または英字（既定：auto）",
    "of shown moves of shogi; you may write any (default: auto)": (
        "表示する指し手の書き方。入力はどれでもよい（既定：auto）"
    ),
    "writes the game there at the end": "終局時に棋譜をこのファイルに保存する",
    "unknown command {name!r}; expected one of {expected}": (
        "{name!r}というコマンドはありません。次のどれかを指定してください：{expected}"
    ),
    # goryu options
    "no option is called {name!r}; goryu options lists all": (
        "{name!r}というオプションはありません。goryu options で一覧を表示します"
    ),
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
    "ONNX model to examine (default: the strongest one here)": "調べるONNXモデル（既定：手元で最強のもの）",
    # The user's engines, and threats, on the page.
    "{path}: expected tables [[engine]] and nothing else": "{path}：[[engine]] の表だけを書いてください",
    "{path}: two engines have the name {name}": "{path}：{name} という名前のエンジンが二つあります",
    "no engine has the name {name} in {file}": "{file} に {name} というエンジンはありません",
    "{place}: {key} is not known; expected {known}": (
        "{place}：{key} という項目はありません。使える項目は {known} です"
    ),
    "{place}: name: expected a text of 1 to {most} characters": (
        "{place}：name は 1〜{most} 文字の文字列で指定してください"
    ),
    '{place}: command: expected texts, such as ["/usr/games/gpsusi"]': (
        '{place}：command は ["/usr/games/gpsusi"] のような文字列の配列で指定してください'
    ),
    "{place}: directory: expected a text": "{place}：directory は文字列で指定してください",
    "{place}: seconds: expected a number up to {most:.0f}": (
        "{place}：seconds は 0 より大きく {most:.0f} 以下の数で指定してください"
    ),
    "{place}: options: expected texts, numbers, true or false": (
        "{place}：options の値は文字列、数、true、false のいずれかにしてください"
    ),
    "{engine} has ended or cannot be started: {details}": (
        "{engine} が終了したか、起動できません：{details}"
    ),
    "{engine} gives no answer: {details}": "{engine} が応答しません：{details}",
    "{engine} cannot be used: {details}": "{engine} を使えません：{details}",
    "{engine} answers {move}, which is not legal here": (
        "{engine} の答え {move} は、この局面の合法手ではありません"
    ),
    "the side to move is in check and cannot pass: there is no threat to show": (
        "王手がかかっている側はパスできないため、狙いは表示できません"
    ),
    # Which network plays.
    "network: {name}": "ネットワーク：{name}",
    "{name} ({reason})": "{name}（{reason}）",
    "the strongest network here": "手元で最強のもの",
    "GORYU_NETWORK=shipped asks for it": "GORYU_NETWORK=shippedの指定",
    "without native code the stronger ones are too slow": ("ネイティブコードがなく、強いほうは遅すぎるため"),
    "the processor has no vector instructions for the stronger ones": (
        "強いほうに必要なベクトル命令がプロセッサにないため"
    ),
    "goryu download fetches a much stronger one": ("goryu download でずっと強いものをダウンロードできます"),
    "before: {settings}": "以前：{settings}",
    "search and rules: {reason}": "探索とルール：{reason}",
    "; tools/dev.py setup builds the native code or explains why it cannot": (
        "。tools/dev.py setup でネイティブコードをビルドできます（できないときは理由が表示されます）"
    ),
    "{name} is not installed": "{name}がインストールされていません",
    "onnxruntime offers: {providers}": "onnxruntimeで使えるもの：{providers}",
    "backends that it does not contain: {names}": "このonnxruntimeにないバックエンド：{names}",
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
    "{program} is missing: run `pip install -e .` in the checkout": (
        "{program}がありません。チェックアウトしたフォルダで `pip install -e .` を実行してください"
    ),
    # Agents.
    "any legal move": "合法手からランダムに指す",
    "perfect play: searches the whole game": "終局まで読み切る",
    "minimax without the moves that cannot matter": "結果に影響しない手を枝刈りして、終局まで読み切る",
    "minimax to a few plies, then a heuristic": "数手先まで読み、簡単な評価関数で評価する",
    "depth-limited to two plies, with some random moves": "2 手先まで読み、ときどきランダムに指す",
    "the same number of random games after every move": "候補手ごとに、同じ回数だけランダムに対局してみる",
    "minimax that leaves out replies to refuted moves": "だめとわかった手への応手を省いて、終局まで読み切る",
    "flat-mc whose games take a win and block a loss": "flat-mcの対局で、勝つ手と負けを防ぐ手を優先する",
    "UCT whose games take a win and block a loss": "UCTの対局で、勝つ手と負けを防ぐ手を優先する",
    "a growing tree of random games": "ランダムに対局しながら木を育てる",
    "UCT with a tree of one ply": "木の深さを一手に限ったUCT",
    "AlphaZero's search, with a network": "ネットワークを使うAlphaZeroの探索",
    "the engine's own search: AlphaZero's on a graph, in batches": (
        "このエンジン本来の探索。AlphaZeroの探索をグラフ上で行い、局面をまとめて評価する"
    ),
    "Gumbel AlphaZero's search, made for few playouts": "少ないプレイアウト向けのGumbel AlphaZero",
    "the network's favourite move, without a search": "探索せず、方策の確率が最も高い手を指す",
    "the move that leads to the network's best value": "ネットワークの評価が最もよくなる手を指す",
    "plays like a person": "人間らしく指す",
    "plies": "手数",
    "share of random moves, from 0 to 1": "ランダムに指す割合、0 から 1",
    "random games after each move": "一手あたりのランダムな対局の数",
    "random games": "ランダムな対局の数",
    "from 1, for beginners, to 10, full strength": "1（入門）から10（全力）まで",
    # goryu review
    "Reviews games: the win rate after every move, the mistakes and what was better.": (
        "棋譜を検討します。一手ごとの勝率と、悪手とその代わりの最善手を表示します。"
    ),
    "A game is a record in KIF, KI2, CSA, JKF, SFEN or USI; - reads it from standard input. Analyses "
    "are kept, so an interrupted review goes on, and the same review is instant. A review with more "
    "playouts searches again what has too few.": (
        "棋譜はKIF、KI2、CSA、JKF、SFEN、USIを読めます。- は標準入力です。解析結果は保存されるので、"
        "中断しても続きから始まり、同じ条件の検討はすぐに表示されます。プレイアウト数を増やすと、足りない局面だけを解析し直します。"
    ),
    "a game record, or - for standard input": "棋譜ファイル、または -（標準入力）",
    "for each position (default {default})": "一局面あたりのプレイアウト数（既定：{default}）",
    "write a page that needs neither an internet connection nor a server": "単体で開けるHTMLを書き出す",
    "write a KIF record with comments": "コメント付きのKIFを書き出す",
    "write a line of JSON for each move": "一手一行のJSONを書き出す",
    "positions searched at once (default: Threads)": "同時に探索する局面の数（既定：Threads）",
    "Analyses positions for programs: a line of JSON on standard input is a query, and the answers "
    "are lines of JSON on standard output.": (
        "プログラムからの問い合わせに答えて局面を解析します。標準入力の一行がJSONの問い合わせ、標準出力の一行がその答えです。"
    ),
    "docs/analysis.md describes the fields; `--schema` prints them as JSON Schema.": (
        "項目の説明は docs/analysis.ja.md にあります。`--schema` はJSON Schemaを表示します。"
    ),
    "print the JSON Schema of all lines": "入出力のJSON Schemaを表示する",
    "set a USI option; may be repeated": "USIオプションを設定する（繰り返し指定できる）",
    "positions searched at once (default: what suits the network)": (
        "同時に探索する局面の数（既定：ネットワークに合わせる）"
    ),
    "read no more while N positions are unanswered (default {default})": (
        "未回答の局面がNに達している間は続きを読み込まない（既定：{default}）"
    ),
    "print only errors": "エラーだけを表示する",
    "{text}: expected {numbers}": "{text}：{numbers}の数が必要です",
    "at least {number}": "{number}以上",
    " (default {value})": "（既定：{value}）",
    "yes": "はい",
    "no": "いいえ",
    "no limit": "制限なし",
    "more than {number}": "{number}より大きい",
    " and at most {number}": "{number}以下",
    " and finite": "有限",
    "expected a time of a move, received {text!r}": "一手の時間として正しくありません：{text!r}",
    "interrupted; the same command goes on from here": "中断しました。同じコマンドで続きから再開できます",
    "{name}: no game was found": "{name}：棋譜が見つかりません",
    "about {seconds} s left": "残り約{seconds}秒",
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
    "allows a mate in {plies}": "{plies}手詰を許した",
    "{path} is a file: expected a folder, for there are several games": (
        "{path}はファイルです。複数の棋譜にはフォルダを指定してください"
    ),
    "{path} is a folder: expected a file": "{path}はフォルダです。ファイルを指定してください",
    # Files to write.
    "{path} is also read: name another output": (
        "{path}は読み込むファイルです。出力には別のファイルを指定してください"
    ),
    "{path} is named for two outputs": "{path}が2つの出力に指定されています",
    "{path} is not a regular file": "{path}は通常のファイルではありません",
    "{path}: {parent} is not a folder": "{path}：{parent} はフォルダではありません",
    "{path} exists: name another file": "{path} はすでにあります。別のファイルを指定してください",
    "{path}: no such folder": "{path}：フォルダがありません",
    # SFEN.
    "{field}: {problem}, received {text!r}": "{field}：{problem}：{text!r}",
    "SFEN fields": "SFENの書式",
    "SFEN board": "SFENの盤面",
    "SFEN side to move": "SFENの手番",
    "SFEN hands": "SFENの持駒",
    "SFEN move number": "SFENの手数",
    "SFEN position": "SFENの局面",
    "black": "先手",
    "white": "後手",
    "expected board, side to move, hands and perhaps a move number": (
        "盤面、手番、持駒、（省略できる）手数の順に書いてください"
    ),
    "expected b or w": "bかwを書いてください",
    "expected 9 ranks, found {count}": "9段必要ですが、{count}段です",
    "{found!a} is neither a piece nor 1 to 9": "{found!a}は駒でも1〜9でもありません",
    "a rank ends with +": "段が+で終わっています",
    "expected 9 files in each rank, found {count}": "各段に9マス必要ですが、{count}マスです",
    "{found!a} is not one of P L N S G B R": "{found!a}はP L N S G B Rのどれでもありません",
    "{found}: a count is 2 to 18, and left out if it is 1": "{found}：枚数は2〜18で、1枚なら書きません",
    "{found} appears twice": "{found}が2回書かれています",
    "no piece follows the count {found}": "枚数{found}の後に駒がありません",
    "expected 0 to {most}": "0〜{most}の数を書いてください",
    "{total} pieces of kind {kind}, at most {limit} exist": "{kind}が{total}枚あります（{limit}枚まで）",
    "{side} has two pawns on file {file} (nifu)": "{side}の歩が{file}筋に2枚あります（二歩）",
    "the {piece} on rank {rank} can never move": "{rank}段の{piece}は行き所のない駒です",
    "{side} has {kings} kings": "{side}の玉が{kings}枚あります",
    "{side} has no king": "{side}の玉がありません",
    "{waiting} is in check but {moving} is to move": (
        "{waiting}の玉に王手がかかっているのに{moving}の手番です"
    ),
    # Game records.
    "the start position: {error}": "開始局面：{error}",
    "{move!r} is not legal": "{move!r}は指せません",
    "move {ply}: {error}": "{ply}手目：{error}",
    "expected at most {count} moves": "{count}手までしか読めません",
    "a variation of move {ply}, but the line before it has moves 1 to {last}": (
        "{ply}手目からの変化ですが、その前の手順は{last}手目までです"
    ),
    "expected variations within variations at most {depth} deep": "変化の中の変化は{depth}段までです",
    "expected nothing after the end of the game, received {text!r}": "終局の後に{text!r}があります",
    "expected nothing but variations after the end, received {text!r}": (
        "終局の後に、変化ではない{text!r}があります"
    ),
    "expected a CSA statement such as +7776FU, received {text!r}": (
        "CSA形式（+7776FUなど）として読めません：{text!r}"
    ),
    "expected one of {known}, received {text!r}": "{text!r}は読めません。次のどれかです：{known}",
    "expected PI, P1 to P9, P+ or P-, received {text!r}": ("PI、P1〜P9、P+、P-のどれかが必要です：{text!r}"),
    "expected squares and pieces such as 82HI22KA, received {text!r}": (
        "マスと駒（82HI22KAなど）として読めません：{text!r}"
    ),
    "expected * or a piece such as -KY, received {text!r}": "*または駒（-KYなど）として読めません：{text!r}",
    "{piece} cannot be in a hand": "{piece}は持駒になりません",
    "expected JSON: {error}": "JSONとして読めません：{error}",
    "expected a JKF game: {error}": "JKFの棋譜として読めません：{error}",
    "expected a JKF game: {error} is missing or unknown": (
        "JKFの棋譜として読めません：{error} がないか、値が正しくありません"
    ),
    "expected a JKF game: a field has a value of another type": (
        "JKFの棋譜として読めません：型の違う値があります"
    ),
    "expected a JKF game with a list of moves": "JKFの棋譜に必要なmovesの配列がありません",
    "moves[{ply}]: a move before the start or after the end": "moves[{ply}]：開始前または終局後の指し手です",
    "expected a move or a comment, received {text!r}": "指し手でもコメントでもありません：{text!r}",
    "expected move {expected}, received move {number}": (
        "{expected}手目のはずですが、{number}手目と書かれています"
    ),
    "expected a time such as ( 0:16/00:00:16), received {text!r}": (
        "消費時間（( 0:16/00:00:16)など）として読めません：{text!r}"
    ),
    "手合割 {name!r}: expected a known handicap or a diagram of the board": (
        "手合割{name!r}はわかりません。盤面図があれば読めます"
    ),
    "expected 9 ranks in the diagram, found {count}": "盤面図は9段必要ですが、{count}段です",
    "expected 9 squares in the rank, found {count}": "盤面図の各段は9マス必要ですが、{count}マスです",
    "expected pieces in hand such as 角 金二 歩十七, received {text!r}": (
        "持駒（角 金二 歩十七など）として読めません：{text!r}"
    ),
    "expected at most 18 pieces of a kind, received {text!r}": "同じ駒は18枚までです：{text!r}",
    "expected a move such as ▲７六歩, ７六歩(77), 7g7f or P-7f, received {text!r}": (
        "指し手（▲７六歩、７六歩(77)、7g7f、P-7fなど）として読めません：{text!r}"
    ),
    "{move!r}: it is the other side's turn": "{move!r}：相手の手番です",
    "{move!r}: {piece} is not a piece": "{move!r}：{piece}という駒はありません",
    "{move!r}: there is {found} on {square}": "{move!r}：{square}にあるのは{found}です",
    "{move!r}: there is no piece on {square}": "{move!r}：{square}に駒がありません",
    "{text!r}: the piece does not move": "{text!r}：駒が動いていません",
    "{text!r}: this piece cannot be dropped": "{text!r}：この駒は打てません",
    "{text!r} may be {moves}": "{text!r}は一通りに決まりません：{moves}",
    "{text!r}: 同 needs a move before it": "{text!r}：「同」の前に指し手がありません",
    "expected one game, found {count}": "1局のはずですが、{count}局あります",
    "expected a game record, the file is empty": "棋譜が空です",
    "expected a record in KIF, KI2, CSA, JKF or USI, received {text!r}": (
        "KIF、KI2、CSA、JKF、USIのどの形式でもありません：{text!r}"
    ),
    "expected at most {size} MiB": "{size} MiBまでしか読めません",
    "a zero byte: the file is damaged": "ファイルが壊れています（値が0のバイトがあります）",
    "expected UTF-8, CP932, EUC-JP, ISO-2022-JP or UTF-16, received the byte {byte}": (
        "文字コードがUTF-8、CP932、EUC-JP、ISO-2022-JP、UTF-16のどれでもありません（バイト{byte}）"
    ),
    # The page.
    "Opens a page to play, to review games and to watch searches. Ctrl-C ends it.": (
        "対局、棋譜の検討、探索の観察ができるページをブラウザで開きます。Ctrl-Cで終わります。"
    ),
    "a game record to review": "検討する棋譜",
    "also for devices of your local network that you pair; the traffic is not encrypted": (
        "ペアリングしたローカルネットワーク（LAN）の機器からも使えるようにする（通信は暗号化されません）"
    ),
    "with --lan: this machine's IPv4 address in that network (default: the system's choice)": (
        "--lan で使う、このパソコンのIPv4アドレス（既定：システムが選ぶもの）"
    ),
    "--address needs --lan": "--address は --lan と一緒に指定してください",
    "found no local network; name this machine's address in it by --address": (
        "ローカルネットワークが見つかりません。このパソコンのアドレスを --address で指定してください"
    ),
    "{text!r}: expected an IPv4 address such as 192.168.1.5": (
        "{text!r}：192.168.1.5 のようなIPv4アドレスを指定してください"
    ),
    "{text} is an address of the internet; expected one of a local network": (
        "{text}はインターネットのアドレスです。ローカルネットワークのアドレスを指定してください"
    ),
    "{text} is no address in a network; expected one of this machine": (
        "{text}はネットワーク上のアドレスではありません。このパソコンのアドレスを指定してください"
    ),
    "{text} is not an address of this machine": "{text}はこのパソコンのアドレスではありません",
    "cannot listen on {place}: {error}": "{place}が使えません：{error}",
    "devices of your local network can use {url} once they are paired": (
        "ローカルネットワークの機器は、ペアリングすると {url} を使えます"
    ),
    "WARNING: the traffic is not encrypted; use --lan only in a network that you trust": (
        "警告：通信は暗号化されません。--lan は信頼できるネットワークだけで使ってください"
    ),
    "to pair a device, open the page on this computer and choose Devices": (
        "ペアリングするには、このパソコンで画面を開き、「機器」を選んでください"
    ),
    "to pair a device, scan this code within {minutes} minutes:": (
        "ペアリングするには、{minutes}分以内にこのコードを読み取ってください："
    ),
    "the code was used or has expired; show a new one on the computer": (
        "このコードは使用済みか期限切れです。パソコンで新しいコードを表示してください"
    ),
    "this is not the code; tries left: {count}": "コードが違います（残り{count}回）",
    "{count} devices are paired, which is the most; revoke one of them": (
        "ペアリングできる機器は{count}台までです。どれかを解除してください"
    ),
    "this device is not paired any more": "この機器のペアリングはすでに解除されています",
    "only the page on the computer itself, started with --lan, can do this": (
        "この操作ができるのは、--lan を付けて起動したパソコン自身の画面だけです"
    ),
    "of the server on 127.0.0.1; default: a free one": "127.0.0.1のポート番号（既定：空いているもの）",
    "print the address, and do not open it": "アドレスを表示するだけで、ブラウザは開かない",
    "cannot listen on port {port}: {error}": "ポート{port}が使えません：{error}",
    "(Ctrl-C ends it)": "（Ctrl-Cで終わります）",
    "no browser was found; open the address above in one": (
        "ブラウザが見つかりません。上のアドレスをブラウザで開いてください"
    ),
    "{path}: more than {size} bytes, expected a game record": (
        "{path}：棋譜には大きすぎます（{size}バイトまで）"
    ),
    '{package} is not installed; the page needs the extra "web":': (
        "{package}がインストールされていません。このページには追加パッケージ「web」が必要です："
    ),
    "the network has failed, and the next search loads it again: {problem}": (
        "ネットワークが使えなくなりました。次の探索で読み込み直します：{problem}"
    ),
    "a defect of Goryu, please report it: {error}": "Goryuの不具合です。報告してください：{error}",
    "wait for the opponent's move": "相手の指し手を待ってください",
    "nothing is asked about the last move": "直前の手について尋ねられていません",
    "Your move could not be judged: {error}": "あなたの手を調べられませんでした：{error}",
    "it took more than {seconds} seconds": "{seconds}秒以内に終わりませんでした",
    "the page shows an old game; reload it": "前の対局が表示されています。再読み込みしてください",
    "it is the opponent's turn": "相手の手番です",
    "{text!r} is not a legal move; expected one of {moves}": (
        "{text!r}には打てません。打てるのは {moves} です"
    ),
    "clock: expected times of 0 to 24 hours, and not all 0": (
        "持ち時間：0〜24時間で、少なくとも一つは0より長くしてください"
    ),
    "no game is open: open a record first": "棋譜が開かれていません",
    "{problem}; the review uses another network: {description}": (
        "{problem}。別のネットワークで検討します：{description}"
    ),
    "no game was found": "棋譜が見つかりません",
    "the file has several games; this is number {number}": (
        "ファイルに複数の棋譜があります。{number}局目を開きました"
    ),
    "no search has begun": "探索が始まっていません",
    "the search was stopped before its first step": "探索は最初のステップの前に中止されました",
    "position: expected at most {most} characters, received {count}": (
        "局面：{most}文字までです（{count}文字）"
    ),
    "the game is over after this move ({reason}): it cannot become the root": (
        "この手で終局する（{reason}）ので、ルートにできません"
    ),
    "no record was named on the command line; open one from the page": (
        "起動時に棋譜が指定されていません。この画面で開いてください"
    ),
    "{name}: expected a number from {least} to {most}, received {value}": (
        "{name}：{least}〜{most}の数を指定してください（{value}）"
    ),
    "playouts": "プレイアウト数",
    "the page is of an earlier start of Goryu; reload it": (
        "Goryuが再起動しました。ページを再読み込みしてください"
    ),
    "{count} tabs are open, which is the most; close one of them": (
        "開けるタブは{count}個までです。どれかを閉じてください"
    ),
    # The microscope.
    "move {word!r}: expected a free square, 0 to 8 or a1 to c3, in a game that goes on": (
        "{word!r}には打てません。終局前の空いたマスを0〜8かa1〜c3で書いてください"
    ),
    "move {word!r} after {count} moves: expected one of {moves}": (
        "{count}手の後の{word!r}は打てません。打てるのは {moves} です"
    ),
    "no move, the game is over": "なし（終局）",
    "position {text!r}: expected a game that goes on, it is over ({reason})": (
        "局面{text!r}は終局しています（{reason}）"
    ),
    "{name} searches the whole game, which has no end in shogi; use depth-limited": (
        "{name}は終局まで探索するので、将棋では終わりません。depth-limitedを使ってください"
    ),
    "a whole number from {least:g} to {most:g}": "{least:g}〜{most:g}の整数",
    "a number from {least:g} to {most:g}": "{least:g}〜{most:g}の数",
    "parameter {name}: expected {expected}, received {value:g}": "{name}：{expected}が必要です（{value:g}）",
    "the network plays reversi on 8x8 only, received {size}x{size}": (
        "ネットワークが打てるリバーシは8x8だけです（{size}x{size}）"
    ),
    # goryu doctor MODEL.
    "input": "入力",
    "output": "出力",
    "format: {name}": "形式：{name}",
    "the tensors fit several formats; good answers under each: {shares}": (
        "入出力の形からは形式が決まりません。妥当な答えの割合：{shares}"
    ),
    "(expected: {text})": "（目安：{text}）",
    "most answers are nonsense: the weights are random, or the planes are those of another format": (
        "ほとんどの答えが的外れです。重みが乱数か、入力の形式が違います"
    ),
    "options to set in the GUI:": "GUIで設定するオプション：",
    "start: moves": "初手",
    "start: value": "初期局面の価値",
    "a popular first move": "よく指される初手",
    "a rook more, a rook less": "飛車得と飛車損の価値",
    "a rook to take": "ただの飛車",
    "mates in one": "1手詰",
    "at least half": "半分以上",
    "mirror images": "左右反転",
    "{seen} of {count} among the first {top} moves, {won} with a good value": (
        "{count}局面中 {seen}局面で上位{top}手以内、{won}局面で価値が正"
    ),
    "the values differ by {value:.2f}, the policies by {policy:.0%}": (
        "価値の差 {value:.2f}、方策の差 {policy:.0%}"
    ),
    "values at most {most} apart": "価値の差は {most} 以下",
    "at least {least} apart": "差は {least} 以上",
    # goryu tsume, and mate problems on the page.
    "Right.": "正解です。",
    "This mates too, but there is a shorter mate.": "これでも詰みますが、もっと短い詰みがあります。",
    "This mates. Whether it is the shortest mate is not known.": (
        "詰みます。最短の詰みかどうかはわかりません。"
    ),
    "This is no check: every move must give check.": (
        "王手ではありません。攻方は王手を続けなければなりません。"
    ),
    "The king escapes.": "玉に逃れられます。",
    "A pawn drop must not mate.": "打ち歩詰めです。",
    "This move is not legal.": "指せない手です。",
    "It was not found out whether this mates.": "詰むかどうか読み切れませんでした。",
    "{name}:{line}: expected a mate problem, received {text!r}": (
        "{name} {line}行目：詰将棋として読めません：{text!r}"
    ),
    "no mate": "不詰",
    "There is a mate, but its length was not found within {nodes} nodes.": (
        "詰みますが、{nodes}局面では手数がわかりませんでした。"
    ),
    "Whether there is a mate was not found out within {nodes} nodes.": (
        "{nodes}局面では詰むかどうかわかりませんでした。"
    ),
    "There is no mate in {plies} or less.": "{plies}手以内の詰みはありません。",
    "mate in {plies}": "{plies}手詰",
    "mate in {plies}: {count}": "{plies}手詰：{count}題",
    "The solution was not found within {nodes} nodes.": "{nodes}局面では手順がわかりませんでした。",
    "Which of equally long lines leaves the fewest pieces was not found within the nodes.": (
        "同手数の変化のうち駒余りの最も少ない手順は、読み切れませんでした。"
    ),
    "pieces left in hand: {count}": "駒余り：{count}枚",
    "There are second solutions.": "余詰があります。",
    "There is no second solution.": "余詰はありません。",
    "Whether there is a second solution was not found out.": "余詰の有無は読み切れませんでした。",
    "{move}: not decided": "{move}：不明",
    "{move} mates too": "{move}でも詰む",
    "{move} mates too, in {plies}": "{move}でも詰む（{plies}手）",
    "{text!r}: expected lengths such as 3-7": "{text!r}：3-7 のような手数を指定してください",
    "{text}: expected lengths from 1 to {most}": "{text}：手数は 1 から {most} までです",
    "no problem was found": "詰将棋は見つかりませんでした",
    "wrote {count} problems to {file}": "{file} に {count}題を書き出しました",
    # goryu download.
    "{file}: the network of miniosl": "{file}：miniosl のモデル",
    "to play with it, set the option DNN_Model to {name}": (
        "このモデルで指すには、オプション DNN_Model を {name} にしてください"
    ),
    "{url}: {reason}. Download it with a browser, and name the file with --from": (
        "{url}：{reason}。ブラウザでダウンロードし、そのファイルを --from で指定してください"
    ),
    "{file}: no package of miniosl, or a damaged one": (
        "{file}：miniosl のパッケージではないか、壊れています"
    ),
    "{file}: expected the network of miniosl {versions}": (
        "{file}：miniosl {versions} のモデルではありません"
    ),
    # goryu convert.
    "{file}: {format}, {size}": "{file}：{format}、{size}",
    "verified on {positions} positions: largest difference {policy:.1e} (policy), {value:.1e} (value)": (
        "{positions}局面で照合：差の最大値は方策 {policy:.1e}、価値 {value:.1e}"
    ),
    "activation {name}: it fits the statistics in the file {times:.1f} times as well as {other}": (
        "活性化関数は{name}（ファイル中の統計量との誤差が{other}の{times:.1f}分の1）"
    ),
    "a policy network: the value is constant, so a search learns nothing from it; "
    "set Algorithm to policy, or convert it together with a value network": (
        "方策だけのモデルです。価値が一定なので探索しても強くなりません。Algorithmをpolicyにするか、"
        "価値のモデルと一緒に変換してください"
    ),
    "a value network: all moves have the same prior; convert it together with a policy network": (
        "価値だけのモデルです。どの手の事前確率も同じになります。方策のモデルと一緒に変換してください"
    ),
    "Goryu cannot play with this format yet; the file was verified on random planes.": (
        "この形式にはまだ対応していないため、対局には使えません。照合には乱数の入力を使いました。"
    ),
    "{file}: no such file": "{file}：ファイルがありません",
    # What a system says.
    "No such file or directory": "ファイルかフォルダがありません",
    "Permission denied": "アクセス権がありません",
    "Is a directory": "フォルダです",
    "Not a directory": "フォルダではありません",
    "File exists": "同じ名前のものがすでにあります",
    "File name too long": "名前が長すぎます",
    "No space left on device": "ディスクに空きがありません",
    "Read-only file system": "書き込みのできない場所です",
    "Address already in use": "すでに使われています",
    "{name}: same first move in {top:.1%} of {positions} positions; mean differences: "
    "{policy:.2g} of the moves' probabilities, {value:.2g} of the value": (
        "{name}：{positions}局面中{top:.1%}で最善手が一致。"
        "差の平均は指し手の確率{policy:.2g}、価値{value:.2g}"
    ),
    "{file} is an ONNX file already; choose --fp16 or --int8": (
        "{file}はすでにONNXファイルです。--fp16か--int8を指定してください"
    ),
    "{file}: the planes are the first axis now; largest difference of the answers: {difference:.1e}": (
        "{file}：入力の軸を [N, 面数, 9, 9] に並べ替えました。出力の差は最大{difference:.1e}"
    ),
    "{file} exists; --force overwrites it": "{file}はすでにあります（--forceで上書き）",
    # Problems made from the user's games.
    "there is no setting {name}": "{name} という設定はありません",
    "the setting {name} cannot be {value}": "設定 {name} を {value} にはできません",
    "problem {number}: there is none": "問題 {number} はありません",
    "no problem is shown": "問題が表示されていません",
    "no mate is known from here": "ここからの詰みは見つかっていません",
    "{name}: no JSON: {error}": "{name}：JSON ではありません：{error}",
    "{name}: expected a file of next-move problems of ShogiHome": (
        "{name}：ShogiHome の次の一手問題集ではありません"
    ),
    "{name}: of version {version}, expected 1": "{name}：バージョン {version} には対応していません（1 のみ）",
    "{name}: expected a list of at most {count} problems": "{name}：{count} 問以下の問題の一覧が必要です",
    "{name}, problem {number}: {error}": "{name}、{number} 問目：{error}",
    "the game is over in this position": "対局の終わった局面です",
    "there is no candidate": "候補手がありません",
    "{move}: expected a legal move": "{move}：合法手が必要です",
    "{path}: line {number} is no event of a first contact": (
        "{path}：{number}行目は first-contact のログではありません"
    ),
    "{path}: begun with or without --rehearse or --quick, unlike now": (
        "{path}：--rehearse と --quick の指定が、始めたときと違います"
    ),
    "First contact: {gpu}": "はじめてのGPU：{gpu}",
    "This was a rehearsal: the CPU ran in place of the GPU. No number is one of a GPU.": (
        "これは練習の記録です。GPUの代わりにCPUを使ったので、GPUの数値は一つもありません。"
    ),
    "Machine and providers": "マシンとプロバイダー",
    "Answers against the CPU": "CPUの答えとの比較",
    "Positions a second": "毎秒の局面数",
    "Faults": "障害",
    "Match": "対局",
    "{done} done, {failed} failed, {left} left; {seconds} s": (
        "完了{done}、失敗{failed}、残り{left}、{seconds}秒"
    ),
    "Microseconds of a position by phase of the search: of processors / of wall time.": (
        "探索の段階ごとの1局面あたりの時間（µs）：プロセッサ時間 / 経過時間"
    ),
    "Every engine below answered each go with exactly one bestmove, and with a move.": (
        "以下のエンジンはどれも、すべての go に対して bestmove をちょうど1回、指し手で返しました。"
    ),
    "games at a time: {count}": "同時対局数：{count}",
}
