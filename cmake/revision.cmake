# Writes OUTPUT, a header: the git revision of SOURCE and whether the tree differs from it. Results, and
# the documents that are generated from them, are left out: they are no part of a program, and what a
# clean one measures must not make the next build of it another one.
cmake_minimum_required(VERSION 3.25)
set(revision "unknown")
set(dirty true)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE head
                  RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    set(revision ${head})
    execute_process(COMMAND ${GIT} -C ${SOURCE} status --porcelain --untracked-files=normal --
                            . ":(exclude)results" ":(exclude)docs" ":(exclude)README.md"
                    OUTPUT_VARIABLE changes RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed AND changes STREQUAL "")
      set(dirty false)
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once
#define REDUCE_BENCH_REVISION \"@revision@\"
#define REDUCE_BENCH_DIRTY @dirty@
" @ONLY)
