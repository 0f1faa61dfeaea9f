#include <algorithm>

#include "backends/native/lowering/emitter.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kPadKernel{.name = "pad"};

// Lowers padding with a constant: the borders are filled, and the input is copied between them.
Status emitConstantPad(Context& context, const Node& node) {
  const DataType stored = context.storedType(node.outputs[0]);
  const bool isNarrowed = context.seenType(node.input(0)) == stored;
  Ref source = TRY(context.strided(TRY(isNarrowed ? context.seen(node.input(0)) : context.ref(node.input(0)))));
  const std::vector<std::int64_t> pads = int64Values(*context.constant(node.input(1)));
  const Tensor* element = node.input(2).valid() ? context.constant(node.input(2)) : nullptr;
  std::vector<std::int64_t> axes;
  if (node.input(3).valid()) axes = int64Values(*context.constant(node.input(3)));
  const std::size_t count = pads.size() / 2;
  const Ref target = context.allocate(node.outputs[0], {}, isNarrowed ? stored : context.typeOf(node.outputs[0]));
  context.define(node.outputs[0], target);
  Dims before(source.dims.size(), 0), after = before;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = positiveAxis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], source.dims.size());
    before[axis] = std::max<std::int64_t>(pads[i], 0);
    after[axis] = std::max<std::int64_t>(pads[count + i], 0);
    if (pads[i] < 0) source.offset -= pads[i] * source.strides[axis];
    source.dims[axis] += std::min<std::int64_t>(pads[i], 0) + std::min<std::int64_t>(pads[count + i], 0);
  }
  // The borders before and behind the source are filled axis by axis. Along the axes before the current one, only the
  // range of the source is filled.
  Ref filling{.dtype = target.dtype};
  filling.buffer = context.program().addTable(element != nullptr ? element->converted(target.dtype)
                                                                 : Tensor::zeros(target.dtype, {}));
  Ref to = target;
  for (std::size_t axis = 0; axis < to.dims.size(); ++axis) {
    for (const auto& [begin, extent] :
         {std::pair(std::int64_t{0}, before[axis]), std::pair(before[axis] + source.dims[axis], after[axis])}) {
      Ref border = to;
      border.offset += begin * to.strides[axis];
      border.dims[axis] = extent;
      if (border.count() > 0) context.copyStrided(broadcast(filling, border.dims), border);
    }
    to.offset += before[axis] * to.strides[axis];
    to.dims[axis] = source.dims[axis];
  }
  if (source.count() > 0) context.copyStrided(source, to);
  context.chose({.kind = kPadKernel});
  return Done{};
}

Result<bool> emitPad(Context& context, const Node& node) {
  if (!node.is("Pad") || context.typeOf(node.input(0)) != context.typeOf(node.outputs[0])) return false;
  if (node.textAttribute("mode", "constant") != "constant") return false;
  for (std::size_t i = 1; i < 4; ++i)
    if (node.input(i).valid() && !context.isConstant(node.input(i))) return false;
  const Tensor* element = node.input(2).valid() ? context.constant(node.input(2)) : nullptr;
  if (!node.input(1).valid() || (element != nullptr && element->type() != context.typeOf(node.input(0)))) return false;
  TRY(emitConstantPad(context, node));
  return true;
}

}  // namespace

extern const Emitter kPadEmitter{.name = "pad", .emit = emitPad};

}  // namespace fusescope::native
