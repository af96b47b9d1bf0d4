# arenagrad_library(NAME SOURCES ... LINKS ...): one folder's library, arenagrad::NAME.
function(arenagrad_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(arenagrad_${name} STATIC ${ARG_SOURCES})
  add_library(arenagrad::${name} ALIAS arenagrad_${name})
  set_target_properties(arenagrad_${name} PROPERTIES EXPORT_NAME ${name}
                                                     POSITION_INDEPENDENT_CODE ON)
  target_include_directories(arenagrad_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/arenagrad>)
  target_link_libraries(arenagrad_${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  arenagrad_compile_options(arenagrad_${name})
endfunction()

# Warnings as errors and sanitizers, for our own targets alone. No contraction of a*b+c into one
# rounding: results must not depend on what a compiler fuses.
function(arenagrad_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror
                         -Wno-missing-field-initializers  # designated ones leave the rest at its default
                         -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 warns of impossible overlaps inside std::string's operator+ (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(ARENAGRAD_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${ARENAGRAD_SANITIZE}
                                             -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${ARENAGRAD_SANITIZE})
  endif()
endfunction()

# For code that computes little: less time to compile it than it takes longer to run. `level` is
# what a Release build gets; sanitized, everything is compiled so (see arenagrad_compile_for_speed).
function(arenagrad_compile_quickly target level)
  if(NOT ARENAGRAD_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
  endif()
endfunction()

# Optimising sanitized code takes three times as long as compiling it plainly, which pays for the
# sources that compute: all of a target's, or those named.
function(arenagrad_compile_for_speed target)
  if(NOT ARENAGRAD_SANITIZE)
    return()
  endif()
  if(ARGN)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O1)
  else()
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
  endif()
endfunction()
