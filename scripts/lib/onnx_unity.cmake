# Read by ONNX's own build (CMAKE_PROJECT_INCLUDE): most of its time is the parsing of the same headers, so its sources
# are compiled several at a time. The generated ones have equal names in each file and stay apart.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 10)
cmake_language(DEFER CALL set_target_properties onnx_proto PROPERTIES UNITY_BUILD OFF)
