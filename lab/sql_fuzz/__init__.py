"""The SQL prompt and the Thrift server, asked for all that their grammars allow, while a watch looks what happens."""
