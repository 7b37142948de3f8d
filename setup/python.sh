#!/bin/sh
# Prints the Python for set-up: PYTHON where it is set, else the newest that fits, runs and can make an environment.
if [ "$PYTHON" ]; then
    command -v "$PYTHON" && exit
    echo "Found: no $PYTHON, which PYTHON names. Needed: a Python 3.11 to 3.14. What to do: name one, or unset PYTHON." >&2
    exit 2
fi
for name in python3.14 python3.13 python3.12 python3.11 python3; do
    "$name" -c 'import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null &&
        exec echo "$name"
done
command -v python3 && exit # set-up says what it lacks
echo 'Found: no Python. Needed: Python 3.11 to 3.14. What to do: install one so that it is on the PATH.' >&2
exit 2
