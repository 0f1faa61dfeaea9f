#include "compilers/onnxruntime/reading.h"

#include <algorithm>

namespace fusescope::onnxruntime {
namespace {

bool haveEqualNames(const std::vector<onnxlib::FileValue>& a, const std::vector<onnxlib::FileValue>& b) {
  return std::ranges::equal(a, b, {}, &onnxlib::FileValue::name, &onnxlib::FileValue::name);
}

Optimised bound(const Network& network, const onnxlib::FileGraph& file) {
  Optimised optimised(file);
  bindTensors(network, optimised);
  return optimised;
}

}  // namespace

Reading::Reading(const HandedNetwork& handed, onnxlib::FileModel model)
    : file(std::move(model)),
      network(handed),
      optimised(bound(network, file.graph)),
      covers(coverKernels(network, optimised)) {}

Result<std::unique_ptr<Reading>> readNetwork(const HandedNetwork& handed, const std::filesystem::path& path) {
  onnxlib::FileModel file = TRY(onnxlib::readModel(path, {.takesMissingData = true}));
  if (!haveEqualNames(file.graph.outputs, handed.file.graph.outputs))
    return Diagnostic{.message = "The optimised network has other outputs than the one that was handed over.",
                      .where = {.file = path.string()}};
  return std::make_unique<Reading>(handed, std::move(file));
}

}  // namespace fusescope::onnxruntime
