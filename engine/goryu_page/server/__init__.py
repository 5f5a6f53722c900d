"""The server of the page: `goryu web` serves it to this machine, and with `--lan` to paired devices.

`server.py` serves the files and the WebSocket, `security.py` refuses requests of other sites, `views.py`
lists the views.
"""
