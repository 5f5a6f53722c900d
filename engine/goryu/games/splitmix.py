"""SplitMix64, the generator of the random words in the Zobrist keys.

A Zobrist key needs random-looking 64-bit words that are the same on every machine and in
every implementation. SplitMix64 gives the k-th word of such a sequence from k alone.

Source: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number
Generators", OOPSLA 2014; the constants are those of S. Vigna's public-domain splitmix64.c.
"""

__all__ = ["GOLDEN_GAMMA", "splitmix64"]

GOLDEN_GAMMA = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio: the step of the generator's state."""

_WORD = (1 << 64) - 1


def splitmix64(x: int) -> int:
    """Returns the generator's next output, in [0, 2^64), when its state is `x`.

    The generator seeded with s produces, for k = 0, 1, 2, ..., `splitmix64(s + k * GOLDEN_GAMMA)`.

    >>> hex(splitmix64(0)), hex(splitmix64(GOLDEN_GAMMA))
    ('0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4')
    """
    x = (x + GOLDEN_GAMMA) & _WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)
