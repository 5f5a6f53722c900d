# distutils: language = c++
"""The C++ core, as Cython sees it."""

from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from "core/position.h" namespace "goryu" nogil:
    cdef cppclass Hand:
        int count(int kind)

    cdef cppclass Position:
        int turn()
        int piece(int square)
        Hand hand(int color)
        int king(int color)
        uint64_t position_key()
        cbool in_check()
        cbool can_move(uint16_t move)

cdef extern from "core/move_list.h" namespace "goryu" nogil:
    cdef cppclass MoveList:
        int size()
        uint16_t operator[](int)

cdef extern from "core/movegen.h" namespace "goryu" nogil:
    void core_legal_moves "goryu::legal_moves"(const Position&, MoveList&, cbool all_moves)
    void core_checking_moves "goryu::checking_moves"(const Position&, MoveList&)
    cbool core_is_legal "goryu::is_legal"(const Position&, uint16_t)

cdef extern from "core/rules.h" namespace "goryu" nogil:
    cdef enum class EnteringKing:
        kNone, kPoints24, kPoints24H, kPoints27, kPoints27H, kTry

    cdef enum class Ending:
        kNone, kCheckmate, kNoLegalMove, kDeclaration, kOpponentTried, kFourfold, kMaxPly
        kRepetition, kPerpetualWin, kPerpetualLoss, kSuperior, kInferior

    cdef cppclass CoreRules "goryu::Rules":
        EnteringKing entering_king
        int max_ply
        cbool all_moves
        cbool first_recurrence

    int value_of(Ending)

cdef extern from "core/game.h" namespace "goryu" nogil:
    cdef cppclass Game:
        Game(const Position&, int ply, const CoreRules&) except +
        Game(const Game&) except +
        const Position& position()
        void set_rules(const CoreRules&)
        int turn()
        int ply()
        int length()
        uint16_t move(int)
        uint64_t key()
        void legal_moves(MoveList&)
        void push(uint16_t)
        uint16_t pop()
        Ending repetition()
        cbool recurs(int attacker, int plies)
        Ending outcome()

cdef extern from "core/declaration.h" namespace "goryu" nogil:
    cbool core_can_declare "goryu::can_declare"(const Position&, EnteringKing)
    uint16_t core_try_move "goryu::try_move"(const Position&)

cdef extern from "core/sfen.h" namespace "goryu" nogil:
    cdef cppclass SfenPosition:
        Position position
        int move_number

    cdef cppclass OptionalSfenPosition "std::optional<goryu::SfenPosition>":
        cbool has_value()
        SfenPosition& value()

    OptionalSfenPosition core_parse_sfen "goryu::parse_sfen"(const string&, cbool allow_missing_king) except +
    string core_to_sfen "goryu::to_sfen"(const Position&, int move_number) except +

cdef extern from "core/packed_position.h" namespace "goryu" nogil:
    const int kPackedBytes, kBox

    cdef cppclass CorePieceCode "goryu::PieceCode":
        uint8_t square_bits[32]
        uint8_t square_length[32]
        uint8_t held_bits[24]
        uint8_t held_length[24]
        uint8_t square_of[256]
        uint8_t square_of_length[256]
        uint8_t held_of[128]
        uint8_t held_of_length[128]

    cdef cppclass OptionalPosition "std::optional<goryu::Position>":
        cbool has_value()
        const Position& value()

    OptionalPosition core_unpack "goryu::unpack"(const uint8_t* data, const CorePieceCode& code)
    void core_pack "goryu::pack"(const Position& position, const CorePieceCode& code, uint8_t* data)

cdef extern from "core/perft.h" namespace "goryu" nogil:
    uint64_t core_perft "goryu::perft"(Position&, int depth)

cdef extern from "core/dlshogi.h" namespace "goryu" nogil:
    const int kBoardPlanes, kHandPlanes, kNyugyokuPlanes, kDlshogiLabels
    void core_fill_dlshogi "goryu::fill_dlshogi"(const Position&, cbool sees_nyugyoku, float* board, float* hands)
    int core_dlshogi_label "goryu::dlshogi_label"(uint16_t move, int color)

