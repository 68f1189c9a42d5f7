# Puts the interface of plug-ins in Python into the program, which gives it to them.
set(interface_file ${PROJECT_SOURCE_DIR}/include/reduce_bench_plugin.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${interface_file})
file(READ ${interface_file} PYTHON_INTERFACE)
set(python_interface ${CMAKE_CURRENT_BINARY_DIR}/python_interface.cpp)
configure_file(${CMAKE_CURRENT_LIST_DIR}/python_interface.cpp.in ${python_interface} @ONLY)
