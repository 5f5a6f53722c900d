"""The files that a training reads, as the command line names them."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

from goryu.base.config_fields import check_ranges, ranged
from goryu.base.errors import InputError


@dataclass(frozen=True, slots=True)
class Source:
    """A file of records or of games (`*.games`) and its weights.

    scale: centipawns at which the teacher's win odds are e : 1; every teacher has its own. None where another
        teacher makes the targets.
    result_weight: share of the game's result in the value target, in [0, 1]; the rest is the teacher's score.
    repeat: how often each position counts in one pass.
    """

    path: Path
    scale: float | None = None
    result_weight: float = ranged(0.3, least=0, most=1)
    repeat: int = ranged(1)

    def __post_init__(self) -> None:
        """Raises InputError for numbers out of range."""
        if self.scale is not None and not 0.0 < self.scale < math.inf:
            raise InputError(f"scale: expected a finite number above 0, received {self.scale:g}")
        check_ranges(self)

    @property
    def name(self) -> str:
        """The file's name without its suffixes (`.games`, `.hcpe`, `.hcpe.xz`)."""
        return self.path.name.split(".")[0]


def parse_source(text: str) -> Source:
    """Returns the source that FILE[,SCALE[,RESULT_WEIGHT[,REPEAT]]] describes.

    >>> source = parse_source("a.hcpe,540,0.5")
    >>> source.name, source.scale, source.result_weight, source.repeat
    ('a', 540.0, 0.5, 1)

    Raises InputError for other texts.
    """
    path, _, rest = text.partition(",")
    numbers = rest.split(",") if rest else []
    try:
        if not path or len(numbers) > 3 or text.endswith(","):
            raise InputError(f"found {len(numbers)} numbers")
        source = Source(Path(path))
        if numbers:
            source = replace(source, scale=float(numbers[0]))
        if len(numbers) > 1:
            source = replace(source, result_weight=float(numbers[1]))
        if len(numbers) > 2:
            source = replace(source, repeat=int(numbers[2]))
        return source
    except ValueError as error:
        form = "FILE[,SCALE[,RESULT_WEIGHT[,REPEAT]]]"
        raise InputError(f"expected {form}, received {text!r}: {error}") from error
