"""WHAT IS KNOWN ABOUT KAFKA, as data: layouts, patterns, causes and rules, each with its source and real samples."""
