#!/bin/sh
# Looks for a fitting Python and Java before anything is downloaded. Prints the Python to use; one clear message otherwise.
# PYTHON and JAVA_HOME override the ones on PATH.
set -u

fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1
}

stop() {
    echo "$1" >&2
    exit 1
}

python=""
for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python}; do
    if fits "$candidate"; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    have=$("${PYTHON:-python3}" --version 2>/dev/null || echo "no Python 3")
    stop "Python 3.11, 3.12 or 3.13 is needed; found: $have. Install one of them, or name it: make PYTHON=/path/to/python3.12"
fi
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    stop "$python has no venv module. Install it (Debian, Ubuntu: apt-get install python3-venv), or name another Python: make PYTHON=…"

java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
case "$version" in
    17 | 21) ;;
    "") stop "Java 17 or 21 is needed, none found${JAVA_HOME:+ at JAVA_HOME=$JAVA_HOME}. Install one (Debian, Ubuntu: apt-get install openjdk-17-jre-headless) and set PATH or JAVA_HOME." ;;
    *) stop "Java 17 or 21 is needed; $java is Java $version. Install one and set JAVA_HOME to its folder." ;;
esac
echo "$python"
