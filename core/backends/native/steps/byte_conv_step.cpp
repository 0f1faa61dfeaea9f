// A convolution of bytes is calculated as matrix products: the filters [channels, inputs · kernel] times the columns of
// the image, one for each place of the result.
//   1. The image is copied with its padding. Columns whose distance is a multiple of the stride are put next to each
//      other, so that the elements which one tap of the filter reads for a row of places are contiguous.
//   2. Columns are packed in panels of places, four taps at a time.
//   3. The filters are multiplied by the panels.
#include "backends/native/steps/byte_conv_step.h"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "backends/native/kernels/byte_matrix.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/steps/byte_product_step.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kOverread = 16;       // bytes that interleaveBytes() may read beyond the end of a row
constexpr std::int64_t kFewestFilters = 24;  // the least number of filters for which a separate part is worth its cost

/// The copied image of one channel: each row consists of `strideX` phases of `phase` bytes.
struct Canvas {
  std::int64_t rows = 0, strideX = 1, phase = 0;
  std::int64_t pitch() const { return strideX * phase; }
  std::int64_t bytes() const { return rows * pitch(); }
  /// Returns the position of the padded column x in a row.
  std::int64_t column(std::int64_t x) const { return x % strideX * phase + x / strideX; }
};

/// Filters as rows of byteDepth(taps) codes. In memory they follow the sums and the zero points of all rows.
struct PackedFilters {
  std::int32_t *sums = nullptr, *zeros = nullptr;
  std::int8_t* rows = nullptr;
  static std::size_t headBytes(std::int64_t count) { return static_cast<std::size_t>(wholeLines(2 * count * 4)); }
  static PackedFilters at(std::byte* memory, std::int64_t count) {
    auto* sums = reinterpret_cast<std::int32_t*>(memory);
    return {sums, sums + count, reinterpret_cast<std::int8_t*>(memory + headBytes(count))};
  }
};

class ByteConvStep final : public Step {
 public:
  ByteConvStep(ByteConvCall call, int threads) : m_call(std::move(call)), m_threads(threads) {
    const Dims &x = m_call.x.dims, &y = m_call.sums.dims, &filters = m_call.filterDims;
    const Window& window = m_call.window;
    m_inputs = filters[1];
    m_filters = filters[0] / m_call.groups;
    m_places = y[2] * y[3];
    m_taps = m_inputs * filters[2] * filters[3];
    m_canvas.rows = x[2] + window.padBegin[0] + std::max<std::int64_t>(0, window.padEnd[0]);
    m_canvas.strideX = window.strides[1];
    const std::int64_t width = x[3] + window.padBegin[1] + std::max<std::int64_t>(0, window.padEnd[1]);
    m_canvas.phase = (width + m_canvas.strideX - 1) / m_canvas.strideX;
    takeTaps(filters);
    m_ones.assign(static_cast<std::size_t>(m_taps), 1);
    m_ones.resize(static_cast<std::size_t>(byteDepth(m_taps)), 0);
    share();
  }

  std::size_t scratchBytes() const override {
    return static_cast<std::size_t>(canvasBytes() + wholeLines(m_panels * bytePanel() * byteDepth(m_taps)) +
                                    2 * wholeLines(m_panels * bytePanel() * 4));
  }

  Status run(Memory memory, std::byte* scratch) const override {
    std::byte* const filters = memory[static_cast<std::size_t>(m_call.filters)];
    Work work{.filters = PackedFilters::at(filters, m_call.filterDims[0]),
              .canvas = reinterpret_cast<std::uint8_t*>(scratch)};
    work.packed = work.canvas + canvasBytes();
    work.columnSums =
        reinterpret_cast<std::int32_t*>(work.packed + wholeLines(m_panels * bytePanel() * byteDepth(m_taps)));
    work.columnZeros = work.columnSums + wholeLines(m_panels * bytePanel() * 4) / 4;
    const DataType type = m_call.x.dtype;
    const std::int32_t zero = m_call.xZero ? byteAt(*m_call.xZero, memory) : 0;
    work.border = static_cast<std::uint8_t>(static_cast<std::uint8_t>(zero) ^ signFlipOfB(type));
    std::fill_n(work.columnZeros, m_panels * bytePanel(), zeroOfB(zero, type));
    const std::int64_t groups = m_call.x.dims[0] * m_call.groups;
    for (std::int64_t at = 0; at < groups; ++at) {
      work.image = elementsAt<std::uint8_t>(m_call.x, memory) + at * m_inputs * m_call.x.dims[2] * m_call.x.dims[3];
      work.sums = elementsAt<std::int32_t>(m_call.sums, memory) + at * m_filters * m_places;
      work.group = at % m_call.groups;
      runGroup(work);
    }
    return Done{};
  }

