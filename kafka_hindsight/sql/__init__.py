"""The lake in SQL, by DuckDB: views, named queries, a prompt. No JVM."""
