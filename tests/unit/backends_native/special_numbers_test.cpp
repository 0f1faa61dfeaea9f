// NaN, infinities and zeros through every tactic: they come out where the reference puts them, whose rules are held
// against ONNX Runtime's (tests/unit/ops/special_numbers_test.cpp). And functions next to 0 and far from it, where what
// is nearly cancelled must still be right.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "backends/native/kernels/tape.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/kernel_store.h"
#include "ir/graph.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

/// Random numbers, and every `apart`-th of them one that is none or is next to none, by turns.
TensorMaker withSpecials(std::size_t apart, std::vector<float> specials) {
  return [=](DataType type, const Dims& dims, std::uint32_t seed) {
    Tensor tensor = randomTensor(DataType::F32, dims, seed);
    if (!isFloat(type)) return randomTensor(type, dims, seed);
    std::size_t i = seed;
    for (float& value : tensor.mutableData<float>()) {
      if (i % apart == 0) value = specials[i / apart % specials.size()];
      ++i;
    }
    return tensor.converted(type);
  };
}

/// Every tactic puts what is not finite where the reference does. Says how many of ours ran.
int expectSpecials(Net& net, ValueId result, const MemoryFormat& delivered = {}, std::size_t apart = 7,
                   const PlanOptions& options = {}) {
  net.editor.addOutput(result);
  const auto plan = planned(net.editor, options);
  int own = 0;
  for (const auto& specials : {std::vector<float>{kNan}, std::vector<float>{kInf}, std::vector<float>{-kInf},
                               std::vector<float>{kNan, kInf, -kInf, -0.0F, 0.0F, 1e-39F}})
    own += expectAgreement(tryAllTactics(*plan, delivered, 2, withSpecials(apart, specials)),
                           options.precisions.empty() ? 1e-4 : 2e-2);
  return own;
}

const std::vector<std::pair<std::string, std::map<std::string, Attribute>>>& activations() {
  static const std::vector<std::pair<std::string, std::map<std::string, Attribute>>> kActivations{
      {"Relu", {}},      {"LeakyRelu", {}},   {"Sigmoid", {}},  {"Tanh", {}},
      {"Elu", {}},       {"Selu", {}},        {"Celu", {}},     {"Gelu", {}},
      {"HardSwish", {}}, {"HardSigmoid", {}}, {"Softplus", {}}, {"Gelu", {{"approximate", std::string("tanh")}}},
      {"Mish", {}},      {"Softsign", {}},    {"Abs", {}},      {"ThresholdedRelu", {}}};
  return kActivations;
}

TEST(SpecialNumbers, ThroughOperatorsOfOneNumber) {
  for (const auto& [op, attributes] : activations()) {
    SCOPED_TRACE(op);
    Net net;
    EXPECT_GE(expectSpecials(net, net.add(op, {net.input({3, 70})}, attributes)), 4);
  }
  for (const char* op :
       {"Neg", "Exp", "Log",  "Sqrt", "Reciprocal", "Sign", "Floor", "Ceil",  "Round", "Erf",   "Sin",
        "Cos", "Tan", "Asin", "Acos", "Atan",       "Sinh", "Cosh",  "Asinh", "Acosh", "Atanh", "Identity"}) {
    SCOPED_TRACE(op);
    Net net;
    EXPECT_GE(expectSpecials(net, net.add("Add", {net.add(op, {net.input({3, 70})}), net.input({70})})), 4);
  }
}

TEST(SpecialNumbers, ThroughOperatorsOfTwoNumbers) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu", "Sum", "Mean"}) {
    SCOPED_TRACE(op);
    Net net;
    EXPECT_GE(expectSpecials(net, net.add(op, {net.input({5, 77}), net.input({5, 77})})), 4);
  }
  for (const char* op : {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"}) {
    SCOPED_TRACE(op);
    Net net;
    const ValueId x = net.input({5, 77}), test = net.add(op, {x, net.input({5, 77})});
    EXPECT_GE(expectSpecials(net, net.add("Where", {test, x, net.number(3)})), 4);
  }
  for (const auto& [low, high] : {std::pair(-0.5F, 0.5F), {kNan, 0.5F}, {-0.5F, kNan}, {0.5F, -0.5F}, {-kInf, kInf}}) {
    SCOPED_TRACE(std::to_string(low) + " to " + std::to_string(high));
    Net net;
    EXPECT_GE(expectSpecials(net, net.add("Clip", {net.input({3, 70}), net.number(low), net.number(high)})), 4);
  }
}

