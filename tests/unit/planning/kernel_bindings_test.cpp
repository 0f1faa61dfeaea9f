#include "planning/kernel_bindings.h"

#include <functional>

#include "base/json.h"
#include "tests/unit/planning/plan_testing.h"

// What the nodes of fused nodes are to kernels that run several of them.

namespace fusescope {
namespace {

using testing::cpuOptions;
using testing::fusions;
using testing::ModelBuilder;
using testing::planned;

/// Writes kernel bindings with the names of nodes and values.
class BindingsText {
 public:
  explicit BindingsText(const Plan& plan) : m_graph(plan.graph()) {}

  std::string of(const FusedNode& fused) {
    const KernelBindings& bindings = kernelBindings(fused);
    for (const RootBinding& root : bindings.roots) addRoot(root);
    if (!bindings.norm.nodes.empty()) {
      add("norm", names(bindings.norm.nodes));
      if (bindings.norm.axes > 0) add("axes", std::to_string(bindings.norm.axes));
      for (const ValueId value : bindings.norm.axesConstants) add("axes_from", m_graph.value(value).name);
      if (bindings.norm.groups.valid()) add("groups", m_graph.value(bindings.norm.groups).name);
      const ValueId epsilon = bindings.norm.epsilon;
      add("epsilon", epsilon.valid() ? m_graph.value(epsilon).name : std::to_string(bindings.norm.ownEpsilon));
      for (const ValueId value : bindings.norm.unweighted) add("unweighted", m_graph.value(value).name);
    }
    if (!bindings.attention.nodes.empty()) {
      add("attention", names(bindings.attention.nodes));
      add("behind_softmax", names(bindings.attention.behindSoftmax));
      for (const auto& above : bindings.attention.aboveQuery) add("query", textOf(above));
      for (const auto& above : bindings.attention.aboveKey) add("key", textOf(above));
      for (const auto& term : bindings.attention.terms) add("term", textOf(term));
      if (bindings.attention.guard.valid()) add("guard", name(bindings.attention.guard));
    }
    for (const HeldCodesBinding& held : bindings.heldCodes) {
      add("held", name(held.quantize));
      for (const auto& [value, maker, reader] : held.floats) add("float", name(maker) + ">" + name(reader));
    }
    for (const DequantizedTableBinding& table : bindings.tables)
      add("table", name(table.dequantize) + ">" + name(table.gather));
    return m_text;
  }

 private:
  void add(const std::string& role, const std::string& what) {
    m_text += (m_text.empty() ? "" : " ") + role + "=" + what;
  }
  std::string name(NodeId id) const { return m_graph.node(id).name; }
  std::string names(const std::vector<NodeId>& nodes) const {
    std::string text;
    for (const NodeId id : nodes) text += (text.empty() ? "" : ",") + name(id);
    return text;
  }
  std::string textOf(const AttentionBinding::Above& above) const {
    static const std::string kSigns = ":*/";
    return name(above.node) + kSigns[static_cast<std::size_t>(above.kind)] + m_graph.value(above.source).name +
           (above.number.valid() ? "," + m_graph.value(above.number).name : "");
  }
  std::string textOf(const AttentionBinding::Term& term) const {
    static const std::string kSigns = "*+-/TF";
    return name(term.node) + kSigns[static_cast<std::size_t>(term.kind)] + m_graph.value(term.operand).name +
           (term.condition.valid() ? "?" + m_graph.value(term.condition).name : "");
  }
  void addCodes(const std::string& role, const CodesBefore& codes) {
    if (!codes.dequantize.valid()) return;
    add(role, names(codes.owned) + (codes.quantize.valid() ? "<" + name(codes.quantize) : ""));
  }
  void addRoot(const RootBinding& root) {
    static const std::vector<std::string> kKinds{"sum", "batch_norm", "swish", "cast", "quantize", "function"};
    add("root", name(root.root));
    addCodes("first", root.first);
    addCodes("second", root.second);
    if (!root.matrix.transposes.empty()) add("transposes", names(root.matrix.transposes));
    if (root.matrix.dequantize.valid()) add("matrix", name(root.matrix.dequantize));
    for (const EpilogueOperation& operation : root.epilogue) {
      add(kKinds[static_cast<std::size_t>(operation.kind)], names(operation.nodes));
      if (operation.operand.valid()) add("operand", m_graph.value(operation.operand).name);
      addCodes("codes", operation.operandCodes);
    }
  }

