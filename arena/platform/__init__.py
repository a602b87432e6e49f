"""What every process needs: settings, logs, files, names, timers, failpoints."""
