"""The browser page: `goryu web` serves it to this machine and runs the searches behind it.

`server.py` serves the page and its WebSocket, `security.py` refuses requests of other sites, `session.py`
holds the session of a tab and its searches, `views.py` lists the views. A view is a Python class and a
module of JavaScript, and docs/page.md explains how to write one.
"""
