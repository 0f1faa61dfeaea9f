// What resources/targets/cpu.json says that the native backend has kernels for, against the backend itself.
#include "target/target_table.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "ops/op_schema.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

/// Of an operator as tables write it: NAME, or DOMAIN::NAME.
const OpSchema* schemaOf(std::string_view op) {
  const std::size_t cut = op.find("::");
  if (cut == std::string_view::npos) return OpRegistry::standard().find("", op);
  return OpRegistry::standard().find(op.substr(0, cut), op.substr(cut + 2));
}

using Build = std::function<ValueId(Net&)>;

/// An operator of one input of rank 4, with these attributes.
Build unary(const std::string& op, std::map<std::string, Attribute> attributes = {}) {
  return [=](Net& net) { return net.add(op, {net.input({2, 4, 6, 6})}, attributes); };
}

/// A recurrent operator of so many gates.
Build recurrence(const std::string& op, std::int64_t gates) {
  return [=](Net& net) {
    return net.add(op, {net.input({3, 2, 4}), net.weights({1, gates * 5, 4}), net.weights({1, gates * 5, 5})},
                   {{"hidden_size", std::int64_t{5}}});
  };
}

ValueId quantizedRecurrence(Net& net) {
  const auto matrix = [&](std::int64_t inputs) { return net.codes({1, inputs, 20}); };
  const ValueId w = matrix(4), r = matrix(5);
  const ValueId scale = net.numbers({0.01F}), zero = net.codes({1});
  return net.add(
      "com.microsoft::DynamicQuantizeLSTM",
      {net.input({3, 2, 4}), w, r, ValueId(), ValueId(), ValueId(), ValueId(), ValueId(), scale, zero, scale, zero},
      {{"hidden_size", std::int64_t{5}}});
}

