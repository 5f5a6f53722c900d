"""Small tables of nodes, made by hand."""

from goryu.games.state import Move
from goryu.search.graph.node import LOSS, WIN, Node
from goryu.search.graph.node_table import NodeTable


def table_with(moves: int, value: float = 0.0) -> tuple[NodeTable, Node]:
    """Returns a table that holds a node with this number of moves, none of them tried."""
    table = NodeTable(1000)
    return table, table.add(Node(0, 0, [Move(i) for i in range(moves)], [1 / 8] * moves, value))


def lead(table: NodeTable, node: Node, i: int, visits: int, value: float, variance: float = 0.0) -> Node:
    """Visits move `i` and gives it a child of this value."""
    child = node.children[i] = table.add(Node(100 + i, 1, [Move(0)], [1.0], value))
    child.variance = variance
    table.try_moves(node, i + 1)
    node.visits[i] = visits
    return child


class Graph:
    """Nodes by name; each has two moves."""

    def __init__(self, capacity: int = 1000) -> None:
        self.table = NodeTable(capacity)
        self.nodes: dict[str, Node] = {}

    def node(self, name: str, value: float = 0.0) -> Node:
        if name not in self.nodes:
            node = Node(len(self.nodes) + 1, 0, [Move(1), Move(2)], [0.5, 0.5], value)
            self.nodes[name] = self.table.add(node)
        return self.nodes[name]

    def edge(self, parent: str, i: int, child: str, visits: int = 1) -> None:
        node = self.node(parent)
        node.children[i], node.visits[i] = self.node(child), visits
        self.table.try_moves(node, i + 1)
        node.total_visits += visits

    def names(self) -> set[str]:
        return {name for name, node in self.nodes.items() if self.table.find(node.key) is node}


def proven_graph() -> Graph:
    """root -> a (mates in 3) -> b -> c (mates in 1) -> d; from b the other move is mated at once."""
    graph = Graph()
    graph.edge("root", 0, "a", visits=3)
    for parent, i, child in (("a", 0, "b"), ("b", 0, "e"), ("b", 1, "c"), ("c", 1, "d"), ("e", 0, "f")):
        graph.edge(parent, i, child)
    for name, proof, distance in (
        *(("a", WIN, 3), ("b", LOSS, 2), ("c", WIN, 1), ("d", LOSS, 0), ("e", WIN, 1), ("f", LOSS, 0)),
    ):
        graph.node(name).set_proof(proof, distance, 1.0 if proof == WIN else -1.0)
    graph.node("e").distance = 1
    return graph
