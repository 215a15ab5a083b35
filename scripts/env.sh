# Puts the project's private tools (.venv) first on PATH. Bash sources this file: `. scripts/env.sh`
_sagen_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ":$PATH:" in
    *":$_sagen_root/.venv/bin:"*) ;;
    *) export PATH="$_sagen_root/.venv/bin:$PATH" ;;
esac
unset _sagen_root
