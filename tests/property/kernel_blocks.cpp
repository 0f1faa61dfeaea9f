#include <cmath>

#include "ir/tensor.h"
#include "tests/property/graph_maker.h"

namespace fusescope::property {

namespace {

std::int64_t smallExtent(GraphMaker& maker) {
  return 2 * (1 + static_cast<std::int64_t>(maker.dice().below(4)));
}

double fanIn(std::int64_t terms) {
  return 1 / std::sqrt(static_cast<double>(terms));
}

ValueId epilogue(GraphMaker& maker, ValueId x) {
  if (!x.valid()) return x;
  const std::size_t roll = maker.dice().below(6);
  if (roll == 0) return maker.apply("Relu", {x});
  if (roll == 1) return maker.apply("Mul", {x, maker.apply("Sigmoid", {x})});
  if (roll == 2) return maker.apply("Clip", {x, maker.number(0, maker.typeOf(x)), maker.number(6, maker.typeOf(x))});
  if (roll > 3) return x;
  const ValueId residual = maker.pickPartner(x);
  return residual.valid() ? maker.apply("Add", {x, residual}) : x;
}

void matMul(GraphMaker& maker, ValueId x) {
  const Dims dims = maker.dimsOf(x);
  if (dims.size() < 2) return;
  const DataType type = maker.typeOf(x);
  const std::int64_t width = smallExtent(maker);
  ValueId y = maker.apply("MatMul", {x, maker.weight({dims.back(), width}, type, fanIn(dims.back()))});
  if (y.valid() && maker.dice().oneIn(2)) y = maker.apply("Add", {y, maker.weight({width}, type)});
  epilogue(maker, y);
}

void productOfActivations(GraphMaker& maker, ValueId x) {
  const Dims dims = maker.dimsOf(x);
  if (dims.size() < 2) return;
  std::vector<std::int64_t> order(dims.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  const ValueId scaled = maker.apply("Mul", {x, maker.number(fanIn(dims.back()), maker.typeOf(x))});
  maker.apply("MatMul", {scaled, maker.apply("Transpose", {x}, {{"perm", order}})});
}

void gemm(GraphMaker& maker, ValueId x) {
  if (maker.rankOf(x) != 2) x = maker.apply("Flatten", {x}, {{"axis", std::int64_t{1}}});
  if (!x.valid()) return;
  const std::int64_t depth = maker.dimsOf(x).back(), width = smallExtent(maker);
  const DataType type = maker.typeOf(x);
  const bool transposed = maker.dice().oneIn(2);
  const ValueId weight = maker.weight(transposed ? Dims{width, depth} : Dims{depth, width}, type, fanIn(depth));
  Attributes attributes{{"transB", std::int64_t{transposed ? 1 : 0}}};
  if (maker.dice().oneIn(4)) attributes.emplace("alpha", 0.5F);
  epilogue(maker, maker.apply("Gemm", {x, weight, maker.weight({width}, type)}, attributes));
}

void conv(GraphMaker& maker, ValueId x) {
  const Dims dims = maker.dimsOf(x);
  if (dims.size() != 4) return;
  const std::int64_t channels = dims[1];
  const DataType type = maker.typeOf(x);
  std::int64_t groups = 1, width = smallExtent(maker);
  if (maker.dice().oneIn(3)) groups = channels;
  if (groups == 1 && channels % 2 == 0 && maker.dice().oneIn(4)) groups = 2;
  if (groups == channels) width = channels;
  const std::int64_t side = maker.dice().oneIn(2) ? 1 : 3, pad = side / 2;
  const std::int64_t stride = maker.dice().oneIn(4) ? 2 : 1, inner = channels / groups;
  std::vector<ValueId> inputs{x, maker.weight({width, inner, side, side}, type, fanIn(inner * side * side))};
  if (maker.dice().oneIn(2)) inputs.push_back(maker.weight({width}, type));
  ValueId y = maker.apply("Conv", inputs,
                          {{"group", groups},
                           {"kernel_shape", std::vector<std::int64_t>{side, side}},
                           {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}},
                           {"strides", std::vector<std::int64_t>{stride, stride}}});
  if (!y.valid()) return;
  if (maker.dice().oneIn(3)) {
    y = maker.apply("BatchNormalization", {y, maker.positive({width}, type), maker.weight({width}, type),
                                           maker.weight({width}, type), maker.positive({width}, type)});
  }
  epilogue(maker, y);
}

void layerNorm(GraphMaker& maker, ValueId x) {
  if (maker.rankOf(x) == 0) return;
  const Dims last{maker.dimsOf(x).back()};
  const DataType type = maker.typeOf(x);
  maker.apply("LayerNormalization", {x, maker.positive(last, type), maker.weight(last, type)},
              {{"axis", std::int64_t{-1}}, {"epsilon", 1e-3F}});
}

ValueId rootOfMeanSquare(GraphMaker& maker, ValueId x) {
  const DataType type = maker.typeOf(x);
  const ValueId square =
      maker.dice().oneIn(2) ? maker.apply("Mul", {x, x}) : maker.apply("Pow", {x, maker.number(2, type)});
  const ValueId mean = maker.apply("ReduceMean", {square, maker.integers({-1})}, {{"keepdims", std::int64_t{1}}});
  return maker.apply("Sqrt", {maker.apply("Add", {mean, maker.number(1e-2, type)})});
}

void spelledRmsNorm(GraphMaker& maker, ValueId x) {
  if (maker.rankOf(x) == 0) return;
  const ValueId normed = maker.apply("Div", {x, rootOfMeanSquare(maker, x)});
  maker.apply("Mul", {normed, maker.positive({maker.dimsOf(x).back()}, maker.typeOf(x))});
}

void spelledLayerNorm(GraphMaker& maker, ValueId x) {
  if (maker.rankOf(x) == 0) return;
  const Dims last{maker.dimsOf(x).back()};
  const DataType type = maker.typeOf(x);
  const ValueId mean = maker.apply("ReduceMean", {x, maker.integers({-1})}, {{"keepdims", std::int64_t{1}}});
  const ValueId centred = maker.apply("Sub", {x, mean});
  if (!centred.valid()) return;
  const ValueId normed = maker.apply("Div", {centred, rootOfMeanSquare(maker, centred)});
  const ValueId scaled = maker.apply("Mul", {normed, maker.positive(last, type)});
  maker.apply("Add", {scaled, maker.weight(last, type)});
}

void gelu(GraphMaker& maker, ValueId x) {
  const DataType type = maker.typeOf(x);
  const ValueId erf = maker.apply("Erf", {maker.apply("Div", {x, maker.number(std::sqrt(2.0), type)})});
  const ValueId gate = maker.apply("Add", {erf, maker.number(1, type)});
  maker.apply("Mul", {maker.apply("Mul", {x, gate}), maker.number(0.5, type)});
}

/// [batch, length, width] from what is there.
ValueId sequenceOf(GraphMaker& maker, ValueId x) {
  const Dims dims = maker.dimsOf(x);
  if (dims.size() == 3) return x;
  if (dims.size() == 4) return maker.apply("Reshape", {x, maker.integers({dims[0], dims[1], dims[2] * dims[3]})});
  return dims.size() == 2 ? maker.apply("Unsqueeze", {x, maker.integers({0})}) : ValueId();
}

/// [batch, heads, length, depth], the last two exchanged for keys.
ValueId heads(GraphMaker& maker, ValueId x, std::int64_t count, std::int64_t depth, bool keys) {
  const Dims dims = maker.dimsOf(x);
  const DataType type = maker.typeOf(x);
  const ValueId product = maker.apply("MatMul", {x, maker.weight({dims[2], count * depth}, type, fanIn(dims[2]))});
  if (!product.valid()) return product;
  const ValueId parted = maker.apply("Reshape", {product, maker.integers({dims[0], dims[1], count, depth})});
  const std::vector<std::int64_t> order =
      keys ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{0, 2, 1, 3};
  return maker.apply("Transpose", {parted}, {{"perm", order}});
}

ValueId masked(GraphMaker& maker, ValueId scores, std::int64_t length) {
  const DataType type = maker.typeOf(scores);
  Tensor above = Tensor::zeros(DataType::F32, {length, length});
  for (std::int64_t i = 0; i < length * length; ++i)
    above.mutableData<float>()[static_cast<std::size_t>(i)] = i % length > i / length ? 1.0F : 0.0F;
  const std::size_t roll = maker.dice().below(4);
  if (roll == 0) {
    Tensor mask = Tensor::zeros(DataType::F32, {length, length});
    for (std::size_t i = 0; i < mask.mutableData<float>().size(); ++i)
      mask.mutableData<float>()[i] = above.data<float>()[i] * -1e4F;
    return maker.apply("Add", {scores, maker.constant(mask.converted(type))});
  }
  if (roll == 1)
    return maker.apply("Where", {maker.constant(above.converted(DataType::Bool)), maker.number(-1e4, type), scores});
  return scores;
}

void attention(GraphMaker& maker, ValueId x) {
  x = sequenceOf(maker, x);
  if (!x.valid()) return;
  const DataType type = maker.typeOf(x);
  const Dims dims = maker.dimsOf(x);
  const std::int64_t count = 1 + static_cast<std::int64_t>(maker.dice().below(2)), depth = 4;
  const bool scalesQuery = maker.dice().oneIn(2);
  ValueId query = heads(maker, x, count, depth, false);
  const ValueId key = heads(maker, x, count, depth, true), values = heads(maker, x, count, depth, false);
  if (!query.valid() || !key.valid() || !values.valid()) return;
  if (scalesQuery) query = maker.apply("Mul", {query, maker.number(0.5, type)});
  ValueId scores = maker.apply("MatMul", {query, key});
  if (!scores.valid()) return;
  if (!scalesQuery) scores = maker.apply("Div", {scores, maker.number(2, type)});
  scores = masked(maker, scores, dims[1]);
  const bool aroundSoftmax = type != DataType::F32 && type != DataType::F64 && maker.dice().oneIn(2);
  const auto code = [](DataType to) { return std::int64_t{to == DataType::F32 ? 1 : to == DataType::F16 ? 10 : 16}; };
  if (aroundSoftmax) scores = maker.apply("Cast", {scores}, {{"to", code(DataType::F32)}});
  ValueId chances = maker.apply("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  if (!chances.valid()) return;
  if (maker.dice().oneIn(5))
    chances = maker.apply("Where", {maker.apply("IsNaN", {chances}), maker.number(0, maker.typeOf(chances)), chances});
  if (aroundSoftmax) chances = maker.apply("Cast", {chances}, {{"to", code(type)}});
  const ValueId result = maker.apply("MatMul", {chances, values});
  const ValueId moved = maker.apply("Transpose", {result}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  if (moved.valid()) maker.apply("Reshape", {moved, maker.integers({dims[0], dims[1], count * depth})});
}

}  // namespace

const std::vector<Block>& kernelBlocks() {
  static const std::vector<Block> kBlocks{matMul,
                                          matMul,
                                          gemm,
                                          conv,
                                          conv,
                                          conv,
                                          layerNorm,
                                          spelledRmsNorm,
                                          spelledLayerNorm,
                                          gelu,
                                          attention,
                                          attention,
                                          productOfActivations};
  return kBlocks;
}

}  // namespace fusescope::property
