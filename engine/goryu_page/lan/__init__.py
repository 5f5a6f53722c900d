"""Devices of the local network: where the page can be reached, how a device is paired, and what it may do."""
