# Third parties. What each is for: ARCHITECTURE.md, "Libraries". scripts/setup brings them.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(GTest REQUIRED)
find_package(Qt5 5.15 REQUIRED COMPONENTS Widgets Svg Test)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(libhwy REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(graphviz REQUIRED IMPORTED_TARGET libcgraph libgvc)

# Sanitizers bring an allocator of their own.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  find_package(mimalloc REQUIRED)
  set(FUSESCOPE_ALLOCATOR mimalloc)
endif()

find_package(Protobuf REQUIRED)  # ONNX's package does not find it by itself
if(FUSESCOPE_ONNX_PREFIX)
  find_package(ONNX CONFIG REQUIRED PATHS ${FUSESCOPE_ONNX_PREFIX} NO_DEFAULT_PATH)
else()
  find_package(ONNX CONFIG REQUIRED)
endif()
if(NOT TARGET ONNX::onnx)  # packages before 1.18 export it without the namespace
  add_library(ONNX::onnx ALIAS onnx)
endif()

if(FUSESCOPE_ONEDNN_PREFIX)
  find_package(dnnl 3.2 CONFIG REQUIRED PATHS ${FUSESCOPE_ONEDNN_PREFIX} NO_DEFAULT_PATH)
else()
  find_package(dnnl 3.2 CONFIG REQUIRED)
endif()
