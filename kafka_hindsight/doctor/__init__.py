"""The checks of `hindsight doctor`: this machine, the settings, a lake, a cluster, a sample of logs."""
