"""Where groups went on elsewhere than where they had come to, and why."""