 private:
  struct Work {
    PackedFilters filters;
    std::uint8_t *canvas = nullptr, *packed = nullptr;
    std::int32_t *columnSums = nullptr, *columnZeros = nullptr;
    std::uint8_t border = 0;
    const std::uint8_t* image = nullptr;
    std::int32_t* sums = nullptr;
    std::int64_t group = 0;
  };
  struct Part {
    std::int64_t panel, firstFilter, filters;
  };

  std::int64_t canvasBytes() const { return wholeLines(m_inputs * m_canvas.bytes() + kOverread); }

  void takeTaps(const Dims& filters) {
    const Window& window = m_call.window;
    for (std::int64_t c = 0; c < m_inputs; ++c)
      for (std::int64_t y = 0; y < filters[2]; ++y)
        for (std::int64_t x = 0; x < filters[3]; ++x)
          m_tapAt.push_back(c * m_canvas.bytes() + y * window.dilations[0] * m_canvas.pitch() +
                            m_canvas.column(x * window.dilations[1]));
    // The filters are zero for the taps that only fill up the last four.
    m_tapAt.resize(static_cast<std::size_t>(byteDepth(m_taps)), 0);
  }

  /// Divides the work into panels. If there are few panels, the filters are divided as well, so that all threads have
  /// work.
  void share() {
    m_panels = bytePanels(m_places);
    if (m_filters * m_taps * m_places < 64 * 1024) m_threads = 1;
    const std::int64_t wanted = m_threads == 1 ? 1 : (4 * m_threads + m_panels - 1) / m_panels;
    const std::int64_t parts =
        std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, m_filters / kFewestFilters));
    for (std::int64_t panel = 0; panel < m_panels; ++panel)
      for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t first = m_filters * part / parts;
        m_parts.push_back({panel, first, m_filters * (part + 1) / parts - first});
      }
  }

  void runGroup(const Work& work) const {
    Claims inputs(m_inputs, m_threads), panels(m_panels, m_threads), parts(std::ssize(m_parts), m_threads);
#pragma omp parallel num_threads(m_threads) if (m_threads > 1)
    {
      const int me = omp_get_thread_num();
      takeEach(inputs, me, [&](std::int64_t c) { layOut(work, c); });
#pragma omp barrier
      takeEach(panels, me, [&](std::int64_t panel) { pack(work, panel); });
#pragma omp barrier
      takeEach(parts, me, [&](std::int64_t part) { multiply(work, m_parts[static_cast<std::size_t>(part)]); });
    }
  }

  void layOut(const Work& work, std::int64_t c) const {
    const std::int64_t height = m_call.x.dims[2], width = m_call.x.dims[3], stride = m_canvas.strideX;
    const std::int64_t top = m_call.window.padBegin[0], left = m_call.window.padBegin[1];
    const std::uint8_t turn = signFlipOfB(m_call.x.dtype);
    const std::uint8_t* from = work.image + c * height * width;
    std::uint8_t* to = work.canvas + c * m_canvas.bytes();
    if (m_canvas.bytes() > height * width) std::memset(to, work.border, static_cast<std::size_t>(m_canvas.bytes()));
    for (std::int64_t y = 0; y < height; ++y) {
      const std::uint8_t* line = from + y * width;
      std::uint8_t* row = to + (y + top) * m_canvas.pitch();
      if (stride == 1 && turn == 0) {
        std::memcpy(row + left, line, static_cast<std::size_t>(width));
        continue;
      }
      for (std::int64_t first = 0; first < std::min(stride, width); ++first) {
        std::uint8_t* at = row + m_canvas.column(first + left);
        for (std::int64_t x = first; x < width; x += stride) *at++ = line[x] ^ turn;
      }
    }
  }

  void pack(const Work& work, std::int64_t panel) const {
    const std::int64_t wide = bytePanel(), first = panel * wide, end = std::min(m_places, first + wide);
    const std::int64_t across = m_call.sums.dims[3], down = m_call.window.strides[0] * m_canvas.pitch();
    std::uint8_t* to = work.packed + first * byteDepth(m_taps);
    for (std::size_t tap = 0; tap < m_tapAt.size(); tap += 4, to += 4 * wide) {
      for (std::int64_t place = first; place < end;) {
        const std::int64_t x = place % across, run = std::min(across - x, end - place);
        const std::uint8_t* base = work.canvas + place / across * down + x;
        const std::uint8_t* const rows[4] = {base + m_tapAt[tap], base + m_tapAt[tap + 1], base + m_tapAt[tap + 2],
                                             base + m_tapAt[tap + 3]};
        interleaveBytes(rows, run, first + wide - place, to + 4 * (place - first));
        place += run;
      }
    }
    if (!m_call.filterZerosAreZero) sumColumns(work, panel);
  }

  /// Sums the columns over the real taps, without those that only fill up the last four.
  void sumColumns(const Work& work, std::int64_t panel) const {
    runByteGemm({.a = m_ones.data(),
                 .packed = work.packed + panel * bytePanel() * byteDepth(m_taps),
                 .c = work.columnSums + panel * bytePanel(),
                 .ldc = bytePanel(),
                 .m = 1,
                 .n = bytePanel(),
                 .k = m_taps,
                 .panels = 1});
  }

  void multiply(const Work& work, const Part& part) const {
    const std::int64_t first = part.panel * bytePanel(), row = work.group * m_filters + part.firstFilter;
    runByteGemm({.a = work.filters.rows + row * byteDepth(m_taps),
                 .packed = work.packed + first * byteDepth(m_taps),
                 .c = work.sums + part.firstFilter * m_places + first,
                 .ldc = m_places,
                 .m = part.filters,
                 .n = std::min(bytePanel(), m_places - first),
                 .k = m_taps,
                 .panels = 1,
                 .rowZeros = m_call.filterZerosAreZero ? nullptr : work.filters.zeros + row,
                 .rowSums = work.filters.sums + row,
                 .columnZeros = work.columnZeros + first,
                 .columnSums = work.columnSums + first});
  }

  ByteConvCall m_call;
  int m_threads;
  std::int64_t m_inputs = 0, m_filters = 0, m_taps = 0;  ///< the numbers of one group
  std::int64_t m_places = 0, m_panels = 0;
  Canvas m_canvas;
  std::vector<std::int64_t> m_tapAt;  ///< for each tap, the position that it reads for the first place
  std::vector<std::int8_t> m_ones;
  std::vector<Part> m_parts;
};

}  // namespace

