#include "backends/native/steps/format_step.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backends/native/kernels/parallel.h"
#include "backends/native/kernels/strided_copy.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kWideBlock = 16, kNarrowBlock = 8;  ///< channels of a block

bool isKnown(const MemoryFormat& format) {
  if (format.isPlain() || format.blocks().empty()) return format.padding().empty();
  const MemoryFormat::Block& block = format.blocks().front();
  return format.padding().empty() && format.blocks().size() == 1 && block.axis == 1 &&
         (block.extent == kNarrowBlock || block.extent == kWideBlock);
}

/// The distances between elements of a tensor in memory: along its axes, and for channels by 16, by 8 and one by one.
struct Distances {
  Dims axes;  ///< along axis 1, the distance from one block to the next
  std::int64_t block = 1, inBlock = 0;

  Distances(const MemoryFormat& format, const Dims& dims) : axes(dims.size()) {
    const Dims memory = rowMajorStrides(format.memoryExtents(dims));
    for (std::size_t i = 0; i < dims.size(); ++i) axes[format.isPlain() ? i : format.order()[i]] = memory[i];
    if (!format.isPlain()) block = format.blockOf(1);
    inBlock = block > 1 ? memory.back() : axes[1];
  }
  std::int64_t atChannel(std::int64_t channel) const {
    return channel / block * axes[1] + (block > 1 ? channel % block * inBlock : 0);
  }
};

class FormatStep final : public Step {
 public:
  FormatStep(const Ref& from, const Ref& to, int threads) : m_from(from), m_to(to), m_threads(threads) {
    const Distances source(from.format, from.dims), target(to.format, to.dims);
    const std::int64_t channels = from.dims[1];
    for (std::int64_t at = 0; at < channels;) {
      // Whole blocks are copied at once, then the rest of the last block.
      const std::int64_t count = channels - at >= kWideBlock ? (channels - at) / kWideBlock * kWideBlock
                                                             : std::min(channels - at, kNarrowBlock);
      addPart(source, target, at, count);
      at += count;
    }
    if (m_to.format.padded(m_to.dims) != m_to.dims) findLastBlocks(target);
  }

  Status run(Memory memory, std::byte*) const override {
    const std::byte* from = bytesAt(m_from, memory);
    std::byte* to = bytesAt(m_to, memory);
    fillLastBlocks(to);
    for (const Part& part : m_parts) part.copy.run(from + part.source, to + part.target);
    return Done{};
  }

 private:
  struct Part {
    StridedCopy copy;
    std::size_t source, target;  ///< bytes before its first element
  };

  void addPart(const Distances& source, const Distances& target, std::int64_t first, std::int64_t count) {
    struct Axis {
      std::int64_t extent, source, target;
    };
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < m_from.dims.size(); ++i)
      if (i != 1) axes.push_back({m_from.dims[i], source.axes[i], target.axes[i]});
    const auto add = [&](std::int64_t extent, std::int64_t channels) {
      axes.push_back({extent, source.atChannel(channels), target.atChannel(channels)});
    };
    if (count >= kWideBlock) add(count / kWideBlock, kWideBlock);
    if (count >= kWideBlock) add(kWideBlock / kNarrowBlock, kNarrowBlock);
    axes.push_back({std::min(count, kNarrowBlock), source.inBlock, target.inBlock});
    std::ranges::stable_sort(axes, std::ranges::greater(), &Axis::target);
    Dims extents, from, to;
    for (const Axis& axis : axes) {
      extents.push_back(axis.extent);
      from.push_back(axis.source);
      to.push_back(axis.target);
    }
    const std::size_t bytes = byteSize(m_from.dtype, 1);
    m_parts.push_back({StridedCopy(extents, from, to, bytes, m_threads),
                       static_cast<std::size_t>(source.atChannel(first)) * bytes,
                       static_cast<std::size_t>(target.atChannel(first)) * bytes});
  }

  /// Finds the last block of channels of each image, which is filled up with zeros. If images are not the outermost
  /// axis, the whole tensor is filled.
  void findLastBlocks(const Distances& target) {
    const bool inImages = m_to.format.order()[0] == 0 && m_to.format.order()[1] == 1;
    const std::int64_t whole = productOf(m_to.format.memoryExtents(m_to.dims), 0);
    m_image = byteSize(m_to.dtype, inImages ? target.axes[0] : whole);
    m_lastBlock = inImages ? byteSize(m_to.dtype, target.axes[1]) : m_image;
    m_images = inImages ? m_to.dims[0] : 1;
  }

  void fillLastBlocks(std::byte* to) const {
    for (std::int64_t n = 0; n < m_images; ++n)
      std::memset(to + static_cast<std::size_t>(n + 1) * m_image - m_lastBlock, 0, m_lastBlock);
  }

  Ref m_from, m_to;
  int m_threads;
  std::int64_t m_images = 0;                 ///< the number of images whose last block is filled up
  std::size_t m_image = 0, m_lastBlock = 0;  ///< sizes in bytes
  std::vector<Part> m_parts;
};

}  // namespace

bool canMoveInto(DataType type, const MemoryFormat& from, const MemoryFormat& to) {
  return (type == DataType::BF16 || type == DataType::F16) && isKnown(from) && isKnown(to);
}

std::unique_ptr<Step> makeFormatStep(const Ref& from, const Ref& to, int threads) {
  return std::make_unique<FormatStep>(from, to, threads);
}

}  // namespace fusescope::native
