#include "app/cli/inspect_memory.h"

#include <fmt/format.h>

#include <iostream>

#include "app/cli/table.h"
#include "base/text.h"
#include "session/documents/memory_report.h"
#include "session/open_artifact.h"

namespace fusescope::cli {
namespace {

/// Prints the steps of an engine, the bytes of each in the arena, and the pieces in the arena at the peak.
void printMemory(const Json& memory) {
  const auto bytes = [](const Json& json) { return bytesText(json.get<std::int64_t>()); };
  printTitle("Memory over time");
  Table steps({{"step", true}, {"runs"}, {"used", true}});
  for (std::size_t i = 0; i < memory["steps"].size(); ++i) {
    const Json& step = memory["steps"][i];
    steps.add({std::to_string(i), shortened(step["name"].get<std::string>()), bytes(step["taken_bytes"])});
  }
  steps.print();
  const Json& peak = memory["peak"];
  if (!peak.is_null()) {
    printTitle(fmt::format("The peak: {} at step {}, {}", bytes(peak["bytes"]), peak["step"].get<std::int64_t>(),
                           shortened(peak["name"].get<std::string>())));
    Table pieces({{"in the arena"}, {"bytes", true}, {"from step", true}, {"to step", true}});
    for (const Json& piece : peak["pieces"])
      pieces.add({shortened(piece["name"].get<std::string>()) + (piece["scratch"].get<bool>() ? " (scratch)" : ""),
                  bytes(piece["bytes"]), std::to_string(piece["first"].get<std::int64_t>()),
                  std::to_string(piece["last"].get<std::int64_t>())});
    pieces.print();
  }
  std::cout << fmt::format("The arena is {}; inputs and outputs, {}, are outside of it, as weights are.\n",
                           bytes(memory["arena_bytes"]), bytes(memory["caller_bytes"]));
  if (memory["boxed"].get<std::int64_t>() > 0)
    std::cout << fmt::format("{} not listed: their extents are known only while the network runs.\n",
                             counted(memory["boxed"].get<std::int64_t>(), "value"));
  if (memory["holders"].get<std::int64_t>() > 0)
    std::cout << fmt::format("{} bodies, whose arenas are not listed.\n",
                             counted(memory["holders"].get<std::int64_t>(), "step") + " run");
}

}  // namespace

Result<int> inspectMemory(const std::string& path, int threads, bool asJson) {
  if (TRY(artifactKind(path)) != ArtifactKind::Engine)
    return Diagnostic{.message = "is not an engine: the contents of its memory are known only after it was built",
                      .where = {.file = path, .attribute = "--memory"},
                      .help = "Build it first: fusescope build MODEL -o E.fse."};
  const Artifact artifact = TRY(openArtifact(path, {}, {}, {}, {}, progressLine()));
  const auto engine = TRY(openEngine(artifact, buildOptions(artifact, threads, {}, progressLine())));
  clearProgressLine();
  const auto memory = engine->memory();
  if (memory == nullptr)
    return Diagnostic{
        .message = fmt::format("{} does not report what its memory contains", artifact.plan->options.compiler),
        .where = {.file = path, .attribute = "--memory"}};
  Json json = memoryJson(*memory);
  json.update({{"format", "fusescope.memory"}, {"version", 1}});
  asJson ? printJson(json) : printMemory(json);
  return kDone;
}

}  // namespace fusescope::cli