/// Nodes for the operators that do not take one f32 tensor and nothing else.
const std::map<std::string, Build>& representatives() {
  static const auto kBinary = [](const std::string& op) {
    return [=](Net& net) { return net.add(op, {net.input({2, 4, 6}), net.input({2, 4, 6})}); };
  };
  static const auto kLogic = [](const std::string& op) {
    return [=](Net& net) {
      return net.add(op, {net.input({2, 4}, DataType::Bool), net.input({2, 4}, DataType::Bool)});
    };
  };
  static const auto kPool = [](const std::string& op) {
    return unary(op, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  };
  static const std::map<std::string, Build> kNodes = [] {
    std::map<std::string, Build> nodes;
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Less", "LessOrEqual", "Greater", "GreaterOrEqual",
                           "Equal", "PRelu", "Sum", "Mean"})
      nodes[op] = kBinary(op);
    for (const char* op : {"And", "Or", "Xor"}) nodes[op] = kLogic(op);
    for (const char* op : {"AveragePool", "MaxPool"}) nodes[op] = kPool(op);
    nodes["Not"] = [](Net& net) { return net.add("Not", {net.input({2, 4}, DataType::Bool)}); };
    nodes["Mod"] = [](Net& net) { return net.add("Mod", {net.input({8}, DataType::I64), net.ints({3})}); };
    nodes["Conv"] = [](Net& net) {
      return net.add("Conv", {net.input({1, 8, 6, 6}), net.weights({8, 8, 3, 3})}, {{"kernel_shape", Ints{3, 3}}});
    };
    nodes["ConvTranspose"] = [](Net& net) {
      return net.add("ConvTranspose", {net.input({1, 8, 6, 6}), net.weights({8, 8, 3, 3})},
                     {{"kernel_shape", Ints{3, 3}}});
    };
    nodes["MatMul"] = [](Net& net) { return net.add("MatMul", {net.input({8, 16}), net.weights({16, 8})}); };
    nodes["Gemm"] = [](Net& net) { return net.add("Gemm", {net.input({8, 16}), net.weights({16, 8})}); };
    nodes["ConvInteger"] = [](Net& net) {
      return net.add("ConvInteger", {net.input({1, 8, 6, 6}, DataType::U8), net.codes({8, 8, 3, 3})});
    };
    nodes["MatMulInteger"] = [](Net& net) {
      return net.add("MatMulInteger", {net.input({8, 16}, DataType::U8), net.codes({16, 8})});
    };
    nodes["QLinearConv"] = [](Net& net) {
      const ValueId scale = net.number(0.1F), zero = net.codes({}, DataType::U8);
      return net.add("QLinearConv", {net.input({1, 8, 6, 6}, DataType::U8), scale, zero,
                                     net.codes({8, 8, 3, 3}, DataType::U8), scale, zero, scale, zero});
    };
    nodes["QLinearMatMul"] = [](Net& net) {
      const ValueId scale = net.number(0.1F), zero = net.codes({}, DataType::U8);
      return net.add("QLinearMatMul", {net.input({8, 16}, DataType::U8), scale, zero, net.codes({16, 8}, DataType::U8),
                                       scale, zero, scale, zero});
    };
    nodes["Where"] = [](Net& net) {
      return net.add("Where", {net.input({2, 4}, DataType::Bool), net.input({2, 4}), net.input({2, 4})});
    };
    nodes["Clip"] = [](Net& net) { return net.add("Clip", {net.input({2, 4}), net.number(-0.5F), net.number(0.5F)}); };
    nodes["Pow"] = [](Net& net) { return net.add("Pow", {net.input({2, 4}), net.number(2)}); };
    nodes["LayerNormalization"] = [](Net& net) {
      return net.add("LayerNormalization", {net.input({2, 4, 8}), net.weights({8}), net.weights({8})});
    };
    nodes["RMSNormalization"] = [](Net& net) {
      return net.add("RMSNormalization", {net.input({2, 4, 8}), net.weights({8})});
    };
    nodes["BatchNormalization"] = [](Net& net) {
      return net.add("BatchNormalization", {net.input({2, 4, 6, 6}), net.weights({4}), net.weights({4}),
                                            net.weights({4}), net.positive({4})});
    };
    nodes["InstanceNormalization"] = [](Net& net) {
      return net.add("InstanceNormalization", {net.input({2, 4, 6, 6}), net.weights({4}), net.weights({4})});
    };
    nodes["Reshape"] = [](Net& net) { return net.add("Reshape", {net.input({2, 4, 6}), net.ints({8, 6})}); };
    nodes["Squeeze"] = [](Net& net) { return net.add("Squeeze", {net.input({2, 1, 6}), net.ints({1})}); };
    nodes["Unsqueeze"] = [](Net& net) { return net.add("Unsqueeze", {net.input({2, 6}), net.ints({1})}); };
    nodes["Expand"] = [](Net& net) { return net.add("Expand", {net.input({2, 1, 6}), net.ints({2, 4, 6})}); };
    nodes["Slice"] = [](Net& net) {
      return net.add("Slice", {net.input({8, 6}), net.ints({1}), net.ints({5}), net.ints({0})});
    };
    nodes["Transpose"] = unary("Transpose", {{"perm", Ints{0, 2, 3, 1}}});
    nodes["Split"] = unary("Split", {{"num_outputs", std::int64_t{1}}});
    nodes["Cast"] = unary("Cast", {{"to", std::int64_t{7}}});
    nodes["Concat"] = [](Net& net) {
      return net.add("Concat", {net.input({2, 4}), net.input({2, 6})}, {{"axis", std::int64_t{1}}});
    };
    nodes["Gather"] = [](Net& net) { return net.add("Gather", {net.input({8, 6}), net.ints({1, 3})}); };
    nodes["GatherND"] = [](Net& net) {
      return net.add("GatherND", {net.input({4, 6}), net.input({3, 1}, DataType::I64)});
    };
    nodes["Pad"] = [](Net& net) { return net.add("Pad", {net.input({4, 6}), net.ints({1, 0, 0, 2})}); };
    nodes["Resize"] = [](Net& net) {
      return net.add("Resize", {net.input({1, 4, 6, 6}), ValueId(), net.numbers({1, 1, 2, 2})},
                     {{"mode", std::string("nearest")}});
    };
    nodes["LSTM"] = recurrence("LSTM", 4);
    nodes["GRU"] = recurrence("GRU", 3);
    nodes["com.microsoft::DynamicQuantizeLSTM"] = quantizedRecurrence;
    nodes["RoiAlign"] = [](Net& net) {
      return net.add("RoiAlign", {net.input({2, 4, 6, 6}), net.input({3, 4}), net.ints({1, 0, 1})});
    };
    nodes["TopK"] = [](Net& net) { return net.add("TopK", {net.input({4, 6}), net.ints({3})}); };
    nodes["Attention"] = [](Net& net) {
      return net.add("Attention", {net.input({1, 2, 8, 16}), net.input({1, 2, 8, 16}), net.input({1, 2, 8, 16})});
    };
    return nodes;
  }();
  return kNodes;
}

/// The backend's own tactics for the nodes of a plan: all but the reference kernel, which stands beside them.
std::vector<TacticOutcome> ownTactics(const Plan& plan) {
  std::vector<TacticOutcome> outcomes = tryAllTactics(plan);
  std::erase_if(outcomes, [](const TacticOutcome& outcome) { return outcome.tactic == "reference"; });
  return outcomes;
}

