"""The Japanese messages: English text -> Japanese text with the same {fields}; see `language.py`."""

MESSAGES: dict[str, str] = {
    # goryu play
    "draw: {reason}": "引き分け：{reason}",
}
