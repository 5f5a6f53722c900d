"""The help of `goryu` and of its commands in Japanese."""

ABOUT = {
    "runs the USI engine on stdin and stdout, for GUIs; the default": (
        "USIエンジンを標準入出力で動かす（GUI用、既定）"
    ),
    "plays a game in the terminal": "端末で対局する",
    "plays games between algorithms, in a cross table": "アルゴリズム同士を対局させ、成績表を作る",
    "opens a page in the browser: play, review games, watch searches": (
        "ブラウザで対局、棋譜の検討、探索の観察をする"
    ),
    "plays on a CSA server, such as floodgate": "floodgateなどのCSAサーバーで対局する",
    "reviews game records: win rates, mistakes, what was better": "棋譜を検討し、悪手を示す",
    "analyses positions for programs, by lines of JSON": "ほかのプログラムの問い合わせに答えて局面を解析する",
    "solves mate problems, and makes them from games": "詰将棋を解く。棋譜から詰将棋を作る",
    "draws the tree of a search on any position": "局面を探索し、探索木を図にする",
    "turns a network of another program into an ONNX file": "ほかのソフトのモデルをONNXに変換する",
    "fetches a larger, stronger network": "より大きく強いモデルをダウンロードする",
    "lists the USI options with values, default and meaning; goryu options NAME: only that one": (
        "USIオプションの現在値、既定値、意味を表示する（goryu options 名前 ならその一つだけ）"
    ),
    "checks the installation or a model, suggests fixes": "インストールやモデルを調べ、直し方を示す",
    "plays a match between two USI engines; Elo with its error": (
        "USIエンジン同士を対局させ、レート差と誤差を求める"
    ),
    "makes, shows, checks and joins opening books": "定跡を作り、表示し、検査し、結合する",
    "measures the search and networks": "探索とネットワークの速度を測る",
    "examines an unknown GPU, unattended, in half an hour": "未知のGPUを30分以内に自動で調べる",
    "chooses and converts game records for training": "学習に使う棋譜を選び、変換する",
    "records training games of a USI engine": "USIエンジンの対局を教師データとして記録する",
    "records training games of a network": "ネットワークに自己対局をさせ、教師データとして記録する",
    "trains a network on training games": "教師データからネットワークを学習する",
    "measures how well networks predict games": "ネットワークが指し手と勝敗をどれだけ当てられるかを測る",
    "trains networks of the small games; measures the tutorials": (
        "小さなゲームのネットワークを学習し、チュートリアルの結果を測る"
    ),
    "usage: goryu [COMMAND] ...": "使い方：goryu [コマンド] ...",
    "Each prints its options with --help.": "各コマンドのオプションは --help で表示される。",
    "Programs for matches, measurements and training. They need more packages: {tools}": (
        "対局、測定、学習のコマンド。追加パッケージが必要：{tools}"
    ),
    "Those marked with * also need PyTorch: {train}": "* の付いたものにはPyTorchも必要：{train}",
}
"""What each command does, and the lines around these."""

