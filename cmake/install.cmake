# cmake --install <build> --prefix <prefix>: the programs, and what a user of them reads. The Python
# package that draws figures and reports is installed by pip (pyproject.toml).

include(GNUInstallDirs)

install(TARGETS reduce-bench cache-sim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${PROJECT_NAME}/configs)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(REDUCE_BENCH_NATIVE)
  install(CODE "message(WARNING \"These programs may fail on another processor: for those that \"
                \"run on any, configure with -DREDUCE_BENCH_NATIVE=OFF\")")
endif()
