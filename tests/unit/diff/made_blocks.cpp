#include "tests/unit/diff/made_blocks.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/diff/rebuilt_networks.h"

namespace fusescope::test {

namespace {

std::shared_ptr<const Plan> blockPlan(const PlanOptions& options) {
  auto plan = makePlan(chainOfBlocks({8}), options);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.ok() ? plan.value() : nullptr;
}

}  // namespace

std::shared_ptr<const Plan> ours(std::vector<DataType> precisions) {
  return blockPlan({.target = "cpu:avx2", .precisions = std::move(precisions)});
}

std::shared_ptr<const Plan> askedOf(const Names& pins) {
  PlanOptions options{.compiler = "onnxruntime", .target = "cpu:avx2"};
  for (const std::string& pin : pins) options.directives.push_back(parsePin(pin).value());
  return blockPlan(options);
}

ReadBackKernel kernelOver(const Plan& plan, const std::string& name, const Names& nodes, DataType type) {
  ReadBackKernel kernel{.name = name, .kind = "matmul", .compute = type};
  for (const std::string& node : nodes)
    kernel.nodes.emplace_back(plan.graph().findNode(node).value(), Certainty::Named);
  return kernel;
}

std::shared_ptr<const ReadBackPlan> madeOf(const std::shared_ptr<const Plan>& asked,
                                           std::vector<ReadBackKernel> kernels,
                                           const std::map<std::string, Fate>& fates, const std::string& version) {
  ReadBack told{.compiler = {.name = "onnxruntime", .version = version, .environment = "python3"},
                .kernels = std::move(kernels)};
  for (const auto& [node, fate] : fates) told.fates[asked->graph().findNode(node).value()] = fate;
  auto made = readBackPlan(asked, told);
  EXPECT_TRUE(made.ok()) << made.error().text();
  return made.ok() ? made.value() : nullptr;
}

std::shared_ptr<const ReadBackPlan> madeAlike(const std::shared_ptr<const Plan>& asked, DataType type) {
  return madeOf(asked, {kernelOver(*asked, "first", {"wide0", "relu0"}, type),
                        kernelOver(*asked, "second", {"narrow0", "sum0"}, type)});
}

}  // namespace fusescope::test
