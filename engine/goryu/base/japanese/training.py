"""The help of the commands that train networks in Japanese: selfplay, train, evaluate and learn."""

DESCRIPTIONS = {
    "goryu selfplay": """\
ネットワークに将棋の自己対局をさせるか、既存の棋譜にラベルを付け直すか、
強化学習ループでネットワークを強くします。

  goryu selfplay play --model models/goryu-5x64.onnx --processes 2 \\
      --games 2000 --openings tools/openings/balanced.txt --out runs/self.games
  goryu selfplay reanalyse runs/fsf.games --model models/goryu-5x64.onnx \\
      --playouts 64 --share 0.5 --keep-scores --out runs/fsf-soft.games
  goryu selfplay reanalyse runs/fsf.games --model miniosl.onnx --playouts 0 \\
      --out runs/fsf-distilled.games
  goryu selfplay play --model models/goryu-5x64.onnx --cheap-playouts 0 \\
      --full-playouts 0 --full-share 1 --sampled-plies 400 --games 10000 \\
      --out runs/drawn.games
  goryu selfplay leaves runs/self.games --model models/goryu-5x64.onnx \\
      --processes 2 --out runs/leaves.games
  goryu selfplay loop --folder runs/loop --initial runs/first/checkpoint.pt \\
      --cycles 5 --processes 2
  goryu selfplay loop --folder runs/tictactoe --game tictactoe --processes 2

play のプレイアウト数を 0 にすると、すべての手をネットワークの方策から確率的に
選びます。短い時間で多くの局面が得られ、reanalyse でラベルを付けられます。
leaves は棋譜の局面をエンジンと同じ方法で探索し、その中でネットワークが評価した
局面を記録します。多くは棋譜に現れない局面で、ラベルは reanalyse で付けます。
loop は AlphaGo Zero の強化学習ループです。チャンピオンが自己対局を続け、最近の
対局のウィンドウで候補を学習し、チャンピオンに勝ち越した候補が次のチャンピオンに
なります。三つは同時に進みます。

--cluster を付けると Ray クラスタで分担します。中断しても、同じコマンドで続き
から再開します。棋譜のファイルの表示、変換、圧縮は goryu teach、学習は
goryu train で行います。
""",
    "goryu train": """\
*.games と HCPE のファイルからネットワークを学習し、ONNX に書き出します。

  goryu train --source runs/fsf.games,540 --source runs/gps.hcpe,760,0.3,2 \\
      --folder runs/first --minutes 50 --blocks 5 --channels 64

中断しても、同じコマンドで続きから再開します。フォルダに checkpoint.pt、
log.jsonl（損失と、検証用の対局での測定値）、curves.png（そのグラフ）、
goryu-ブロック数xチャネル数.onnx ができます。

torchrun で起動すると、複数の GPU や計算機でバッチを分担します。

  torchrun --standalone --nproc-per-node 4 -m goryu train --device cuda \\
      --source ...
""",
    "goryu evaluate": """\
終わった対局の勝敗と指し手を、ネットワークがどれだけ当てられるかを測ります。

  goryu evaluate models/goryu-5x64.onnx runs/second/goryu-5x64.onnx \\
      --games runs/match/games.jsonl
  goryu evaluate models/goryu-5x64.onnx miniosl.onnx \\
      --games runs/match/games.jsonl --phases 35 60

goryu match --out の対局か、goryu teach のファイル（*.games）を読みます。どの
ネットワークの学習にも使っていない対局を選んでください。数分かかります。どちらが
強いかは、そのネットワークを使うエンジン同士の対局でしか確かめられません。
""",
    "goryu learn": """\
AlphaZero のチュートリアルのように、小さなゲームのネットワークをゼロから学習し、
強さを測ります。

  goryu learn tictactoe
  goryu learn tictactoe --blocks 16 --channels 128 --search puct \\
      --games-per-cycle 500 --folder runs/large
  goryu learn reversi --plot reversi.png
  goryu learn lesson --size 6 --games 300 --opponents greedy random
  goryu learn lesson --as-published
  goryu learn strip --plot rate.png
  goryu learn replay 57 --step
  goryu learn replay final
  goryu learn pseudocode tictactoe --actors 2 --playouts 0.1 --untried reduced
  goryu learn pseudocode tictactoe --as-published
  goryu learn pseudocode shogi
  goryu learn pi
  goryu learn bandit
  goryu learn pruning

チュートリアルの数値と Goryu の数値を並べて表示し、ネットワークと、すべての数値
（report.json）をフォルダに書きます。いつでも中断でき、同じコマンドで続きから
再開します。

lesson はリバーシのチュートリアルの学習で、設定値をすべて変えられます。学習側の
勝ちを +、負けを -、引き分けを = で 1 局ごとに表示し、30 局ごとにネットワークを
書いて、ランダムな手を混ぜずに 1 局打ちます。strip は結果をもう一度表示し、replay は
1 局の盤面を順に表示します（--folder runs/learn/tictactoe なら自己対局の 1 局）。
--as-published を付けると、チュートリアルのコードと同じ学習になります。ほかの
オプションで、その練習問題のように一部を変えられます。

pseudocode は AlphaZero の疑似コードです。アクターの自己対局と並行して学習を進め
ます。設定値は論文のチェス用の値に、項目ごとの倍率を掛けたものです。--show を
付けると設定値を表示するだけで終わります。ネットワークは
networks/ステップ数.onnx に書きます。--as-published を付けると、疑似コードの木で探索
し、局面の回転も反転もしません。

pi、bandit、pruning は学習をせず、PyTorch も要りません。順に、乱数で求める
円周率、三台のスロットマシンでの UCB1 との勝負、三目並べで枝刈りと対称性によって
減る局面の数です。
""",
}
"""What a command prints above its options, by its name."""

