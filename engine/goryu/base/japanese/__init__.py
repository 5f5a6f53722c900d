"""What Goryu says in Japanese: English text -> Japanese text with the same {fields}; see `language.py`.

messages.py: what commands print. commands.py: the help of their options. usi_options.py: that of the USI
options, by name. The page in the browser has its own texts, web/static/js/i18n.js, which no Python reads.
"""

from goryu.base.japanese.commands import ABOUT, OPTIONS
from goryu.base.japanese.messages import TEXTS

__all__ = ["MESSAGES"]

MESSAGES = {**TEXTS, **ABOUT, **OPTIONS}
