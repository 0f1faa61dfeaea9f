#include "compilers/onnxruntime/reading.h"

#include <algorithm>

namespace fusescope::onnxruntime {
namespace {

/// Returns whether `values` begin with these outputs. Marked values are additional outputs after those of the network.
bool beginsWith(const std::vector<onnxlib::FileValue>& values, const std::vector<onnxlib::FileValue>& first) {
  return values.size() >= first.size() &&
         std::equal(first.begin(), first.end(), values.begin(),
                    [](const onnxlib::FileValue& a, const onnxlib::FileValue& b) { return a.name == b.name; });
}

Optimised bound(const Network& network, const onnxlib::FileModel& file) {
  Optimised optimised(file.graph);
  bindTensors(network, optimised);
  inferTypes(optimised, file.opsets);
  return optimised;
}

}  // namespace

Reading::Reading(const CompilerInput& handed, onnxlib::FileModel model)
    : file(std::move(model)),
      network(handed),
      optimised(bound(network, file)),
      covers(coverKernels(network, optimised)) {}

Result<std::unique_ptr<Reading>> readNetwork(const CompilerInput& handed, const std::filesystem::path& path) {
  onnxlib::FileModel file = TRY(onnxlib::readModel(path, {.takesMissingData = true, .takesDocumentation = true}));
  if (!beginsWith(file.graph.outputs, handed.file.graph.outputs))
    return Diagnostic{.message = "the optimised network has other outputs than the network that ONNX Runtime received",
                      .where = {.file = path.string()}};
  return std::make_unique<Reading>(handed, std::move(file));
}

}  // namespace fusescope::onnxruntime