OPTIONS = {
    # selfplay
    "play games": "自己対局をさせる",
    "label old games anew": "既存の棋譜にラベルを付け直す",
    "record leaves of searches, to be labelled": "探索の末端の局面を、ラベルを付けるために記録する",
    "self-play, training and match in a loop": "自己対局、学習、対戦を同時に進める",
    "the network of the searches": "探索に使うネットワーク",
    "softmax temperature of the network's policy": "ネットワークの方策のソフトマックスの温度",
    "processes that play": "対局するプロセスの数",
    "games at once in each process": "1プロセスで同時に進める局数",
    "what runs the network: %(choices)s": "ネットワークを動かすバックエンド。%(choices)s",
    "numbers of the GPUs, which the processes take in turn": "各プロセスに順番に割り当てるGPUの番号",
    "seed of the random numbers": "乱数のシード",
    "start half of the games from the openings of this file, one a line": (
        "半分の対局を、この開始局面集（一行に一局面）から始める"
    ),
    "playouts of most searches, which only choose the move": "指し手だけを決める浅い探索のプレイアウト数",
    "playouts of the searches whose positions are recorded": "局面を記録する深い探索のプレイアウト数",
    "share of the moves that get a full search; approximate, but exact with 0 cheap playouts": (
        "深く探索する手のおよその割合。--cheap-playouts が0なら、ちょうどこの割合"
    ),
    "least and greatest number of random moves at the start": "初めにランダムに指す手数の最小と最大",
    "moves after the random ones that are drawn from the search's policy": (
        "ランダムな手のあと、探索の方策から確率的に選ぶ手数"
    ),
    "nodes of the mate search before every move; 0: no mate search": (
        "一手ごとの詰み探索のノード数。0なら詰み探索をしない"
    ),
    "greatest value, from -1 to +1, at which a side gives up hope": (
        "勝ち目がないとみなす価値の上限（-1〜+1）"
    ),
    "a side resigns after this many hopeless moves in a row; 0: never": (
        "勝ち目のない手番がこの数続いたら投了する。0なら投了しない"
    ),
    "share of the games played to the end, to check the resignations": (
        "投了の判断を検証するため、最後まで指す対局の割合"
    ),
    "moves after which a game is a draw": "引き分けにする手数",
    "games to label": "ラベルを付け直す棋譜",
    "playouts of the search that labels a position; 0: the network's own policy and value "
    "(distillation; default %(default)s)": (
        "ラベルを付ける探索のプレイアウト数。0ならネットワークの方策と価値をそのまま使う"
        "（蒸留。既定：%(default)s）"
    ),
    "share of the positions to label": "ラベルを付け直す局面の割合",
    "keep the teacher's scores, and mix its moves half and half into the policies": (
        "教師の評価値を残し、教師の指し手を方策に半分混ぜる"
    ),
    "games to search": "局面を探索する棋譜",
    "playouts of each search": "探索1回のプレイアウト数",
    "most leaves of a search to record": "探索1回で記録する末端の局面の最大数",
    "share of the positions with a score that are searched": "評価値のある局面のうち、探索する割合",
    "folder of all files of the loop": "ループの全ファイルを置くフォルダ",
    "the game (default shogi); the small games have numbers of their own": (
        "ゲーム（既定：shogi）。小さなゲームには専用の既定値がある"
    ),
    "candidates to train and to test": "学習して試す候補の数",
    "most samples of training for each position played": "対局の一局面あたりの学習サンプル数の上限",
    "positions of the first window, and before the first training": (
        "最初のウィンドウの局面数。これだけたまってから学習を始める"
    ),
    "how much the window gains for every new position at first": (
        "初めのうち、新しい局面一つにつきウィンドウに加わる局面数"
    ),
    "power of all positions by which the window grows later": (
        "ウィンドウはやがて、全局面数の X 乗に比例して大きくなる"
    ),
    "Elo difference at which the sequential test rejects a candidate": ("逐次検定で候補を棄却するレート差"),
    "Elo difference at which the sequential test promotes a candidate": (
        "逐次検定で候補を昇格させるレート差"
    ),
    "most games of a match; 0: always promote": "一つの対戦の最大局数。0なら必ず昇格させる",
    "start from the weights of a checkpoint.pt or of an exported float32 .onnx file": (
        "学習済みの重みから始める。checkpoint.pt か、書き出した float32 のONNXファイル"
    ),
    "training steps for a candidate": "一つの候補の学習ステップ数",
    "peak of the learning rate in each training": "各学習での学習率の最大値",
    "share of the game's result in the value target, from 0 to 1": ("価値の目標に勝敗を混ぜる割合（0〜1）"),
    "playouts a move in the match": "対戦での一手のプレイアウト数",
    "device of the training: cpu or cuda": "学習に使うデバイス。cpu か cuda",
    "more data for every training, as in goryu train": (
        "すべての学習に加えるデータ（goryu train の --source と同じ）"
    ),
    # train
    "HCPE file or file of games (*.games), the teacher's scale (centipawns at which the win odds "
    "are e : 1; goryu teach fit finds it), the weight of the game's result in the value target "
    "(default 0.3), and how often each position counts in one pass (default 1); with --teacher only the "
    "file; may be repeated": (
        "教師データのファイル（*.games か HCPE）、評価値を勝率に直す教師の係数（teach fit で求める）、"
        "価値の目標に勝敗を混ぜる割合（既定：0.3）、1周（エポック）で各局面を使う回数（既定：1）。"
        "--teacher を使うときはファイルだけ。繰り返し指定できる"
    ),
    "a network in an ONNX file that labels every batch on the device, instead of the labels in the "
    "files of games": (
        "教師にするネットワーク（ONNX）。棋譜のファイルのラベルの代わりに、バッチごとにデバイス上でラベルを付ける"
    ),
    "minutes after which the next checkpoint is saved": "チェックポイントを保存する間隔（分）",
    "folder of the run": "学習フォルダ",
    "start from the weights of a checkpoint.pt or of the float32 .onnx file that a run exported; a "
    "network with fewer blocks or channels grows": (
        "学習済みの重みから始める。checkpoint.pt か、書き出した float32 のONNXファイル。"
        "ブロックやチャネルの少ないネットワークは拡大する"
    ),
    "share of the games on which the network is measured, not trained": (
        "検証用に取り分け、学習に使わない対局の割合"
    ),
    "merge equal positions into one with the mean of their targets": (
        "同じ局面を一つにまとめ、目標を平均する"
    ),
    "blocks of the network": "ブロックの数",
    "residual blocks of the network": "残差ブロックの数",
    "channels of every convolution in the tower": "残差ブロックの畳み込みのチャネル数",
    "positions in a training step": "バッチサイズ",
    "end the run after this many steps, or after --minutes if that is sooner": (
        "学習を終えるステップ数。--minutes と、先に達したほうで終わる"
    ),
    "end the run after this many minutes of training": "学習を終える時間（分）",
    "peak of the learning rate, reached after 5 %% of the run, for batches of 256; it grows with the "
    "square root of the batch": (
        "バッチサイズ 256 での学習率の最大値（バッチサイズの平方根に比例して大きくする）。"
        "全体の 5 %% で最大になり、その後 0 まで下がる"
    ),
    "learning rate of the tower's convolutions, which Muon trains, as a multiple of the other weights'": (
        "残差ブロックの畳み込み（Muon で学習する）の学習率の、ほかの重みの学習率に対する倍率"
    ),
    "weight decay; biases and normalisations are exempt": "重み減衰。バイアスと正規化層にはかけない",
    "share of the policy target that is spread evenly over the legal moves": (
        "方策の目標のうち、合法手に均等に配る割合（ラベル平滑化）"
    ),
    "weight of the value loss; the policy loss has weight 1": "方策の損失を1としたときの、価値の損失の重み",
    "greatest norm of the gradient; a longer one is shortened to it": (
        "勾配のノルムの上限。超えればこの長さに縮める"
    ),
    "decay per 256 positions of the moving average of the weights, which is exported": (
        "重みの移動平均の、256 局面あたりの減衰率。ONNXには平均した重みを書き出す"
    ),
    "how often to measure the held-out games, and to save a checkpoint": (
        "検証用の対局で測り、チェックポイントを保存する回数"
    ),
    "seed of the weights, of the order of the positions and of the held-out games": (
        "重みの初期値、局面の順序、検証用の対局を決める乱数のシード"
    ),
    "threads of PyTorch; 0: all processors, divided among the processes that train on this computer": (
        "PyTorchのスレッド数。0なら、すべてのコアをこの計算機で学習するプロセスで分け合う"
    ),
    "processes that make batches, with --teacher threads; 0: the training makes them between its steps": (
        "バッチを作るプロセス（--teacher ではスレッド）の数。0なら学習の合間に作る"
    ),
    "device of PyTorch: cpu, cuda, cuda:1, ...": "PyTorchのデバイス。cpu、cuda、cuda:1 など",
    "arithmetic of the training: bfloat16, float32, or auto, the faster: bfloat16 on GPUs, on CPUs with AMX "
    "and on AMD's with AVX-512 BF16, float32 on others": (
        "学習の計算に使う型。bfloat16、float32、または速いほうを選ぶ auto（GPU、AMX対応のCPU、"
        "AVX-512 BF16対応のAMD製CPUでは bfloat16、ほかのCPUでは float32）"
    ),
    "let torch.compile translate the network for this device; on a CPU it needs a C++ compiler": (
        "torch.compile でデバイス向けのコードを作る。CPUではC++コンパイラが必要"
    ),
    # evaluate
    "the networks": "比べるネットワーク",
    "games.jsonl or *.games": "games.jsonl または *.games",
    "use two consecutive positions out of every 2 N": "2 N 局面ごとに、連続する二局面を使う",
    "1: all": "1、すべて",
    "also show the loss of the results separately before, between and after these plies": (
        "勝敗の損失を、これらの手数で区切った区間ごとにも表示する"
    ),
    "softmax temperature of the policies": "方策のソフトマックスの温度",
    "what runs the networks: %(choices)s": "ネットワークを動かすバックエンド。%(choices)s",
    # learn
    "AlphaZero's loop, and all other algorithms": "AlphaZeroのループと、ほかのすべてのアルゴリズム",
    "a value network, then AlphaZero's loop": "価値ネットワーク、続いてAlphaZeroのループ",
    "the reversi tutorial with its numbers": "リバーシのチュートリアルを、設定値を選んで実行する",
    "print the results of a lesson's games": "lesson の対局の勝敗を並べて表示する",
    "show a game of a lesson board by board": "lesson の1局の盤面を順に表示する",
    "AlphaZero's pseudocode": "AlphaZeroの疑似コード",
    "pi by random points": "乱数で円周率を求める",
    "three slot machines: you against UCB1": "三台のスロットマシンでUCB1と競う",
    "what cuts and symmetry save": "枝刈りと対称性の効果",
    "folder of the networks and the state": "ネットワークと途中経過を置くフォルダ",
    "threads of PyTorch": "PyTorchのスレッド数",
    "draw strength against training": "学習の進みと強さのグラフを描く",
    "games of each match": "一つの対戦の局数",
    "seed of all random numbers": "すべての乱数のシード",
    "cycles of AlphaZero's loop": "AlphaZeroのループを回す回数",
    "games that train a value network": "価値ネットワークの学習に使う局数",
    "skip AlphaZero's loop": "AlphaZeroのループを省く",
    "channels of the network": "ネットワークのチャネル数",
    "for each move of self-play": "自己対局の一手あたりのプレイアウト数",
    "of the draw of moves by their visits; not with gumbel": (
        "訪問回数から指し手を選ぶときの温度。gumbel では使えない"
    ),
    "published: the pseudocode's tree": "探索。published は疑似コードの木",
    "games of self-play between two trainings": "1サイクルの自己対局の局数",
    "gradient steps of a training": "1サイクルの学習のステップ数",
    "newest positions that training samples from; 0: all": "学習に使う最近の局面の数。0ならすべて",
    "positions of a gradient step": "バッチサイズ",
    "games of the match for promotion; 0: no match": "昇格を決める対戦の局数。0なら対戦をしない",
    "of the random numbers": "乱数のシード",
    "on shogi": "将棋で学習する",
    "on reversi4": "4×4のリバーシで学習する",
    "on reversi6": "6×6のリバーシで学習する",
    "one for each game, in turn: greedy (most discs after two plies; greedy:0.3: three moves in ten at "
    "random), varied, corners, random, or an algorithm such as uct:50": (
        "1局ごとに順に対局する相手。greedy（2手先の石の数が最大になる手を打つ。greedy:0.3 なら3割の手を"
        "ランダムに打つ）、"
        "varied、corners、random、"
        "または uct:50 などのアルゴリズム"
    ),
    "games between two checkpoints": "チェックポイントを保存する間隔（局数）",
    "games to learn from": "学習に使う局数",
    "games in parallel, between two updates": "同時に進める局数。この局数ごとに更新する",
    "plies that the learner looks ahead": "学習側が先読みする手数",
    "gamma: the target loses this factor with every own turn to come": (
        "割引率γ。終局までの自分の手番一つごとに目標に掛ける"
    ),
    "discs that a draw counts": "引き分けを石いくつ分の差とみなすか",
    "extra discs for a corner in the target": "目標で隅一つに加える石の数",
    "share of random moves in the first games": "ε。最初の対局でランダムに打つ手の割合",
    "factor on epsilon after every --epsilon-every games": "--epsilon-every 局ごとにεに掛ける値",
    "games between two decays of epsilon": "εを減らす間隔（局数）",
    "play every second game as the second player": "1局おきに後手で打つ",
    "games whose positions an update samples from": "更新に使う局面を選ぶ、最近の対局の数",
    "minibatches of an update": "1回の更新で学習するミニバッチの数",
    "positions of a minibatch; 0: all positions of the window": (
        "ミニバッチの局面数。0なら使える局面をすべて使う"
    ),
    "the tutorial's own network, search and updates: one plane of +1 and -1, padded convolutions, a "
    "linear output, an update after each game with the last three; other options change that": (
        "ネットワーク、探索、更新をチュートリアルのコードと同じにする。入力は +1 と -1 の一面、"
        "畳み込みはパディングあり、出力は線形、1局ごとに最近の3局で更新する。ほかのオプションで変えられる"
    ),
    "Adam's learning rate": "Adamの学習率",
    "share of the learning rate that is left at the end": "最後の学習率の、最初の学習率に対する割合",
    "rotate and reflect positions at random": "局面をランダムに回転、反転する",
    "filters of each convolution": "畳み込み層のフィルタ数",
    "width of the dense layer": "全結合層のユニット数",
    "convolutions": "畳み込み層の数",
    "squares a side: 4, 6 or 8": "盤の一辺のマス数。4、6、8のどれか",
    "draw the running win rate": "勝率の推移のグラフを描く",
    "of the lesson": "lesson のフォルダ",
    "its number, from 1, or final: the last --checkpoint game": (
        "対局の番号。final なら --checkpoint の最後"
    ),
    "the game without random moves after so many games": (
        "この局数を学習したあとに、ランダムな手を混ぜずに打った対局"
    ),
    "wait for Enter after each board": "盤面ごとにEnterキーを待つ",
    "on tictactoe": "三目並べで学習する",
    "on reversi": "リバーシで学習する",
    "print the numbers of the run, and end": "設定値を表示して終わる",
    "value of an untried move: a loss, as published, or reduced, our first play urgency": (
        "未訪問の手の価値。lost は論文どおりの負け、reduced は Goryu の FPU"
    ),
    "search the pseudocode's tree, learn its visits, and do not rotate or reflect positions": (
        "疑似コードの木で探索し、その訪問回数を学習する。局面の回転と反転はしない"
    ),
    "factors of the published numbers": "論文の値に掛ける倍率",
    "factor of the 800 playouts of a move": "一手のプレイアウト数 800 の倍率",
    "factor of c_init, 1.25": "c_init 1.25 の倍率",
    "factor of the Dirichlet noise's alpha, 0.3: about ten divided by the legal moves": (
        "ディリクレノイズのα 0.3 の倍率。αは 10 を合法手の数で割ったくらいにする"
    ),
    "factor of the 30 plies that are drawn by visits": "訪問回数に応じて確率的に指す手数 30 の倍率",
    "factor of the 512 plies of the longest game": "最大手数 512 の倍率",
    "factor of the 700,000 steps, and of those at which the learning rate falls": (
        "ステップ数 700,000 と、学習率を下げるステップの倍率"
    ),
    "factor of the 1,000 steps between two networks": "ネットワークを保存する間隔 1,000 ステップの倍率",
    "factor of the 63 games of self-play for each step": "1ステップあたりの自己対局 63 局の倍率",
    "factor of the million games that training samples from": "学習に使う最近の 100 万局の倍率",
    "factor of the 4,096 positions of a step": "バッチサイズ 4,096 の倍率",
    "factor of the learning rate, 0.2 at first": "学習率（最初は 0.2）の倍率",
    "random points": "乱数で打つ点の数",
    "rounds of play": "勝負の回数",
    "of the random numbers (default: another every time)": "乱数のシード（既定：毎回変える）",
    "an A/B test plays instead of you": "A/Bテストが代わりに台を選ぶ",
}
"""The help of an option, without its default."""
