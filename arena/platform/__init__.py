"""Code for every process: settings, logs, files, names, timers and failpoints."""
