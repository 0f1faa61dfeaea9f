#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <string>

#include "base/files.h"
#include "compilers/probed/probed_kind.h"
#include "compilers/tensorrt_rtx/build_log.h"
#include "ir/graph.h"
#include "planning/read_back/read_back_plan.h"
#include "probe/environments.h"
#include "tests/support/told_networks.h"
#include "tests/unit/compilers/planned_file.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {

inline const ProbedKind& rtx() {
  return *findProbedKind("tensorrt-rtx");
}

inline PlanOptions rtxOptions(std::vector<DataType> precisions = {}) {
  return {.compiler = "tensorrt-rtx", .target = std::string(rtx().target()), .precisions = std::move(precisions)};
}

/// A network in ONNX's textual syntax, planned and handed over with numbers.
class Handed {
 public:
  explicit Handed(const std::string& graph, const PlanOptions& options = rtxOptions())
      : m_plan(plannedFile(m_folder.write("network.onnx", onnxBytes(graph)), options)),
        m_network(makeCompilerInput(m_plan, CompilerInputTypes::AsPlanned, {})) {
    EXPECT_TRUE(m_network.ok()) << (m_network.ok() ? "" : m_network.error().text());
  }
  CompilerInput& network() { return m_network.value(); }
  const Graph& graph() const { return m_plan->graph(); }
  const std::shared_ptr<const Plan>& plan() const { return m_plan; }

 private:
  TemporaryFolder m_folder;
  std::shared_ptr<const Plan> m_plan;
  Result<CompilerInput> m_network;
};

/// The Python with the package tensorrt-rtx; null: no test may use it. Its licence is NVIDIA's: it is used only where
/// FUSESCOPE_TEST_TENSORRT_RTX=1 says so.
inline const char* rtxPython() {
  const char* wanted = std::getenv("FUSESCOPE_TEST_TENSORRT_RTX");
  const char* python = std::getenv("FUSESCOPE_TENSORRT_RTX_PYTHON");
  return wanted != nullptr && std::string_view(wanted) == "1" ? python : nullptr;
}

/// The compiler, opened in that Python. That its command may be started is noted in a folder of the tests' own.
inline std::unique_ptr<ProbeJob> rtxJob() {
  static const TemporaryFolder configuration;
  ::setenv("XDG_CONFIG_HOME", configuration.path().c_str(), 1);
  EXPECT_TRUE(confirm(rtxPython()).ok());
  auto job = ProbeJob::start({.name = "test", .command = rtxPython()}, "tensorrt-rtx", {});
  EXPECT_TRUE(job.ok()) << (job.ok() ? "" : job.error().text());
  return job.ok() ? std::move(job).value() : nullptr;
}

/// Asks for `op` with the network of the plan of `network`.
inline Result<ProbeAnswer> askRtx(ProbeJob& job, const std::string& op, CompilerInput& network,
                                  const BuildOptions& options = {}) {
  const Json asked = TRY(rtx().requestOptions(network, options));
  return job.ask({.json = {{"op", op}, {"options", asked}}, .files = filesOf(network)}, {});
}

/// Returns the extents of a tensor in the order in which its axes lie in memory. A kernel that reads a value through a
/// Transpose lists the value with the axes of the result, and with strides that step through the memory of the operand.
inline std::vector<std::int64_t> extentsInMemory(const ListedTensor& tensor) {
  if (tensor.strides.size() != tensor.dims.size()) return tensor.dims;
  std::vector<std::size_t> axes(tensor.dims.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  std::ranges::stable_sort(axes, std::greater(), [&](std::size_t axis) { return tensor.strides[axis]; });
  std::vector<std::int64_t> extents;
  for (const std::size_t axis : axes) extents.push_back(tensor.dims[axis]);
  return extents;
}

inline bool haveSameExtents(const ListedTensor& tensor, const Value& value) {
  return haveSameExtents(tensor.dims, value) || haveSameExtents(extentsInMemory(tensor), value);
}

/// Returns the first tensor of a layer that has other extents than the value that it is said to be, or an empty text.
/// Kernels are in the order of the layers that they were read from, and so are their tensors.
inline std::string extentsProblem(const Graph& graph, const std::vector<ListedLayer>& layers, const ReadBack& told) {
  if (layers.size() != told.kernels.size()) return "there are other kernels than layers";
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (const auto& [tensors, values] : {std::pair(&layers[i].inputs, &told.kernels[i].inputs),
                                          std::pair(&layers[i].outputs, &told.kernels[i].outputs)})
      for (std::size_t j = 0; j < std::min(tensors->size(), values->size()); ++j)
        if (const ValueId id = (*values)[j].value; id.valid() && !haveSameExtents((*tensors)[j], graph.value(id)))
          return fmt::format("{} has {} as [{}] with strides [{}], which is {}", told.kernels[i].name,
                             graph.value(id).name, fmt::join((*tensors)[j].dims, ", "),
                             fmt::join((*tensors)[j].strides, ", "), graph.value(id).type.text());
  return {};
}

}  // namespace fusescope::test

/// Skips the test, with a reason, where the package may not be used or is not there.
#define FUSESCOPE_REQUIRE_TENSORRT_RTX() \
  if (rtxPython() == nullptr)            \
  GTEST_SKIP() << "TensorRT for RTX is used in tests only with FUSESCOPE_TEST_TENSORRT_RTX=1 (see README.md)"
