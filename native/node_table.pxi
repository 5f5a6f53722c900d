"""Node, NodeTable, Memory: read-only views of the packed graph, with the attributes of the Python classes."""

from goryu.search.graph.node import RepetitionStats


def half(double x):
    """Returns `x`, in [0, 65504], rounded to the nearest IEEE half."""
    if not 0.0 <= x <= kMaxHalf:
        raise ValueError(f"expected a number in [0, 65504], received {x}")
    return from_half(to_half(x))


cdef class Memory
cdef class NodeTable
cdef class Puct


cdef class Node:
    """One position: its evaluation, and statistics of each of its moves.

    Values are for the side to move here. Moves are sorted by falling prior, ties by the move: all untried
    moves share one assumed value, so the first of them always has the greatest score.
    """

    cdef readonly NodeTable table
    cdef NodeIndex index
    cdef dict _lists  # An attribute that is a list or a dict is read once.

    cdef CoreNode* core(self):
        return &self.table.core()[0][self.index]

    @property
    def key(self):
        return self.core().key

    @property
    def ply(self):
        return self.core().ply

    @property
    def tried(self):
        return self.core().tried

    @property
    def tried_prior(self):
        return self.core().tried_prior

    @property
    def in_flight(self):
        return self.core().in_flight

    @property
    def total_visits(self):
        return self.core().total_visits

    @property
    def raw_value(self):
        return self.core().raw_value

    @property
    def raw_visits(self):
        return self.core().raw_visits

    @property
    def raw_variance(self):
        return from_half(self.core().raw_variance)

    @property
    def value(self):
        return self.core().value

    @property
    def variance(self):
        return self.core().variance

    @property
    def proof(self):
        return <int>self.core().proof

    @property
    def distance(self):
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

    @property
    def values(self):
        return self._list("values")

    @property
    def proofs(self):
        return self._list("proofs")

    @property
    def repetitions(self):
        cdef CoreNode* node = self.core()
        cdef CoreRepetitionStats stats
        cdef dict found = self._lists.get("repetitions")
        cdef int i
        if found is None:
            found = self._lists["repetitions"] = {}
            for i in range(node.tried):
                if self.table.core().edges(node[0])[i].has_repetition:
                    stats = self.table.core().repetitions().get(self.index, i)
                    found[i] = RepetitionStats(stats.visits, stats.value_sum, stats.square_sum)
        return found

    def edge_value(self, int i):
        """Returns Q(a) of a visited move, for the side to move here."""
        assert 0 <= i < self.tried and (self.visits[i] or self.children[i] is not None)
        return self.table.core().edge_value(self.index, i)

    def child_visits(self, int i):
        """Returns how many playouts through move `i` went on into its child."""
        return self.table.core().child_visits(self.index, i) if 0 <= i < self.tried else 0

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
        elif name == "values":
            values = [edges[i].value if i < node.tried else 0.0 for i in range(node.move_count)]
        elif name == "proofs":
            values = [<int>edges[i].proof if i < node.tried else 0 for i in range(node.move_count)]
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
            and (<Node>other).index == self.index
        )

    def __hash__(self):
        return hash(self.index)


cdef class NodeTable:
    """The nodes of a graph, by their keys."""

    cdef Puct owner

    cdef CoreNodeTable* core(self):
        return &self.owner.core.table()

    cdef Node node(self, NodeIndex index):
        if index == kNoNode:
            return None
        cdef Node node = Node.__new__(Node)
        node.table = self
        node.index = index
        node._lists = {}
        return node

    @property
    def memory(self):
        cdef Memory memory = Memory.__new__(Memory)
        memory.table = self
        return memory

    def __len__(self):
        return self.core().size()

    def __iter__(self):
        cdef NodeIndex index
        for index in self.core().live().indices():
            yield self.node(index)

    def find(self, uint64_t key):
        """Returns the node of this position, if it is known."""
        return self.node(self.core().find(key))


cdef class Memory:
    """Counts the nodes of a table and their bytes."""

    cdef NodeTable table

    @property
    def capacity(self):
        return self.table.core().capacity().nodes

    @property
    def capacity_bytes(self):
        return self.table.core().capacity().bytes

    @property
    def is_full(self):
        """Is it time to make room?"""
        return self.table.core().is_full()

    @property
    def bytes_used(self):
        """Memory in use."""
        return self.table.core().bytes()

    @property
    def bytes_held(self):
        """Memory that is held for them; at most 1.25 times `capacity_bytes` (only in C++)."""
        return self.table.core().bytes_held()

    @property
    def hashfull(self):
        """How full it is, in thousandths."""
        return self.table.core().hashfull()
