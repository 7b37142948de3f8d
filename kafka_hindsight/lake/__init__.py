"""The tables as files: their types, the lock, what readers see, damage and what mends it. No JVM."""
