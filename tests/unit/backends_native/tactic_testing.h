#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "ir/graph.h"
#include "planning/plan.h"

namespace fusescope::testing {

/// A tensor of values in [-1, 1] (floats), any codes of 8 bits, small non-negative numbers (other integers) or truth
/// values.
Tensor randomTensor(DataType type, const Dims& dims, std::uint32_t seed);

/// A model over a graph of the test's own, prepared and planned for this CPU. Aborts the test on an error.
std::shared_ptr<const Plan> planned(GraphEditor& editor, const PlanOptions& options = {});

/// What one tactic did on random inputs, against the reference tactic.
struct TacticOutcome {
  std::string fusedNode;
  std::string tactic;
  std::string problem;   ///< empty: it ran
  double worst = 0;      ///< largest |difference| relative to the root mean square of the expected values
  bool flushed = false;  ///< what should be denormal is zero
  double steps = 0;      ///< largest |difference| of codes of 8 bits
  double unlike = 0;     ///< part of these codes that differs, but for two
  Numerics numerics;     ///< as it says
  bool emulated = false;
  std::size_t scratchBytes = 0;  ///< of the kernel: what it keeps between its steps
  std::int64_t packedBytes = 0;  ///< of the kernel: its weights
};

using TensorMaker = std::function<Tensor(DataType type, const Dims& dims, std::uint32_t seed)>;

/// Runs every tactic of every fused node of `plan` on `inputs` (at their opt extents). `delivered`: a format in which
/// inputs of rank 4 can arrive.
std::vector<TacticOutcome> tryAllTactics(const Plan& plan, const MemoryFormat& delivered = {}, int threads = 2,
                                         const TensorMaker& inputs = randomTensor);

/// A network of one node: `inputs` are given by name and type, `constants` by name; every output is f32 unless
/// `outputTypes` says.
struct OneNode {
  std::string op;
  std::vector<std::pair<std::string, TensorType>> inputs;
  std::vector<std::pair<std::string, Tensor>> constants;
  std::vector<std::string> order;  ///< names of the operands in order; "" is an absent one
  std::map<std::string, Attribute> attributes;
  int outputs = 1;
};
std::shared_ptr<const Plan> planned(const OneNode& node);

/// What a value, or the node that makes it, is to a kernel.
struct Role {
  std::string_view role;
  ValueId value;
  ValueId madeBy;  ///< invalid: the role is of no node
};
/// `plan` with all its nodes as one fused node, with these bindings: what a rule of the planner might match.
Plan asOneKernel(const Plan& plan, std::string_view kind, const std::vector<Role>& roles);

TensorType f32(const Dims& dims);

/// Fails the test for each outcome that did not run or is off by more than `tolerance`; says how many tactics of ours
/// ran.
int expectAgreement(const std::vector<TacticOutcome>& outcomes, double tolerance = 1e-4);

/// A small graph under construction.
struct Net {
  GraphEditor editor;
  std::uint32_t seed = 100;
  int names = 0;

  ValueId input(const Dims& dims, DataType type = DataType::F32) {
    return editor.addInput("x" + std::to_string(names++), {type, Shape::of(dims)});
  }
  ValueId weights(const Dims& dims) {
    return editor.addConstant("w" + std::to_string(names++), randomTensor(DataType::F32, dims, seed++));
  }
  ValueId codes(const Dims& dims, DataType type = DataType::I8) {
    return editor.addConstant("q" + std::to_string(names++), randomTensor(type, dims, seed++));
  }
  ValueId positive(const Dims& dims) {
    Tensor tensor = randomTensor(DataType::F32, dims, seed++);
    for (float& value : tensor.mutableData<float>()) value = value * value + 0.5f;
    return editor.addConstant("w" + std::to_string(names++), tensor);
  }
  ValueId number(float value) { return editor.addConstant("c" + std::to_string(names++), Tensor::scalar(value)); }
  ValueId numbers(const std::vector<float>& values) {
    const Dims dims{static_cast<std::int64_t>(values.size())};
    return editor.addConstant("c" + std::to_string(names++), Tensor::copyOf<float>(DataType::F32, dims, values));
  }
  ValueId ints(std::vector<std::int64_t> values) {
    return editor.addConstant("i" + std::to_string(names++), Tensor::ofInt64(std::move(values)));
  }
  /// `op`: NAME, or DOMAIN::NAME.
  ValueId add(const std::string& op, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes = {}) {
    const std::size_t cut = op.find("::");
    const ValueId value = editor.addValue("v" + std::to_string(names++), {DataType::Undefined, Shape::unknown()});
    editor.addNode({.op = cut == std::string::npos ? op : op.substr(cut + 2),
                    .domain = cut == std::string::npos ? std::string() : op.substr(0, cut),
                    .name = op + std::to_string(names),
                    .inputs = std::move(inputs),
                    .outputs = {value},
                    .attributes = std::move(attributes)});
    return value;
  }
  /// Plans, tries every tactic, and says how many of ours ran.
  int check(ValueId result, const MemoryFormat& delivered = {}, double tolerance = 1e-4) {
    editor.addOutput(result);
    return expectAgreement(tryAllTactics(*planned(editor), delivered), tolerance);
  }
};

/// Fails the test unless every tactic agrees, and none has a part that the reference runs.
void expectOwnKernels(Net& net, ValueId result);

using Ints = std::vector<std::int64_t>;

}  // namespace fusescope::testing
