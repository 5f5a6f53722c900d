"""Node, NodeTable: views of the packed graph that read like goryu.search.node_table; and the formula's parts."""

from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from goryu.search.node_table import RepetitionStats


cdef extern from "core/half.h" namespace "goryu" nogil:
    ctypedef uint16_t Half
    Half to_half(double)
    double from_half(Half)
    const double kMaxHalf

cdef extern from "core/repetitions.h" namespace "goryu" nogil:
    cdef cppclass CorePathEnd "goryu::RepetitionStats":
        uint32_t visits
        double value_sum
        double square_sum

    cdef cppclass Repetitions:
        const CorePathEnd& get(uint32_t node, uint32_t move)

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
        uint16_t pending
        uint16_t has_repetition

    cdef cppclass CoreNode "goryu::Node":
        uint64_t key
        double value
        double mean_square
        float raw_value
        uint32_t total_visits
        uint32_t ply
        uint16_t in_flight
        uint16_t move_count
        uint16_t tried
        uint16_t distance
        Proof proof
        cbool is_complete

    cdef cppclass IndexSet:
        vector[NodeIndex] places()

    cdef cppclass Capacity:
        uint64_t nodes
        uint64_t bytes

    cdef cppclass CoreNodeTable "goryu::NodeTable":
        uint64_t size()
        const Capacity& capacity()
        cbool is_full()
        cbool is_exhausted()
        uint64_t bytes()
        int hashfull()
        CoreNode& operator[](NodeIndex)
        const IndexSet& live()
        const LegalMove* moves(const CoreNode&)
        Edge* edges(const CoreNode&)
        void sort_moves(CoreNode&)
        const Repetitions& repetitions()
        NodeIndex find(uint64_t key, uint32_t ply)
        double edge_value(NodeIndex, int)
        uint32_t child_visits(NodeIndex, int)
        cbool is_lost(NodeIndex, int)
        cbool is_won(NodeIndex, int)


def half(double x):
    """Returns `x`, in [0, 65504], rounded to the nearest IEEE half."""
    if not 0.0 <= x <= kMaxHalf:
        raise ValueError(f"expected a number in [0, 65504], received {x}")
    return from_half(to_half(x))


cdef class NodeTable
cdef class Puct


cdef class Node:
    """A look at one node; it shows the graph as it is when an attribute is first read."""

    cdef readonly NodeTable table
    cdef NodeIndex place
    cdef dict _lists

    cdef CoreNode* core(self):
        return &self.table.core()[0][self.place]

    @property
    def key(self):
        return self.core().key

    @property
    def ply(self):
        return self.core().ply

    @property
    def tried(self):
        """Moves at this index and beyond were never started."""
        return self.core().tried

    @property
    def in_flight(self):
        return self.core().in_flight

    @property
    def total_visits(self):
        """N: 1 for the node's own evaluation, plus the visits of its moves."""
        return self.core().total_visits

    @property
    def raw_value(self):
        """V"""
        return self.core().raw_value

    @property
    def value(self):
        """Q"""
        return self.core().value

    @property
    def mean_square(self):
        """Mean of the squared values behind Q."""
        return self.core().mean_square

    @property
    def proof(self):
        return <int>self.core().proof

    @property
    def distance(self):
        """Plies to the end that is proven."""
        return self.core().distance

    @property
    def is_complete(self):
        return self.core().is_complete

    @property
    def moves(self):
        return self._list("moves")

    @property
    def priors(self):
        return self._list("priors")

    @property
    def visits(self):
        return self._list("visits")

    @property
    def pending(self):
        return self._list("pending")

    @property
    def children(self):
        return self._list("children")

    cdef list _list(self, str name):
        cdef list values = self._lists.get(name)
        cdef CoreNode* node = self.core()
        cdef const LegalMove* moves = self.table.core().moves(node[0])
        cdef const Edge* edges = self.table.core().edges(node[0])
        cdef int i
        if values is not None:
            return values
        self.table.core().sort_moves(node[0])
        if name == "moves":
            values = [moves[i].move for i in range(node.move_count)]
        elif name == "priors":
            values = [from_half(moves[i].prior) for i in range(node.move_count)]
        elif name == "visits":
            values = [edges[i].visits if i < node.tried else 0 for i in range(node.move_count)]
        elif name == "pending":
            values = [edges[i].pending if i < node.tried else 0 for i in range(node.move_count)]
        else:
            values = [
                self.table.node(edges[i].child) if i < node.tried else None for i in range(node.move_count)
            ]
        self._lists[name] = values
        return values

    def __eq__(self, other):
        return (
            isinstance(other, Node)
            and (<Node>other).table.owner is self.table.owner
            and (<Node>other).place == self.place
        )

    def __hash__(self):
        return hash(self.place)


cdef class NodeTable:
    """The nodes of a search; it only shows them."""

    cdef Puct owner

    cdef CoreNodeTable* core(self):
        return &self.owner.core.table()

    cdef Node node(self, NodeIndex place):
        if place == kNoNode:
            return None
        cdef Node node = Node.__new__(Node)
        node.table = self
        node.place = place
        node._lists = {}
        return node

    @property
    def capacity(self):
        return self.core().capacity().nodes

    @property
    def capacity_bytes(self):
        return self.core().capacity().bytes

    @property
    def is_full(self):
        """Is there no room for another node?"""
        return self.core().is_full()

    @property
    def bytes_used(self):
        """Memory that is held for nodes, index, moves, edges and path ends."""
        return self.core().bytes()

    @property
    def is_exhausted(self):
        """Is there no room even for what is known of the nodes that are stored?"""
        return self.core().is_exhausted()

    @property
    def hashfull(self):
        """How full the table is, in thousandths, by nodes or by bytes."""
        return self.core().hashfull()

    def __len__(self):
        return self.core().size()

    def __iter__(self):
        cdef NodeIndex place
        for place in self.core().live().places():
            yield self.node(place)

    @property
    def repetitions(self):
        """The path ends by (key of the node, index of the move)."""
        cdef CoreNodeTable* table = self.core()
        cdef NodeIndex place
        cdef CorePathEnd end
        cdef int i
        cdef dict found = {}
        for place in table.live().places():
            for i in range(table[0][place].tried):
                if table.edges(table[0][place])[i].has_repetition:
                    end = table.repetitions().get(place, i)
                    found[table[0][place].key, i] = RepetitionStats(end.visits, end.value_sum, end.square_sum)
        return found

    def find(self, uint64_t key, uint32_t ply):
        """Returns the node of this position, if it is known."""
        return self.node(self.core().find(key, ply))

    def edge_value(self, Node node, int i):
        """Returns Q(a) of a visited move, for the side to move at `node`."""
        assert 0 <= i < node.tried and node.visits[i]
        return self.core().edge_value(node.place, i)

    def child_visits(self, Node node, int i):
        """Returns how many of the visits of move `i` went on into its child."""
        return self.core().child_visits(node.place, i) if 0 <= i < node.tried else 0

    def is_lost(self, Node node, int i):
        """Is move `i` proven to lose?"""
        return self.core().is_lost(node.place, i)

    def is_won(self, Node node, int i):
        """Is move `i` proven to win?"""
        return self.core().is_won(node.place, i)
