#include "backends/native/steps/pool_step.h"

#include <omp.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/kernels/pool_rows.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

class PoolStep final : public Step {
 public:
  PoolStep(PoolCall call, int threads) : m_call(std::move(call)), m_threads(threads) {
    m_last = m_call.in.size() - 1;
    m_kernel = productOf(m_call.window.kernel, 0);
    const Window& window = m_call.window;
    m_phases = window.strides[m_last];
    m_phase = m_call.out[m_last] + (window.dilations[m_last] * (window.kernel[m_last] - 1)) / m_phases + 1;
    if (m_call.to.count() <= kFewElements) m_threads = 1;
  }

  std::size_t scratchBytes() const override { return threadBytes() * static_cast<std::size_t>(m_threads); }

  Status run(Memory memory, std::byte* scratch) const override {
    const std::int64_t lines = productOf(m_call.out, 0, m_last);
    forEach(m_call.outer * lines, m_threads, [&](std::int64_t i) {
      std::byte* mine = scratch + threadBytes() * static_cast<std::size_t>(omp_get_thread_num());
      Line line{.from = i / lines * productOf(m_call.in, 0) * m_call.inner,
                .to = i * m_call.out[m_last] * m_call.inner,
                .rows = reinterpret_cast<std::int64_t*>(mine)};
      findRows(i % lines, line);
      std::byte* rest = mine + rowsBytes();
      if (m_call.inner == 1) {
        runLine(line, memory, reinterpret_cast<float*>(rest));
      } else {
        runPlaces(line, memory, reinterpret_cast<std::int64_t*>(rest));
      }
    });
    return Done{};
  }

 private:
  /// A line of results along the last spatial axis, and the lines of the input that its windows read.
  struct Line {
    std::int64_t from, to;  ///< elements of the input before the line's image; elements of the result before the line
    std::int64_t* rows;     ///< for each line of the input, the elements of the image before it
    std::int64_t count = 0;
  };

  std::size_t rowsBytes() const { return wholeLines(static_cast<std::size_t>(m_kernel) * sizeof(std::int64_t)); }
  std::size_t phaseBytes() const { return wholeLines(static_cast<std::size_t>(m_phases * m_phase) * sizeof(float)); }
  std::size_t threadBytes() const {
    if (m_call.inner > 1) return 2 * rowsBytes();
    const auto floats = [](std::int64_t count) { return wholeLines(static_cast<std::size_t>(count) * sizeof(float)); };
    return rowsBytes() + phaseBytes() + floats(m_call.in[m_last]) + floats(m_call.out[m_last]);
  }

  /// The places of a window along `axis` that lie inside the input. `at` is the index of the window's result.
  struct Places {
    std::int64_t first, step, count;
  };
  Places placesOf(std::size_t axis, std::int64_t at) const {
    const Window& window = m_call.window;
    const std::int64_t begin = at * window.strides[axis] - window.padBegin[axis], step = window.dilations[axis];
    const std::int64_t skipped = begin < 0 ? (-begin + step - 1) / step : 0;
    const std::int64_t end = m_call.in[axis] - begin;  // places before it are inside the input
    const std::int64_t fitting = end <= 0 ? 0 : std::min(window.kernel[axis], (end + step - 1) / step);
    return {begin + skipped * step, step, std::max<std::int64_t>(0, fitting - skipped)};
  }

  void findRows(std::int64_t index, Line& line) const {
    line.rows[0] = 0;
    line.count = 1;
    std::int64_t stride = m_call.in[m_last] * m_call.inner;
    for (std::size_t axis = m_last; axis-- > 0;) {
      const Places places = placesOf(axis, index % m_call.out[axis]);
      for (std::int64_t k = places.count; k-- > 0;)  // backwards, because the places in front have not been read yet
        for (std::int64_t i = 0; i < line.count; ++i)
          line.rows[k * line.count + i] = line.rows[i] + (places.first + k * places.step) * stride;
      line.count *= places.count;
      stride *= m_call.in[axis];
      index /= m_call.out[axis];
    }
  }

  float factorOf(std::int64_t taken) const {
    return 1.0f / static_cast<float>(m_call.countsPadding ? m_kernel : taken);
  }

  void runPlaces(const Line& line, Memory memory, std::int64_t* places) const {
    const std::int64_t inner = m_call.inner;
    for (std::int64_t x = 0; x < m_call.out[m_last]; ++x) {
      const Places along = placesOf(m_last, x);
      std::size_t count = 0;
      for (std::int64_t row = 0; row < line.count; ++row)
        for (std::int64_t k = 0; k < along.count; ++k)
          places[count++] = line.rows[row] + (along.first + k * along.step) * inner;
      poolPlaces(
          floatsAt(m_call.from, memory, line.from), floatsAt(m_call.to, memory, line.to + x * inner), inner,
          {.places = {places, count}, .average = m_call.average, .factor = factorOf(static_cast<std::int64_t>(count))});
    }
  }

  // Each line of the input is sorted by the places' remainders modulo the stride, with padding added: what one tap
  // reads for successive windows is then contiguous.
  void runLine(const Line& line, Memory memory, float* phases) const {
    const Window& window = m_call.window;
    const std::int64_t in = m_call.in[m_last], out = m_call.out[m_last];
    float* wide = phases + phaseBytes() / sizeof(float);
    float* own = wide + wholeLines(static_cast<std::size_t>(in) * sizeof(float)) / sizeof(float);
    float* result = placeFloats(m_call.to, memory, line.to, own);
    const float neutral = m_call.average ? 0.0f : -std::numeric_limits<float>::infinity();
    std::fill_n(result, out, neutral);
    std::fill_n(phases, m_phases * m_phase, neutral);
    for (std::int64_t row = 0; row < line.count; ++row) {
      const float* from = readFloats(m_call.from, memory, line.from + line.rows[row], in, wide);
      for (std::int64_t i = 0, at = window.padBegin[m_last]; i < in; ++i, ++at)
        if (at / m_phases < m_phase) phases[at % m_phases * m_phase + at / m_phases] = from[i];
      for (std::int64_t k = 0; k < window.kernel[m_last]; ++k) {
        const std::int64_t at = k * window.dilations[m_last];
        poolRow(phases + at % m_phases * m_phase + at / m_phases, out, m_call.average, result);
      }
    }
    for (std::int64_t x = 0; m_call.average && x < out; ++x)
      result[x] *= factorOf(line.count * placesOf(m_last, x).count);
    storeFloats(m_call.to, memory, line.to, out, result);
  }

  PoolCall m_call;
  int m_threads;
  std::size_t m_last = 0;  ///< the last spatial axis
  // Places of a window; the number of phases, and the elements of a phase.
  std::int64_t m_kernel = 1, m_phases = 1, m_phase = 0;
};

}  // namespace

std::unique_ptr<Step> makePoolStep(PoolCall call, int threads) {
  return std::make_unique<PoolStep>(std::move(call), threads);
}

}  // namespace fusescope::native
