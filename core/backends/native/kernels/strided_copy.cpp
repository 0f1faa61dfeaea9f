#include "backends/native/kernels/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "backends/native/kernels/parallel.h"
#include "backends/native/kernels/tape.h"
#include "backends/native/kernels/transpose.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kCopiedTile = 16;  ///< side of the tiles of a two-dimensional transposition

struct Bits128 {
  std::uint64_t low, high;
};

template <class T>
void copyRow(const T* source, std::int64_t sourceStride, T* target, std::int64_t targetStride, std::int64_t count) {
  if (sourceStride == 1 && targetStride == 1) {
    std::memcpy(target, source, static_cast<std::size_t>(count) * sizeof(T));
  } else if (sourceStride == 0 && targetStride == 1) {
    if constexpr (sizeof(T) == sizeof(float)) {
      fill(reinterpret_cast<float*>(target), static_cast<std::size_t>(count), *reinterpret_cast<const float*>(source));
    } else {
      std::fill(target, target + count, *source);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) target[i * targetStride] = source[i * sourceStride];
  }
}

}  // namespace

StridedCopy::StridedCopy(const Dims& dims, const Dims& sourceStrides, const Dims& targetStrides,
                         std::size_t elementBytes, int threads)
    : m_elementBytes(elementBytes), m_threads(threads) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) m_empty = true;
    if (dims[i] == 1) continue;
    const Axis axis{dims[i], sourceStrides[i], targetStrides[i]};
    if (!m_axes.empty() && m_axes.back().source == axis.source * axis.extent &&
        m_axes.back().target == axis.target * axis.extent) {
      m_axes.back() = {m_axes.back().extent * axis.extent, axis.source, axis.target};
    } else {
      m_axes.push_back(axis);
    }
  }
  while (m_axes.size() < 2) {
    m_axes.push_back({1, 0, 0});
    std::rotate(m_axes.begin(), m_axes.end() - 1, m_axes.end());
  }
  // A transposition reads along the axis that is contiguous in the source. This axis is moved next to the last one, so
  // that tiles cover both.
  const std::size_t last = m_axes.size() - 1;
  if (m_axes[last].source > 1) {
    for (std::size_t i = 0; i + 1 < last; ++i) {
      if (m_axes[i].source != 1) continue;
      std::rotate(m_axes.begin() + i, m_axes.begin() + i + 1, m_axes.begin() + last);
      break;
    }
  }
  for (std::size_t i = 0; i + 2 < m_axes.size(); ++i) m_outer *= m_axes[i].extent;
}

template <class T>
void StridedCopy::runTyped(const std::byte* sourceBytes, std::byte* targetBytes) const {
  const T* source = reinterpret_cast<const T*>(sourceBytes);
  T* target = reinterpret_cast<T*>(targetBytes);
  const Axis rows = m_axes[m_axes.size() - 2];
  const Axis columns = m_axes.back();
  const bool tiled = columns.source != 1 && rows.source == 1;
  const std::int64_t band = tiled ? kCopiedTile : 1;
  const std::int64_t bands = (rows.extent + band - 1) / band;
  // A single long row is cut into pieces, so that several threads can share it.
  const std::int64_t piece =
      !tiled && m_outer * bands < m_threads ? (columns.extent + m_threads - 1) / m_threads : columns.extent;
  const std::int64_t pieces = (columns.extent + piece - 1) / piece;
  const std::int64_t work = m_outer * bands * pieces;
  const std::int64_t total = m_outer * rows.extent * columns.extent * static_cast<std::int64_t>(sizeof(T));
  forEach(work, total > kFewBytes ? m_threads : 1, [&](std::int64_t item) {
    const std::int64_t begin = item % pieces * piece;
    const std::int64_t firstRow = item / pieces % bands * band;
    std::int64_t outer = item / pieces / bands;
    const T* from = source;
    T* to = target;
    for (std::size_t i = m_axes.size() - 2; i-- > 0;) {
      const std::int64_t index = outer % m_axes[i].extent;
      outer /= m_axes[i].extent;
      from += index * m_axes[i].source;
      to += index * m_axes[i].target;
    }
    from += firstRow * rows.source + begin * columns.source;
    to += firstRow * rows.target + begin * columns.target;
    const std::int64_t count = std::min(piece, columns.extent - begin);
    if (!tiled) {
      copyRow(from, columns.source, to, columns.target, count);
      return;
    }
    const std::int64_t height = std::min(band, rows.extent - firstRow);
    if constexpr (sizeof(T) == sizeof(float)) {
      if (columns.target == 1) {
        transpose(reinterpret_cast<const float*>(from), columns.source, reinterpret_cast<float*>(to), rows.target,
                  count, height);
        return;
      }
    }
    if constexpr (sizeof(T) <= 2) {
      if (columns.target == 1) return transpose(from, columns.source, to, rows.target, count, height);
    }
    for (std::int64_t c0 = 0; c0 < count; c0 += kCopiedTile) {
      const std::int64_t c1 = std::min(c0 + kCopiedTile, count);
      for (std::int64_t r = 0; r < height; ++r) {
        for (std::int64_t c = c0; c < c1; ++c) {
          to[r * rows.target + c * columns.target] = from[r * rows.source + c * columns.source];
        }
      }
    }
  });
}

void StridedCopy::run(const std::byte* source, std::byte* target) const {
  if (m_empty) return;
  switch (m_elementBytes) {
    case 1:
      return runTyped<std::uint8_t>(source, target);
    case 2:
      return runTyped<std::uint16_t>(source, target);
    case 4:
      return runTyped<std::uint32_t>(source, target);
    case 8:
      return runTyped<std::uint64_t>(source, target);
    default:
      return runTyped<Bits128>(source, target);
  }
}

}  // namespace fusescope::native
