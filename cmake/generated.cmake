# Sources made from data at build time: the wire format, tables of folders, rule pages, texts, embedded files.
set(GEN ${CMAKE_BINARY_DIR}/gen)
file(MAKE_DIRECTORY ${GEN})
set(GPUWHY_GENERATED_SOURCES "")
set(TOOLS ${CMAKE_SOURCE_DIR}/tools)

# gpuwhy_generate(OUTPUT file COMMAND ... DEPENDS ...)
function(gpuwhy_generate)
  cmake_parse_arguments(ARG "" "OUTPUT" "COMMAND;DEPENDS" ${ARGN})
  add_custom_command(OUTPUT ${ARG_OUTPUT} COMMAND Python3::Interpreter ${ARG_COMMAND} COMMAND ${CMAKE_COMMAND} -E touch ${ARG_OUTPUT}
    DEPENDS ${ARG_DEPENDS} VERBATIM WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()

# Wire format: one schema, a C++ header and a Python module.
gpuwhy_generate(OUTPUT ${GEN}/wire/wire.gen.h
  COMMAND ${TOOLS}/gen_wire.py wire/schema.json --cc ${GEN}/wire/wire.gen.h --py ${GEN}/agent/gpuwhy_agent/wire_gen.py
  DEPENDS ${CMAKE_SOURCE_DIR}/wire/schema.json ${TOOLS}/gen_wire.py)
add_custom_target(gpuwhy_wire_header DEPENDS ${GEN}/wire/wire.gen.h)
add_library(gpuwhy_wire INTERFACE)
add_dependencies(gpuwhy_wire gpuwhy_wire_header)
target_include_directories(gpuwhy_wire INTERFACE ${GEN} ${CMAKE_SOURCE_DIR})

# The folder is the list. gpuwhy_table(name FOLDER f GLOB pattern args...)
function(gpuwhy_table name)
  cmake_parse_arguments(ARG "" "FOLDER;GLOB" "ARGS" ${ARGN})
  file(GLOB members CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${ARG_FOLDER}/${ARG_GLOB})
  set(out ${GEN}/${name}.gen.cc)
  gpuwhy_generate(OUTPUT ${out} COMMAND ${TOOLS}/gen_table.py --folder ${ARG_FOLDER} --out ${out} ${ARG_ARGS}
    DEPENDS ${members} ${TOOLS}/gen_table.py ${TOOLS}/cpp_text.py)
  set(GPUWHY_GENERATED_SOURCES ${GPUWHY_GENERATED_SOURCES} ${out} PARENT_SCOPE)
endfunction()
gpuwhy_table(all_rules FOLDER src/rules GLOB *.cc ARGS --prefix kRule_ --type Rule --namespace gpuwhy::rules --header engine/rule.h --function AllRules)
gpuwhy_table(all_witnesses FOLDER src/witness GLOB */*.cc ARGS --subfolders --prefix kWitness_ --type WitnessInfo --namespace gpuwhy --header witness/witness.h --function AllWitnesses)
gpuwhy_table(all_readers FOLDER src/reader GLOB */*.cc ARGS --subfolders --prefix kReader_ --type ReaderInfo --namespace gpuwhy --header reader/reader.h --function AllReaders)
gpuwhy_table(all_reporters FOLDER src/report GLOB */*.cc ARGS --subfolders --prefix kReporter_ --type Reporter --namespace gpuwhy::report --header report/reporter.h --function AllReporters --function-namespace gpuwhy::report)
gpuwhy_table(all_subcommands FOLDER src/cli GLOB cmd_*.cc ARGS --pattern cmd_*.cc --prefix kSubcommand_ --type Subcommand --namespace gpuwhy::cli --header cli/subcommand.h --function AllSubcommands --function-namespace gpuwhy::cli)

# Texts: rule pages and locale.
file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/rules/*.md)
gpuwhy_generate(OUTPUT ${GEN}/pages.gen.cc COMMAND ${TOOLS}/gen_pages.py --out ${GEN}/pages.gen.cc DEPENDS ${pages} ${TOOLS}/gen_pages.py ${TOOLS}/rule_page.py ${TOOLS}/cpp_text.py)
file(GLOB locale CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/locale/*.json)
gpuwhy_generate(OUTPUT ${GEN}/locale.gen.cc COMMAND ${TOOLS}/gen_locale.py --out ${GEN}/locale.gen.cc DEPENDS ${locale} ${TOOLS}/gen_locale.py)
list(APPEND GPUWHY_GENERATED_SOURCES ${GEN}/pages.gen.cc ${GEN}/locale.gen.cc)

# Lines that programs print: one table of templates.
file(GLOB messages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/knowledge/messages/*.tsv)
gpuwhy_generate(OUTPUT ${GEN}/messages.gen.cc COMMAND ${TOOLS}/gen_messages.py --out ${GEN}/messages.gen.cc ${messages}
  DEPENDS ${messages} ${TOOLS}/gen_messages.py ${TOOLS}/cpp_text.py)
list(APPEND GPUWHY_GENERATED_SOURCES ${GEN}/messages.gen.cc)

# Facts with their sources: tables of drivers, frameworks, GPUs and error numbers.
file(GLOB knowledge CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/knowledge/*.tsv)
gpuwhy_generate(OUTPUT ${GEN}/knowledge.gen.cc COMMAND ${TOOLS}/gen_knowledge.py --out ${GEN}/knowledge.gen.cc
  DEPENDS ${knowledge} ${TOOLS}/gen_knowledge.py ${TOOLS}/cpp_text.py)
list(APPEND GPUWHY_GENERATED_SOURCES ${GEN}/knowledge.gen.cc)

# Files that travel inside the program: the Python agent, the CUDA library, the recorded sessions of `gpuwhy demo`.
set(GPUWHY_EMBEDDED_SOURCES ${GEN}/embedded_agent.gen.cc ${GEN}/embedded_inject.gen.cc ${GEN}/embedded_probe.gen.cc ${GEN}/embedded_demo.gen.cc)
file(GLOB_RECURSE agent_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/agent/*.py)
list(FILTER agent_files EXCLUDE REGEX "wire_gen\\.py$")
add_custom_command(OUTPUT ${GEN}/agent/sitecustomize.py DEPENDS ${agent_files} ${GEN}/wire/wire.gen.h
  COMMAND ${CMAKE_COMMAND} -DFROM=${CMAKE_SOURCE_DIR}/agent -DTO=${GEN}/agent -P ${CMAKE_SOURCE_DIR}/cmake/copy_agent.cmake)
set(agent_names "")
foreach(file ${agent_files})
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/agent ${file})
  list(APPEND agent_names ${name})
endforeach()
list(APPEND agent_names gpuwhy_agent/wire_gen.py)
list(SORT agent_names)
gpuwhy_generate(OUTPUT ${GEN}/embedded_agent.gen.cc
  COMMAND ${TOOLS}/embed.py --root ${GEN}/agent --out ${GEN}/embedded_agent.gen.cc --function EmbeddedAgent --header base/embed.h ${agent_names}
  DEPENDS ${GEN}/agent/sitecustomize.py ${TOOLS}/embed.py)
gpuwhy_generate(OUTPUT ${GEN}/embedded_inject.gen.cc
  COMMAND ${TOOLS}/embed.py --root $<TARGET_FILE_DIR:gpuwhy_inject> --out ${GEN}/embedded_inject.gen.cc --function EmbeddedInject --header base/embed.h $<TARGET_FILE_NAME:gpuwhy_inject>
  DEPENDS gpuwhy_inject ${TOOLS}/embed.py)
file(GLOB probe_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src/witness/os ${CMAKE_SOURCE_DIR}/src/witness/os/*.py)
gpuwhy_generate(OUTPUT ${GEN}/embedded_probe.gen.cc
  COMMAND ${TOOLS}/embed.py --root src/witness/os --out ${GEN}/embedded_probe.gen.cc --function EmbeddedInterpreterProbe --header base/embed.h ${probe_files}
  DEPENDS ${CMAKE_SOURCE_DIR}/src/witness/os/interpreter_probe.py ${TOOLS}/embed.py)
file(GLOB demo_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/docs/demo ${CMAKE_SOURCE_DIR}/docs/demo/*.gpuwhy)
list(TRANSFORM demo_files PREPEND ${CMAKE_SOURCE_DIR}/docs/demo/ OUTPUT_VARIABLE demo_paths)
gpuwhy_generate(OUTPUT ${GEN}/embedded_demo.gen.cc
  COMMAND ${TOOLS}/embed.py --root docs/demo --out ${GEN}/embedded_demo.gen.cc --function EmbeddedDemo --header base/embed.h ${demo_files}
  DEPENDS ${demo_paths} ${TOOLS}/embed.py)
