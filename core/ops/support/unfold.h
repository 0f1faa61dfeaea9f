#pragma once

#include <algorithm>

#include "ops/support/strided.h"
#include "ops/support/window.h"

namespace fusescope::ops {

/// Returns whether the window is 1×1 and visits each element exactly once.
inline bool isPointwise(const Window& window) {
  const Dims ones(window.kernel.size(), 1), zeros(window.kernel.size(), 0);
  return window.kernel == ones && window.strides == ones && window.padBegin == zeros && window.padEnd == zeros;
}

/// Calls run(columnRow, outOffset, inOffset, step, count) for every stretch of an unfolded image that is inside the
/// input: columns[columnRow * area + outOffset + k] corresponds to image[inOffset + k * step].
template <class Run>
void forEachUnfolded(std::int64_t channels, const Dims& in, const Dims& out, const Window& window, Run run) {
  const std::size_t last = in.size() - 1;
  const Dims inStrides = denseStrides(in), outStrides = denseStrides(out);
  const std::int64_t inArea = elementCount(in).value();
  const Dims outerOut(out.begin(), out.end() - 1);
  std::int64_t row = 0;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    forEachIndex(window.kernel, [&](const Dims& tap) {
      const std::int64_t shift = tap[last] * window.dilations[last] - window.padBegin[last];
      const std::int64_t stride = window.strides[last];
      const std::int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
      const std::int64_t end = in[last] <= shift ? 0 : std::min(out[last], (in[last] - shift - 1) / stride + 1);
      forEachIndex(outerOut, [&](const Dims& at) {
        std::int64_t from = channel * inArea, to = 0;
        for (std::size_t i = 0; i < last; ++i) {
          const std::int64_t position = at[i] * window.strides[i] + tap[i] * window.dilations[i] - window.padBegin[i];
          if (position < 0 || position >= in[i]) return true;
          from += position * inStrides[i];
          to += at[i] * outStrides[i];
        }
        if (begin < end) run(row, to + begin, from + begin * stride + shift, stride, end - begin);
        return true;
      });
      ++row;
      return true;
    });
  }
}

/// Fills columns[channel, tap, position] with the image element under that tap of the window at that position, or 0 in
/// the padding.
template <class T>
void unfold(const T* image, std::int64_t channels, const Dims& in, const Dims& out, const Window& window, T* columns) {
  const std::int64_t area = elementCount(out).value();
  std::fill(columns, columns + channels * elementCount(window.kernel).value() * area, T(0));
  forEachUnfolded(channels, in, out, window,
                  [&](std::int64_t row, std::int64_t to, std::int64_t from, std::int64_t step, std::int64_t count) {
                    T* target = columns + row * area + to;
                    for (std::int64_t k = 0; k < count; ++k) target[k] = image[from + k * step];
                  });
}

/// Does the reverse: adds each element of `columns` to the element of `image` (extents `in`) that is under its tap.
template <class T>
void foldAdd(const T* columns, std::int64_t channels, const Dims& in, const Dims& out, const Window& window, T* image) {
  const std::int64_t area = elementCount(out).value();
  forEachUnfolded(channels, in, out, window,
                  [&](std::int64_t row, std::int64_t from, std::int64_t to, std::int64_t step, std::int64_t count) {
                    const T* source = columns + row * area + from;
                    for (std::int64_t k = 0; k < count; ++k) image[to + k * step] += source[k];
                  });
}

}  // namespace fusescope::ops
