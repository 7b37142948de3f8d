"""What spark-submit starts, a module for each step: read, call, write. `run` runs one, `catalog.steps` names all."""
