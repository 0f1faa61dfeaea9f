#include "backends/native/steps/recurrent_step.h"

#include <algorithm>
#include <cstring>

#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/parallel.h"
#include "backends/native/kernels/recurrent_gates.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

/// Returns the address of the numbers, or null if there are none.
const float* floatsOf(const std::optional<Ref>& numbers, Memory memory) {
  return numbers ? elementsAt<float>(*numbers, memory) : nullptr;
}

/// Rows of narrow floats that are widened and multiplied together.
constexpr std::int64_t kProjectedRows = 96;

class RecurrentStep final : public Step {
 public:
  RecurrentStep(RecurrentCall call, int threads)
      : m_call(std::move(call)), m_threads(threads), m_gates(m_call.isLstm ? 4 : 3) {
    for (const RecurrentDirection& d : m_call.directions)
      for (const auto& [product, rows] :
           {std::pair(d.input.get(), m_call.time * m_call.batch), std::pair(d.recurrent.get(), m_call.batch),
            std::pair(d.third.get(), m_call.batch)})
        if (product != nullptr) m_productScratch = std::max(m_productScratch, wholeLines(product->scratchBytes(rows)));
  }

  Status run(Memory memory, std::byte* scratch) const override {
    TRY(checkLengths(memory));
    const auto count = static_cast<int>(m_call.directions.size());
    const int outer = std::min(count, m_threads);
    if (outer == 1) {
      for (int d = 0; d < count; ++d) runDirection(d, memory, scratch + d * directionBytes(), m_threads);
      return Done{};
    }
    forEach(count, outer, [&](std::int64_t d) {
      runDirection(static_cast<int>(d), memory, scratch + static_cast<std::size_t>(d) * directionBytes(), 1);
    });
    return Done{};
  }

  std::size_t scratchBytes() const override { return directionBytes() * m_call.directions.size(); }

 private:
  std::int64_t width() const { return m_gates * m_call.hidden; }
  std::int64_t states() const { return m_call.batch * m_call.hidden; }
  static std::size_t floats(std::int64_t count) { return wholeLines(static_cast<std::size_t>(count) * sizeof(float)); }
  std::size_t directionBytes() const {
    return floats(m_call.time * m_call.batch * width()) + floats(m_call.batch * width()) + 3 * floats(states()) +
           floats(wideCount()) + m_productScratch;
  }
  std::int64_t features() const { return m_call.x.dims.back(); }
  std::int64_t wideCount() const { return isNarrow(m_call.x.dtype) ? kProjectedRows * features() : 0; }

  Status checkLengths(Memory memory) const {
    for (std::int64_t b = 0; m_call.lengths && b < m_call.batch; ++b) {
      const std::int64_t length = lengthOf(b, memory);
      if (length < 0 || length > m_call.time)
        return Diagnostic{.message = "sequence_lens contains " + std::to_string(length) + ", but the sequences have " +
                                     std::to_string(m_call.time) + " steps"};
    }
    return Done{};
  }
  std::int64_t lengthOf(std::int64_t b, Memory memory) const {
    return m_call.lengths ? elementsAt<std::int32_t>(*m_call.lengths, memory)[b] : m_call.time;
  }

  // These return the offsets of a time step in X and Y, and of a state in Y_h and Y_c.
  std::int64_t row(std::int64_t t, std::int64_t b) const {
    return m_call.batchFirst ? b * m_call.time + t : t * m_call.batch + b;
  }
  std::int64_t stepAt(std::int64_t t, std::int64_t d, std::int64_t b) const {
    const auto directions = static_cast<std::int64_t>(m_call.directions.size());
    return (m_call.batchFirst ? (b * m_call.time + t) * directions + d : (t * directions + d) * m_call.batch + b) *
           m_call.hidden;
  }
  std::int64_t stateAt(std::int64_t d, std::int64_t b) const {
    const auto directions = static_cast<std::int64_t>(m_call.directions.size());
    return (m_call.batchFirst ? b * directions + d : d * m_call.batch + b) * m_call.hidden;
  }

  void start(const std::optional<Ref>& from, std::int64_t d, Memory memory, float* to) const {
    if (!from) {
      std::fill_n(to, states(), 0.0f);
      return;
    }
    for (std::int64_t b = 0; b < m_call.batch; ++b)
      toFloats(floatsAt(*from, memory, stateAt(d, b)), to + b * m_call.hidden, static_cast<std::size_t>(m_call.hidden));
  }

  void deliver(const float* from, std::int64_t d, Memory memory, const std::optional<Ref>& to) const {
    if (!to) return;
    for (std::int64_t b = 0; b < m_call.batch; ++b)
      fromFloats(from + b * m_call.hidden, floatsAt(*to, memory, stateAt(d, b)),
                 static_cast<std::size_t>(m_call.hidden));
  }

