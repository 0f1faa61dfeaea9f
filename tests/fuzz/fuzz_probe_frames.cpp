// What comes from a probe is refused in words or parted into frames, which are the same however the bytes arrive;
// frames that are written again are read as they were.

#include "probe/frames.h"

#include <vector>

#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

namespace {

/// The frames of `bytes`, fed in pieces of `size`, each written again; where something is no frame, "error" at the end.
std::vector<std::string> framesOf(std::string_view bytes, std::size_t size) {
  std::vector<std::string> frames;
  FrameReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    reader.feed(bytes.substr(at, size));
    for (;;) {
      auto frame = reader.next();
      if (!frame.ok()) return frames.emplace_back("error"), frames;
      if (!frame.value()) break;
      Frame& found = *frame.value();
      found.header.erase("bytes");
      frames.push_back(toBytes(found.header, found.payload));
    }
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto frames = framesOf(bytes, bytes.size());
  if (framesOf(bytes, std::size_t{data[0]} + 1) != frames) fuzz::report("pieces of any size give the same frames", "");
  for (const std::string& frame : frames)
    if (frame != "error" && framesOf(frame, frame.size()) != std::vector{frame})
      fuzz::report("a frame survives a round trip", frame);
  return 0;
}
