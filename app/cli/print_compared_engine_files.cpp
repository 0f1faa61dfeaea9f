// `compare A.json B.json` for two engines whose files were read. Nothing is run.
#include "app/cli/print_compared_engine_files.h"

#include <fmt/format.h>

#include <iostream>

#include "app/cli/table.h"
#include "base/text.h"
#include "session/compare_engine_files.h"
#include "session/compare_report.h"

namespace fusescope::cli {
namespace {

std::string kernelsText(const std::vector<CoveringNode>& kernels) {
  std::vector<std::string> names;
  for (const CoveringNode& kernel : kernels) names.push_back(kernel.place.text());
  return shortened(joined(names, " | "), 48);
}

void printSide(const char* name, const EngineFilesSide& side) {
  std::cout << fmt::format("{} {}, {}: kernels {}, {} {}{}; times are {}\n", name, side.compiler,
                           side.device.empty() ? "on a device that the files do not name" : side.device,
                           msText(side.kernelsMs), counted(side.conversions, "conversion"), msText(side.conversionsMs),
                           side.latencyMs ? ", a run " + msText(side.latencyMs) : std::string(),
                           side.times.empty() ? "not told" : side.times);
}

void printTotals(const EngineFilesComparison& comparison) {
  const EngineFilesTotals& totals = comparison.totals;
  const auto apart = [](const std::optional<double>& a, const std::optional<double>& b) {
    return msApartText(a && b ? std::optional(*b - *a) : std::nullopt);
  };
  std::cout << fmt::format("groups with times on both sides: A {}, B {}, B - A {}; only in A {}, only in B {}\n",
                           msText(totals.aMs), msText(totals.bMs), apart(totals.aMs, totals.bMs),
                           msText(totals.onlyAMs), msText(totals.onlyBMs));
  std::cout << fmt::format("conversions: A {}, B {}, B - A {}\n", msText(comparison.a.conversionsMs),
                           msText(comparison.b.conversionsMs),
                           apart(comparison.a.conversionsMs, comparison.b.conversionsMs));
}

}  // namespace

Result<int> compareFilesOfEngines(const Artifact& a, const Artifact& b, bool json) {
  const EngineFilesComparison comparison = compareEngineFiles(*a.made, *b.made);
  if (json) {
    printJson(toJson(comparison));
    return kDone;
  }
  const bool haveNetworks = comparison.a.hasNetwork && comparison.b.hasNetwork;
  printTitle(haveNetworks ? "Groups of kernels that cover the same nodes of the file"
                          : "Groups of kernels that do the same, according to their layers");
  Table table({{"A"}, {"B"}, {"nodes", true}, {"A time", true}, {"B time", true}, {"B - A", true}});
  for (const CompareGroup& group : comparison.groups)
    table.add({kernelsText(group.a), group.same && haveNetworks ? "the same" : kernelsText(group.b),
               std::to_string(group.origins.size()), msText(group.aMs), msText(group.bMs), msApartText(group.deltaMs)});
  table.print();
  std::cout << "read from files; nothing was run here\n" << comparison.matchedBy << "\n";
  printTotals(comparison);
  printSide("A", comparison.a);
  printSide("B", comparison.b);
  if (!comparison.notRanked.empty()) std::cout << "it is not said which is faster: " << comparison.notRanked << "\n";
  return kDone;
}

}  // namespace fusescope::cli
