// An engine file of any bytes is refused in words or gives a sound plan.

#include <cstring>
#include <vector>

#include "base/hash.h"
#include "engine/engine.h"
#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

namespace {

// Places in the header (engine/FORMAT.md).
constexpr std::size_t kHeaderBytes = 64, kMetaBytesAt = 16, kHashAt = 48;

/// With the checksum that the bytes should have: else no changed byte would get past it.
std::vector<std::uint8_t> withChecksum(std::vector<std::uint8_t> bytes) {
  if (bytes.size() < kHeaderBytes) return bytes;
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + kMetaBytesAt, sizeof length);
  if (length > bytes.size() - kHeaderBytes) return bytes;
  const Hash128 hash = hashText(fuzz::asText(bytes).substr(kHeaderBytes, length));
  std::memcpy(bytes.data() + kHashAt, &hash.high, sizeof hash.high);
  std::memcpy(bytes.data() + kHashAt + sizeof hash.high, &hash.low, sizeof hash.low);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto path = fuzz::asFile(withChecksum({data, data + size}), ".fse");
  const auto read = openEngineFile(path);
  if (!read.ok()) {
    if (read.error().message.empty()) fuzz::report("a refusal has words", "");
    return 0;
  }
  if (const auto sound = verifyPlan(*read.value().plan); !sound.ok())
    fuzz::report("a plan that was read passes the verifier", sound.error().text());
  return 0;
}
