"""The tables as files: their types, the lock, what readers see, its version. No JVM."""
