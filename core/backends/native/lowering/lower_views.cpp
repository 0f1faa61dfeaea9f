#include <algorithm>

#include "backends/native/lowering/emitter.h"

namespace fusescope::native {
namespace {

/// Returns start and step of each axis of a Slice whose parameters are `starts`, `axes` and `steps`. The ends follow
/// from the extents of the result.
SliceRanges sliceRanges(const SmallDims& dims, const std::vector<std::int64_t>& starts,
                        const std::vector<std::int64_t>& axes, const std::vector<std::int64_t>& steps) {
  SliceRanges ranges(dims.size());
  const std::int64_t rank = static_cast<std::int64_t>(dims.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::int64_t axis = axes.empty() ? static_cast<std::int64_t>(i) : axes[i];
    if (axis < 0) axis += rank;
    const std::int64_t extent = dims[static_cast<std::size_t>(axis)];
    const std::int64_t step = steps.empty() ? 1 : steps[i];
    std::int64_t start = starts[i] < 0 ? starts[i] + extent : starts[i];
    start = step > 0 ? std::clamp<std::int64_t>(start, 0, extent) : std::clamp<std::int64_t>(start, 0, extent - 1);
    ranges[static_cast<std::size_t>(axis)] = {start, step};
  }
  return ranges;
}

std::optional<ViewOrigin::Look> sliceOf(const Context& context, const Node& slice) {
  const auto known = [&](std::size_t i) { return !slice.input(i).valid() || context.isConstant(slice.input(i)); };
  if (!context.isConstant(slice.input(1)) || !known(3) || !known(4)) return std::nullopt;
  const auto numbers = [&](std::size_t i) {
    return slice.input(i).valid() ? int64Values(*context.constant(slice.input(i))) : std::vector<std::int64_t>{};
  };
  return [starts = numbers(1), axes = numbers(3), steps = numbers(4), result = context.extentsOf(slice.outputs[0])](
             View& view, const RegionExtents& extents) {
    return view.slice(sliceRanges(view.dims(), starts, axes, steps), result.in(extents));
  };
}

std::optional<ViewOrigin::Look> lookOf(const Context& context, const Node& node) {
  if (node.is("Slice")) return sliceOf(context, node);
  const ExtentSource result = context.extentsOf(node.outputs[0]);
  if (isReshape(node))
    return [result](View& view, const RegionExtents& extents) { return view.reshape(result.in(extents)); };
  if (node.is("Expand"))
    return [result](View& view, const RegionExtents& extents) { return view.broadcast(result.in(extents)); };
  if (!node.is("Transpose")) return std::nullopt;
  std::vector<std::int64_t> order = node.intsAttribute("perm");
  if (order.empty())
    for (std::size_t i = context.dimsOf(node.outputs[0]).size(); i-- > 0;)
      order.push_back(static_cast<std::int64_t>(i));
  return [order](View& view, const RegionExtents&) { return view.transpose(order); };
}

Result<bool> emitSplit(Context& context, const Node& split) {
  if (!std::ranges::all_of(split.outputs, &ValueId::valid)) return false;
  const std::size_t axis = positiveAxis(split.intAttribute("axis", 0), context.dimsOf(split.input(0)).size());
  std::vector<ExtentSource> before;  // the parts before the current one
  for (const ValueId output : split.outputs) {
    const ExtentSource own = context.extentsOf(output);
    TRY(context.defineLook(output, split.input(0), [before, own, axis](View& view, const RegionExtents& extents) {
      SliceRanges ranges(view.dims().size());
      for (const ExtentSource& part : before) ranges[axis].start += part.in(extents)[axis];
      return view.slice(ranges, own.in(extents));
    }));
    before.push_back(own);
  }
  return true;
}

Result<bool> emitView(Context& context, const Node& node) {
  if (!node.input(0).valid() || context.typeOf(node.input(0)) != context.typeOf(node.outputs[0])) return false;
  if (node.is("Identity")) {
    TRY(context.defineSame(node.outputs[0], node.input(0)));
    return true;
  }
  if (node.is("Split")) return emitSplit(context, node);
  const auto look = lookOf(context, node);
  if (!look) return false;
  TRY(context.defineLook(node.outputs[0], node.input(0), *look));
  return true;
}

}  // namespace

extern const Emitter kViewEmitter{.name = "view", .emit = emitView};

}  // namespace fusescope::native
