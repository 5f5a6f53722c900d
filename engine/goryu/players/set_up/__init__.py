"""From the config to what plays: the model's file, devices, threads, memory, measured settings."""
