// The text of a graph is refused in words, or what it says prints as text that reads back the same.

#include "ir/graph.h"
#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graph = parseGraph(fuzz::asText({data, size}));
  if (!graph.ok()) {
    if (graph.error().message.empty()) fuzz::report("a refusal has words", "");
    return 0;
  }
  const std::string printed = printGraph(*graph.value());
  const auto again = parseGraph(printed);
  if (!again.ok()) fuzz::report("what was printed is read", again.error().text() + "\n" + printed);
  if (printGraph(*again.value()) != printed) fuzz::report("a graph survives a round trip", printed);
  return 0;
}
