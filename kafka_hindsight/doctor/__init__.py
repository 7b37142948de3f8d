"""What `hindsight doctor` looks at: this machine, the settings, a lake, a cluster, a sample of logs."""
