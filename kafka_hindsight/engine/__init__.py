"""Work spread over the bytes of files and the files of tables, and judgements run over them, in one process."""
