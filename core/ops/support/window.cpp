#include "ops/support/window.h"

#include <fmt/format.h>

#include "ops/support/extent_arithmetic.h"

namespace fusescope::ops {
namespace {

// Beyond this the arithmetic on extents could overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 30;

Result<Dims> windowAttribute(const Node& node, const std::string& key, std::size_t count, std::int64_t otherwise,
                             std::int64_t least) {
  Dims values = node.intsAttribute(key);
  if (values.empty()) return Dims(count, otherwise);
  if (values.size() != count)
    return attributeProblem(key, fmt::format("has {} entries, expected {}", values.size(), count));
  for (const std::int64_t value : values)
    if (value < least || value > kMost)
      return attributeProblem(key, fmt::format("contains {}, expected {} to {}", value, least, kMost));
  return values;
}

}  // namespace

Result<Window> Window::read(const Node& node, std::size_t spatial, Dims kernel) {
  Window window;
  window.autoPad = TRY(choiceAttribute(node, "auto_pad", "NOTSET", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}));
  window.ceilMode = node.intAttribute("ceil_mode", 0) != 0;
  if (kernel.empty() && spatial > 0 && !node.hasAttribute("kernel_shape"))
    return attributeProblem("kernel_shape", "is missing");
  window.kernel = TRY(windowAttribute(node, "kernel_shape", spatial, 1, 1));
  if (!kernel.empty()) {
    if (node.hasAttribute("kernel_shape") && window.kernel != kernel)
      return attributeProblem("kernel_shape", fmt::format("is {}, but the spatial extents of the weight are {}",
                                                          toText(window.kernel), toText(kernel)));
    window.kernel = std::move(kernel);
  }
  window.strides = TRY(windowAttribute(node, "strides", spatial, 1, 1));
  window.dilations = TRY(windowAttribute(node, "dilations", spatial, 1, 1));
  const Dims pads = TRY(windowAttribute(node, "pads", 2 * spatial, 0, 0));
  if (window.autoPad == "NOTSET") {
    window.padBegin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
    window.padEnd.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatial), pads.end());
  } else {
    window.padBegin.assign(spatial, 0);
    window.padEnd.assign(spatial, 0);
  }
  for (std::size_t i = 0; i < spatial; ++i)
    if (window.kernel[i] > kMost / window.dilations[i])
      return attributeProblem("dilations", "the dilated window is too large");
  return window;
}

Result<std::int64_t> Window::positions(std::size_t axis, std::int64_t extent) const {
  if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") return (extent + strides[axis] - 1) / strides[axis];
  const std::int64_t room = extent + padBegin[axis] + padEnd[axis] - reach(axis);
  if (room < 0)
    return problem(fmt::format("a window of {} does not fit into a spatial extent of {} with padding {} and {}",
                               reach(axis), extent, padBegin[axis], padEnd[axis]));
  if (!ceilMode) return room / strides[axis] + 1;
  const std::int64_t count = (room + strides[axis] - 1) / strides[axis] + 1;
  // The last window must start inside the input or the padding before it.
  return (count - 1) * strides[axis] >= extent + padBegin[axis] ? count - 1 : count;
}

void Window::resolvePads(std::span<const std::int64_t> extents) {
  if (autoPad != "SAME_UPPER" && autoPad != "SAME_LOWER") return;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t count = (extents[i] + strides[i] - 1) / strides[i];
    const std::int64_t total = std::max<std::int64_t>(0, (count - 1) * strides[i] + reach(i) - extents[i]);
    padBegin[i] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    padEnd[i] = total - padBegin[i];
  }
}

Result<Dim> Window::outputDim(const InferContext& context, std::size_t axis, const Dim& input) const {
  if (input.known()) return Dim(TRY(positions(axis, input.size)));
  const std::int64_t stride = strides[axis];
  if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") return dividedExtent(input, stride - 1, stride);
  const std::int64_t padding = padBegin[axis] + padEnd[axis];
  if (reach(axis) > padding) context.demand({.left = Dim(reach(axis) - padding), .right = input, .atMost = true});
  if (!ceilMode) return dividedExtent(input, padding - reach(axis) + stride, stride);
  // Rounded up, but the last window starts inside the input or the padding before it.
  const std::int64_t beyond = std::min<std::int64_t>(0, padEnd[axis] - reach(axis) + stride);
  return dividedExtent(input, padBegin[axis] + beyond + stride - 1, stride);
}

}  // namespace fusescope::ops