DESCRIPTIONS = {
    "goryu csa": """\
floodgate などの CSA サーバーで、自動で対局を続けます。

  goryu csa floodgate.toml
  goryu csa floodgate.toml --games 10 --parallel 2

FILE にサーバー、ログイン、エンジンのオプションを書きます。自分だけが読めるようにしてください（chmod 600）。

  host = "wdoor.c.u-tokyo.ac.jp"
  game = "floodgate-300-10F"
  [[login]]
  name = "your-name"
  password = "a-secret-of-yours"
  [options]
  Threads = 4

Ctrl-C を押すと、進行中の対局が終わりしだい終了します。もう一度押すと、サーバーに中断を伝えて終わります。
棋譜は CSA 形式で、一手ごとにファイルに書き足します。

終了コード：正常なら 0、ログインできないかエンジンが動かなければ 2、対局を中断したら 130。
""",
    "goryu convert": """\
ほかのソフトのモデルを ONNX ファイルに変換し、元の重みと同じ答えになることを確かめます。
ファイルの中のプログラムは実行しません。種類は内容から判別します。

  python-dlshogi（2018年の本）     Chainer のモデル（方策、価値、方策と価値）
  python-dlshogi2（2021年の本）    PyTorch のチェックポイント（.pth）
  dlshogi                          PyTorch のチェックポイント（.pth）と --model のファイル（.npz）
  AobaZero                         テキスト形式の重み（.xz、.gz も可）
  入力が [N,9,9,面数] の ONNX      Goryu が読める [N,面数,9,9] に並べ替える（nshogi の一部のモデル）

例：
  goryu convert model_policy_value_resnet --out book1.onnx
  goryu convert model_policy model_value --out book1.onnx     二つのモデルを一つにまとめる
  goryu convert checkpoint-010.pth --out book2.onnx
  goryu convert model.onnx --fp16 --out model-fp16.onnx       16ビット浮動小数点（GPU向け）
""",
    "goryu download": """\
Goryu に付属するものより大きいモデルをダウンロードし、エンジンで使えるようにします。

  miniosl   9 ブロック 256 チャネル。miniosl パッケージ（金子知適氏、パッケージのライセンスは
            Team GPS の BSD-2-Clause）のモデルです。同じ時間のプレイアウト数は goryu-5x64 の 7 分の 1 ですが、
            CPU でもずっと強くなります。PyPI から 23 MB をダウンロードし、11 MB を保存します。

以後、ネイティブコードがあり、オプション DNN_Model が空なら、このモデルで指します。
""",
    "goryu tree": """\
局面を探索し、探索木を図にします。--html がなければ、盤と各手の値と木を端末に表示します。

例：
  goryu tree --html tree.html                            将棋の初期局面、PUCT 100 プレイアウト
  goryu tree "startpos moves 7g7f 3c3d" --playouts 1000 --html tree.html
  goryu tree --game tictactoe "4 0 8 1" --algorithm alpha-beta
  goryu tree --game reversi 4x4 --count 20               枝刈りと手の順序の効果
  goryu tree --game numbers cuts.txt                     自分で書いた数値の木。ファイルの例：
                                                         A: B C
                                                         B: D=5 E=10
                                                         C: F=3 G=7
""",
    "goryu arena": """\
アルゴリズム同士を、三目並べ、リバーシ（三つの大きさ）、将棋で対局させます。

    goryu arena tictactoe uct:100 alpha-beta --games 100
    goryu arena reversi4 random uct:50 uct:200 alpha-beta
    goryu arena reversi6 value:2 uct:400 --model network.onnx
    goryu arena shogi depth-limited:2 flat-mc:3 --games 4

どの組み合わせも、先手と後手を半分ずつ対局します。勝ちは1点、引き分けは0.5点、+- の後は標準誤差です。
乱数を使わないもの同士は同じ2局を繰り返します。PLAYER の名前は `goryu play --help` にあります。
持ち時間のあるエンジン同士の対局には `goryu match` を使ってください。
""",
    "goryu match": """\
USIエンジン同士を対局させ、レート差と誤差を求めます。合法手や千日手の判定は独立したライブラリが行います。

  goryu match --engine1 goryu --engine2 /usr/games/fairy-stockfish \\
      --option2 UCI_Variant=shogi --games 100 --byoyomi 1000 --openings tools/openings/balanced.txt

持ち時間やノード数は両エンジン共通です。--limits1 と --limits2 で片方だけ変えられます（--limits2 nodes=900）。
--out のフォルダに同じ連続対局の途中経過があれば、続きから始めます。
--tune C_init=60:180 はエンジン1のオプションの値を二局一組ごとにランダムに選び直し、値ごとの成績を推定します。
--screen Final_Move=lcb:visits は二局一組ごとに片方のエンジンだけ値を変え、変更ごとのレート差を求めます。

終了コード：正常なら 0、エンジンの異常（クラッシュ、無応答、反則、プロトコルの誤り、エラーを報告しての投了）が
あれば 1、対局できなければ 2、Ctrl-C または SIGTERM なら 130。
""",
    "goryu book": """\
定跡を作り、やねうら王形式（.db）の定跡を表示し、検査し、結合します。make はいつでも止められ、
同じコマンドで続きから始まります。

  goryu book make --state runs/book.jsonl --out runs/my.db --positions 1000 --processes 4
  goryu book show runs/my.db --moves 7g7f 3c3d
  goryu book check runs/my.db
  goryu book coverage runs/my.db games/
  goryu book merge runs/my.db other.db --out both.db
""",
    "goryu bench": """\
Goryu の速度を測ります。毎秒のプレイアウト数、評価数、合法手の木の末端の数、メモリ、停止までの時間、
探索のシグネチャを表示します。数値は何回かの測定の中央値です。

  goryu bench                       エンジンのネットワーク、1スレッド
  goryu bench --signature           シグネチャだけ（--bless：テスト用に保存する）
  goryu bench --compare winograd onnxruntime   バックエンドやモデルの比較
  goryu bench --perft               合法手の木の末端を、cshogi と並べて数える
  goryu bench --simulate            模擬GPUでの探索と、その時間の内訳
  goryu first-contact               GPUを測る

終了コード：正常なら 0、perft の数が一致しなければ 1、測定できなければ 2。
""",
    "goryu first-contact": """\
はじめて使うGPUで何ができ、Goryu が正しく動くかを、30分以内に自動で調べます。

  goryu first-contact --out contact                   すべての段階を順に実行する
  goryu first-contact --out contact --stage rates --minutes 4
                                                      一つの段階だけを4分以内に実行する
  goryu first-contact --out rehearsal --rehearse      GPUの代わりにCPUで練習する

段階ごとに別のプロセスを使い、制限時間を守ります。結果は log.jsonl に1件1行のJSONで書かれ、画面にも出ます。
まとめは report.md で、1項目ごとに書き直します。
同じフォルダでもう一度実行すると、済んだ項目を飛ばして続きから始めます。
失敗は、プロセスの異常終了も含めて、レポートの1行になります。

終了コード：すべて済めば 0、失敗や残りがあれば 1、始められなければ 2。
""",
    "goryu records": """\
棋譜から学習します。アーカイブの中の棋譜を探し、選び、学習用とテスト用に分け、変換します。KIF、KI2、CSA、JKF、
SFEN、USI を、ふつうの文字コードなら読めます。ファイル、フォルダ、zip、tar、7z、gz、bz2、xz、
アーカイブの中のアーカイブ、select が書いたリストを指定できます。壊れた棋譜は行番号とともに表示します。

  goryu records show wdoor2024.7z
  goryu records select wdoor2024.7z --min-rating 3000 --min-plies 50 --out runs/floodgate
  goryu records convert runs/floodgate/train.txt --out runs/floodgate/train.games
  goryu records tree wdoor2024.7z --depth 6 --min-games 100
  goryu records openings wdoor2024.7z --plies 24 --min-games 2 --out openings.txt
""",
    "goryu tsume": """\
詰将棋を解きます。また、棋譜に現れた詰みの局面から詰将棋を作ります。

  goryu tsume solve "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"
  goryu tsume make games/ --length 3-7 --limit 50 --out problems.sfen
  goryu tsume make games.csa --classical --beside --out problems.sfen

KIF、KI2、CSA、JKF、SFEN、USI の棋譜（フォルダやアーカイブも可）と、教師データの対局を読みます。
""",
    "goryu teach": """\
USIエンジンを教師として学習用の対局を作り、対局のファイルを表示します。
play を止めても、同じコマンドで続きから始まります。
fit には cshogi（追加パッケージ train）が必要です。

  goryu teach play /usr/games/fairy-stockfish --option UCI_Variant=shogi --option Threads=1 \\
      --go "nodes 5000" --seed 1 --out fsf.games
  goryu teach fit fsf.games                評価値を勝率に直す係数（goryu train --source で使う）
  goryu teach show fsf.games
""",
}
"""What a command prints above its options, by its name."""

