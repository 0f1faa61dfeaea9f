# The big networks of the shared zoo come without weights. They are filled once, into the cache.
# Sourced by scripts/test and scripts/bench.
FUSESCOPE_CACHE=${FUSESCOPE_CACHE:-$HOME/.cache/fusescope}
FUSESCOPE_SHARED=${FUSESCOPE_SHARED:-$PWD/../shared}
readonly BENCH_PACKAGES='onnx==1.23.2 numpy onnxruntime sympy'

# A Python environment with what the networks are filled and compared with; never used by the product. Fails where the
# packages cannot be had.
bench_python() {
  local venv="$FUSESCOPE_CACHE/bench-python"
  if [ ! -f "$venv/ready" ]; then
    echo "==> Python environment for filling networks and for comparisons" >&2
    rm -rf "$venv"
    # shellcheck disable=SC2086 # a list of packages
    python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check $BENCH_PACKAGES >&2 &&
      touch "$venv/ready" || return 1
  fi
  printf '%s\n' "$venv/bin"
}

fill_network() {
  local network=$1 out=$2 zoo="$FUSESCOPE_SHARED/zoo" python
  python="$(bench_python)/python" || return 1
  case $network in
    *_block) "$python" scripts/lib/cut_block.py "$zoo/materialize.py" "$zoo/${network%_block}" "$out" ;;
    *) "$python" "$zoo/materialize.py" "$zoo/$network" "$out" ;;
  esac
}

# What scripts/test runs. NAME_block is one decoder block of a network that is only planned as a whole.
readonly TEST_NETWORKS='bert_base densenet121 efficientnet_v2_s fasterrcnn_mobilenet gpt2_base llama_32l_block
  llama_scale_block mobilenet_v2 resnet50 resnet50_op13 swin_v2_t vit_b_16'

# materialized_zoo NETWORK…: fills what is missing; prints the folder of NETWORK.onnx files.
materialized_zoo() {
  local folder="$FUSESCOPE_CACHE/zoo" network
  mkdir -p "$folder"
  for network in "$@"; do
    [ -f "$folder/$network.onnx" ] && continue
    echo "==> filling $network with weights" >&2
    fill_network "$network" "$folder/.$network.part" && mv "$folder/.$network.part" "$folder/$network.onnx" || return 1
  done
  printf '%s\n' "$folder"
}

# Prints the folder of ONNX's own operator cases, after generating them if that was never done (about two minutes).
conformance_cases() {
  local folder="$FUSESCOPE_CACHE/onnx-conformance-1.23.2"
  if [ ! -f "$folder/ready" ]; then
    echo "==> operator cases of onnx 1.23.2" >&2
    local python
    python="$(bench_python)/python" && "$python" tests/conformance/generate.py "$folder" >&2 || return 1
  fi
  printf '%s\n' "$folder"
}

# Prints the folder of the networks as ONNX Runtime's optimisers leave them; the small ones, or all with
# FUSESCOPE_OPTIMISED_ALL set.
optimised_networks() {
  local folder="$FUSESCOPE_CACHE/optimised" python models
  python="$(bench_python)/python" || return 1
  [ -z "${FUSESCOPE_OPTIMISED_ALL:-}" ] || folder=$folder-all
  mapfile -t models < <(find "$FUSESCOPE_SHARED/zoo" -name model.onnx; find "$FUSESCOPE_CACHE/zoo" "$FUSESCOPE_CACHE/trained" -name '*.onnx' 2>/dev/null)
  [ "${#models[@]}" -gt 0 ] || return 1
  "$python" tests/optimised/generate.py "$folder" ${FUSESCOPE_OPTIMISED_ALL:+--all} "${models[@]}" >&2 || return 1
  printf '%s\n' "$folder"
}

# Prints the folder of the trained networks of PyPI packages, as far as they can be had.
trained_networks() {
  local folder="$FUSESCOPE_CACHE/trained" python
  python="$(bench_python)/python" || return 1
  mkdir -p "$folder"
  "$python" scripts/lib/trained.py "$folder" >&2 || true
  printf '%s\n' "$folder"
}