TEST(SpecialNumbers, ThroughRows) {
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                         "ReduceSumSquare", "ReduceLogSumExp"}) {
    for (const std::int64_t axis : {1, 2}) {
      SCOPED_TRACE(std::string(op) + " along axis " + std::to_string(axis));
      Net net;
      EXPECT_GE(expectSpecials(net, net.add(op, {net.input({3, 37, 41}), net.ints({axis})}), {}, 131), 4);
    }
  }
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    for (const std::int64_t axis : {1, 2}) {
      SCOPED_TRACE(std::string(op) + " along axis " + std::to_string(axis));
      Net net;
      EXPECT_GE(expectSpecials(net, net.add(op, {net.input({3, 37, 41})}, {{"axis", axis}}), {}, 131), 4);
    }
  }
  for (const std::int64_t largest : {0, 1}) {
    Net net;
    const ValueId x = net.input({9, 40});
    const ValueId top = net.add("TopK", {x, net.ints({5})}, {{"largest", largest}});
    EXPECT_GE(expectSpecials(net, top, {}, 23), 4);
  }
  Net norm;
  const ValueId x = norm.input({9, 64});
  EXPECT_GE(expectSpecials(norm, norm.add("LayerNormalization", {x, norm.weights({64}), norm.weights({64})}), {}, 131),
            4);
}

TEST(SpecialNumbers, ThroughPools) {
  for (const char* op : {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"}) {
    for (const MemoryFormat& format :
         {MemoryFormat(), MemoryFormat::channelsLast(4), MemoryFormat::blockedChannels(4, 16)}) {
      for (const std::int64_t channels : {1, 3, 16, 20}) {
        SCOPED_TRACE(std::string(op) + " in " + format.text() + " of " + std::to_string(channels));
        std::map<std::string, Attribute> window;
        if (op[0] != 'G') window = {{"kernel_shape", Ints{3, 2}}, {"pads", Ints{1, 0, 1, 1}}, {"strides", Ints{2, 1}}};
        Net net;
        EXPECT_GE(expectSpecials(net, net.add(op, {net.input({1, channels, 9, 8})}, window), format, 37), 4);
      }
    }
  }
}

TEST(SpecialNumbers, ThroughPoolsAlongOneAndThreeAxes) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    for (const Ints& extents : {Ints{19}, Ints{4, 5, 6}}) {
      for (const std::int64_t channels : {1, 3, 16}) {
        SCOPED_TRACE(std::string(op) + " along " + std::to_string(extents.size()) + " of " + std::to_string(channels));
        Ints dims{2, channels};
        dims.insert(dims.end(), extents.begin(), extents.end());
        Net net;
        const ValueId pool = net.add(op, {net.input(dims)}, {{"kernel_shape", Ints(extents.size(), 2)}});
        EXPECT_GE(expectSpecials(net, pool, {}, 37), 4);
      }
    }
  }
}

