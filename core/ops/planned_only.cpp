// Operators that are typed, planned and drawn, but have no reference kernel: recurrence, detection and random
// numbers.
#include <fmt/format.h>

#include "ops/families.h"
#include "ops/support/infer_support.h"

namespace fusescope::ops {
namespace {

/// LSTM, GRU, RNN: Y [time, directions, batch, hidden] (or batch first), Y_h and Y_c without the time.
Result<Types> inferRecurrence(const InferContext& context) {
  TRY(requireRank(context, 0, 3));
  const Node& node = context.node();
  const TensorType& x = context.input(0);
  const bool batchFirst = node.intAttribute("layout", 0) != 0;
  const Dim time = x.shape.ranked ? x.shape.dims[batchFirst ? 1 : 0] : Dim();
  const Dim batch = x.shape.ranked ? x.shape.dims[batchFirst ? 0 : 1] : Dim();
  const Dim directions(node.textAttribute("direction", "forward") == "bidirectional" ? 2 : 1);
  const std::int64_t size = node.intAttribute("hidden_size", -1);
  const Dim hidden = size > 0 ? Dim(size) : Dim();
  const TensorType all{x.dtype, Shape::of(batchFirst ? std::vector<Dim>{batch, time, directions, hidden}
                                                     : std::vector<Dim>{time, directions, batch, hidden})};
  const TensorType last{x.dtype, Shape::of(batchFirst ? std::vector<Dim>{batch, directions, hidden}
                                                      : std::vector<Dim>{directions, batch, hidden})};
  return Types{all, last, last};
}

Result<Types> inferNonZero(const InferContext& context) {
  const Shape& x = context.input(0).shape;
  return one(DataType::I64, Shape::of({x.ranked ? Dim(std::max<std::int64_t>(1, std::ssize(x.dims))) : Dim(), Dim()}));
}

Result<Types> inferNonMaxSuppression(const InferContext&) {
  return one(DataType::I64, Shape::of({Dim(), Dim(3)}));
}

Result<Types> inferRoiAlign(const InferContext& context) {
  const Shape &x = context.input(0).shape, &rois = context.input(1).shape;
  TRY(requireRank(context, 0, 4));
  TRY(requireRank(context, 1, 2));
  const Dim height = TRY(checkedExtent(context.node().intAttribute("output_height", 1), "output_height"));
  const Dim width = TRY(checkedExtent(context.node().intAttribute("output_width", 1), "output_width"));
  return one(context.input(0).dtype,
             Shape::of({rois.ranked ? rois.dims[0] : Dim(), x.ranked ? x.dims[1] : Dim(), height, width}));
}

/// Random numbers of the extents in the attribute `shape`.
Result<Types> inferRandom(const InferContext& context) {
  const DataType type = TRY(typeAttribute(context.node(), "dtype", DataType::F32));
  const Ints shape = context.node().intsAttribute("shape");
  for (const std::int64_t extent : shape)
    if (extent < 0) return attributeProblem("shape", fmt::format("holds {}, less than nothing", extent));
  return one(type, Shape::of(shape));
}

Result<Types> inferRandomLike(const InferContext& context) {
  return one(TRY(typeAttribute(context.node(), "dtype", context.input(0).dtype)), context.input(0).shape);
}

Result<Types> inferMultinomial(const InferContext& context) {
  TRY(requireRank(context, 0, 2));
  const Shape& x = context.input(0).shape;
  const Dim samples = TRY(checkedExtent(context.node().intAttribute("sample_size", 1), "sample_size"));
  return one(TRY(typeAttribute(context.node(), "dtype", DataType::I32)),
             Shape::of({x.ranked ? x.dims[0] : Dim(), samples}));
}

OpSchema plannedOnly(std::string op, OpKind kind, int minInputs, int maxInputs, int maxOutputs, InferFunction infer) {
  return {.op = std::move(op),
          .kind = kind,
          .minInputs = minInputs,
          .maxInputs = maxInputs,
          .infer = std::move(infer),
          .deterministic = kind != OpKind::Random,
          .maxOutputs = maxOutputs};
}

}  // namespace

void registerPlannedOnly(OpRegistry& registry) {
  registry.add(plannedOnly("Bernoulli", OpKind::Random, 1, 1, 1, inferRandomLike));
  registry.add(plannedOnly("GRU", OpKind::Recurrence, 3, 6, 2, inferRecurrence));
  registry.add(plannedOnly("LSTM", OpKind::Recurrence, 3, 8, 3, inferRecurrence));
  registry.add(plannedOnly("Multinomial", OpKind::Random, 1, 1, 1, inferMultinomial));
  registry.add(plannedOnly("NonMaxSuppression", OpKind::Other, 2, 5, 1, inferNonMaxSuppression));
  registry.add(plannedOnly("NonZero", OpKind::Other, 1, 1, 1, inferNonZero));
  registry.add(plannedOnly("RandomNormal", OpKind::Random, 0, 0, 1, inferRandom));
  registry.add(plannedOnly("RandomNormalLike", OpKind::Random, 1, 1, 1, inferRandomLike));
  registry.add(plannedOnly("RandomUniform", OpKind::Random, 0, 0, 1, inferRandom));
  registry.add(plannedOnly("RandomUniformLike", OpKind::Random, 1, 1, 1, inferRandomLike));
  registry.add(plannedOnly("RNN", OpKind::Recurrence, 3, 6, 2, inferRecurrence));
  registry.add(plannedOnly("RoiAlign", OpKind::Other, 3, 3, 1, inferRoiAlign));
}

}  // namespace fusescope::ops
