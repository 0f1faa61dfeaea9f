#include <algorithm>

#include "backends/native/lowering.h"

namespace fusescope::native {
namespace {

/// Strides under which `ref` reads as `dims` without moving an element, if there are any.
std::optional<Dims> reshapedStrides(const Ref& ref, const Dims& dims) {
  Dims extents, strides;  // without axes of extent 1
  for (std::size_t i = 0; i < ref.dims.size(); ++i) {
    if (ref.dims[i] == 1) continue;
    extents.push_back(ref.dims[i]);
    strides.push_back(ref.strides[i]);
  }
  Dims result(dims.size(), 0);
  std::size_t from = 0, to = 0;
  while (from < extents.size() && to < dims.size()) {
    std::size_t fromEnd = from + 1, toEnd = to + 1;
    std::int64_t fromCount = extents[from], toCount = dims[to];
    while (fromCount != toCount) {
      if (toCount < fromCount) {
        if (toEnd == dims.size()) return std::nullopt;
        toCount *= dims[toEnd++];
      } else {
        if (fromEnd == extents.size()) return std::nullopt;
        fromCount *= extents[fromEnd++];
      }
    }
    for (std::size_t i = from; i + 1 < fromEnd; ++i) {
      if (strides[i] != strides[i + 1] * extents[i + 1]) return std::nullopt;
    }
    std::int64_t stride = strides[fromEnd - 1];
    for (std::size_t i = toEnd; i-- > to;) {
      result[i] = stride;
      stride *= dims[i];
    }
    from = fromEnd;
    to = toEnd;
  }
  return result;
}

bool isReshape(const Node& node) {
  return node.is("Reshape") || node.is("Flatten") || node.is("Squeeze") || node.is("Unsqueeze") || node.is("Identity");
}

struct SliceRange {
  std::int64_t start, step;
};

/// Start and step of each axis of a Slice whose parameters are `starts`, `axes` and `steps`; ends are in the extents.
std::vector<SliceRange> sliceRanges(const Dims& dims, const std::vector<std::int64_t>& starts,
                                    const std::vector<std::int64_t>& axes, const std::vector<std::int64_t>& steps) {
  std::vector<SliceRange> ranges(dims.size(), {0, 1});
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

/// `ref` with its axes in `order`; reversed if that is empty.
Ref transposed(const Ref& ref, std::vector<std::int64_t> order) {
  if (order.empty()) {
    for (std::size_t i = ref.dims.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  }
  Ref view = ref;
  for (std::size_t i = 0; i < ref.dims.size(); ++i) {
    view.dims[i] = ref.dims[static_cast<std::size_t>(order[i])];
    view.strides[i] = ref.strides[static_cast<std::size_t>(order[i])];
  }
  return view;
}

}  // namespace

Result<Ref> Lowering::reshaped(const Ref& source, const Dims& dims) {
  Ref view = source;
  std::optional<Dims> strides = source.count() == 0 ? rowMajorStrides(dims) : reshapedStrides(source, dims);
  if (!strides) {
    view = TRY(plain(source));
    strides = rowMajorStrides(dims);
  }
  view.strides = *strides;
  view.dims = dims;
  return view;
}

std::optional<Ref> Lowering::sliced(const Node& slice, const Ref& source) const {
  const auto known = [&](std::size_t i) { return !slice.input(i).valid() || isConstant(slice.input(i)); };
  if (!isConstant(slice.input(1)) || !known(3) || !known(4)) return std::nullopt;
  const auto numbers = [&](std::size_t i) {
    return slice.input(i).valid() ? int64Values(*constant(slice.input(i))) : std::vector<std::int64_t>{};
  };
  const auto ranges = sliceRanges(source.dims, numbers(1), numbers(3), numbers(4));
  Ref view = source;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    view.offset += ranges[i].start * source.strides[i];
    view.strides[i] = source.strides[i] * ranges[i].step;
  }
  view.dims = dimsOf(slice.outputs[0]);
  return view;
}

bool Lowering::lowerSplit(const Node& split, const Ref& source) {
  if (!std::ranges::all_of(split.outputs, &ValueId::valid)) return false;
  const std::int64_t given = split.intAttribute("axis", 0);
  const auto axis = static_cast<std::size_t>(given < 0 ? given + static_cast<std::int64_t>(source.dims.size()) : given);
  Ref part = source;
  for (const ValueId output : split.outputs) {
    part.dims = dimsOf(output);
    define(output, part);
    part.offset += part.dims[axis] * source.strides[axis];
  }
  return true;
}

Result<bool> Lowering::lowerView(const Node& node) {
  const bool known =
      isReshape(node) || node.is("Transpose") || node.is("Expand") || node.is("Slice") || node.is("Split");
  if (!known || !node.input(0).valid()) return false;
  if (typeOf(node.input(0)) != typeOf(node.outputs[0])) return false;
  const Ref whole = TRY(seen(node.input(0)));
  if (node.is("Identity")) {
    define(node.outputs[0], whole);
    return true;
  }
  const Ref source = TRY(strided(whole));
  if (node.is("Split")) return lowerSplit(node, source);
  const Dims dims = dimsOf(node.outputs[0]);
  std::optional<Ref> view;
  if (isReshape(node)) view = TRY(reshaped(source, dims));
  if (node.is("Transpose")) view = transposed(source, node.intsAttribute("perm"));
  if (node.is("Expand")) view = broadcast(source, dims);
  if (node.is("Slice")) view = sliced(node, source);
  if (!view) return false;
  define(node.outputs[0], *view);
  return true;
}

}  // namespace fusescope::native
