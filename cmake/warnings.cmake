# Options that every target of ours is compiled with.
add_library(gpuwhy_options INTERFACE)
target_compile_options(gpuwhy_options INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -ffunction-sections -fdata-sections)
if(GPUWHY_WARNINGS_AS_ERRORS)
  target_compile_options(gpuwhy_options INTERFACE -Werror)
endif()
if(GPUWHY_SANITIZE)
  target_compile_options(gpuwhy_options INTERFACE -fsanitize=${GPUWHY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # GCC's manual (Instrumentation Options): sanitizers raise the rate of false positives of this warning. GCC 12 gives it
  # for every moved std::variant; builds without a sanitizer keep it.
  target_compile_options(gpuwhy_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(gpuwhy_options INTERFACE -fsanitize=${GPUWHY_SANITIZE})
endif()
