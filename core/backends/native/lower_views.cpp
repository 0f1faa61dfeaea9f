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

}  // namespace

Result<bool> Lowering::lowerView(const Node& node) {
  const bool known =
      isReshape(node) || node.is("Transpose") || node.is("Expand") || node.is("Slice") || node.is("Split");
  if (!known || !node.input(0).valid()) return false;
  if (typeOf(node.input(0)) != typeOf(node.outputs[0])) return false;
  Ref source = TRY(ref(node.input(0)));
  const Dims dims = dimsOf(node.outputs[0]);
  if (node.is("Identity")) {
    define(node.outputs[0], source);
    return true;
  }
  if (source.layout != Layout::Plain) source = TRY(inLayout(source, Layout::Plain));
  Ref view = source;
  if (isReshape(node)) {
    if (source.count() == 0) {
      view.strides = rowMajorStrides(dims);
    } else {
      std::optional<Dims> strides = reshapedStrides(source, dims);
      if (!strides) {
        view = TRY(plain(source));
        strides = rowMajorStrides(dims);
      }
      view.strides = *strides;
    }
    view.dims = dims;
  } else if (node.is("Transpose")) {
    std::vector<std::int64_t> order = node.intsAttribute("perm");
    if (order.empty()) {
      for (std::size_t i = dims.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    }
    for (std::size_t i = 0; i < dims.size(); ++i) {
      view.dims[i] = source.dims[static_cast<std::size_t>(order[i])];
      view.strides[i] = source.strides[static_cast<std::size_t>(order[i])];
    }
  } else if (node.is("Expand")) {
    const std::size_t lead = dims.size() - source.dims.size();
    view.strides.assign(dims.size(), 0);
    for (std::size_t i = 0; i < source.dims.size(); ++i) {
      if (source.dims[i] != 1) view.strides[lead + i] = source.strides[i];
    }
    view.dims = dims;
  } else if (node.is("Slice")) {
    const Tensor* starts = constant(node.input(1));
    const Tensor* axes = node.input(3).valid() ? constant(node.input(3)) : nullptr;
    const Tensor* steps = node.input(4).valid() ? constant(node.input(4)) : nullptr;
    if (starts == nullptr || (node.input(3).valid() && axes == nullptr) ||
        (node.input(4).valid() && steps == nullptr)) {
      return false;
    }
    const auto numbers = [](const Tensor* t) { return t == nullptr ? std::vector<std::int64_t>{} : int64Values(*t); };
    const auto ranges = sliceRanges(source.dims, numbers(starts), numbers(axes), numbers(steps));
    for (std::size_t i = 0; i < dims.size(); ++i) {
      view.offset += ranges[i].start * source.strides[i];
      view.strides[i] = source.strides[i] * ranges[i].step;
    }
    view.dims = dims;
  } else {  // Split
    std::int64_t axis = node.intAttribute("axis", 0);
    if (axis < 0) axis += static_cast<std::int64_t>(source.dims.size());
    for (ValueId output : node.outputs) {
      if (!output.valid()) return false;
    }
    for (ValueId output : node.outputs) {
      Ref part = view;
      part.dims = dimsOf(output);
      define(output, part);
      view.offset += part.dims[static_cast<std::size_t>(axis)] * source.strides[static_cast<std::size_t>(axis)];
    }
    return true;
  }
  define(node.outputs[0], view);
  return true;
}

}  // namespace fusescope::native
