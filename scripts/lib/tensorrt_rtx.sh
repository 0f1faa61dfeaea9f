# TensorRT for RTX, NVIDIA's own package, under a licence of NVIDIA's: it is installed only where the caller says so.
# Sourced after zoo.sh, which says where the cache is.
readonly TENSORRT_RTX_VERSION=1.7.1.116

# Prints a Python that has it: FUSESCOPE_TENSORRT_RTX_PYTHON, or one in the cache. Fails, and says why, without
# FUSESCOPE_TEST_TENSORRT_RTX=1 or where the package cannot be had.
tensorrt_rtx_python() {
  local venv="$FUSESCOPE_CACHE/tensorrt-rtx-python"
  if [ "${FUSESCOPE_TEST_TENSORRT_RTX:-}" != 1 ]; then
    echo "TensorRT for RTX is NVIDIA's, under a licence of its own (pypi.org/project/tensorrt-rtx): with" \
      "FUSESCOPE_TEST_TENSORRT_RTX=1 you say that it may be installed into $venv and asked about test networks." >&2
    return 1
  fi
  if [ -n "${FUSESCOPE_TENSORRT_RTX_PYTHON:-}" ]; then
    printf '%s\n' "$FUSESCOPE_TENSORRT_RTX_PYTHON"
    return
  fi
  if [ ! -f "$venv/ready" ]; then
    echo "==> Python environment for TensorRT for RTX $TENSORRT_RTX_VERSION" >&2
    rm -rf "$venv"
    python3 -m venv "$venv" &&
      "$venv/bin/pip" install --quiet --disable-pip-version-check "tensorrt-rtx==$TENSORRT_RTX_VERSION" >&2 &&
      touch "$venv/ready" || return 1
  fi
  printf '%s\n' "$venv/bin/python"
}