  const Graph& m_graph;
  std::string m_text;
};

std::string boundIn(const Plan& plan) {
  std::string text;
  for (const FusedNode& fused : plan.fusedNodes)
    if (const std::string one = BindingsText(plan).of(fused); !one.empty()) text += "{" + one + "}";
  return text;
}

std::string boundIn(const std::shared_ptr<const Model>& model, Directives directives = {}) {
  return boundIn(*planned(model, cpuOptions(std::move(directives))));
}

const Dims kPlane{1, 8, 4, 4};

std::shared_ptr<const Model> convSwishSum() {
  ModelBuilder b;
  const ValueId x = b.input("x", kPlane);
  const ValueId conv = b.node("Conv", "conv", {x, b.weight("w", {8, 8, 1, 1})}, kPlane);
  const ValueId biased = b.node("Add", "bias", {b.weight("b", {8, 1, 1}), conv}, kPlane);
  const ValueId gate = b.node("Sigmoid", "gate", {biased}, kPlane);
  const ValueId swish = b.node("Mul", "swish", {gate, biased}, kPlane);
  const ValueId sum = b.node("Add", "sum", {swish, x}, kPlane);
  b.output(b.node("Relu", "relu", {sum}, kPlane));
  return b.build();
}

TEST(KernelBindings, AnEpilogueIsBoundInOrderWithItsOperands) {
  EXPECT_EQ(boundIn(convSwishSum()), "{root=conv sum=bias operand=b swish=gate,swish sum=sum operand=x function=relu}");
}

TEST(KernelBindings, AnEpilogueEndsWhereItsFusedNodeDoes) {
  EXPECT_EQ(boundIn(convSwishSum(), {splitDirective("swish")}), "{root=conv sum=bias operand=b swish=gate,swish}");
  EXPECT_EQ(boundIn(convSwishSum(), {splitDirective("gate")}), "{root=conv sum=bias operand=b}");
}

TEST(KernelBindings, AValueThatOthersReadEndsAnEpilogue) {
  ModelBuilder b;
  const ValueId x = b.input("x", kPlane);
  const ValueId conv = b.node("Conv", "conv", {x, b.weight("w", {8, 8, 1, 1})}, kPlane);
  const ValueId tanh = b.node("Tanh", "tanh", {conv}, kPlane);
  const ValueId exp = b.node("Exp", "exp", {tanh}, kPlane);
  b.output(b.node("Mul", "mul", {tanh, exp}, kPlane));
  EXPECT_EQ(boundIn(b.build()), "{root=conv function=tanh}");
}

TEST(KernelBindings, AValueThatIsAddedToItselfEndsAnEpilogue) {
  ModelBuilder b;
  const ValueId x = b.input("x", kPlane);
  const ValueId conv = b.node("Conv", "conv", {x, b.weight("w", {8, 8, 1, 1})}, kPlane);
  const ValueId tanh = b.node("Tanh", "tanh", {conv}, kPlane);
  b.output(b.node("Add", "twice", {tanh, tanh}, kPlane));
  EXPECT_EQ(boundIn(b.build()), "{root=conv function=tanh}");
}

/// Quantised and dequantised by one scale.
struct Codes {
  ModelBuilder& b;
  ValueId scale = b.constant("scale", Tensor::scalar(0.1F)), zero = b.weight("zero", {}, DataType::I8);
  ValueId quantize(const std::string& name, ValueId x, const Dims& dims) {
    return b.node("QuantizeLinear", name, {x, scale, zero}, dims, DataType::I8);
  }
  ValueId dequantize(const std::string& name, ValueId x, const Dims& dims) {
    return b.node("DequantizeLinear", name, {x, scale, zero}, dims);
  }
};

TEST(KernelBindings, ACodeConvolutionIsBoundWithItsCodes) {
  ModelBuilder b;
  Codes codes{b};
  const ValueId x = b.input("x", kPlane), z = b.input("z", kPlane, DataType::I8);
  const ValueId dx = codes.dequantize("dx", codes.quantize("qx", x, kPlane), kPlane);
  const ValueId dw = codes.dequantize("dw", b.weight("w", {8, 8, 1, 1}, DataType::I8), {8, 8, 1, 1});
  const ValueId conv = b.node("Conv", "conv", {dx, dw}, kPlane);
  const ValueId held = codes.dequantize("dc", codes.quantize("qc", conv, kPlane), kPlane);
  const ValueId sum = b.node("Add", "sum", {codes.dequantize("dz", z, kPlane), held}, kPlane);
  b.output(codes.quantize("y", sum, kPlane));
  EXPECT_EQ(boundIn(b.build()),
            "{root=conv first=dx<qx second=dw quantize=qc,dc sum=sum operand=dz_out codes=dz quantize=y}");
}

TEST(KernelBindings, PickedCodesAreBoundWithWhoMakesAndReadsThem) {
  ModelBuilder b;
  Codes codes{b};
  const Dims two{1, 16, 4, 4};
  const ValueId first = codes.dequantize("d1", b.input("x", kPlane, DataType::I8), kPlane);
  const ValueId second = codes.dequantize("d2", b.input("z", kPlane, DataType::I8), kPlane);
  const ValueId joined = b.node("Concat", "joined", {first, second}, two, DataType::F32, {{"axis", std::int64_t{1}}});
  b.output(codes.quantize("q", joined, two));
  EXPECT_EQ(boundIn(b.build()), "{held=q float=joined>q float=d1>joined float=d2>joined}");
}

TEST(KernelBindings, AProductIsBoundWithTheTransposesAndCodesOfItsMatrix) {
  ModelBuilder b;
  Codes codes{b};
  const Dims turned{8, 4};
  const ValueId matrix = codes.dequantize("dw", b.weight("w", {4, 8}, DataType::I8), {4, 8});
  const ValueId once = b.node("Transpose", "once", {matrix}, turned);
  const ValueId twice = b.node("Transpose", "twice", {once}, {4, 8});
  const ValueId thrice = b.node("Transpose", "thrice", {twice}, turned);
  b.output(b.node("MatMul", "y", {b.input("x", {2, 8}), thrice}, {2, 4}));
  EXPECT_EQ(boundIn(b.build()), "{root=y transposes=thrice,twice,once matrix=dw}");
}

/// A Gather from a table of codes, whose dequantised numbers a second node reads if `isShared` is set.
std::shared_ptr<const Model> gatherOfCodes(bool isShared) {
  ModelBuilder b;
  Codes codes{b};
  const ValueId table = codes.dequantize("dt", b.weight("t", {8, 4}, DataType::I8), {8, 4});
  b.output(b.node("Gather", "rows", {table, b.input("i", {3}, DataType::I64)}, {3, 4}));
  if (isShared) b.output(b.node("Gather", "others", {table, b.input("k", {2}, DataType::I64)}, {2, 4}));
  return b.build();
}

TEST(KernelBindings, ATableOfCodesIsBoundToTheOnlyGatherThatReadsIt) {
  EXPECT_EQ(boundIn(gatherOfCodes(false)), "{table=dt>rows}");
  EXPECT_EQ(boundIn(gatherOfCodes(true)), "");
}

std::shared_ptr<const Model> scaledAttention() {
  ModelBuilder b;
  const Dims heads{1, 2, 4, 8}, scores{1, 2, 4, 4};
  const ValueId q = b.input("q", heads), k = b.input("k", {1, 2, 8, 4}), v = b.input("v", heads);
  const ValueId scale = b.constant("c", Tensor::scalar(0.5F));
  const ValueId qs = b.node("Mul", "qs", {q, scale}, heads), ks = b.node("Mul", "ks", {scale, k}, {1, 2, 8, 4});
  const ValueId product = b.node("MatMul", "scores", {qs, ks}, scores);
  const ValueId masked = b.node("Add", "masked", {product, b.input("mask", {4, 4})}, scores);
  const ValueId weights = b.node("Softmax", "weights", {masked}, scores, DataType::F32, {{"axis", std::int64_t{-1}}});
  b.output(b.node("MatMul", "y", {weights, v}, heads));
  return b.build();
}

TEST(KernelBindings, AnAttentionIsBoundWithWhatScalesItsOperands) {
  EXPECT_EQ(boundIn(scaledAttention()),
            "{root=scores sum=masked operand=mask root=y "
            "attention=scores,masked,weights,y behind_softmax= query=qs*q,c key=ks*k,c term=masked+mask}");
}

/// An attention whose scores `change` changes.
std::string boundWithTerm(const std::function<ValueId(ModelBuilder&, ValueId scores)>& change) {
  ModelBuilder b;
  const Dims heads{1, 2, 4, 8}, scores{1, 2, 4, 4};
  const ValueId q = b.input("q", heads), k = b.input("k", {1, 2, 8, 4}), v = b.input("v", heads);
  const ValueId changed = change(b, b.node("MatMul", "s", {q, k}, scores));
  const ValueId weights = b.node("Softmax", "w", {changed}, scores, DataType::F32, {{"axis", std::int64_t{-1}}});
  b.output(b.node("MatMul", "y", {weights, v}, heads));
  const std::string text = boundIn(b.build());
  const std::size_t at = text.find(" term=");
  return at == std::string::npos ? "" : text.substr(at + 1, text.find_first_of(" }", at + 1) - at - 1);
}

TEST(KernelBindings, TheTermsOfAnAttentionAreBoundByKind) {
  const Dims scores{1, 2, 4, 4};
  const auto binary = [&](const char* op, bool isLeft) {
    return boundWithTerm([&](ModelBuilder& b, ValueId s) {
      const ValueId by = b.input("by", {4, 4});
      return b.node(op, "t", isLeft ? std::vector{s, by} : std::vector{by, s}, scores);
    });
  };
  EXPECT_EQ(binary("Mul", true), "term=t*by");
  EXPECT_EQ(binary("Add", false), "term=t+by");
  EXPECT_EQ(binary("Sub", true), "term=t-by");
  EXPECT_EQ(binary("Div", true), "term=t/by");
  EXPECT_EQ(binary("Sub", false), "");
  const auto choice = [&](bool keepsTrue) {
    return boundWithTerm([&](ModelBuilder& b, ValueId s) {
      const ValueId by = b.input("by", {4, 4}), is = b.input("is", {4, 4}, DataType::Bool);
      return b.node("Where", "t", keepsTrue ? std::vector{is, s, by} : std::vector{is, by, s}, scores);
    });
  };
  EXPECT_EQ(choice(true), "term=tFby?is");
  EXPECT_EQ(choice(false), "term=tTby?is");
}

TEST(KernelBindings, ATermThatReadsTheScoresAgainIsNotBound) {
  const Dims scores{1, 2, 4, 4};
  EXPECT_EQ(boundWithTerm([&](ModelBuilder& b, ValueId s) { return b.node("Mul", "t", {s, s}, scores); }), "");
}

TEST(KernelBindings, ANormIsBoundWithWhatItsWeightsAreAppliedTo) {
  ModelBuilder b;
  const Dims row{2, 8}, column{2, 1};
  const ValueId x = b.input("x", row);
  const ValueId square = b.node("Mul", "square", {x, x}, row);
  const ValueId mean = b.node("ReduceMean", "mean", {square, b.constant("axes", Tensor::ofInt64({-1}))}, column);
  const ValueId safe = b.node("Add", "safe", {mean, b.constant("eps", Tensor::scalar(1e-5F))}, column);
  const ValueId root = b.node("Sqrt", "root", {safe}, column);
  const ValueId normed = b.node("Div", "normed", {x, root}, row);
  const ValueId half = b.node("Cast", "half", {normed}, row, DataType::F16, {{"to", static_cast<std::int64_t>(10)}});
  b.output(b.node("Mul", "weighted", {half, b.weight("w", {8}, DataType::F16)}, row, DataType::F16));
  EXPECT_EQ(boundIn(b.build()),
            "{norm=square,mean,safe,root,normed,half,weighted axes=1 axes_from=axes epsilon=eps unweighted=half_out "
            "unweighted=normed_out}");
}

TEST(KernelBindings, APlanOfAFileIsBoundAgain) {
  const auto plan = planned(scaledAttention(), cpuOptions());
  const auto read = planFromJson(Json::parse(toJson(*plan).dump()), plan->model);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(boundIn(*read.value()), boundIn(*plan));
}

TEST(KernelBindings, NothingIsBoundWhereNodesRunAlone) {
  ModelBuilder b;
  b.output(b.node("Softmax", "softmax", {b.input("x", {2, 4})}, {2, 4}));
  const auto plan = planned(b.build(), cpuOptions());
  EXPECT_EQ(plan->fusedNodes[0].kernel, nullptr);
  EXPECT_TRUE(kernelBindings(plan->fusedNodes[0]).roots.empty());
}

}  // namespace
}  // namespace fusescope
