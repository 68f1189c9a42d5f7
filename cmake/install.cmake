# cmake --install <build> --prefix <prefix>: the programs, and what a user of them reads; the header
# of plug-ins; and the driver as libraries, for find_package(reduce_bench). The Python package that
# draws figures and reports is installed by pip (pyproject.toml).

include(GNUInstallDirs)

install(TARGETS reduce-bench cache-sim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${PROJECT_NAME}/configs)
install(DIRECTORY frameworks/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${PROJECT_NAME}/frameworks
        FILES_MATCHING PATTERN "*.py")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Headers keep their paths in the repository, by which they include each other.
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY kernels/api kernels/platform kernels/shared
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/reduce-bench/kernels FILES_MATCHING PATTERN "*.hpp")

set(libraries project_options common command_line harness driver kernels kernels_emu kernels_mpi)
foreach(library kernels_traced kernels_declared kernels_cuda kernels_opencl)
  if(TARGET ${library})
    list(APPEND libraries ${library})
  endif()
endforeach()
install(TARGETS ${libraries} EXPORT reduce_bench
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/reduce-bench
        OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/reduce-bench)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/reduce_bench)
install(EXPORT reduce_bench NAMESPACE reduce_bench:: DESTINATION ${package_dir}
        FILE reduce_bench-targets.cmake)
configure_file(cmake/package/reduce_bench-config.cmake.in reduce_bench-config.cmake @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(reduce_bench-config-version.cmake COMPATIBILITY ExactVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/reduce_bench-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/reduce_bench-config-version.cmake
              cmake/package/reduce_bench-driver.cmake DESTINATION ${package_dir})

if(REDUCE_BENCH_NATIVE)
  install(CODE "message(WARNING \"These programs may fail on another processor: for those that \"
                \"run on any, configure with -DREDUCE_BENCH_NATIVE=OFF\")")
endif()
