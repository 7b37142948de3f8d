"""The lake over JDBC: Spark's Thrift server, and what its clients may ask."""