cdef extern from "core/plane_row.h" namespace "goryu" nogil:
    cdef cppclass PlaneCounts:
        pass

    cdef cppclass PlaneRow[Element]:
        PlaneRow(Element* first, Element* second, PlaneCounts) except +

    cdef cppclass PackedLayout:
        vector[int] places
        size_t bytes
        size_t numbers
        int level_bits

    cdef cppclass BitRow:
        BitRow(const PackedLayout&, uint8_t* bits, float* numbers)

cdef extern from "core/formats.h" namespace "goryu" nogil:
    cdef cppclass CoreFormat "goryu::Format":
        PlaneCounts planes()
        int labels()
        void write(const Game&, PlaneRow[float]&)
        void write(const Game&, PlaneRow[uint16_t]&)
        void write(const Game&, BitRow&)
        int label(uint16_t move, int color)

    cdef cppclass FormatPointer "std::unique_ptr<goryu::Format>":
        CoreFormat* release()

    FormatPointer make_format(const string& name, double draw_value) except +

cdef extern from "core/position_rows.h" namespace "goryu" nogil:
    cdef cppclass RowFormat:
        const CoreFormat* format
        PackedLayout layout
        uint8_t* bits
        float* numbers

    cdef cppclass PositionRows:
        vector[RowFormat] formats
        uint8_t* legal
        size_t legal_bytes
        int16_t* played

        cbool write(size_t row, const Game& start, const uint16_t* moves, int plies, int length) except +

cdef extern from "core/reversi.h" namespace "goryu" nogil:
    cdef enum class ReversiEnding:
        kNone, kLoss, kDraw, kWin

    cbool is_over(ReversiEnding)
    int value_of(ReversiEnding)

    cdef cppclass ReversiGame:
        ReversiGame(int size) except +
        ReversiGame(const ReversiGame&) except +
        int size()
        uint64_t own()
        uint64_t opponent()
        int turn()
        int ply()
        int length()
        uint16_t move(int)
        uint64_t key()
        int disc_difference()
        void legal_moves(MoveList&)
        cbool is_legal(uint16_t)
        void push(uint16_t)
        uint16_t pop()
        ReversiEnding outcome()

cdef extern from "<span>" nogil:
    cdef cppclass MoveSpan "std::span<const goryu::Move>":
        MoveSpan()
        MoveSpan(const uint16_t*, size_t)
        size_t size()
        uint16_t operator[](size_t)

cdef extern from "core/mate.h" namespace "goryu" nogil:
    cdef enum class CoreVerdict "goryu::MateVerdict":
        kMate, kNoMate, kUnknown

    uint16_t core_mate_in_one "goryu::mate_in_one"(Game&) except +

    cdef cppclass Stopper "goryu::MateSearch::Stopper":
        pass

    cdef cppclass MateBudget:
        int64_t nodes
        int64_t shortening_nodes
        size_t capacity

    cdef cppclass MateSearch:
        MateSearch() except +
        CoreVerdict solve(Game&, const MateBudget&, Stopper*) except +
        MoveSpan line()
        int64_t nodes()

cdef extern from "python_state.h" namespace "goryu":
    cdef cppclass PythonStopper(Stopper):
        PythonStopper(PyObject* should_stop) except +

cdef extern from "core/half.h" namespace "goryu" nogil:
    ctypedef uint16_t Half
    Half to_half(double)
    double from_half(Half)
    const double kMaxHalf

cdef extern from "core/repetitions.h" namespace "goryu" nogil:
    cdef cppclass CoreRepetitionStats "goryu::RepetitionStats":
        uint32_t visits
        double value_sum
        double square_sum

    cdef cppclass Repetitions:
        const CoreRepetitionStats& get(uint32_t node, uint32_t move)

