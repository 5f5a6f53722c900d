"""What Goryu says in Japanese: English text -> Japanese text with the same {fields}; see `language.py`.

messages.py: what commands print. commands.py: the help of their options; training.py: that of the commands
that train networks. usi_options.py: that of the USI options, by name. The page in the browser has its own
texts, web/static/js/i18n.js, which no Python reads.
"""

from goryu.base.japanese import commands, training
from goryu.base.japanese.messages import TEXTS

__all__ = ["DESCRIPTIONS", "MESSAGES"]

MESSAGES = {**TEXTS, **commands.ABOUT, **commands.OPTIONS, **training.OPTIONS}

DESCRIPTIONS = commands.DESCRIPTIONS | training.DESCRIPTIONS
"""What a command prints above its options, by its name."""
