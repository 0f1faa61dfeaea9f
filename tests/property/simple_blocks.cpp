#include <algorithm>

#include "tests/property/graph_maker.h"

namespace fusescope::property {

namespace {

std::int64_t randomAxis(GraphMaker& maker, ValueId x) {
  return static_cast<std::int64_t>(maker.dice().below(maker.rankOf(x)));
}

void unary(GraphMaker& maker, ValueId x) {
  static const std::vector<std::string> kOperators{"Relu", "Sigmoid",  "Tanh",      "Neg", "Abs",
                                                   "Erf",  "Softplus", "LeakyRelu", "Elu"};
  maker.apply(maker.dice().of(kOperators), {x});
}

void guardedUnary(GraphMaker& maker, ValueId x) {
  if (maker.dice().oneIn(2)) {
    maker.apply("Exp", {maker.apply("Tanh", {x})});
  } else {
    maker.apply("Sqrt", {maker.apply("Abs", {x})});
  }
}

void clip(GraphMaker& maker, ValueId x) {
  const DataType type = maker.typeOf(x);
  maker.apply("Clip", {x, maker.number(-1, type), maker.number(1.5, type)});
}

Dims constantDims(GraphMaker& maker, ValueId x) {
  const Dims dims = maker.dimsOf(x);
  switch (maker.dice().below(4)) {
    case 0:
      return {};
    case 1:
      return dims;
    case 2:
      return dims.empty() ? Dims{} : Dims{dims.back()};
    default:
      if (dims.size() != 4) return {1};
      return {dims[1], 1, 1};
  }
}

void withConstant(GraphMaker& maker, ValueId x) {
  static const std::vector<std::string> kOperators{"Add", "Mul", "Sub", "Max", "Min", "Add", "Mul"};
  const ValueId other = maker.weight(constantDims(maker, x), maker.typeOf(x));
  if (maker.dice().oneIn(2)) {
    maker.apply(maker.dice().of(kOperators), {x, other});
  } else {
    maker.apply(maker.dice().of(kOperators), {other, x});
  }
}

void divided(GraphMaker& maker, ValueId x) {
  maker.apply("Div", {x, maker.positive(constantDims(maker, x), maker.typeOf(x))});
}

void joined(GraphMaker& maker, ValueId x) {
  static const std::vector<std::string> kOperators{"Add", "Add", "Mul", "Sub", "Max", "Min"};
  const ValueId other = maker.pickPartner(x);
  if (other.valid()) maker.apply(maker.dice().of(kOperators), {x, other});
}

void fork(GraphMaker& maker, ValueId x) {
  const ValueId a = maker.apply("Relu", {x}), b = maker.apply("Sigmoid", {x});
  if (a.valid() && b.valid() && maker.dice().oneIn(2)) maker.apply("Mul", {a, b});
}

void view(GraphMaker& maker, ValueId x) {
  const Dims dims = maker.dimsOf(x);
  switch (maker.dice().below(5)) {
    case 0:
      maker.apply("Flatten", {x}, {{"axis", std::int64_t{1}}});
      return;
    case 1:
      if (dims.size() < 4) maker.apply("Unsqueeze", {x, maker.integers({0})});
      return;
    case 2:
      if (!dims.empty() && dims.front() == 1) maker.apply("Squeeze", {x, maker.integers({0})});
      return;
    case 3:
      if (dims.size() == 4) maker.apply("Reshape", {x, maker.integers({dims[0], dims[1], dims[2] * dims[3]})});
      return;
    default:
      if (dims.size() == 3) maker.apply("Reshape", {x, maker.integers({dims[0], dims[1], 1, dims[2]})});
  }
}

void transpose(GraphMaker& maker, ValueId x) {
  std::vector<std::int64_t> order(maker.rankOf(x));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[maker.dice().below(i)]);
  if (order.size() > 1) maker.apply("Transpose", {x}, {{"perm", order}});
}

void concat(GraphMaker& maker, ValueId x) {
  const ValueId other = maker.pickPartner(x);
  if (!other.valid() || maker.rankOf(x) == 0) return;
  maker.apply("Concat", {x, other}, {{"axis", randomAxis(maker, x)}});
}

void split(GraphMaker& maker, ValueId x) {
  const Dims dims = maker.dimsOf(x);
  if (dims.empty()) return;
  const std::int64_t axis = randomAxis(maker, x), extent = dims[static_cast<std::size_t>(axis)];
  if (extent < 2) return;
  const auto parts =
      maker.applyMany("Split", {x, maker.integers({extent / 2, extent - extent / 2})}, 2, {{"axis", axis}});
  if (parts.size() == 2 && extent % 2 == 0 && maker.dice().oneIn(2)) maker.apply("Mul", parts);
}

void slice(GraphMaker& maker, ValueId x) {
  const Dims dims = maker.dimsOf(x);
  if (dims.empty()) return;
  const std::int64_t axis = randomAxis(maker, x), extent = dims[static_cast<std::size_t>(axis)];
  if (extent < 2) return;
  const std::int64_t end = maker.dice().oneIn(2) ? std::int64_t{0x7fffffffffffffff} : extent;
  maker.apply("Slice", {x, maker.integers({1}), maker.integers({end}), maker.integers({axis}), maker.integers({1})});
}

void gather(GraphMaker& maker, ValueId x) {
  if (maker.rankOf(x) == 0) return;
  const std::int64_t axis = randomAxis(maker, x);
  const auto extent = static_cast<std::size_t>(maker.dimsOf(x)[static_cast<std::size_t>(axis)]);
  std::vector<std::int64_t> indices(1 + maker.dice().below(4));
  for (auto& index : indices) index = static_cast<std::int64_t>(maker.dice().below(extent));
  maker.apply("Gather", {x, maker.integers(indices)}, {{"axis", axis}});
}

void reduce(GraphMaker& maker, ValueId x) {
  static const std::vector<std::string> kOperators{"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"};
  if (maker.rankOf(x) == 0) return;
  const std::int64_t keep = maker.dice().oneIn(4) ? 0 : 1;
  maker.apply(maker.dice().of(kOperators), {x, maker.integers({randomAxis(maker, x)})}, {{"keepdims", keep}});
}

void softmax(GraphMaker& maker, ValueId x) {
  if (maker.rankOf(x) == 0) return;
  maker.apply("Softmax", {x}, {{"axis", maker.dice().oneIn(3) ? randomAxis(maker, x) : std::int64_t{-1}}});
}

void pool(GraphMaker& maker, ValueId x) {
  if (maker.rankOf(x) != 4) return;
  if (maker.dice().oneIn(2)) {
    maker.apply("GlobalAveragePool", {x});
  } else {
    maker.apply("MaxPool", {x}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  }
}

}  // namespace

const std::vector<Block>& simpleBlocks() {
  static const std::vector<Block> kBlocks{unary,  guardedUnary, clip,      withConstant, divided, joined, joined,
                                          fork,   view,         transpose, concat,       split,   slice,  gather,
                                          reduce, softmax,      pool,      withConstant, unary,   view};
  return kBlocks;
}

}  // namespace fusescope::property
