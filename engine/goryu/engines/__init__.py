"""Other people's engines: USI processes, their clocks, and the file in which the user names them."""
