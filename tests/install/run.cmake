# cmake -D build=... -D config=... -D generator=... -D compiler=... -D work=... -P run.cmake
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGV})
    message(FATAL_ERROR "failed (${status}): ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${prefix} ${work}/consumer)
run(${CMAKE_COMMAND} --install ${build} --config ${config} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/consumer -G ${generator}
    -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=${config}
    -D CMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${work}/consumer --config ${config})

# The consumer runs a model of the installed zoo; the installed program finds the zoo as well.
run(${work}/consumer/consumer)
if(NOT output MATCHES "lenet5: 61706 parameters, footprint [0-9]+ bytes, planned equals observed")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
message("${output}")
run(${prefix}/bin/arenagrad --version)
run(${prefix}/bin/arenagrad plan ${prefix}/share/arenagrad/zoo/resnet18.json --batch 2)
run(${prefix}/bin/arenagrad models)
if(NOT output MATCHES "resnet18")
  message(FATAL_ERROR "the installed program found no models: ${output}")
endif()
