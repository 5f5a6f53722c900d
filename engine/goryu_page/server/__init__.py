"""The server of the page: `goryu web` serves it to this machine, and with `--lan` to paired devices.

`server.py` serves the page and the WebSocket, `index.py` and `files.py` make its files, `backup.py` copies
the database, `security.py` refuses requests of other sites.
"""
