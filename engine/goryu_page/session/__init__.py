"""One tab: its session, the searches that run for it, and the messages that come and go."""
