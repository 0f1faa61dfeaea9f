// A result of a job file of any bytes, and one whose description is any bytes, is refused in words or opened; nothing
// of it is written anywhere but into a folder of its own.

#include "base/zip_archive.h"
#include "probe/job_file.h"
#include "probe/probe_archive.h"
#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

namespace {

void open(const std::filesystem::path& path) {
  const auto result = openJobResult(path);
  if (!result.ok()) return;
  (void)result.value().probe->ask({.json = {{"op", "compile"}}, .files = {}}, {});
}

Status writeResult(const std::filesystem::path& path, std::string_view head) {
  auto archive = TRY(ZipWriter::at(path));
  TRY(archive.add("result.json", head));
  TRY(archive.add("files/0/log", std::string_view("words")));
  return archive.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto path = fuzz::asFile({data, size}, ".zip");
  open(path);
  std::string head(reinterpret_cast<const char*>(data), size);
  if (const auto at = head.find("PROBE"); at != std::string::npos) head.replace(at, 5, probeVersion());
  if (const Status written = writeResult(path, head); !written.ok())
    fuzz::report("an archive can be written", written.error().text());
  open(path);
  return 0;
}