TEST(SpecialNumbers, ThroughWhatFollowsAConvolution) {
  for (const auto& [op, attributes] : activations()) {
    SCOPED_TRACE(op);
    Net net;  // of channels that fill no block
    const ValueId conv =
        net.add("Conv", {net.input({1, 16, 9, 9}), net.weights({20, 16, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
    EXPECT_GE(expectSpecials(net, net.add(op, {conv}, attributes), {}, 577), 8);
  }
  for (const char* op : {"Relu", "Sigmoid", "HardSigmoid"}) {
    for (const std::int64_t groups : {1, 4}) {
      SCOPED_TRACE(std::string(op) + " behind a transposed one of " + std::to_string(groups));
      Net net;
      const ValueId conv = net.add("ConvTranspose", {net.input({1, 16, 5, 5}), net.weights({16, 20 / groups, 3, 3})},
                                   {{"strides", Ints{2, 2}}, {"group", groups}});
      EXPECT_GE(expectSpecials(net, net.add(op, {conv}), {}, 211), 4);
    }
  }
  Net behind;  // a Sigmoid and what follows it
  const ValueId gates =
      behind.add("Sigmoid", {behind.add("Conv", {behind.input({1, 3, 9, 9}), behind.weights({5, 3, 3, 3})})});
  EXPECT_GE(
      expectSpecials(behind, behind.add("Relu", {behind.add("Add", {gates, behind.input({1, 5, 7, 7})})}), {}, 61), 8);
  Net clipped;
  const ValueId sums = clipped.add("Conv", {clipped.input({1, 16, 9, 9}), clipped.weights({20, 16, 1, 1})});
  EXPECT_GE(expectSpecials(clipped, clipped.add("Clip", {sums, clipped.number(0), clipped.number(6)}), {}, 577), 8);
  Net residual;
  const ValueId conv = residual.add("Conv", {residual.input({1, 16, 9, 9}), residual.weights({16, 16, 1, 1})});
  const ValueId sum = residual.add("Add", {conv, residual.input({1, 16, 9, 9})});
  EXPECT_GE(expectSpecials(residual, residual.add("Relu", {sum}), MemoryFormat::channelsLast(4), 577), 8);
  Net between;
  const ValueId first = between.add("Conv", {between.input({1, 16, 9, 9}), between.weights({16, 16, 1, 1})});
  const ValueId added = between.add("Add", {between.add("Relu", {first}), between.input({1, 16, 9, 9})});
  EXPECT_GE(expectSpecials(between, between.add("HardSigmoid", {added}), {}, 577), 8);
}

TEST(SpecialNumbers, ThroughWhatFollowsAProduct) {
  for (const auto& [op, attributes] : activations()) {
    SCOPED_TRACE(op);
    Net net;
    const ValueId product = net.add("MatMul", {net.input({37, 64}), net.weights({64, 48})});
    EXPECT_GE(expectSpecials(net, net.add(op, {net.add("Add", {product, net.weights({48})})}, attributes), {}, 577), 8);
  }
  Net batches;
  const ValueId product = batches.add("MatMul", {batches.input({3, 9, 16}), batches.input({3, 16, 20})});
  EXPECT_GE(expectSpecials(batches, batches.add("Relu", {product}), {}, 211), 4);
  Net gemm;
  const ValueId sums = gemm.add("Gemm", {gemm.input({9, 64}), gemm.weights({64, 48}), gemm.weights({9, 48})},
                                {{"alpha", 0.5F}, {"beta", 2.0F}});
  EXPECT_GE(expectSpecials(gemm, gemm.add("Clip", {sums, gemm.number(-1), gemm.number(1)}), {}, 211), 4);
}

TEST(SpecialNumbers, ThroughWhatIsAddedToAProductOfCodes) {
  for (const char* op : {"Clip", "Relu", "Sigmoid", "HardSigmoid", "Gelu"}) {
    SCOPED_TRACE(op);
    Net net;
    const auto floats = [&](ValueId codes) { return net.add("DequantizeLinear", {codes, net.number(0.05F)}); };
    const ValueId product = net.add("MatMul", {floats(net.input({9, 64}, DataType::I8)), floats(net.codes({64, 48}))});
    std::vector<ValueId> operands{net.add("Add", {product, net.input({9, 48})})};
    if (std::string(op) == "Clip") operands.insert(operands.end(), {net.number(-1), net.number(1)});
    EXPECT_GE(expectSpecials(net, net.add(op, operands), {}, 211), 4);
  }
}

TEST(SpecialNumbers, OfAResidualThatIsQuantisedBehindAProductOfCodes) {
  for (const char* root : {"MatMul", "Conv"}) {
    SCOPED_TRACE(root);
    const bool conv = std::string(root) == "Conv";
    const Dims from = conv ? Dims{1, 16, 6, 6} : Dims{9, 16}, weights = conv ? Dims{24, 16, 1, 1} : Dims{16, 24},
               to = conv ? Dims{1, 24, 6, 6} : Dims{9, 24};
    Net net;
    const auto floats = [&](ValueId codes) { return net.add("DequantizeLinear", {codes, net.number(0.05F)}); };
    const ValueId product = net.add(root, {floats(net.input(from, DataType::I8)), floats(net.codes(weights))});
    const ValueId zero = net.editor.addConstant("zero", Tensor::scalar(-3).converted(DataType::I8));
    net.editor.addOutput(
        net.add("QuantizeLinear", {net.add("Add", {product, net.input(to)}), net.number(0.05F), zero}));
    for (const TacticOutcome& outcome : tryAllTactics(*planned(net.editor), {}, 2, withSpecials(7, {kNan}))) {
      EXPECT_EQ(outcome.problem, "") << outcome.tactic;
      EXPECT_LE(outcome.steps, 1) << outcome.tactic;
    }
  }
}

/// Products of codes with the bias in `Gemm` and `Conv` themselves, or added behind.
enum class BiasOf { Root, Sum };

ValueId biased(Net& net, const std::string& op, BiasOf of, const std::vector<float>& numbers) {
  const auto floats = [&](ValueId codes) { return net.add("DequantizeLinear", {codes, net.number(0.05F)}); };
  const bool conv = op == "Conv";
  const Dims from = conv ? Dims{1, 16, 6, 6} : Dims{9, 16}, weights = conv ? Dims{24, 16, 1, 1} : Dims{16, 24};
  std::vector<ValueId> operands{floats(net.input(from, DataType::I8)), floats(net.codes(weights))};
  const Dims along = conv && of == BiasOf::Sum ? Dims{24, 1, 1} : Dims{24};
  const ValueId bias = net.editor.addConstant("bias", Tensor::copyOf<float>(DataType::F32, along, numbers));
  if (of == BiasOf::Root) operands.push_back(bias);
  const ValueId product = net.add(op, operands);
  return of == BiasOf::Root ? product : net.add("Add", {product, bias});
}

TEST(SpecialNumbers, OfABiasBehindProductsOfCodes) {
  std::vector<float> numbers(24, 0.5F);
  numbers[3] = kNan, numbers[8] = kInf, numbers[17] = -kInf, numbers[20] = -0.25F;
  auto all = activations();
  all.push_back({"Clip", {}});
  all.push_back({"Identity", {}});
  for (const auto& [op, of] :
       {std::pair("MatMul", BiasOf::Sum), {"Gemm", BiasOf::Root}, {"Conv", BiasOf::Root}, {"Conv", BiasOf::Sum}}) {
    for (const auto& [activation, attributes] : all) {
      for (const bool quantised : {false, true}) {
        SCOPED_TRACE(std::string(activation) + " behind " + op + (quantised ? ", quantised" : ""));
        Net net;
        std::vector<ValueId> operands{biased(net, op, of, numbers)};
        if (activation == "Clip") operands.insert(operands.end(), {net.number(-1), net.number(1)});
        ValueId result = net.add(activation, operands, attributes);
        if (quantised) {
          const ValueId zero = net.editor.addConstant("zero", Tensor::scalar(-3).converted(DataType::I8));
          result = net.add("QuantizeLinear", {result, net.number(0.05F), zero});
        }
        net.editor.addOutput(result);
        int own = 0;
        for (const TacticOutcome& outcome : tryAllTactics(*planned(net.editor))) {
          EXPECT_EQ(outcome.problem, "") << outcome.tactic;
          EXPECT_LE(quantised ? outcome.steps : outcome.worst, quantised ? 1 : 1e-4) << outcome.tactic;
          if (outcome.tactic != "reference") ++own;
        }
        EXPECT_GT(own, 0);
      }
    }
  }
}

TEST(SpecialNumbers, CodeOfFiniteBiasesServesNoOthers) {
  std::vector<float> numbers(24, 0.5F);
  const auto keyOf = [&] {
    Net net;
    net.editor.addOutput(net.add("Relu", {biased(net, "Gemm", BiasOf::Root, numbers)}));
    const auto plan = planned(net.editor);
    const auto requests = KernelRequests::create(*plan, {{"x0", {9, 16}}}, 1);
    const KernelRequest request = requests.value().of(plan->fusedNodes.front()).value();
    const Backend& native = *findBackend("native");
    return codeKey(native, request, native.tactics(request).front());
  };
  const std::string finite = keyOf();
  numbers[0] = 1;
  EXPECT_EQ(keyOf(), finite);
  numbers[0] = kNan;
  EXPECT_NE(keyOf(), finite);
}

TEST(SpecialNumbers, ThroughNarrowFloats) {
  for (const DataType type : {DataType::BF16, DataType::F16}) {
    for (const char* op : {"Relu", "HardSigmoid", "MaxPool"}) {
      SCOPED_TRACE(op);
      Net net;
      const ValueId conv = net.add("Conv", {net.input({1, 16, 8, 8}), net.weights({16, 16, 3, 3})});
      const std::string name = op;
      const std::map<std::string, Attribute> window{{"kernel_shape", Ints{2, 2}}};
      const ValueId last = net.add(op, {conv}, name == "MaxPool" ? window : std::map<std::string, Attribute>());
      EXPECT_GE(expectSpecials(net, last, {}, 577, {.precisions = {type}}), 4);
    }
  }
}

// --- next to 0 and far from it

using native::TapeOp;

struct Function {
  TapeOp op;
  float p, q;
  std::function<double(double)> exact;
  double least, most;  ///< where it is held to `kRelative`
};

constexpr double kRelative = 3e-6;

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

const std::vector<Function>& functions() {
  static const std::vector<Function> kFunctions{
      {TapeOp::Elu, 1, 0, [](double x) { return x > 0 ? x : std::expm1(x); }, -80, 80},
      {TapeOp::Selu, 1.6732632F, 1.0507010F,
       [](double x) { return double(1.0507010F) * (x > 0 ? x : double(1.6732632F) * std::expm1(x)); }, -80, 80},
      {TapeOp::Celu, 2, 0, [](double x) { return x > 0 ? x : 2 * std::expm1(x / 2); }, -80, 80},
      {TapeOp::Erf, 0, 0, [](double x) { return std::erf(x); }, -80, 80},
      {TapeOp::Exp, 0, 0, [](double x) { return std::exp(x); }, -80, 80},
      {TapeOp::Log, 0, 0, [](double x) { return std::log(x); }, 1e-37, 80},
      {TapeOp::Tanh, 0, 0, [](double x) { return std::tanh(x); }, -80, 80},
      {TapeOp::Sigmoid, 0, 0, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80},
      {TapeOp::Softplus, 0, 0, softplus, -80, 80},
      {TapeOp::Mish, 0, 0, [](double x) { return x * std::tanh(softplus(x)); }, -75, 80},
      {TapeOp::Swish, 1, 0, [](double x) { return x / (1 + std::exp(-x)); }, -75, 80},
      {TapeOp::Gelu, 0, 0, [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }, -12.5, 80},
      {TapeOp::GeluTanh, 0, 0,
       [](double x) { return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, -2, 80},
      {TapeOp::Softsign, 0, 0, [](double x) { return x / (1 + std::abs(x)); }, -80, 80}};
  return kFunctions;
}

TEST(SpecialNumbers, FunctionsAreExactNextToZeroAndFarFromIt) {
  for (const Function& function : functions()) {
    std::vector<float> x, y;
    for (double size = 1e-37; size < 80; size *= 1.01)
      for (const double value : {size, -size})
        if (value >= function.least && value <= function.most) x.push_back(static_cast<float>(value));
    y.resize(x.size());
    float* registers[] = {x.data(), y.data()};
    const native::TapeInstruction code{.op = function.op, .target = 1, .a = 0, .p = function.p, .q = function.q};
    native::runTape(std::span(&code, 1), registers, x.size());
    double worst = 0, at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = function.exact(x[i]), error = std::abs(y[i] - exact) / std::abs(exact);
      if (std::abs(exact) > 1e-37 && error > worst) {
        worst = error;
        at = x[i];
      }
    }
    EXPECT_LE(worst, kRelative) << "TapeOp " << static_cast<int>(function.op) << " at " << at;
  }
}

}  // namespace
}  // namespace fusescope::testing
