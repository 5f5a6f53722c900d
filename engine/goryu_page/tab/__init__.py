"""The page in a browser tab without a server: what it needs in place of threads, files and sockets."""