Packing byteFilterPacking(Weight filters, std::optional<Weight> zeros) {
  std::vector<Weight> weights = {std::move(filters)};
  if (zeros) weights.push_back(std::move(*zeros));
  return packingOf("byte filters", std::move(weights), [](std::span<const Tensor> numbers) -> Result<Tensor> {
    const DataType type = numbers[0].type();
    const std::int64_t count = numbers[0].dims()[0], taps = productOf(numbers[0].dims(), 1), depth = byteDepth(taps);
    Tensor packed = packedMemory(PackedFilters::headBytes(count) + static_cast<std::size_t>(count * depth));
    const PackedFilters into = PackedFilters::at(packed.mutableBytes(), count);
    const auto* codes = reinterpret_cast<const std::uint8_t*>(numbers[0].bytes());
    for (std::int64_t f = 0; f < count; ++f) {
      into.sums[f] = packByteRow(codes + f * taps, taps, signFlipOfA(type), into.rows + f * depth);
      const double zero = numbers.size() < 2 ? 0 : numbers[1].asDouble(numbers[1].count() == 1 ? 0 : f);
      into.zeros[f] = zeroOfA(static_cast<std::int32_t>(zero), type);
    }
    return packed;
  });
}

std::unique_ptr<Step> makeByteConvStep(ByteConvCall call, int threads) {
  return std::make_unique<ByteConvStep>(std::move(call), threads);
}

}  // namespace fusescope::native
