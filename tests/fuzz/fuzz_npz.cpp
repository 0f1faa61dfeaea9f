// An .npz or .npy of any bytes is refused in words or read; what is read from .npy can be written and read again.

#include "interchange/npz.h"
#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)readNpz(fuzz::asFile({data, size}, ".npz"));
  const auto array = parseNpy(std::as_bytes(std::span(data, size)), "fuzz.npy", "x");
  if (!array.ok()) return 0;
  const auto written = npyBytes(array.value(), "x");
  if (!written.ok()) return 0;
  const auto again = parseNpy(std::as_bytes(std::span(written.value())), "fuzz.npy", "x");
  if (!again.ok()) fuzz::report("what was written is read", again.error().text());
  if (!again.value().identical(array.value())) fuzz::report("an array survives a round trip", "");
  return 0;
}
