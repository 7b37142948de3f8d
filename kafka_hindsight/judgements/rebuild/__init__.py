"""The whole rebuild: plain functions over all rows of one key. Spark calls them in parallel, a notebook one by one."""
