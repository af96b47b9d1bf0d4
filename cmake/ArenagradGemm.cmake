# Matrix products on the CPU: our own (AUTO, BUILTIN), compiled once per instruction set; the copy is
# chosen at run time. All copies are always built, so that the tests reach them. OPENBLAS is for
# comparison: slower on convolutions, and for small products it asks for heap memory.
set(ARENAGRAD_BLAS AUTO CACHE STRING "Matrix products by AUTO, BUILTIN or OPENBLAS")
set_property(CACHE ARENAGRAD_BLAS PROPERTY STRINGS AUTO BUILTIN OPENBLAS)

function(arenagrad_link_gemm target)
  if(ARENAGRAD_BLAS STREQUAL "OPENBLAS")
    if(NOT OpenBLAS_FOUND)
      message(FATAL_ERROR "ARENAGRAD_BLAS=OPENBLAS: expected OpenBLAS with cblas.h, found none")
    endif()
    target_link_libraries(${target} PRIVATE OpenBLAS::OpenBLAS)
    target_compile_definitions(${target} PRIVATE ARENAGRAD_OPENBLAS)
  elseif(NOT ARENAGRAD_BLAS MATCHES "^(AUTO|BUILTIN)$")
    message(FATAL_ERROR "ARENAGRAD_BLAS: expected AUTO, BUILTIN or OPENBLAS, got ${ARENAGRAD_BLAS}")
  endif()

  # name, vector bytes, rows of a block (by two vectors: all of them fit into the registers), flags
  arenagrad_gemm_copy(${target} baseline 16 4 "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    target_compile_definitions(${target} PUBLIC ARENAGRAD_X86)
    arenagrad_gemm_copy(${target} avx2 32 6 "-mavx2;-mfma")
    arenagrad_gemm_copy(${target} avx512 64 8 "-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw;-mfma")
  endif()
endfunction()

function(arenagrad_gemm_copy target name vector_bytes block_rows flags)
  set(object arenagrad_gemm_${name})
  add_library(${object} OBJECT cpu/gemm_kernels.cc)
  target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(${object} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  arenagrad_compile_options(${object})
  arenagrad_compile_for_speed(${object})
  target_compile_options(${object} PRIVATE -ffp-contract=fast ${flags})
  target_compile_definitions(${object} PRIVATE
    ARENAGRAD_X86 ARENAGRAD_GEMM=gemm_${name} ARENAGRAD_VECTOR_BYTES=${vector_bytes}
    ARENAGRAD_BLOCK_ROWS=${block_rows})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
endfunction()