OPTIONS = {
    "print the length and the solutions of a mate problem": "詰将棋の手数と作意、余詰を表示します",
    "the position; the side to move mates": "局面。手番の側が詰ます",
    "positions that each question to the solver may cost": "一つの問いに使う局面数の上限",
    "make mate problems from games": "棋譜から詰将棋を作ります",
    "file, folder or archive of games": "棋譜のファイル、フォルダ、アーカイブ",
    "the problems: an SFEN on each line": "詰将棋を書き出すファイル（一行に一つの SFEN）",
    "plies to mate": "詰みまでの手数",
    "make at most N problems": "多くても N 題で終える",
    "make at most N problems of each length": "手数ごとに多くても N 題",
    "make at most N problems of each game": "一局から多くても N 題",
    "leave out problems with any second solution": "余詰のあるものを除く",
    "take away what does not matter: black attacks without a king, the defender holds the rest": (
        "詰みに関係のない駒を取り除く（攻方の玉はなく、残りの駒はすべて玉方の持駒）"
    ),
    "also look at the moves that could have been played instead": "指されなかった手のあとの局面も調べる",
    "server, logins and options of the engine, in TOML": "サーバー、ログイン、エンジンのオプション（TOML）",
    "end after so many games (default: no end)": "この数の対局で終える（既定：止めるまで続ける）",
    "games at a time; each needs a login of its own in the file": (
        "同時に進める対局の数。ファイルにその数のログインが必要"
    ),
    "another USI engine than Goryu": "Goryu の代わりに対局させる USI エンジン",
    "time of each move that is hidden from the engine, for a slow connection": (
        "通信の遅れに備えて、一手ごとにエンジンの持ち時間から引いておく時間"
    ),
    "think on the opponent's time": "相手の手番でも考える",
    "folder of the records": "棋譜を置くフォルダ",
    "the network; or a policy network and a value network of the first book": (
        "モデルのファイル。一冊目の本の方策と価値のモデルなら二つ"
    ),
    "the ONNX file to write": "書き出す ONNX ファイル",
    "the activation; default: the one that the statistics in the file fit": (
        "活性化関数。省略するとファイル中の統計量から判別する"
    ),
    "writes 16-bit floats, for GPUs": "16ビット浮動小数点で書き出す（GPU向け）",
    "writes 8-bit integers, for CPUs": "8ビット整数で書き出す（CPU向け）",
    "positions to calibrate --int8 on, and to compare on; default: %(default)s": (
        "--int8 の較正と比較に使う局面の数。既定は %(default)s"
    ),
    "the part of a PyTorch checkpoint with the weights, such as swa_model; default: model": (
        "PyTorch のチェックポイントのうち重みのある部分（swa_model など）。既定は model"
    ),
    "overwrites FILE.onnx": "既存の FILE.onnx を上書きする",
    "the ONNX file to write; default: where the engine finds it": (
        "書き出す ONNX ファイル。既定ではエンジンが自分で見つける場所に置く"
    ),
    "the package (.whl) or its eval.onnx, already downloaded": (
        "ダウンロード済みのパッケージ（.whl）またはその中の eval.onnx"
    ),
    "overwrites FILE.onnx and its .ini": "既存の FILE.onnx と .ini を上書きする",
    "the network": "モデルの名前",
    "the network; default: miniosl": "モデルの名前。既定は miniosl",
    "default: 100 (gumbel: 32)": "既定は 100（gumbel は 32）",
    "a number of the algorithm": "アルゴリズムの数値",
    "plies to show; default: 4": "表示する深さ。既定は 4",
    "default: puct; for numbers alpha-beta": "既定は puct、numbers では alpha-beta",
    "moves of a position to show; default: 6": "一局面で表示する手の数。既定は 6",
    "positions to show; default: 300": "表示する局面の数。既定は 300",
    "writes a picture that any browser shows": "ブラウザで見られる図を書き出す",
    "writes the tree alone, as a picture for other pages": "木だけを SVG の図として書き出す",
    "network (the engine's), a model file, or material, uniform, rollout, noise; default: network": (
        "network（エンジンのもの）、モデルファイル、または material、uniform、rollout、noise。既定はnetwork"
    ),
    "prints how many positions minimax visits in 1 to N plies, with and without cuts and ordering": (
        "1手から N 手までのミニマックスが調べる局面の数を、枝刈りと手の順序のあるなしで比べる"
    ),
    "draws the graph that the engine's `tree FILE.json` wrote; POSITION is its root": (
        "エンジンの `tree FILE.json` が書いたグラフを図にする。POSITION はそのルートの局面"
    ),
    "engines": "エンジン",
    "limits of both engines (times in ms)": "両エンジンの思考条件（時間はミリ秒）",
    "games": "対局",
    "sequential test and tuning": "逐次検定と調整",
    "running": "実行",
    "which positions": "対象の局面",
    "workers": "ワーカー",
    "networks": "ネットワーク",
    "how much": "測定の量",
    "which games": "対象の棋譜",
    "program and arguments": "プログラムと引数",
    "replaces the engine's own name": "エンジン自身の名前の代わりに使う名前",
    "USI option": "USIオプション",
    "environment variable": "環境変数",
    "working directory": "作業フォルダ",
    "limits of this engine only": "このエンジンだけの思考条件",
    "main time of a game": "持ち時間",
    "increment after each move": "一手ごとの加算時間",
    "time for each move after the main time": "秒読み",
    "time for every move": "一手の思考時間",
    "nodes for every move": "一手のノード数",
    "depth of every search": "探索の深さ",
    "default: ten common openings of four moves": "開始局面集。既定はよく指される四手の序盤10通り",
    "rule of the entering king": "入玉のルール",
    "after so many moves it is a draw": "この手数で引き分けにする",
    "excess over the time that is forgiven": "大目に見る時間超過",
    "an engine that exceeds its time loses; otherwise this is only reported": (
        "時間切れを負けにする。--no-flag なら報告だけする"
    ),
    "adjudicate when the scores of both engines agree on this lead; 0: never": (
        "両エンジンの評価値がそろってこの値以上の優劣を示したら、勝敗を判定して終える。0なら判定しない"
    ),
    "... for so many moves in a row": "判定までにそれが続く手数",
    "an engine hangs that prints nothing for this time before usiok or readyok": (
        "usiok や readyok までにこの時間何も出力しなければ、無応答とみなす"
    ),
    "without a clock, an engine hangs after this time": "持ち時間がないとき、この時間で無応答とみなす",
    "at most; made even": "最大の対局数（偶数にする）",
    "of the order of the openings": "開始局面の順番のシード",
    "stop after so many failures of the engines, see above": "エンジンの異常がこの回数に達したら中止する",
    "log every line to and from the engines": "エンジンとの通信をすべて記録する",
    "stop when one of the two is accepted": "どちらかの仮説が採択されたところで終える",
    "chance to accept ELO1 if ELO0 is true": "ELO0 が正しいのに ELO1 を採択する確率",
    "chance to accept ELO0 if ELO1 is true": "ELO1 が正しいのに ELO0 を採択する確率",
    "kind of Elo of --sprt": "--sprt のレート差の種類",
    "draw this option of engine 1 anew for each pair, and report how its values score": (
        "エンジン1のこのオプションの値を二局一組ごとにランダムに選び直し、値ごとの成績を報告する"
    ),
    "give the new values to one engine of each pair, the old ones to the other; reports "
    "the Elo of each change. Repeat it for several changes": (
        "二局一組ごとに片方のエンジンに新しい値、もう片方に元の値を与え、変更ごとのレート差を報告する。"
        "繰り返し指定できる"
    ),
    "games at a time, or auto: one for each core": "同時に進める対局の数。autoならコアごとに一局",
    "1; on a cluster: as many as fit": "1、クラスタでは動かせるだけ",
    "1; on a cluster: as many as it has room for": "1、クラスタでは動かせるだけ",
    "do the work on a Ray cluster: auto (the one of this computer), local (start one "
    "here), HOST:PORT, or ray://HOST:PORT (Ray Client); needs the extra cluster": (
        "Rayクラスタで分担する。auto（この計算機が参加しているもの）、local（この計算機で起動する）、HOST:PORT、"
        "ray://HOST:PORT（Ray Client）。追加パッケージ cluster が必要"
    ),
    "with --cluster: cores that each worker needs": "--cluster のとき、ワーカー一つが使うコア数",
    "with --cluster: the share of a GPU that each worker needs": (
        "--cluster のとき、ワーカー一つが使うGPUの割合"
    ),
    "results (default runs/match-<time>); resumed if it exists": (
        "結果のフォルダ（既定：runs/match-<時刻>）。あれば続きから始める"
    ),
    "write the games in these formats: kif, csa, usi (comma-separated)": (
        "棋譜の形式：kif、csa、usi（カンマ区切り）"
    ),
    "print what would be played, start nothing": "対局の予定を表示するだけで、始めない",
    "the opening file": "開始局面集のファイル",
    "search positions and write a book": "局面を探索して定跡を書き出す",
    "print the moves of a position and the lines that follow": "局面の候補手とその後の手順を表示する",
    "look for illegal moves, positions out of order and duplicates": "反則手、順番の乱れ、重複を調べる",
    "measure how long games stay in a book": "対局が定跡に何手とどまるかを調べる",
    "join books; of a position in several, the entry that was searched most deeply counts": (
        "定跡を結合する。同じ局面は最も深く探索したものを使う"
    ),
    "the file of all searches, *.jsonl; made if it is missing": (
        "すべての探索を記録するファイル（*.jsonl）。なければ作る"
    ),
    "write the book at the end, also after Ctrl-C": "最後に（Ctrl-C のあとも）書き出す定跡",
    "end with N positions": "N 局面になったら終わる",
    "of the search of each position": "一局面あたりのプレイアウト数",
    "also search positions again that had fewer playouts, for instance of an earlier run": (
        "プレイアウトの少ない局面（前の実行のものなど）も探索し直す"
    ),
    "the network (default: the strongest one here)": "使うネットワーク（既定：あるもののうち最強のもの）",
    "the book plays moves whose win rate is at most this below the best one's": (
        "最善手との勝率の差がこれ以下の手を定跡に入れる"
    ),
    "search no later position": "これより先の局面は探索しない",
    "positions to begin with, as in the openings of goryu match (default: the start position)": (
        "出発点の局面（goryu match の開始局面集と同じ形式。既定：初期局面）"
    ),
    "game records (files, folders, archives): replies that were played are expected": (
        "棋譜（ファイル、フォルダ、アーカイブ）。指された応手を予想に使う"
    ),
    "with one thread each": "プロセス数。それぞれ1スレッド",
    "a book in any format": "定跡ファイル（どの形式でもよい）",
    "the position (default: the start)": "局面（既定：初期局面）",
    "moves from there, in USI": "そこからの指し手（USI）",
    "print moves in USI, not in Japanese": "指し手をUSI形式で表示する",
    "a book in YaneuraOu's format": "やねうら王形式の定跡",
    "also compare moves with searches of N playouts": "N プレイアウト探索した結果とも指し手を比べる",
    "such moves, drawn at random": "比べる指し手の数（乱数で選ぶ）",
    "seed of the choice": "選ぶ乱数のシード",
    "files, folders or archives of records, or *.games": (
        "棋譜のファイル、フォルダ、アーカイブ、または *.games"
    ),
    "the new book": "新しい定跡",
    "algorithms": "対局させるアルゴリズム",
    "the engine": "エンジン",
    "only the bench signature": "シグネチャだけ",
    "only perft, beside cshogi if it is installed": (
        "合法手の木の末端を数えるだけ（あれば cshogi と並べて）"
    ),
    "only networks: backends for the model, ONNX files for the backend cpu, or, with "
    "--size, formats for onnxruntime; `over alone`: the search's rate over that of the "
    "network alone; the last network is what the others are divided by": (
        "ネットワークの比較だけ。モデルを動かすバックエンド、バックエンド cpu で動かすONNXファイル、"
        "--size があれば onnxruntime で動かす形式。over alone は探索とネットワーク単体の速度の比。"
        "ほかのネットワークは最後のものとの比で表す"
    ),
    "only the search before simulated GPUs": "模擬GPUでの探索だけ",
    "ONNX file (default: the network that the engine loads)": (
        "ONNXファイル（既定：エンジンが読むネットワーク）"
    ),
    "measure only what needs no network": "ネットワークの要らないものだけを測る",
    "of the network": "ネットワークのバックエンド",
    "CPU threads of a network call": "ネットワーク1回の計算に使うCPUスレッド数",
    "positions per network call (default: the network's own)": "バッチサイズ（既定：ネットワークごと）",
    "of networks with random weights, for --compare: blocks and channels, such as 10x128": (
        "--compare で使う、重みが乱数のネットワークのブロック数とチャネル数（10x128 など）"
    ),
    "threads of the search": "探索スレッド数",
    "playouts of a search with the network, for each worker": (
        "ネットワークを使う探索の、スレッドごとのプレイアウト数"
    ),
    "rounds for each median": "中央値を求める測定の回数",
    "for rates": "速度を測る時計",
    "positions a second of the simulated GPUs, such as 1000,100000": (
        "模擬GPUの毎秒の局面数（1000,100000 など）"
    ),
    "folder of log and report": "ログとレポートのフォルダ",
    "only this stage; may be repeated": "この段階だけを実行する（何度でも指定できる）",
    "limit of each stage": "各段階の制限時間（分）",
    "with the CPU in place of the GPU": "GPUの代わりにCPUを使う",
    "tiny networks: to try the program, not the machine": (
        "ごく小さいネットワークを使う（マシンではなくプログラムを試すため）"
    ),
    "about how long --simulate takes": "--simulate のおよその秒数",
    "store the signature for the tests": "シグネチャをテスト用に保存する",
    "print what the sources hold": "棋譜の内容を表示する",
    "choose games, and write lists of training and test games": (
        "棋譜を選び、学習用とテスト用のリストを書き出す"
    ),
    "convert games for goryu train; a source may be a list": "goryu train 用に変換する。リストも指定できる",
    "print the tree of the openings": "序盤の木を表示する",
    "write start positions for goryu match --openings": "goryu match --openings 用の開始局面集を書き出す",
    "file, folder, archive or list of games": "棋譜のファイル、フォルダ、アーカイブ、またはリスト",
    "least rating of both players; games without ratings are then left out": (
        "両対局者のレートの下限。指定するとレートのない棋譜は除く"
    ),
    "least number of moves": "手数の下限",
    "greatest number of moves": "手数の上限",
    "keep games that do not begin in the usual position": "平手の初期局面から始まらない棋譜も残す",
    "keep games of players whose name contains this text": "名前にこの文字列を含む対局者の棋譜だけを残す",
    "keep games that ended so; may be repeated": "この終わり方の棋譜を残す。繰り返し指定できる",
    "for train.txt, test.txt, left-out.txt": "train.txt、test.txt、left-out.txt を書くフォルダ",
    "share of the test games": "テスト用の割合",
    "seed of the split": "分ける乱数のシード",
    "*.games, *.hcpe, *.hcpe.xz, *.hcpe3, *.psv or *.bin": (
        "*.games、*.hcpe、*.hcpe.xz、*.hcpe3、*.psv、または *.bin"
    ),
    "name of the teacher, for sources that keep none": "元のファイルにない、教師の名前",
    "take the scores from the comments (floodgate's '** 30); positions without are not for training": (
        "コメントの評価値を使う（floodgate の '** 30）。評価値のない局面は学習に使わない"
    ),
    "the first N moves of a game are not for training": "最初の N 手は学習に使わない",
    "write what is left out, and why": "除いた棋譜と理由を書き出す",
    "moves": "手数",
    "show moves of at least N games": "N 局以上で指された手を表示する",
    "at most": "最大の数",
    "keep positions that at least N games reached": "N 局以上で現れた局面を残す",
    "make games": "対局を作る",
    "fit the scale of the teacher's scores to the results": "評価値を勝率に直す係数を求める",
    "show what files hold": "ファイルの内容を表示する",
    "program and its arguments": "プログラムと引数",
    "append the games to this file": "対局を追記するファイル",
    "engines at a time": "同時に動かすエンジンの数",
    "draw all moves from the policy, with the network on this device of PyTorch (cpu, cuda)": (
        "ネットワークを PyTorch のこのデバイス（cpu、cuda）で動かし、すべての指し手を方策から選ぶ"
    ),
    "play the games 0 to N - 1 (default: no end)": (
        "番号 0 から N - 1 までの対局を指す（既定：止めるまで続ける）"
    ),
    "start from these openings, one a line": "開始局面集（一行に一局面）のどれかから始める",
    "text after `go`, such as depth 12 or movetime 100": "go のあとの文字列（depth 12、movetime 100 など）",
    "seed of the openings; use another for every run": "序盤を決める乱数のシード。実行ごとに変える",
    "random moves at the start or after the opening": "初期局面または開始局面からランダムに指す手数",
    "keep an opening if the teacher's score is within this": "教師の評価値の絶対値がこれ以下の序盤を使う",
    "end a game at this score": "この評価値で打ち切る",
    "a game is a draw after so many moves": "この手数で引き分けにする",
    "an SFEN, moves or the text of a record; a tree of numbers or its file; default: the start": (
        "SFEN、指し手、棋譜。数値の木では、その内容かファイル名。省略すると初期局面"
    ),
    "two or more, such as uct:100": "対局者を二つ以上。例：uct:100",
    "of each pair": "一組あたりの対局数",
    "longer games are draws": "これより長い対局は引き分け",
    "of the random numbers": "乱数のシード",
    "files of games or HCPE": "*.games または HCPE のファイル",
}
"""The help of an option, without its default."""
