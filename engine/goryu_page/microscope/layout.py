"""Places the positions of a tree: parents over the middle of their children, subtrees as close as they fit.

Source: E. M. Reingold, J. S. Tilford, "Tidier Drawings of Trees", IEEE Transactions on Software Engineering,
1981. Contours are compared row by row, which is slower than their threads and a few lines long.
"""

from collections.abc import Mapping, Sequence

Contour = list[tuple[float, float]]
"""The least and the greatest place in each row of a subtree, relative to its root."""


def places(root: str, children: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Returns the place of each position within its row, in units of one position; the least is 0."""
    offsets: dict[str, float] = {}
    contour = _arrange(root, children, offsets)
    found: dict[str, float] = {}
    waiting = [(root, -min(least for least, _ in contour))]
    while waiting:
        key, place = waiting.pop()
        found[key] = place
        waiting += [(child, place + offsets[child]) for child in children.get(key, ())]
    return found


def _arrange(key: str, children: Mapping[str, Sequence[str]], offsets: dict[str, float]) -> Contour:
    """Notes the offset of each position from its parent, for a subtree; returns the subtree's contour."""
    below: Contour = []
    positions: list[float] = []
    for child in children.get(key, ()):
        contour = _arrange(child, children, offsets)
        shift = max((b[1] + 1.0 - c[0] for b, c in zip(below, contour, strict=False)), default=0.0)
        positions.append(shift)
        moved = [(least + shift, most + shift) for least, most in contour]
        shared = [(b[0], c[1]) for b, c in zip(below, moved, strict=False)]
        below = shared + below[len(shared) :] + moved[len(shared) :]
    if not positions:
        return [(0.0, 0.0)]
    middle = (positions[0] + positions[-1]) / 2.0
    for child, position in zip(children[key], positions, strict=True):
        offsets[child] = position - middle
    return [(0.0, 0.0), *((least - middle, most - middle) for least, most in below)]
