"""The commands of `goryu`, one file each: arguments and printing.

common.py is the frame of every command. config_options.py makes options from the fields of a config: their
names, defaults, ranges and help stand there once. Help is English here; the Japanese is in the package's
folder `locale`: that of an option in texts.ja.toml, what a command prints above its options in
descriptions.ja.toml.
"""
