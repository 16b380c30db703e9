#!/usr/bin/env bash
# Checks and builds the Python module, installs it in a virtual environment below the target folder, and runs its tests.
#
# Usage: scripts/python.sh [ARGUMENT OF PYTEST]...
#        scripts/python.sh --install      without tests
#
# Prints the reason and exits with 77 if there is no Python 3.10 or later, or if packages cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
venv=$target/python-wheel-venv
python=$venv/bin/python
packages=(maturin pytest polars pandas pyarrow numpy gymnasium duckdb mypy tqdm joblib dask)

skip() { echo "skipped: $*" >&2; exit 77; }

python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2> /dev/null || skip "no Python 3.10 or later"
mkdir -p "$target"
if ! "$python" -c "import pip, ${packages[*]/%/,} sys" 2> /dev/null; then
    python3 -m venv --clear "$venv" > "$target/python-wheel-venv.log" 2>&1 || skip "python3 -m venv fails: $(tail -n 1 "$target/python-wheel-venv.log")"
    "$python" -m pip install --quiet "${packages[@]}" > "$target/python-wheel-venv.log" 2>&1 ||
        skip "pip install ${packages[*]} fails: $(tail -n 1 "$target/python-wheel-venv.log")"
fi

cargo fmt --package replay-py --check
cargo clippy --release --locked --package replay-py --no-deps -- -D warnings
wheels=$target/wheels
rm -rf "$wheels"
"$venv/bin/maturin" build --release --locked --quiet --manifest-path crates/replay-py/Cargo.toml --target-dir "$target" --out "$wheels"
wheel=$(echo "$wheels"/replay_hpc-*.whl)
size=$(stat -c %s "$wheel")
echo "$(basename "$wheel"): $((size / 1000000)) MB"
if [ "$size" -gt 40000000 ]; then
    echo "the wheel is larger than 40 MB" >&2
    exit 1
fi
"$python" -m pip install --quiet --force-reinstall --no-deps --no-index "$wheel"
"$venv/bin/replay" --version
[ "${1:-}" != --install ] || exit 0

# The module with a strategy of its own, in a folder beside the virtual environment.
own=$target/python-own-module
rm -rf "$own"
"$venv/bin/maturin" build --release --locked --quiet --manifest-path examples/python_module/Cargo.toml --target-dir "$target" --out "$own"
"$python" -m pip install --quiet --no-deps --no-index --target "$own" "$own"/own_replay-*.whl
tests=$PWD/crates/replay-py
export REPLAY_OWN_MODULE=$own
REPLAY_TRACES="${REPLAY_TRACES:+$REPLAY_TRACES:}$PWD/traces" "$python" -m pytest -q -c "$tests/pyproject.toml" --rootdir "$tests" "$tests/tests" "$@"
