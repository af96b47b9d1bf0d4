# cmake --install: the program, the libraries as a package for find_package(arenagrad), the zoo.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(folders allocator kernels graph layers zoo experiments)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/arenagrad)

set(libraries)
foreach(folder IN LISTS folders)
  if(TARGET arenagrad_${folder})
    list(APPEND libraries arenagrad_${folder})
  endif()
endforeach()
list(APPEND libraries arenagrad_cuda)
if(ARENAGRAD_CUDA_ENABLED)
  list(APPEND libraries arenagrad_cuda_libraries)
endif()
install(TARGETS ${libraries} EXPORT arenagradTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT arenagradTargets NAMESPACE arenagrad:: DESTINATION ${package_dir})
if(TARGET arenagrad)
  install(TARGETS arenagrad RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Headers include each other by their path from the root, here include/arenagrad.
foreach(folder IN LISTS folders)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION include/arenagrad
          FILES_MATCHING PATTERN "*.h")
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/zoo DESTINATION share/arenagrad
        FILES_MATCHING PATTERN "*.json")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/arenagrad)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/arenagradConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/arenagradConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/arenagradConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/arenagradConfig.cmake
              ${PROJECT_BINARY_DIR}/arenagradConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindCUDNN.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindOpenBLAS.cmake
        DESTINATION ${package_dir})
