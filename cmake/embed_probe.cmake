# fusescope_embed_probe(TARGET): packs resources/probe into a source of that library, anew when a file of it changes.
function(fusescope_embed_probe library)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/resources/probe/*.py)
  set(script ${CMAKE_SOURCE_DIR}/cmake/embed_probe.py)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_probe.cpp)
  add_custom_command(OUTPUT ${output} DEPENDS ${files} ${script} VERBATIM
    COMMAND ${Python3_EXECUTABLE} ${script} ${output} ${CMAKE_SOURCE_DIR}/resources/probe)
  target_sources(${library} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
