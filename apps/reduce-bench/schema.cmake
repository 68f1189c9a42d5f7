# Puts the schema of results into the program, which refuses what breaks it.
set(schema_file ${PROJECT_SOURCE_DIR}/configs/schema/results.schema.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schema_file})
file(READ ${schema_file} RESULTS_SCHEMA)
set(results_schema ${CMAKE_CURRENT_BINARY_DIR}/results_schema.cpp)
configure_file(${CMAKE_CURRENT_LIST_DIR}/results/results_schema.cpp.in ${results_schema} @ONLY)
