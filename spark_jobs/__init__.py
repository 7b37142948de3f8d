"""The modules that spark-submit starts, one for each step. `run` runs one, `catalog.steps` names all."""
