"""What steps, commands and edges share: settings, exits, the launch of Spark, declared tables applied to frames."""
