#include <fmt/format.h>

#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

const ExporterOption kCountOption{.name = "count",
                                  .title = "Count",
                                  .help = "What is counted.",
                                  .choices = {"nodes", "kernels"},
                                  .choiceTitles = {"nodes", "kernels"}};

Result<Exported> writeCounts(const Plan& plan, const ExportOptions& options) {
  const bool ofKernels = options.text(kCountOption.name) == "kernels";
  return Exported{fmt::format("{}\n", ofKernels ? plan.fusedNodes.size() : plan.graph().order().size())};
}

}  // namespace

extern const ExportRow kCountsRow{.readers = "people", .contents = "a number", .exactness = "exact"};

extern const Exporter kCountsExporter{.name = "counts",
                                      .title = "Counts",
                                      .extension = "txt",
                                      .summary = "how many nodes or kernels the plan has",
                                      .write = writeCounts,
                                      .options = {&kCountOption}};

}  // namespace fusescope
