"""The steps of the pipeline: read, call, write. `run` starts one; `catalog.steps` declares them."""
