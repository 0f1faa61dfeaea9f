#include <algorithm>

#include "ir/tensor.h"
#include "tests/property/graph_maker.h"

namespace fusescope::property {

namespace {

// ONNX's numbers of element types, as Cast's attribute holds them.
constexpr std::int64_t kF32 = 1, kI64 = 7, kF16 = 10, kF64 = 11, kI32 = 6, kBF16 = 16;

ValueId cast(GraphMaker& maker, ValueId x, std::int64_t to) {
  return maker.apply("Cast", {x}, {{"to", to}});
}

std::int64_t otherFloat(GraphMaker& maker, ValueId x) {
  if (maker.typeOf(x) != DataType::F32) return kF32;
  return maker.dice().oneIn(2) ? kF16 : kBF16;
}

void castAway(GraphMaker& maker, ValueId x) {
  cast(maker, x, otherFloat(maker, x));
}

/// There and back, with something narrow or wide between.
void island(GraphMaker& maker, ValueId x) {
  const DataType own = maker.typeOf(x);
  const std::int64_t back = own == DataType::F32 ? kF32 : own == DataType::F16 ? kF16 : kBF16;
  if (own == DataType::F64) return;
  ValueId y = cast(maker, x, otherFloat(maker, x));
  if (!y.valid()) return;
  maker.dice().of(maker.dice().oneIn(2) ? simpleBlocks() : kernelBlocks())(maker, y);
  if (maker.dice().oneIn(2)) y = maker.pick();
  if (maker.typeOf(y) != own) cast(maker, y, back);
}

void doubles(GraphMaker& maker, ValueId x) {
  if (maker.typeOf(x) != DataType::F32) return;
  const ValueId wide = cast(maker, x, kF64);
  cast(maker, maker.apply("Mul", {wide, maker.number(0.75, DataType::F64)}), kF32);
}

void throughIntegers(GraphMaker& maker, ValueId x) {
  if (maker.typeOf(x) != DataType::F32) return;
  const bool wide = maker.dice().oneIn(2);
  const ValueId whole =
      cast(maker, maker.apply("Clip", {x, maker.number(-9, DataType::F32), maker.number(9, DataType::F32)}),
           wide ? kI64 : kI32);
  if (!whole.valid()) return;
  const Tensor three = Tensor::ofInt64({3}).converted(wide ? DataType::I64 : DataType::I32);
  cast(maker, maker.apply("Add", {whole, maker.constant(three)}), kF32);
}

/// Picks along the last axis by what a float between 0 and 0.9 of its extent is as an integer.
void computedIndex(GraphMaker& maker, ValueId x) {
  if (maker.typeOf(x) != DataType::F32 || maker.rankOf(x) < 2) return;
  const std::int64_t extent = maker.dimsOf(x).back();
  const ValueId mean = maker.apply("ReduceMean", {x, maker.integers({-1})}, {{"keepdims", std::int64_t{0}}});
  const ValueId scaled = maker.apply(
      "Mul", {maker.apply("Sigmoid", {mean}), maker.number(0.9 * static_cast<double>(extent), DataType::F32)});
  const ValueId index = cast(maker, scaled, kI64);
  if (!index.valid() || maker.rankOf(index) > 2) return;
  maker.apply("Gather", {x, index}, {{"axis", static_cast<std::int64_t>(maker.rankOf(x)) - 1}});
}

void chosen(GraphMaker& maker, ValueId x) {
  const DataType type = maker.typeOf(x);
  const ValueId other = maker.pickPartner(x);
  const ValueId larger = maker.apply("Greater", {x, maker.number(0.1, type)});
  if (larger.valid() && other.valid()) maker.apply("Where", {larger, x, other});
}

void floored(GraphMaker& maker, ValueId x) {
  maker.apply("Floor", {x});
}

struct Grid {
  ValueId scale, zero;
};

Grid randomGrid(GraphMaker& maker) {
  const bool isSigned = maker.dice().oneIn(2);
  const double scale = 0.01 + static_cast<double>(maker.dice().below(40)) / 1000;
  const std::int64_t zero = isSigned ? 0 : static_cast<std::int64_t>(maker.dice().below(3)) * 64;
  return {maker.number(scale, DataType::F32),
          maker.constant(Tensor::ofInt64({zero}).reshaped({}).converted(isSigned ? DataType::I8 : DataType::U8))};
}

ValueId quantised(GraphMaker& maker, ValueId x) {
  const Grid grid = randomGrid(maker);
  const ValueId integers = maker.apply("QuantizeLinear", {x, grid.scale, grid.zero});
  return maker.apply("DequantizeLinear", {integers, grid.scale, grid.zero});
}

void quantisedEdge(GraphMaker& maker, ValueId x) {
  if (maker.typeOf(x) == DataType::F32) quantised(maker, x);
}

/// A weight of int8, with a scale for each extent of `axis` or one for all.
ValueId dequantisedWeight(GraphMaker& maker, const Dims& dims, std::int64_t axis) {
  Tensor codes = Tensor::zeros(DataType::I8, dims);
  for (auto& code : codes.mutableData<std::int8_t>())
    code = static_cast<std::int8_t>(static_cast<int>(maker.dice().below(255)) - 127);
  const bool perAxis = maker.dice().oneIn(2);
  const Dims grid = perAxis ? Dims{dims[static_cast<std::size_t>(axis)]} : Dims{};
  Tensor scales = Tensor::zeros(DataType::F32, grid);
  for (float& scale : scales.mutableData<float>()) scale = 0.001F + static_cast<float>(maker.dice().below(5)) / 1000;
  return maker.apply("DequantizeLinear",
                     {maker.constant(codes), maker.constant(scales), maker.constant(Tensor::zeros(DataType::I8, grid))},
                     {{"axis", axis}});
}

/// y · sigmoid(y), quantised in between and at the end.
void quantisedGate(GraphMaker& maker, ValueId y) {
  const ValueId gate = quantised(maker, maker.apply("Sigmoid", {y}));
  quantised(maker, maker.apply("Mul", {y, gate}));
}

void quantisedActivation(GraphMaker& maker, ValueId x) {
  if (maker.typeOf(x) == DataType::F32 && maker.rankOf(x) > 0) quantisedGate(maker, quantised(maker, x));
}

void quantisedConv(GraphMaker& maker, ValueId x) {
  if (maker.typeOf(x) != DataType::F32 || maker.rankOf(x) != 4) return;
  const std::int64_t channels = maker.dimsOf(x)[1];
  const ValueId weight = dequantisedWeight(maker, {4, channels, 1, 1}, 0);
  ValueId y = maker.apply("Conv", {quantised(maker, x), weight, maker.weight({4}, DataType::F32)});
  if (y.valid() && maker.dice().oneIn(2)) y = maker.apply("Relu", {y});
  if (!y.valid() || maker.dice().oneIn(3)) return;
  const ValueId rounded = quantised(maker, y);
  if (maker.dice().oneIn(2)) quantisedGate(maker, rounded);
}

void quantisedProduct(GraphMaker& maker, ValueId x) {
  if (maker.typeOf(x) != DataType::F32 || maker.rankOf(x) < 2) return;
  const ValueId weight = dequantisedWeight(maker, {maker.dimsOf(x).back(), 4}, 1);
  const ValueId y = maker.apply("MatMul", {quantised(maker, x), weight});
  if (y.valid() && maker.dice().oneIn(2)) quantised(maker, y);
}

}  // namespace

const std::vector<Block>& unsmoothBlocks() {
  static const std::vector<Block> kBlocks{throughIntegers,  computedIndex,      chosen,        floored,
                                          quantisedEdge,    quantisedConv,      quantisedConv, quantisedEdge,
                                          quantisedProduct, quantisedActivation};
  return kBlocks;
}

const std::vector<Block>& typeBlocks() {
  static const std::vector<Block> kBlocks{castAway, island, island, doubles};
  return kBlocks;
}

}  // namespace fusescope::property
