# cmake -DOUTPUT=FILE.cpp -DFILES=a;b -P embed_texts.cmake: the target tables as a C++ source.
# fusescope_embed_targets(TARGET FILES names below resources/targets): adds it to a library and writes it anew when one
# of them changes.

if(CMAKE_SCRIPT_MODE_FILE)
  set(text "#include \"target/target_table.h\"\n\nnamespace fusescope {\n\n")
  string(APPEND text "const std::vector<EmbeddedTable>& embeddedTargetTables() {\n")
  string(APPEND text "  static const std::vector<EmbeddedTable> kTables{\n")
  foreach(file ${FILES})
    get_filename_component(name ${file} NAME)
    file(READ ${file} content)
    string(APPEND text "      {\"${name}\", R\"table(${content})table\"},\n")
  endforeach()
  string(APPEND text "  };\n  return kTables;\n}\n\n}  // namespace fusescope\n")
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

set(fusescope_embed_script ${CMAKE_CURRENT_LIST_FILE})

# fusescope_embed_tables(OUTPUT.cpp PATHS…): makes that source of these tables.
function(fusescope_embed_tables output)
  add_custom_command(OUTPUT ${output} DEPENDS ${ARGN} ${fusescope_embed_script} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${ARGN}" -P ${fusescope_embed_script})
endfunction()

function(fusescope_embed_targets library)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  list(TRANSFORM ARG_FILES PREPEND ${CMAKE_SOURCE_DIR}/resources/targets/ OUTPUT_VARIABLE paths)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_target_tables.cpp)
  fusescope_embed_tables(${output} ${paths})
  target_sources(${library} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