cdef extern from "core/node_table.h" namespace "goryu" nogil:
    ctypedef uint32_t NodeIndex
    const NodeIndex kNoNode

    cdef enum class Proof:
        kUnknown, kWin, kLoss, kDraw

    cdef cppclass LegalMove:
        uint16_t move
        Half prior

    cdef cppclass Edge:
        NodeIndex child
        uint32_t visits
        float value
        uint16_t pending
        Proof proof
        cbool has_repetition

    cdef cppclass CoreNode "goryu::Node":
        uint64_t key
        double value
        float variance
        float tried_prior
        float raw_value
        uint32_t raw_visits
        uint32_t total_visits
        uint16_t ply
        uint16_t in_flight
        uint16_t move_count
        uint16_t tried
        uint16_t distance
        Half raw_variance
        Proof proof
        cbool is_complete

    cdef cppclass IndexSet:
        vector[NodeIndex] indices()

    cdef cppclass Capacity:
        uint64_t nodes
        uint64_t bytes

    cdef cppclass CoreNodeTable "goryu::NodeTable":
        uint64_t size()
        const Capacity& capacity()
        cbool is_full()
        uint64_t bytes()
        uint64_t bytes_held()
        int hashfull()
        CoreNode& operator[](NodeIndex)
        const IndexSet& live()
        const LegalMove* moves(const CoreNode&)
        Edge* edges(const CoreNode&)
        void sort_moves(CoreNode&)
        const Repetitions& repetitions()
        NodeIndex find(uint64_t key)
        double edge_value(NodeIndex, int)
        uint32_t child_visits(NodeIndex, int)

cdef extern from "core/state.h" namespace "goryu" nogil:
    cdef cppclass CoreState "goryu::State":
        pass

    cdef cppclass LeafSink:
        pass

cdef extern from "core/game_state.h" namespace "goryu" nogil:
    cdef cppclass ShogiState(CoreState):
        ShogiState(Game&) except +

    cdef cppclass ReversiState(CoreState):
        ReversiState(ReversiGame&) except +

    cdef cppclass NoLeafSink(LeafSink):
        NoLeafSink() except +

    cdef cppclass PackedLeafSink(LeafSink):
        PackedLeafSink(
            const Game&, const CoreFormat&, const PackedLayout&, uint8_t* bits, float* numbers
        ) except +

    cdef cppclass PlaneLeafSink[Element](LeafSink):
        PlaneLeafSink(const Game&, const CoreFormat&, Element* first, Element* second) except +

cdef extern from "python_state.h" namespace "goryu":
    cdef cppclass PythonState(CoreState):
        PythonState(PyObject* state, PyObject* solver) except +

    cdef cppclass PythonLeafSink(LeafSink):
        PythonLeafSink(PyObject* state, PyObject* list) except +

cdef extern from "core/selection.h" namespace "goryu" nogil:
    cdef cppclass CoreFormula "goryu::Formula":
        double c_init, c_base, c_factor, fpu_reduction

    cdef cppclass Selection:
        int select(const CoreNodeTable&, NodeIndex, const vector[cbool]& masked, cbool is_root)
        double untried_value(const CoreNode&)
        double exploration(uint32_t visits)

cdef extern from "core/threads.h" namespace "goryu" nogil:
    cdef cppclass Mutex:
        void lock()
        void unlock()

cdef extern from "core/clock.h" namespace "goryu" nogil:
    cdef cppclass Moment:
        @staticmethod
        Moment now()

    cdef cppclass Spent:
        void add(const Moment&)
        double cpu_s()
        double wall_s()

cdef extern from "core/batch.h" namespace "goryu" nogil:
    cdef cppclass Batch:
        size_t most
        size_t size()
        MoveSpan moves(size_t)
        vector[double] policies
        vector[double] values

cdef extern from "core/puct.h" namespace "goryu" nogil:
    cdef cppclass CoreConfig "goryu::PuctConfig":
        CoreFormula formula
        CoreFormula root_formula
        int batch_size
        int threads
        int mate_nodes
        int mate_nodes_per_visit
        cbool plays_by_bound
        double draw_value

    cdef cppclass CoreProgress "goryu::Progress":
        uint64_t playouts
        uint64_t evaluations
        uint64_t depth_sum
        uint64_t max_depth
        cbool is_exhausted

    cdef cppclass Snapshot:
        CoreProgress progress
        uint64_t nodes
        int hashfull
        cbool is_proven
        int best_move
        int64_t lead

    cdef cppclass CorePuct "goryu::Puct":
        CorePuct(const CoreConfig&, const Capacity&) except +
        void clear()
        void set_config(const CoreConfig&) except +
        void begin(CoreState&, LeafSink&, Batch&, uint64_t max_playouts, uint64_t max_evaluations) except +
        void set_mask(vector[cbool]) except +
        cbool is_finished()
        void gather(CoreState&, LeafSink&, Batch&) except +
        void expand(Batch&) except +
        cbool add_mate(CoreState&, MoveSpan line) except +
        void retract(Batch&)
        void wait_for_others(const Batch&, cbool is_helper)
        Snapshot snapshot()
        Mutex& mutex()
        CoreNodeTable& table()
        NodeIndex root()
        const vector[cbool]& mask()
        const Selection& selection(cbool is_root)

