#!/bin/sh
# conf/views.sql without the views of tables that the folder $1 lacks. For an address, which cannot be listed here, all of it.
set -eu
views=$(dirname "$0")/views.sql
case $1 in *://*) exec cat "$views" ;; esac
if [ ! -d "$1/warc_files/_delta_log" ]; then
    echo "there are no tables in $1: make run makes some, OUTPUT=FOLDER names others" >&2
    exit 2
fi
while IFS= read -r line; do
    table=${line#*VIEW }
    case $line in
        *" AS SELECT "*) [ -d "$1/blocks/_delta_log" ] && [ -d "$1/labels/_delta_log" ] || continue ;;
        CREATE*) [ -d "$1/${table%% *}/_delta_log" ] || continue ;;
    esac
    printf '%s\n' "$line"
done < "$views"