  /// The memory in which one direction works.
  struct Work {
    float *projected, *recurrent, *state, *cell, *reset, *wide;
    std::byte* product;
  };
  Work workAt(std::byte* scratch) const {
    const auto take = [&](std::int64_t count) {
      auto* taken = reinterpret_cast<float*>(scratch);
      scratch += floats(count);
      return taken;
    };
    Work work{};
    work.projected = take(m_call.time * m_call.batch * width());
    work.recurrent = take(m_call.batch * width());
    work.state = take(states());
    work.cell = take(states());
    work.reset = take(states());
    work.wide = take(wideCount());
    work.product = scratch;
    return work;
  }

  void runDirection(std::int64_t d, Memory memory, std::byte* scratch, int threads) const {
    const RecurrentDirection& direction = m_call.directions[static_cast<std::size_t>(d)];
    const Work work = workAt(scratch);
    const std::int64_t rows = m_call.time * m_call.batch, together = isNarrow(m_call.x.dtype) ? kProjectedRows : rows;
    for (std::int64_t row = 0; row < rows; row += together) {
      const std::int64_t count = std::min(together, rows - row);
      direction.input->multiply(readFloats(m_call.x, memory, row * features(), count * features(), work.wide), count,
                                work.projected + row * width(), width(), floatsOf(direction.bias, memory), threads,
                                memory, work.product);
    }
    start(m_call.initialState, d, memory, work.state);
    if (m_call.isLstm) start(m_call.initialCell, d, memory, work.cell);
    if (m_call.all && m_call.lengths) clear(d, memory);
    for (std::int64_t s = 0; s < m_call.time; ++s) takeStep(s, d, work, memory, threads);
    deliver(work.state, d, memory, m_call.state);
    if (m_call.isLstm) deliver(work.cell, d, memory, m_call.cell);
  }

  /// Sets Y to zero behind the end of each sequence.
  void clear(std::int64_t d, Memory memory) const {
    for (std::int64_t b = 0; b < m_call.batch; ++b)
      for (std::int64_t t = lengthOf(b, memory); t < m_call.time; ++t)
        std::memset(floatsAt(*m_call.all, memory, stepAt(t, d, b)).at, 0, byteSize(m_call.all->dtype, m_call.hidden));
  }

  void takeStep(std::int64_t s, std::int64_t d, const Work& work, Memory memory, int threads) const {
    const RecurrentDirection& direction = m_call.directions[static_cast<std::size_t>(d)];
    const std::int64_t hidden = m_call.hidden;
    const auto place = [&](std::int64_t b) { return direction.fromEnd ? lengthOf(b, memory) - 1 - s : s; };
    const auto gates = [&](std::int64_t b) {
      return GateRow{.projected = work.projected + row(place(b), b) * width(),
                     .recurrent = work.recurrent + b * width(),
                     .lateBias = floatsOf(direction.lateBias, memory),
                     .peepholes = floatsOf(direction.peepholes, memory),
                     .state = work.state + b * hidden,
                     .cell = work.cell + b * hidden,
                     .reset = work.reset + b * hidden,
                     .hidden = hidden};
    };
    const auto goesOn = [&](std::int64_t b) { return s < lengthOf(b, memory); };
    direction.recurrent->multiply(work.state, m_call.batch, work.recurrent, width(), nullptr, threads, memory,
                                  work.product);
    if (direction.third != nullptr) {
      for (std::int64_t b = 0; b < m_call.batch; ++b)
        if (goesOn(b)) resetState(gates(b));
      direction.third->multiply(work.reset, m_call.batch, work.recurrent + 2 * hidden, width(), nullptr, threads,
                                memory, work.product);
    }
    for (std::int64_t b = 0; b < m_call.batch; ++b) {
      if (!goesOn(b)) continue;
      m_call.isLstm ? lstmGates(gates(b)) : gruGates(gates(b), m_call.resetsProduct);
      if (m_call.all)
        fromFloats(work.state + b * hidden, floatsAt(*m_call.all, memory, stepAt(place(b), d, b)),
                   static_cast<std::size_t>(hidden));
    }
  }

  RecurrentCall m_call;
  int m_threads;
  std::int64_t m_gates;
  std::size_t m_productScratch = 0;
};

}  // namespace

std::unique_ptr<Step> makeRecurrentStep(RecurrentCall call, int threads) {
  return std::make_unique<RecurrentStep>(std::move(call), threads);
}

}  // namespace fusescope::native
