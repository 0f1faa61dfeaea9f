#include "backends/native/steps/group_norm_step.h"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "backends/native/kernels/channel_rows.h"
#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/parallel.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kChunkElements = 4096;  // so many elements stay in the first cache between the passes
constexpr std::int64_t kLeastRows = 16;        // fewer rows in a chunk would have as many moments as elements

/// The tensor consists of `units` of positions by `width` channels; a unit is an image, or a block of channels of an
/// image. A unit is divided into chunks of positions. The moments of the channels of each chunk are then combined by
/// group.
class GroupNormStep final : public Step {
 public:
  GroupNormStep(GroupNormCall call, int threads) : m_call(std::move(call)) {
    const Dims& dims = m_call.from.dims;
    m_images = dims[0];
    m_channels = dims[1];
    m_positions = productOf(dims, 2);
    m_width = m_call.from.format.isChannelsLast() ? m_channels : m_call.from.format.blockOf(1);
    m_units = m_images * m_channels / m_width;
    m_rows = std::max(kChunkElements / m_width, kLeastRows);
    m_chunks = (m_positions + m_rows - 1) / m_rows;
    m_threads = m_call.from.count() > kFewElements ? threads : 1;
  }

  std::size_t scratchBytes() const override {
    return floats(2 * momentCount()) + floats(3 * m_images * m_channels) +
           rowBytes(m_call.from, m_call.to, m_rows * m_width) * static_cast<std::size_t>(m_threads);
  }

  Status run(Memory memory, std::byte* scratch) const override {
    auto* moments = reinterpret_cast<float*>(scratch);
    auto* byChannel = reinterpret_cast<float*>(scratch + floats(2 * momentCount()));
    std::byte* rows = scratch + floats(2 * momentCount()) + floats(3 * m_images * m_channels);
    forEach(m_units * m_chunks, m_threads, [&](std::int64_t i) {
      const Chunk chunk = chunkAt(i);
      float* at = moments + i * m_width;
      channelMoments(readFloats(m_call.from, memory, chunk.begin, chunk.rows * m_width, ownRows(rows)), chunk.rows,
                     m_width, at, at + momentCount());
    });
    for (std::int64_t i = 0; i < m_images * m_call.groups; ++i) combineMoments(i, memory, moments, byChannel);
    forEach(m_units * m_chunks, m_threads, [&](std::int64_t i) {
      const Chunk chunk = chunkAt(i);
      const std::int64_t count = chunk.rows * m_width, all = m_images * m_channels;
      const float* means = byChannel + chunk.unit * m_width;
      float* to = placeFloats(m_call.to, memory, chunk.begin, ownRows(rows));
      normChannels(readFloats(m_call.from, memory, chunk.begin, count, ownRows(rows)), chunk.rows, m_width, means,
                   means + all, means + 2 * all, to);
      storeFloats(m_call.to, memory, chunk.begin, count, to);
    });
    return Done{};
  }

 private:
  struct Chunk {
    std::int64_t unit = 0, begin = 0, rows = 0;  ///< begin: the unit's first element
  };
  Chunk chunkAt(std::int64_t i) const {
    const std::int64_t unit = i / m_chunks, position = i % m_chunks * m_rows;
    return {unit, (unit * m_positions + position) * m_width, std::min(m_rows, m_positions - position)};
  }
  std::int64_t momentCount() const { return m_units * m_chunks * m_width; }
  static std::size_t floats(std::int64_t count) { return wholeLines(static_cast<std::size_t>(count) * sizeof(float)); }
  float* ownRows(std::byte* rows) const {
    const std::size_t bytes = rowBytes(m_call.from, m_call.to, m_rows * m_width);
    return reinterpret_cast<float*>(rows + bytes * static_cast<std::size_t>(omp_get_thread_num()));
  }

  /// Calls `body(mean, squares, rows)` for each chunk of each channel of group `i`.
  template <class Body>
  void forMoments(std::int64_t i, const float* moments, const Body& body) const {
    const std::int64_t together = m_channels / m_call.groups;
    for (std::int64_t c = i * together; c < (i + 1) * together; ++c) {  // counted over all images
      const float* at = moments + c / m_width * m_chunks * m_width + c % m_width;
      for (std::int64_t k = 0; k < m_chunks; ++k)
        body(at[k * m_width], at[momentCount() + k * m_width], std::min(m_rows, m_positions - k * m_rows));
    }
  }

  /// Calculates mean, factor and offset of the channels of group `i`, where groups are counted over all images.
  void combineMoments(std::int64_t i, Memory memory, const float* moments, float* byChannel) const {
    const std::int64_t together = m_channels / m_call.groups, all = m_images * m_channels;
    const auto count = static_cast<double>(together * m_positions);
    double mean = 0, squares = 0;
    forMoments(i, moments, [&](float part, float, std::int64_t rows) { mean += part * static_cast<double>(rows); });
    mean /= count;
    forMoments(i, moments, [&](float part, float left, std::int64_t rows) {
      squares += left + (part - mean) * (part - mean) * static_cast<double>(rows);
    });
    const double inverse = 1 / std::sqrt(squares / count + static_cast<double>(m_call.epsilon));
    for (std::int64_t c = i * together; c < (i + 1) * together; ++c) {
      byChannel[c] = static_cast<float>(mean);
      byChannel[all + c] = static_cast<float>(inverse * weightOf(m_call.scale, memory, c % m_channels, 1));
      byChannel[2 * all + c] = weightOf(m_call.bias, memory, c % m_channels, 0);
    }
  }
  float weightOf(const std::optional<Ref>& weights, Memory memory, std::int64_t channel, float absent) const {
    if (!weights) return absent;
    return elementsAt<const float>(*weights, memory)[channel * weights->count() / m_channels];
  }

  GroupNormCall m_call;
  int m_threads = 1;
  std::int64_t m_images = 1, m_channels = 1, m_positions = 1, m_width = 1, m_units = 1, m_rows = 1, m_chunks = 1;
};

}  // namespace

bool hasInnerChannels(const Ref& ref) {
  if (ref.format.isPlain() || ref.dims.size() < 3 || ref.format.padded(ref.dims) != ref.dims || ref.count() == 0)
    return false;
  const std::int64_t block = ref.format.blockOf(1);
  return ref.format.isChannelsLast() ||
         (block > 1 && ref.format == MemoryFormat::blockedChannels(ref.dims.size(), block));
}

std::unique_ptr<Step> makeGroupNormStep(GroupNormCall call, int threads) {
  return std::make_unique<GroupNormStep>(std::move(call), threads);
}

}  // namespace fusescope::native
