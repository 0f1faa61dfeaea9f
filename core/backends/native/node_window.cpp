#include "backends/native/node_window.h"

#include <algorithm>

#include "ir/graph.h"

namespace fusescope::native {

Window windowOf(const Node& node, const Dims& input, const Dims& output, Dims kernel) {
  const std::size_t rank = input.size() - 2;
  Window window;
  window.kernel = kernel.empty() ? node.intsAttribute("kernel_shape", Dims(rank, 1)) : std::move(kernel);
  window.strides = node.intsAttribute("strides", Dims(rank, 1));
  window.dilations = node.intsAttribute("dilations", Dims(rank, 1));
  const Dims pads = node.intsAttribute("pads", Dims(2 * rank, 0));
  const std::string automatic = node.textAttribute("auto_pad", "NOTSET");
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t extent = window.dilations[i] * (window.kernel[i] - 1) + 1;
    const std::int64_t needed = (output[i + 2] - 1) * window.strides[i] + extent - input[i + 2];
    std::int64_t begin = pads[i];
    if (automatic == "VALID") begin = 0;
    if (automatic == "SAME_UPPER") begin = std::max<std::int64_t>(needed, 0) / 2;
    if (automatic == "SAME_LOWER") begin = (std::max<std::int64_t>(needed, 0) + 1) / 2;
    window.padBegin.push_back(begin);
    window.padEnd.push_back(needed - begin);
  }
  return window;
}

Window transposedWindowOf(const Node& node, const Dims& input, const Dims& output, Dims kernel) {
  Window window = windowOf(node, input, output, std::move(kernel));
  const Dims pads = node.intsAttribute("pads", Dims(2 * (input.size() - 2), 0));
  const std::string automatic = node.textAttribute("auto_pad", "NOTSET");
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const std::int64_t extent = window.dilations[i] * (window.kernel[i] - 1) + 1;
    const std::int64_t total = (input[i + 2] - 1) * window.strides[i] + extent - output[i + 2];
    window.padBegin[i] = automatic == "NOTSET"       ? pads[i]
                         : automatic == "SAME_UPPER" ? total / 2
                         : automatic == "SAME_LOWER" ? total - total / 2
                                                     : 0;
    window.padEnd[i] = total - window.padBegin[i];
  }
  return window;
}

}  // namespace fusescope::native
