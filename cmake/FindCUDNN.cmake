# cuDNN 9: CUDNN_FOUND, CUDNN_VERSION, CUDNN_INCLUDE_DIR, CUDNN_LIBRARY and the target CUDNN::cudnn.
# Looks beside the CUDA toolkit, in CUDNN_ROOT, and in pip's layout (ARENAGRAD_CUDA_ROOT, or
# CUDNN_ROOT, being the folder `nvidia` in site-packages, which has a folder cudnn). pip's packages
# have libcudnn.so.9 without the shorter name: both names are tried in a folder before the next one,
# or another cuDNN's libcudnn.so would be taken for pip's headers.
set(_cudnn_hints ${CUDNN_ROOT} ${CUDNN_ROOT}/cudnn ${ARENAGRAD_CUDA_ROOT} ${ARENAGRAD_CUDA_ROOT}/cudnn
                 ${ARENAGRAD_CUDA_ROOT}/../cudnn)
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${_cudnn_hints} PATHS /usr/local/cuda /usr/local
          PATH_SUFFIXES include targets/x86_64-linux/include)
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 NAMES_PER_DIR HINTS ${_cudnn_hints}
             PATHS /usr/local/cuda /usr/local PATH_SUFFIXES lib lib64 targets/x86_64-linux/lib)
if(CUDNN_INCLUDE_DIR AND EXISTS ${CUDNN_INCLUDE_DIR}/cudnn_version.h)
  file(STRINGS ${CUDNN_INCLUDE_DIR}/cudnn_version.h _cudnn_lines
       REGEX "^#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) [0-9]+")
  string(REGEX REPLACE "[^0-9;]" "" CUDNN_VERSION "${_cudnn_lines}")
  string(REPLACE ";" "." CUDNN_VERSION "${CUDNN_VERSION}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CUDNN REQUIRED_VARS CUDNN_LIBRARY CUDNN_INCLUDE_DIR
                                  VERSION_VAR CUDNN_VERSION)
mark_as_advanced(CUDNN_INCLUDE_DIR CUDNN_LIBRARY)
if(CUDNN_FOUND AND NOT TARGET CUDNN::cudnn)
  add_library(CUDNN::cudnn UNKNOWN IMPORTED)
  set_target_properties(CUDNN::cudnn PROPERTIES IMPORTED_LOCATION ${CUDNN_LIBRARY}
                                                INTERFACE_INCLUDE_DIRECTORIES ${CUDNN_INCLUDE_DIR})
endif()
