#pragma once

#include "planning/read_back/read_back_plan.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope::testing {

/// x -> fc1 -> relu -> flat -> exp -> fc2: two products, what stands between, and a view.
inline std::shared_ptr<const Model> chainModel() {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId first = b.node("MatMul", "fc1", {x, b.weight("w1", {8, 8})}, {4, 8});
  const ValueId relu = b.node("Relu", "relu", {first}, {4, 8});
  const ValueId shape = b.constant("shape", Tensor::ofInt64({4, 8}));
  const ValueId flat = b.node("Reshape", "flat", {relu, shape}, {4, 8});
  const ValueId exp = b.node("Exp", "exp", {flat}, {4, 8});
  b.output(b.node("MatMul", "fc2", {exp, b.weight("w2", {8, 8})}, {4, 8}));
  return b.build();
}

inline std::shared_ptr<const Plan> chainPlan(Directives directives = {}) {
  PlanOptions options = cpuOptions(std::move(directives));
  options.compiler = "other";
  return planned(chainModel(), options);
}

/// What a compiler tells of a plan; speaks of nodes and tensors by their names.
class Told {
 public:
  explicit Told(std::shared_ptr<const Plan> plan) : asked(std::move(plan)) {
    told.compiler = {.name = "other", .version = "1.0", .environment = "python3", .options = {{"level", "2"}}};
  }

  NodeId node(const std::string& name) const { return *asked->graph().findNode(name); }
  ValueId value(const std::string& name) const { return *asked->graph().findValue(name); }
  ReadBackKernel& kernel(const std::string& name, const std::vector<std::string>& nodes,
                         DataType compute = DataType::Undefined) {
    ReadBackKernel& kernel = told.kernels.emplace_back();
    kernel.name = name;
    kernel.kind = "matmul";
    kernel.compute = compute;
    for (const std::string& held : nodes) kernel.nodes.emplace_back(node(held), Certainty::Named);
    return kernel;
  }
  std::shared_ptr<const ReadBackPlan> make() const {
    auto made = readBackPlan(asked, told);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().text());
    return made.ok() ? made.value() : nullptr;
  }
  Diagnostic error() const {
    const auto made = readBackPlan(asked, told);
    EXPECT_FALSE(made.ok());
    return made.ok() ? Diagnostic() : made.error();
  }

  std::shared_ptr<const Plan> asked;
  ReadBack told;
};

}  // namespace fusescope::testing