/// Those of a node on its own.
std::vector<TacticOutcome> outcomesOf(const std::string& op, const Build& build) {
  Net net;
  try {
    net.editor.addOutput(build(net));
    const auto plan = planned(net.editor);
    EXPECT_EQ(plan->graph().nodeCount(), 1U) << op << " is no longer itself when it is planned";
    return ownTactics(*plan);
  } catch (const std::exception& problem) {
    ADD_FAILURE() << op << ": " << problem.what();
    return {};
  }
}

/// Some part of it is run by the reference kernel.
bool runsTheReference(const TacticOutcome& outcome) {
  return outcome.tactic.find(":reference") != std::string::npos;
}

TEST(CpuTable, EveryKernelItNamesIsThere) {
  const TargetTable& table = *Target::fromName("cpu").value().table;
  std::size_t tried = 0;
  for (const auto& [op, row] : table.operators) {
    if (row.kernel == "moves" || row.kernel == "neighbours" || op == "Identity") continue;  // Identity is taken out
    if (row.kernel == "bodies") continue;  // the engine runs their plans
    const auto special = representatives().find(op);
    const auto outcomes = outcomesOf(op, special == representatives().end() ? unary(op) : special->second);
    ++tried;
    EXPECT_FALSE(outcomes.empty()) << op << ": the table names a kernel (" << row.kernel << "), the backend has none";
    for (const TacticOutcome& outcome : outcomes)
      EXPECT_FALSE(runsTheReference(outcome)) << op << ": " << outcome.tactic << outcome.problem;
  }
  EXPECT_GT(tried, 80U);
}

TEST(CpuTable, WhatItCallsMovedByTheReferenceHasNoKernel) {
  const std::map<std::string, Build> moved{
      {"Tile",
       [](Net& net) {
         return net.add("Tile", {net.input({2, 3}), net.ints({2, 2})});
       }},
      {"DepthToSpace", unary("DepthToSpace", {{"blocksize", std::int64_t{2}}})},
      {"SpaceToDepth", unary("SpaceToDepth", {{"blocksize", std::int64_t{2}}})},
      {"Trilu",
       [](Net& net) {
         return net.add("Trilu", {net.input({4, 4})});
       }},
      {"GatherElements",
       [](Net& net) {
         return net.add("GatherElements", {net.input({4, 4}), net.input({2, 4}, DataType::I64)});
       }},
      {"ScatterElements",
       [](Net& net) {
         return net.add("ScatterElements", {net.input({4, 4}), net.input({1, 4}, DataType::I64), net.input({1, 4})});
       }},
  };
  const TargetTable& table = *Target::fromName("cpu").value().table;
  for (const auto& [op, build] : moved) {
    ASSERT_NE(table.find(op), nullptr) << op;
    EXPECT_EQ(table.find(op)->kernel, "moves") << op;
    for (const TacticOutcome& outcome : outcomesOf(op, build))
      EXPECT_TRUE(runsTheReference(outcome)) << op << " has a kernel now: name it in the table: " << outcome.tactic;
  }
}

TEST(CpuTable, WhatItDoesNotListHasNoKernel) {
  const std::map<std::string, Build> nodes{
      {"RNN", recurrence("RNN", 1)},
      {"Hardmax", unary("Hardmax")},
      {"LpNormalization", unary("LpNormalization")},
      {"LRN", unary("LRN", {{"size", std::int64_t{3}}})},
      {"ArgMax", unary("ArgMax")},
      {"Det", unary("Det")},
      {"Einsum", unary("Einsum", {{"equation", std::string("abcd->abdc")}})},
      {"GlobalLpPool", unary("GlobalLpPool")},
      {"CumSum",
       [](Net& net) {
         return net.add("CumSum", {net.input({4}), net.ints({0})});
       }},
  };
  const Target cpu = Target::fromName("cpu").value();
  for (const auto& [op, build] : nodes) {
    EXPECT_EQ(cpu.table->find(op), nullptr) << op;
    Net net;
    net.editor.addOutput(build(net));
    const auto plan = planned(net.editor);
    ASSERT_EQ(plan->segments.size(), 1U) << op;
    EXPECT_EQ(plan->segments[0].kind, SegmentKind::Fallback) << op;
    for (const TacticOutcome& outcome : ownTactics(*plan))
      EXPECT_TRUE(runsTheReference(outcome)) << op << " has a kernel now: list it in the table: " << outcome.tactic;
  }
}

TEST(CpuTable, ListsOnlyWhatTheReferenceKnowsToo) {
  for (const auto& [op, row] : Target::fromName("cpu").value().table->operators) {
    const OpSchema* schema = schemaOf(op);
    ASSERT_NE(schema, nullptr) << op;
    EXPECT_TRUE(schema->kernel) << op;
  }
}

}  // namespace
}  // namespace fusescope::testing
