"""Node, NodeTable: read-only views of the packed graph, with the attributes of the Python classes."""

from goryu.search.graph.node import RepetitionStats


def half(double x):
    """Returns `x`, in [0, 65504], rounded to the nearest IEEE half."""
    if not 0.0 <= x <= kMaxHalf:
        raise ValueError(f"expected a number in [0, 65504], received {x}")
    return from_half(to_half(x))


cdef class NodeTable
cdef class Puct


cdef class Node:
    """One position: its evaluation, and statistics of each of its moves.

    Values are for the side to move here. Moves are sorted by falling prior, ties by the move: all untried
    moves share one assumed value, so the first of them always has the greatest score.
    """

    cdef readonly NodeTable table
    cdef NodeIndex index
    cdef dict _lists  # An attribute that is a list is read once.

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
    """Finds nodes by key, and computes their values."""

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
    def capacity(self):
        return self.core().capacity().nodes

    @property
    def capacity_bytes(self):
        return self.core().capacity().bytes

    @property
    def is_full(self):
        """Is it time to `make_room`?"""
        return self.core().is_full()

    @property
    def bytes_used(self):
        """Memory in use, if every node were packed."""
        return self.core().bytes()

    @property
    def bytes_held(self):
        """Memory that is held for them; at most 1.25 times `capacity_bytes` (only in the native table)."""
        return self.core().bytes_held()

    @property
    def hashfull(self):
        """How full the table is, in thousandths, by nodes or by bytes."""
        return self.core().hashfull()

    def __len__(self):
        return self.core().size()

    def __iter__(self):
        cdef NodeIndex index
        for index in self.core().live().indices():
            yield self.node(index)

    @property
    def repetitions(self):
        cdef CoreNodeTable* table = self.core()
        cdef NodeIndex index
        cdef CoreRepetitionStats stats
        cdef int i
        cdef dict found = {}
        for index in table.live().indices():
            for i in range(table[0][index].tried):
                if table.edges(table[0][index])[i].has_repetition:
                    stats = table.repetitions().get(index, i)
                    found[table[0][index].key, i] = RepetitionStats(stats.visits, stats.value_sum, stats.square_sum)
        return found

    def find(self, uint64_t key):
        """Returns the node of this position, if it is known."""
        return self.node(self.core().find(key))

    def edge_value(self, Node node, int i):
        """Returns Q(a) of a visited move, for the side to move at `node`."""
        assert 0 <= i < node.tried and (node.visits[i] or node.children[i] is not None)
        return self.core().edge_value(node.index, i)

    def child_visits(self, Node node, int i):
        """Returns how many playouts through move `i` went on into its child."""
        return self.core().child_visits(node.index, i) if 0 <= i < node.tried else 0

    def child_proof(self, Node node, int i):
        """Returns what is proven of the child behind move `i`.

        Behind an edge with repetitions nothing is: on another path its playouts might have gone on.
        """
        return <int>self.core().child_proof(node.core()[0], i)

    def proving_move(self, Node node):
        """Returns the first of the best proven moves: nearest win, farthest draw, farthest loss; else -1."""
        return self.core().proving_move(node.core()[0])

    def is_certain(self, Node node, int i):
        """Is the value of move `i` of a root certain: is it proven, or does it repeat a position?

        Other nodes are reached by several paths, and a move may repeat a position of one and not of another.
        """
        return self.core().is_certain(node.index, i)

    def is_lost(self, Node node, int i):
        """Is move `i` proven to lose?"""
        return self.core().is_lost(node.index, i)

