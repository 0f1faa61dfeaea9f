#include "tests/fuzz/fuzz_support.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace fusescope::fuzz {
namespace {

/// One file a process, gone with it.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view extension)
      : m_path(std::filesystem::temp_directory_path() /
               ("fusescope-fuzz-" + std::to_string(::getpid()) + std::string(extension))) {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(m_path, ignored);
  }
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

}  // namespace

std::filesystem::path asFile(std::span<const std::uint8_t> bytes, std::string_view extension) {
  static const ScratchFile scratch(extension);
  std::ofstream out(scratch.path(), std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) report("a scratch file can be written", scratch.path().string());
  return scratch.path();
}

std::string_view asText(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void report(std::string_view claim, std::string_view detail) {
  std::fprintf(stderr, "does not hold: %.*s\n%.*s\n", static_cast<int>(claim.size()), claim.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

}  // namespace fusescope::fuzz
