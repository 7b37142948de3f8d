"""The steps of the pipeline: one module for each, with its `run_step`. `run` runs one, `catalog.steps` names all."""