cdef extern from "core/policy.h" namespace "goryu" nogil:
    void answer_hashed(Batch&) except +
    cdef enum class ValueScale:
        kProbability, kLogit, kTanh

    cdef cppclass ValueHeads:
        ValueScale value
        cbool has_draw
        ValueScale draw
        double draw_value
        size_t width
        double read "operator()"(float value, float draw, int turn)

    cbool read_values(
        const Batch&, const ValueHeads&, const float* values, const float* draws, vector[double]& found
    ) except +
    size_t most_moves(const Batch&)
    void write_labels(const Batch&, const CoreFormat&, int32_t* labels, size_t width)
    cbool answer_labels(Batch&, const float* logits, size_t width, const double* values, double temperature) except +
    cbool answer_network(
        Batch&, const CoreFormat&, const float* logits, const double* values, double temperature
    ) except +

cdef extern from "core/winograd.h" namespace "goryu" nogil:
    cdef enum class Instructions:
        kAmx

    cdef enum class Activation:
        kNone

    cdef enum class LayerKind "goryu::Layer::Kind":
        kStem, kInput, kConv3, kConv1, kConv1Bytes, kConv9, kPool, kDense, kSpread, kConv3Bfloat, kConv1Bfloat

    const int kInstructionKinds
    const int kMostPositions "goryu::WinogradNetwork::kMostPositions"
    const char* name_of(Instructions)
    cbool is_usable(Instructions)
    cbool has_bytes(Instructions)
    cbool has_bfloats(Instructions)

    cdef cppclass AlignedFloats "goryu::Aligned<float>":
        void assign(const float*, size_t) except +

    cdef cppclass AlignedHalves "goryu::Aligned<std::int16_t>":
        void assign(const short*, size_t) except +

    cdef cppclass CoreLayer "goryu::Layer":
        LayerKind kind
        Activation activation
        int source "from"
        int to, residual, scale, shift, inputs, outputs, groups, used, width, mean_at, maximum_at
        float level
        AlignedHalves weights16
        AlignedFloats weights32
        AlignedHalves hands16
        AlignedFloats hands32
        AlignedFloats factors
        AlignedFloats totals
        AlignedFloats bias

    cdef cppclass Features:
        pass

    cdef cppclass NetworkInputs:
        const Features* features
        const float* planes

    cdef cppclass Workspace:
        Workspace(const CoreWinograd&) except +

    cdef cppclass CoreWinograd "goryu::WinogradNetwork":
        CoreWinograd(Instructions, cbool is_integer, vector[int] maps, vector[int] vectors) except +
        void add(CoreLayer&) except +
        void set_outputs(int policy, vector[float] policy_bias, int value, double steepness) except +
        void run(NetworkInputs, int positions, Workspace&)
        float logit(const Workspace&, int n, int label)
        double value(const Workspace&, int n)

    void fill_features_of_planes "goryu::fill_features"(const float* board, const float* hands, int planes, Features&)

    cdef cppclass NetworkSink(LeafSink):
        pass

    cdef cppclass FeatureSink(NetworkSink):
        FeatureSink(const Game&, cbool sees_nyugyoku) except +

    cdef cppclass PlaneSink(NetworkSink):
        PlaneSink(const Game&, const CoreFormat&) except +

    cbool answer_winograd(
        const CoreWinograd&, const CoreFormat&, const NetworkSink&, double temperature, Batch&, Workspace&
    ) except +

cdef extern from "core/winograd_weights.h" namespace "goryu" nogil:
    cdef cppclass FloatSpan "std::span<const float>":
        FloatSpan()
        FloatSpan(const float*, size_t)

    void round_convolution(CoreLayer&, FloatSpan weights, cbool is_positive) except +
    void round_to_bfloats(CoreLayer&, FloatSpan weights) except +
    void round_stem(CoreLayer&, FloatSpan board, FloatSpan hands) except +
