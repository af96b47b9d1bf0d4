# OpenBLAS with its C interface; defines OpenBLAS::OpenBLAS. The serial and the OpenMP build do as well
# as the threaded one: every call here is made single-threaded.
find_path(OpenBLAS_INCLUDE_DIR NAMES cblas.h
          PATH_SUFFIXES openblas ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread
                        x86_64-linux-gnu/openblas-pthread x86_64-linux-gnu/openblas-serial
                        x86_64-linux-gnu/openblas-openmp)
find_library(OpenBLAS_LIBRARY NAMES openblas
             PATH_SUFFIXES x86_64-linux-gnu/openblas-pthread x86_64-linux-gnu/openblas-serial
                           x86_64-linux-gnu/openblas-openmp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY OpenBLAS_INCLUDE_DIR)
if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES
    IMPORTED_LOCATION ${OpenBLAS_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${OpenBLAS_INCLUDE_DIR})
endif()
mark_as_advanced(OpenBLAS_INCLUDE_DIR OpenBLAS_LIBRARY)
