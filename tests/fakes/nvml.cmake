# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
# Fake NVML libraries for tests: today's driver, one without the newer functions, and one of 535.43 to 535.86.
# They land in ${CMAKE_BINARY_DIR}/fakes and answer from the file that GPUWHY_FAKE_NVML names.
get_filename_component(GPUWHY_FAKES_SOURCE "${CMAKE_CURRENT_LIST_DIR}" ABSOLUTE)
get_filename_component(GPUWHY_FAKES_ROOT "${GPUWHY_FAKES_SOURCE}/../.." ABSOLUTE)

function(gpuwhy_fake_nvml target output)
  add_library(${target} MODULE "${GPUWHY_FAKES_SOURCE}/fake_nvml.cc" "${GPUWHY_FAKES_SOURCE}/fake_nvml_readings.cc")
  target_include_directories(${target} PRIVATE "${GPUWHY_FAKES_SOURCE}" "${GPUWHY_FAKES_ROOT}/src")
  target_compile_definitions(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME "${output}" LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fakes"
                                             CXX_VISIBILITY_PRESET hidden)
endfunction()

gpuwhy_fake_nvml(fake_nvml libnvidia-ml-fake)
gpuwhy_fake_nvml(fake_nvml_old libnvidia-ml-fake-old OLD_DRIVER)
gpuwhy_fake_nvml(fake_nvml_535 libnvidia-ml-fake-535 DRIVER_535_43)
