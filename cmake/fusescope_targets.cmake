# One target per folder. Links are private, so that what a folder may include is what it lists; the folder's own
# header root (core/ or the top) is the only shared include path, and tests/unit/layering_test checks every #include.

include(GoogleTest)

add_library(fusescope_options INTERFACE)
target_compile_options(fusescope_options INTERFACE -pthread -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  # GCC 12 and 13 report these on correct uses of std::string's operator+ when they optimise (GCC bug 105329).
  target_compile_options(fusescope_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  # What sanitizers add hides from GCC that an empty std::optional is not read.
  target_compile_options(fusescope_options INTERFACE -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # Templates compare with zero whatever their type, and what is said of dangling references is mostly wrong. Other
  # warnings of later compilers are shown and stop nothing: what they say changes with every version.
  target_compile_options(fusescope_options INTERFACE -Wno-type-limits -Wno-dangling-reference)
elseif(FUSESCOPE_WARNINGS_AS_ERRORS)
  target_compile_options(fusescope_options INTERFACE -Werror)
endif()

# What nearly every source reads, so that it is parsed once for all libraries of core/. Each source still includes what it
# uses.
set(fusescope_common_headers <algorithm> <array> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string>
  <unordered_map> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
if(FUSESCOPE_PRECOMPILED_HEADERS)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "")
  add_library(fusescope_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(fusescope_precompiled PRIVATE fusescope_options fmt::fmt nlohmann_json::nlohmann_json)
  target_precompile_headers(fusescope_precompiled PRIVATE ${fusescope_common_headers})
  target_compile_options(fusescope_precompiled PRIVATE -fpch-preprocess)
endif()

# fusescope_precompile(NAME [headers]): for targets of many sources that cannot use the headers of fusescope_precompiled,
# because they are compiled with other options or need more headers.
function(fusescope_precompile name)
  if(FUSESCOPE_PRECOMPILED_HEADERS)
    target_precompile_headers(${name} PRIVATE ${fusescope_common_headers} ${ARGN})
    target_compile_options(${name} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# fusescope_use_precompiled(NAME): for libraries that are compiled without OpenMP and hiredis. Both define macros, and a
# compiler refuses precompiled headers that were made without them.
function(fusescope_use_precompiled name)
  if(FUSESCOPE_PRECOMPILED_HEADERS)
    target_precompile_headers(${name} REUSE_FROM fusescope_precompiled)
    target_compile_options(${name} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# fusescope_join_sources(NAME [APART regex]): compiles several sources of a target at a time, which from nothing
# takes half as long. What has no name outside its file must then differ from file to file. Compiled alone are sources
# whose paths match APART, sources that hold a list, which tests replace by longer ones, and vector code, each file of
# which is compiled once for each instruction set.
function(fusescope_join_sources name)
  cmake_parse_arguments(ARG "" "APART" "" ${ARGN})
  if(NOT FUSESCOPE_JOIN_SOURCES)
    return()
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24)
  set(lists "_(list|rules|registry|tables)\\.cpp$")
  get_target_property(sources ${name} SOURCES)
  foreach(source ${sources})
    set(alone "")
    if(source MATCHES "\\.cpp$" AND EXISTS ${source})
      file(STRINGS ${source} alone REGEX "hwy/foreach_target|#include \"[a-z_/]+\\.inc\"" LIMIT_COUNT 1)
    endif()
    if(alone OR source MATCHES "${lists}" OR (ARG_APART AND source MATCHES "${ARG_APART}"))
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# fusescope_optimise_less(NAME): for targets whose own time is nothing beside that of what they call. It makes compiling
# them a sixth cheaper.
function(fusescope_optimise_less name)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -O1 -Wno-error=maybe-uninitialized -Wno-error=dangling-pointer)
  endif()
endfunction()

# fusescope_library(NAME [DIR folder] [APART regex] [LINKS targets of ours] [LIBRARIES third parties])
function(fusescope_library name)
  cmake_parse_arguments(ARG "" "DIR;APART" "LINKS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_DIR}/*.cpp ${ARG_DIR}/*.h)
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/core)
  target_link_libraries(${name} PRIVATE fusescope_options ${ARG_LINKS} ${ARG_LIBRARIES})
  fusescope_join_sources(${name} APART "${ARG_APART}")
  if("OpenMP::OpenMP_CXX" IN_LIST ARG_LIBRARIES)
    fusescope_precompile(${name})
  elseif(NOT "PkgConfig::hiredis" IN_LIST ARG_LIBRARIES)
    fusescope_use_precompiled(${name})
  endif()
endfunction()

# fusescope_test(NAME SOURCES … LINKS … [LIBRARIES …] [ENVIRONMENT …] [TIMEOUT s]): a GoogleTest program.
function(fusescope_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LIBRARIES;ENVIRONMENT" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/core ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE FUSESCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             FUSESCOPE_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  target_link_libraries(${name} PRIVATE fusescope_options ${ARG_LINKS} ${ARG_LIBRARIES} fs_test_main)
  fusescope_join_sources(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # Measured times are kept per suite: what one builds must not change what another plans.
  list(APPEND ARG_ENVIRONMENT "FUSESCOPE_CACHE=${CMAKE_BINARY_DIR}/tests/cache/${name}")
  # Each case is a test of its own, labelled with its program: ctest's summary counts the cases of every suite.
  gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
    PROPERTIES LABELS ${name} TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()
