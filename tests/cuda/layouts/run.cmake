# cmake -D work=... -P run.cmake: where CUDA's parts are found, in trees like those of pip's packages.
# The files are empty: nothing is compiled.
file(REMOVE_RECURSE ${work})

function(files root)
  foreach(file ${ARGN})
    file(WRITE ${root}/${file} "")
  endforeach()
endfunction()

function(nvcc folder)
  file(WRITE ${folder}/nvcc "#!/bin/sh\necho Cuda compilation tools, release 13.0, V13.0.88\n")
  file(CHMOD ${folder}/nvcc PERMISSIONS OWNER_READ OWNER_EXECUTE OWNER_WRITE)
endfunction()

# cuDNN as pip has it: no libcudnn.so.
function(cudnn root)
  files(${root} cudnn/lib/libcudnn.so.9 cudnn/include/cudnn.h)
  file(WRITE ${root}/cudnn/include/cudnn_version.h
       "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 19\n#define CUDNN_PATCHLEVEL 0\n")
endfunction()

# expect(CASE PATH ROOT LINES): configures with that PATH and ARENAGRAD_CUDA_ROOT.
function(expect case path root expected)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=CUDA_PATH PATH=${path}:/usr/bin:/bin
            ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/${case}-build
            -DARENAGRAD_CUDA=OFF -DARENAGRAD_CUDA_ROOT=${root}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${case}: ${output}")
  endif()
  file(READ ${work}/${case}-build/found found)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${case}: expected\n${expected}got\n${found}")
  endif()
endfunction()

set(runtime include/cuda_runtime_api.h include/cublas_v2.h include/nvtx3/nvToolsExt.h)

# Everything from pip: nvcc's libraries lie in lib, where it doesn't look.
set(pip ${work}/pip/nvidia)
files(${pip}/cu13 ${runtime} include/crt/host_defines.h lib/libcudart_static.a)
nvcc(${pip}/cu13/bin)
cudnn(${pip})
expect(pip "" ${pip} "headers ${pip}/cu13/include|${pip}/cudnn/include
cudnn 9.19.0 ${pip}/cudnn/lib/libcudnn.so.9
link -L${pip}/cu13/lib
")

# PyTorch's packages beside a toolkit without cuDNN: they have the runtime without its folder crt.
set(torch ${work}/torch/nvidia)
files(${torch}/cu13 ${runtime} lib/libcudart_static.a)
cudnn(${torch})
set(toolkit ${work}/toolkit)
files(${toolkit} ${runtime} include/crt/host_defines.h lib64/libcudart_static.a)
nvcc(${toolkit}/bin)
expect(torch ${toolkit}/bin ${torch} "headers ${toolkit}/include|${torch}/cudnn/include
cudnn 9.19.0 ${torch}/cudnn/lib/libcudnn.so.9
link 
")
