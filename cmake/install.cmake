# cmake --install <build> --prefix <prefix>: the programs, and what a user of them reads; the header
# of plug-ins; the driver as libraries, for find_package(reduce_bench); and our algorithms as a library,
# for find_package(onepass), C and Python. The Python package that draws figures and reports is installed
# by pip (pyproject.toml).

include(GNUInstallDirs)

install(TARGETS reduce-bench cache-sim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${PROJECT_NAME}/configs)
install(DIRECTORY frameworks/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${PROJECT_NAME}/frameworks
        FILES_MATCHING PATTERN "*.py")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Headers keep their paths in the repository, by which they include each other.
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} PATTERN "onepass.hpp" EXCLUDE)
install(FILES include/onepass.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/reduce-bench)
install(DIRECTORY kernels DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/reduce-bench
        FILES_MATCHING PATTERN "*.hpp")

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

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/onepass)
configure_package_config_file(cmake/package/onepass-config.cmake.in onepass-config.cmake
                              INSTALL_DESTINATION ${package_dir}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(onepass-config-version.cmake COMPATIBILITY ExactVersion
                                 ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/onepass-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/onepass-config-version.cmake DESTINATION ${package_dir})
if(TARGET onepass)
  install(TARGETS onepass LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/onepass)
  install(FILES library/onepass.py DESTINATION ${CMAKE_INSTALL_LIBDIR}/onepass)
endif()

if(REDUCE_BENCH_NATIVE)
  install(CODE "message(WARNING \"These programs may fail on another processor: for those that \"
                \"run on any, configure with -DREDUCE_BENCH_NATIVE=OFF\")")
endif()
