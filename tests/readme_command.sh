#!/usr/bin/env bash
# Runs one of the two commands that the README shows, exactly as written there: the first (compile) or second (test).
set -euo pipefail
cd "$(dirname "$0")/.."
case "$1" in compile) wanted=1 ;; test) wanted=2 ;; *) echo "compile or test?" >&2; exit 2 ;; esac
command=$(awk -v wanted="$wanted" '/^```(sh|bash)$/ {block++; inside=1; next} /^```$/ {inside=0} inside && block==wanted' README.md)
printf '%s\n' "$command"
bash -euo pipefail -c "$command"
