# Third parties that the system does not package in a version we can use.
# Sourced by scripts/setup. Each ends in a folder keyed by version under $FUSESCOPE_CACHE and is made once:
# built beside its final place and moved there whole, so that an interrupted run leaves nothing half-made.

readonly ONNX_VERSION=1.23.2
readonly ONEDNN_WHEEL_VERSION=2023.2.0 # holds oneDNN 3.2.0 with GNU OpenMP

# A Python environment for the tools that build or compare; never used by the product itself.
tools_python() {
  local venv="$FUSESCOPE_CACHE/tools-python"
  if [ ! -x "$venv/bin/pip" ]; then
    say "Python environment for build tools"
    rm -rf "$venv"
    python3 -m venv "$venv"
  fi
  printf '%s\n' "$venv/bin"
}

# The CMake that builds ONNX: the system's if it is 3.26 or newer, else one from PyPI.
cmake_for_onnx() {
  if [ "$(printf '3.26\n%s\n' "$(cmake --version | sed -n '1s/.* //p')" | sort -V | head -1)" = 3.26 ]; then
    command -v cmake
    return
  fi
  local bin
  bin=$(tools_python)
  [ -x "$bin/cmake" ] || "$bin/pip" install --quiet --disable-pip-version-check 'cmake>=3.26,<4.1' >&2
  printf '%s\n' "$bin/cmake"
}

ensure_onnx() {
  if system_has libonnx-dev 1.17; then
    say "ONNX: the system's libonnx-dev"
    return
  fi
  local prefix="$FUSESCOPE_CACHE/onnx-$ONNX_VERSION"
  ONNX_PREFIX="$prefix"
  if [ -f "$prefix/lib/libonnx.a" ]; then return; fi
  say "ONNX $ONNX_VERSION: downloading the source and building it once (about a minute on 2 cores)"
  local work cmake
  work=$(mktemp -d "$FUSESCOPE_CACHE/onnx-build.XXXXXX")
  cmake=$(cmake_for_onnx)
  "$(tools_python)/pip" download --quiet --disable-pip-version-check --no-deps --no-binary onnx \
    -d "$work" "onnx==$ONNX_VERSION"
  tar -xzf "$work/onnx-$ONNX_VERSION.tar.gz" -C "$work"
  "$cmake" -S "$work/onnx-$ONNX_VERSION" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DCMAKE_PROJECT_INCLUDE="$PWD/scripts/lib/onnx_unity.cmake" \
    -DONNX_USE_PROTOBUF_SHARED_LIBS=ON -DONNX_GEN_PB_TYPE_STUBS=OFF -DONNX_BUILD_PYTHON=OFF \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$work/prefix" >"$work/configure.log"
  "$cmake" --build "$work/build" --target install
  rm -rf "$prefix"
  mv "$work/prefix" "$prefix"
  rm -rf "$work"
}

ensure_onednn() {
  if system_has libdnnl-dev 3.2; then
    say "oneDNN: the system's libdnnl-dev"
    return
  fi
  local prefix="$FUSESCOPE_CACHE/onednn-$ONEDNN_WHEEL_VERSION"
  ONEDNN_PREFIX="$prefix"
  if [ -f "$prefix/lib/libdnnl.so" ]; then return; fi
  say "oneDNN 3.2.0: downloading its binary packages (38 MB)"
  local work
  work=$(mktemp -d "$FUSESCOPE_CACHE/onednn.XXXXXX")
  "$(tools_python)/pip" install --quiet --disable-pip-version-check --no-deps --prefix "$work/prefix" \
    "onednn-cpu-gomp==$ONEDNN_WHEEL_VERSION" "onednn-devel-cpu-gomp==$ONEDNN_WHEEL_VERSION"
  rm -rf "$prefix"
  mv "$work/prefix" "$prefix"
  rm -rf "$work"
}
