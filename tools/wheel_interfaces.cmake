# Injected with -DCMAKE_PROJECT_gripsim_interfaces_INCLUDE when the interfaces are built against the
# ROS wheels from PyPI; a colcon build never reads it.
#
# Imported targets of those wheels name include directories of the machine that built them
# (/opt/python/...). Directories that do not exist here are replaced, after the project has been read
# and before anything is generated, by those of the running Python and its numpy.

set(wheel_build_prefix "/opt/python/")

function(gripsim_replace_missing_includes)
  find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
  set(present ${Python3_INCLUDE_DIRS} ${Python3_NumPy_INCLUDE_DIRS})
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT directories)
      continue()
    endif()
    set(kept "")
    set(missing FALSE)
    foreach(directory IN LISTS directories)
      string(FIND "${directory}" "${wheel_build_prefix}" position)
      if(position EQUAL 0 AND NOT EXISTS "${directory}")
        set(missing TRUE)
      else()
        list(APPEND kept "${directory}")
      endif()
    endforeach()
    if(missing)
      list(APPEND kept ${present})
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
    endif()
  endforeach()
endfunction()

cmake_language(DEFER CALL gripsim_replace_missing_includes)

# What C++ programs use is left out, more than half of the time: the environment holds none. A
# package is read once, so the list stays as it is made here.
find_package(rosidl_default_generators REQUIRED)
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")

# Sources that may stand in one file read the headers once for a few of them.
function(gripsim_join_sources)
  foreach(kind typesupport_fastrtps_c typesupport_introspection_c generator_py)
    set_target_properties(gripsim_interfaces__rosidl_${kind} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  endforeach()
endfunction()

cmake_language(DEFER CALL gripsim_join_sources)
