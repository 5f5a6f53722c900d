"""The USI protocol: the engine as GUIs see it."""
