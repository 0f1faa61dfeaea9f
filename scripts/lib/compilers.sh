# Python environments with other compilers for the tests, at pinned versions, each in a folder of the cache.
# Sourced by scripts/test.
FUSESCOPE_CACHE=${FUSESCOPE_CACHE:-$HOME/.cache/fusescope}

# packages_of NAME: prints the section [NAME] of python-packages.txt, a requirements file of pip.
packages_of() {
  awk -v section="[$1]" '
    /^\[/ { inside = $0 == section; next }
    inside && /^$/ { blank = blank "\n"; next }
    inside { printf "%s%s\n", blank, $0; blank = "" }' scripts/lib/python-packages.txt
}

# compilers_environment NAME: prints the Python of a virtual environment of this name in the cache, which has just the
# packages of its section. Fails where they cannot be had.
compilers_environment() {
  local venv="$FUSESCOPE_CACHE/$1" wanted
  wanted=$(packages_of "$1" | sha256sum | cut -c1-64)
  if [ "$(cat "$venv/ready" 2>/dev/null)" != "$wanted" ]; then
    echo "==> Python environment $1 with other compilers" >&2
    rm -rf "$venv"
    python3 -m venv "$venv" &&
      packages_of "$1" > "$venv/requirements.txt" &&
      "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$venv/requirements.txt" >&2 &&
      printf '%s\n' "$wanted" > "$venv/ready" || return 1
  fi
  printf '%s\n' "$venv/bin/python"
}

# 5.5 GB: only where it is asked for (scripts/test --torch).
torch_environment() {
  compilers_environment torch-python
}

tensorrt_rtx_environment() {
  compilers_environment tensorrt-rtx-python
}

torch_tensorrt_environment() {
  compilers_environment torch-tensorrt-python
}

# Exports FUSESCOPE_TORCH_PYTHON and, only where FUSESCOPE_TEST_TENSORRT_RTX=1 says that NVIDIA's proprietary packages may be
# installed, FUSESCOPE_TORCH_TENSORRT_PYTHON. Fails where torch cannot be had.
export_torch() {
  FUSESCOPE_TORCH_PYTHON=$(torch_environment) || return 1
  export FUSESCOPE_TORCH_PYTHON
  unset FUSESCOPE_TORCH_TENSORRT_PYTHON
  if [ "${FUSESCOPE_TEST_TENSORRT_RTX:-}" != 1 ]; then
    printf '==> Torch-TensorRT is used with FUSESCOPE_TEST_TENSORRT_RTX=1 alone (README.md): its cases are skipped\n'
  elif FUSESCOPE_TORCH_TENSORRT_PYTHON=$(torch_tensorrt_environment); then
    export FUSESCOPE_TORCH_TENSORRT_PYTHON
  else
    unset FUSESCOPE_TORCH_TENSORRT_PYTHON
    printf '==> Torch-TensorRT could not be installed (see above): its cases are skipped\n'
  fi
}

# Exports FUSESCOPE_COMPILERS_PYTHON, FUSESCOPE_EXPORTS_PYTHON and, only where FUSESCOPE_TEST_TENSORRT_RTX=1 says that NVIDIA's proprietary
# package may be installed, FUSESCOPE_TENSORRT_RTX_PYTHON. Suites that lack theirs are skipped, and say so.
export_compilers() {
  if FUSESCOPE_COMPILERS_PYTHON=$(compilers_environment compilers-python); then
    export FUSESCOPE_COMPILERS_PYTHON
  else
    unset FUSESCOPE_COMPILERS_PYTHON
    printf '==> ONNX Runtime and OpenVINO could not be installed (see above): their suites are skipped\n'
  fi
  if FUSESCOPE_EXPORTS_PYTHON=$(compilers_environment exports-python); then
    export FUSESCOPE_EXPORTS_PYTHON
  else
    unset FUSESCOPE_EXPORTS_PYTHON
    printf '==> what reads exports could not be installed (see above): its suites are skipped\n'
  fi
  if [ "${FUSESCOPE_TEST_TENSORRT_RTX:-}" != 1 ]; then
    printf '==> TensorRT for RTX is used with FUSESCOPE_TEST_TENSORRT_RTX=1 alone (README.md): its suites are skipped\n'
  elif FUSESCOPE_TENSORRT_RTX_PYTHON=$(tensorrt_rtx_environment); then
    export FUSESCOPE_TENSORRT_RTX_PYTHON
  else
    unset FUSESCOPE_TENSORRT_RTX_PYTHON
    printf '==> TensorRT for RTX could not be installed (see above): its suites are skipped\n'
  fi
}
