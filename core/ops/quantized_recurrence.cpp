// DynamicQuantizeLSTM, which ONNX Runtime's quantiser writes instead of LSTM (ContribOperators.md, and what its CPU
// provider calculates). Weights are bytes. X is quantised with the range of the whole tensor, and before each step the
// hidden states are quantised with the range that they have over the batch. Sums are exact; gates and states are
// floats.
#include "ops/families.h"
#include "ops/support/dynamic_scale.h"
#include "ops/support/recurrent_types.h"
#include "ops/support/recurrent_walk.h"
#include "ops/support/require_extents.h"

namespace fusescope::ops {
namespace {

constexpr std::size_t kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4, kState = 5, kCell = 6, kPeepholes = 7, kScaleW = 8,
                      kScaleR = 10;

/// A scale or zero point: one for each direction, or one for each gate of it.
Status checkParameter(const InferContext& context, std::size_t i, std::string_view what, std::size_t weights) {
  if (!context.input(i).shape.ranked) return Done{};
  const bool each = context.input(i).shape.rank() > 1;
  const Dim directions = extentOf(context, weights, 0), gates = extentOf(context, weights, 2);
  return requireExtents(context, i, what, each ? std::vector<Dim>{directions, gates} : std::vector<Dim>{directions});
}

Result<Types> inferQuantized(const InferContext& context) {
  for (const std::size_t required : {kScaleW, kScaleW + 1, kScaleR, kScaleR + 1})
    if (!context.hasInput(required)) return problem(fmt::format("input {} is missing", required));
  if (context.node().hasAttribute("layout"))
    return attributeProblem("layout", "is not an attribute of DynamicQuantizeLSTM");
  TRY(requireRank(context, kW, 3));
  Types types = TRY(recurrentTypes(context, WeightOrder::InputsFirst));
  TRY(checkParameter(context, kScaleW, "W_scale", kW));
  TRY(checkParameter(context, kScaleW + 1, "W_zero_point", kW));
  TRY(checkParameter(context, kScaleR, "R_scale", kR));
  TRY(checkParameter(context, kScaleR + 1, "R_zero_point", kR));
  return types;
}

/// Returns the numbers that the codes of a matrix represent, as [directions, gates, inputs], which is LSTM's order.
Tensor wideWeights(const Tensor& codes, const Tensor& scale, const Tensor& zero) {
  const std::int64_t directions = codes.dims()[0], inputs = codes.dims()[1], gates = codes.dims()[2];
  const auto parameter = [&](const Tensor& from, std::int64_t d, std::int64_t gate) {
    return from.asDouble(from.dims().size() > 1 ? d * gates + gate : d);
  };
  Tensor wide = Tensor::zeros(DataType::F64, {directions, gates, inputs});
  const auto to = wide.mutableData<double>();
  for (std::int64_t d = 0; d < directions; ++d)
    for (std::int64_t gate = 0; gate < gates; ++gate)
      for (std::int64_t i = 0; i < inputs; ++i)
        to[static_cast<std::size_t>((d * gates + gate) * inputs + i)] =
            (codes.asDouble((d * inputs + i) * gates + gate) - parameter(zero, d, gate)) * parameter(scale, d, gate);
  return wide;
}

/// Returns the numbers rounded to one of 255 steps of their range, which is computed from their f32 values.
Numbers<double> dynamicallyRounded(const Numbers<double>& values) {
  const std::vector<float> narrow(values.begin(), values.end());
  const DynamicScale by = dynamicScaleOf(narrow);
  Numbers<double> rounded(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) rounded[i] = by.rounded(narrow[i]);
  return rounded;
}

Result<Tensors> quantizedLstm(const KernelContext& context) {
  Tensors wide;
  wide.reserve(context.inputCount());
  const auto widen = [&](std::size_t i) -> const Tensor* {
    return context.hasInput(i) ? &wide.emplace_back(context.input(i).converted(DataType::F64)) : nullptr;
  };
  const Tensor w = wideWeights(context.input(kW), context.input(kScaleW), context.input(kScaleW + 1));
  const Tensor r = wideWeights(context.input(kR), context.input(kScaleR), context.input(kScaleR + 1));
  const Tensor given = context.input(kX).converted(DataType::F64);
  const auto numbers = given.data<double>();
  const Tensor x = Tensor::copyOf<double>(DataType::F64, given.dims(),
                                          dynamicallyRounded(Numbers<double>(numbers.begin(), numbers.end())));
  const RecurrentOperands operands{&x,
                                   &w,
                                   &r,
                                   widen(kB),
                                   context.hasInput(kLengths) ? &context.input(kLengths) : nullptr,
                                   widen(kState),
                                   widen(kCell),
                                   widen(kPeepholes)};
  Tensors results;
  for (std::size_t i = 0; i < std::max<std::size_t>(context.outputCount(), 1); ++i)
    results.push_back(TRY(allocate(DataType::F64, context.outputDims(i))));
  const auto step = [](const Node& node, auto& direction, auto& z) { stepLstm(node, direction, z); };
  TRY(runRecurrence<double>(context.node(), operands, step, results, dynamicallyRounded));
  for (Tensor& result : results) result = result.converted(context.outputType(0));
  return results;
}

}  // namespace

void registerQuantizedRecurrence(OpRegistry& registry) {
  const TypeSet floats{DataType::F32}, bytes{DataType::I8, DataType::U8};
  registry.add({.op = "DynamicQuantizeLSTM",
                .domain = "com.microsoft",
                .kind = OpKind::Recurrence,
                .minInputs = 3,
                .maxInputs = 12,
                .infer = inferQuantized,
                .kernel = quantizedLstm,
                .flops = recurrentFlops,
                .maxOutputs = 3,
                .signature = {"TWRTLTTTTWTR", {{'T', floats}, {'W', bytes}, {'R', bytes}, {'L', {DataType::I32}}}}});
}

}  // namespace fusescope::ops
