"""The help of the USI options in Japanese, for `goryu options`; the protocol never sends it."""

USI_OPTIONS = {
    "USI_Ponder": "相手の手番中の先読みをGUIに許可する。一手にかける時間の目安も長くなる。",
    "Stochastic_Ponder": "先読みで、予想手だけでなく相手のすべての手を考える。",
    "USI_Hash": "探索グラフに使うメモリ。0なら1 GB、GPUを使うときはメインメモリ（RAM）の4分の1。",
    "Threads": "デバイスごとの探索スレッド数。1コアあたり合計4まで。0ならマシンとネットワークごとに一度だけ"
    "測って決める（DNN_Batch_Sizeも0ならバッチサイズも）。1スレッドの探索は完全に再現できる。",
    "MultiPV": "表示する読み筋の数。",
    "Preset": (
        "mcts-player: python-dlshogiのMCTS_playerと同じように答える。"
        "オプションの名前と既定値もそれに合わせる。変更したオプションの値はそのまま。"
    ),
    "Algorithm": (
        "指し手を選ぶ方法。puctがこのエンジンの探索で、詰みを探すのはこれだけ。ほかは書籍や解説記事のもの（docs/algorithms.ja.mdを参照）。"
    ),
    "AlphaBeta_Value": "アルファベータ法の末端の評価。駒の損得、またはEvaluatorの価値。",
    "Policy_Temperature": (
        "Algorithmがpolicyのとき、方策の確率にこの温度をかけて手を選ぶ。100は方策の確率どおり、0は最も確率の高い手。"
    ),
    "Evaluator": "局面を評価するもの。ネットワーク、駒の損得、評価なし、テスト用の再現できる乱数。",
    "DNN_Model": "ONNXモデル。空なら、手元にあってこのマシンで無理なく動く最強のネットワーク。",
    "EvalDir": "相対パスのDNN_Modelを最初に探すフォルダ。",
    "DNN_Format": (
        "モデルの形式（入力特徴量と指し手のラベルの並び）。autoはファイルから判別する。指定が要るのは、"
        "goryu convertを使わずに変換した『将棋AIで学ぶディープラーニング』のモデル（python-dlshogi）だけ。"
    ),
    "Backend": (
        "ネットワークを計算するバックエンド。autoはCUDA、DirectML、CPUのうち、最初に使えたもの。cpuは、対応するネットワークなら独自のコード"
        "（winograd）、それ以外はonnxruntime。"
    ),
    "AllowFallback": "モデルやバックエンドが使えないとき、投了せず、その旨を報告して代わりのもので指す。",
    "Device": "GPUの番号。複数のGPUは0,1のように並べる。-1はCPU。",
    "DNN_FP16": "GPUで16ビット浮動小数点数を使う。autoではCUDAとDirectMLで、32ビットとほぼ同じ答えになる"
    "モデルに限る。onではonnxruntimeのほかのバックエンドでも使い、使えなければエラーにする。",
    "DNN_Batch_Size": "一度に評価する局面数。0ならCPUで1か2か4、GPUで128。大きいほど探索は粗くなる。",
    "Softmax_Temperature": "方策の温度。100はそのまま、高いほど広く探索する。",
    "UCT_NodeLimit": "探索グラフの局面数の上限。USI_Hashも参照。",
    "C_init": "探索定数。",
    "C_base": "この訪問回数のあたりから探索定数が大きくなる。",
    "C_fpu_reduction": "未訪問の手を、局面の評価よりどれだけ悪いとみなすか。",
    "C_init_root": "ルートでのC_init。",
    "C_base_root": "ルートでのC_base。",
    "C_fpu_reduction_root": "ルートでのC_fpu_reduction。",
    "Final_Move": "指す手。lcbは信頼下限が最大の手、visitsは訪問回数が最大の手。",
    "LeafDfpnNodesLimit": "新しい局面ごとの詰み探索のノード数。0なら探さない。Pythonの探索では1まで。",
    "DfpnNodesPerVisit": (
        "訪問回数が32、64、128、256、512になった局面で詰みを探し直す。その一回あたりのノード数。"
        "0なら探し直さない。Pythonの探索では0。"
    ),
    "RootMateSearchNodesLimit": "指す前の詰み探索のノード数。0なら探さない。",
    "ReplyMateSearchNodesLimit": (
        "指そうとする手のあとで、相手からの詰みを探すノード数。詰むなら別の手を指す。0なら探さない。"
        "40000で最大75ミリ秒、平均は2ミリ秒。"
    ),
    "Mate_Solver": "go mateに探索で答える。falseならnotimplementedと答える。",
    "ReuseSubtree": "前の探索の結果を引き継ぐ。",
    "NodesLimit": (
        "一手で評価する局面数。持ち時間によらない。uctとflat-mcではランダム対局の数。0なら制限しない。"
    ),
    "NodesLimit_Early_Stop": (
        "局面数を決めた探索（NodesLimit、go nodes N）を、ほかの手が追いつけなくなったところで打ち切る"
        "（python-dlshogiと同じ）。"
    ),
    "DepthLimit": (
        "最も長いプレイアウトがこの手数になるか、アルファベータ法がこの深さまで読んだら終わる。0なら制限しない。"
    ),
    "Level": (
        "強さ。1ははじめて指す子ども向け、10と0は全力。検討とpuct以外のAlgorithmには影響しない。"
        "9までは定跡を使わず、プレイアウト数は持ち時間によらない。"
    ),
    "USI_LimitStrength": "Levelが0のとき、USI_Eloに最も近いレベルで指す。",
    "USI_Elo": "USI_LimitStrengthのレーティング。値はレベルの表のもの。",
    "MaxMovesToDraw": "この手数で引き分け。0ならなし。",
    "DrawValueBlack": "先手のときの引き分けの価値。",
    "DrawValueWhite": "後手のときの引き分けの価値。",
    "EnteringKingRule": "入玉で勝ちとなる条件。",
    "First_Recurrence": "探索中は同一局面の2回目を千日手とみなす。falseなら4回目だけ。",
    "GenerateAllLegalMoves": "歩や角、飛車の不成など、得のない不成も探索する。",
    "NetworkDelay": "指してからGUIの時計が止まるまでの遅れの平均。",
    "NetworkDelay2": "NetworkDelayの遅れの最大。持ち時間と秒読みから差し引く（半分まで）。",
    "Time_Margin": "秒読みがないときに持ち時間から差し引く時間（半分まで）。",
    "MinimumThinkingTime": "これより早く指さない。勝敗が読み切れた手と唯一の合法手は除く。",
    "SlowMover": "一手にかける時間の、標準に対する割合。",
    "RoundUpToFullSecond": "GUIの時計が秒単位のとき、始まった1秒を使い切る。",
    "Byoyomi_Early_Stop": "秒読みでも、ほかの手が追いつけなくなったらすぐ指す。",
    "PvInterval": "info行の間隔。0なら最後だけ。",
    "Eval_Coef": (
        "勝率pの評価値は Eval_Coef * ln(p / (1 - p))。285ならほかのエンジンと同じくらいの値になる。"
        "GUIの係数（多くは600）に合わせると、GUIの勝率がエンジンの勝率と一致する。"
    ),
    "Resign_Threshold": "勝率がこれより低いと投了する。0なら投了しない。Resign_Percentとの大きいほうが有効。",
    "Resign_Percent": (
        "勝率（%）がこれより低いと投了する。python-dlshogi、python-dlshogi2と同じ。0なら投了しない。"
    ),
    "DebugMessage": "指す前にすべての手の表を、positionの後にSFENを表示する。",
    "DebugMessage_Order": "DebugMessageの表の順序。訪問回数の多い順か、python-shogiが合法手を生成する順。",
    "LogFile": "GUIとのやりとりとライブラリのメッセージを書き込むファイル。",
    "USI_OwnBook": "定跡を使う。",
    "BookFile": (
        "やねうら王（.db、.ybb）、ShogiGUI（.sbk）、Apery（.bin）の定跡ファイル。セミコロンで区切ると複数を使う。空なら、"
        "Goryuのネットワークが持ち時間のある対局を"
        "全力で指すときだけ、付属の定跡を使う。no_bookなら使わない。"
    ),
    "BookDir": "相対パスのBookFileを最初に探すフォルダ。",
    "BookMoves": "この手数まで定跡を使う。",
    "BookIgnoreRate": "定跡を使わずに指す対局の割合。",
    "Best_Book_Move": "定跡の最善手だけを指す。",
    "ConsiderBookMoveCount": "定跡手を採用数に比例して選ぶ。falseなら均等に選ぶ。",
    "NarrowBook": "採用率10%未満の定跡手を使わない。",
    "BookEvalDiff": "定跡の最善手より評価値がどれだけ低い手まで指すか。",
    "BookEvalBlackLimit": "先手で指す定跡手の評価値の下限。",
    "BookEvalWhiteLimit": "後手で指す定跡手の評価値の下限。",
    "Min_Book_Score": "先後どちらでも、指す定跡手の評価値の下限。",
    "BookDepthLimit": "定跡の最善手の探索深さがこれより浅ければ使わない。0なら常に使う。",
    "BookPvMoves": "表示する定跡の手順の長さ。",
    "IgnoreBookPly": "局面を調べるとき手数を無視する。",
    "FlippedBook": "先後を入れ替えた局面も定跡から探す。",
    "Random_Ply": "この手数まで、訪問回数に応じて手をランダムに選ぶ。0なら選ばない。",
    "Random_Temperature": "1000は訪問回数に比例。高いほど均等に選ぶ。",
    "Random_Temperature_Drop": "エンジンが一手指すごとにRandom_Temperatureが下がる量。",
    "Random_Cutoff": "ランダムに選ぶ手は、最善手よりどれだけ悪くてもよいか。",
    "Random_Cutoff_Drop": "エンジンが一手指すごとにRandom_Cutoffが下がる量。",
    "Random2_Ply": "この手数まで、ときどき手をランダムに選ぶ。0なら選ばない。",
    "Random2_Probability": "手をランダムに選ぶ確率。",
    "Random2_Temperature": "Random2_Plyで選ぶときのRandom_Temperature。",
    "Random2_Cutoff": "Random2_Plyで選ぶときのRandom_Cutoff。",
    "Random2_Value_Limit": "勝率がこれより高いときはランダムに選ばない。",
    "Seed": "すべての乱数のシード。0なら毎回変わる。",
    "Clear_Hash": "探索の結果をすべて消す。",
}
"""Option name -> help."""
