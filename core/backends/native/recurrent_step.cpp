#include "backends/native/recurrent_step.h"

#include <algorithm>

#include "backends/native/recurrent_gates.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

/// Where the numbers are; null if there are none.
const float* floatsOf(const std::optional<Ref>& numbers, Memory memory) {
  return numbers ? elementsAt<float>(*numbers, memory) : nullptr;
}

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
#pragma omp parallel for schedule(static) num_threads(outer)
    for (int d = 0; d < count; ++d) runDirection(d, memory, scratch + d * directionBytes(), 1);
    return Done{};
  }

  std::size_t scratchBytes() const override {
    return directionBytes() * m_call.directions.size();
  }

 private:
  std::int64_t width() const {
    return m_gates * m_call.hidden;
  }
  std::int64_t states() const {
    return m_call.batch * m_call.hidden;
  }
  static std::size_t floats(std::int64_t count) {
    return wholeLines(static_cast<std::size_t>(count) * sizeof(float));
  }
  std::size_t directionBytes() const {
    return floats(m_call.time * m_call.batch * width()) + floats(m_call.batch * width()) + 3 * floats(states()) +
           m_productScratch;
  }

  Status checkLengths(Memory memory) const {
    for (std::int64_t b = 0; m_call.lengths && b < m_call.batch; ++b) {
      const std::int64_t length = lengthOf(b, memory);
      if (length < 0 || length > m_call.time)
        return Diagnostic{.message = "sequence_lens holds " + std::to_string(length) + ", but the sequences have " +
                                     std::to_string(m_call.time) + " steps"};
    }
    return Done{};
  }
  std::int64_t lengthOf(std::int64_t b, Memory memory) const {
    return m_call.lengths ? elementsAt<std::int32_t>(*m_call.lengths, memory)[b] : m_call.time;
  }

  // Where a step of a sequence, and a state, lie in X, Y, Y_h and Y_c.
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
    const float* given = elementsAt<float>(*from, memory);
    for (std::int64_t b = 0; b < m_call.batch; ++b)
      std::copy_n(given + stateAt(d, b), m_call.hidden, to + b * m_call.hidden);
  }

  void deliver(const float* from, std::int64_t d, Memory memory, const std::optional<Ref>& to) const {
    if (!to) return;
    float* target = elementsAt<float>(*to, memory);
    for (std::int64_t b = 0; b < m_call.batch; ++b)
      std::copy_n(from + b * m_call.hidden, m_call.hidden, target + stateAt(d, b));
  }

  /// What one direction works on.
  struct Work {
    float *projected, *recurrent, *state, *cell, *reset;
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
    work.product = scratch;
    return work;
  }

  void runDirection(std::int64_t d, Memory memory, std::byte* scratch, int threads) const {
    const RecurrentDirection& direction = m_call.directions[static_cast<std::size_t>(d)];
    const Work work = workAt(scratch);
    const std::int64_t rows = m_call.time * m_call.batch;
    if (rows > 0)
      direction.input->multiply(elementsAt<float>(m_call.x, memory), rows, work.projected, width(),
                                floatsOf(direction.bias, memory), threads, memory, work.product);
    start(m_call.initialState, d, memory, work.state);
    if (m_call.isLstm) start(m_call.initialCell, d, memory, work.cell);
    if (m_call.all && m_call.lengths) clear(d, memory);
    for (std::int64_t s = 0; s < m_call.time; ++s) takeStep(s, d, work, memory, threads);
    deliver(work.state, d, memory, m_call.state);
    if (m_call.isLstm) deliver(work.cell, d, memory, m_call.cell);
  }

  /// Y is zero behind the end of a sequence.
  void clear(std::int64_t d, Memory memory) const {
    float* all = elementsAt<float>(*m_call.all, memory);
    for (std::int64_t b = 0; b < m_call.batch; ++b)
      for (std::int64_t t = lengthOf(b, memory); t < m_call.time; ++t)
        std::fill_n(all + stepAt(t, d, b), m_call.hidden, 0.0f);
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
    float* all = m_call.all ? elementsAt<float>(*m_call.all, memory) : nullptr;
    for (std::int64_t b = 0; b < m_call.batch; ++b) {
      if (!goesOn(b)) continue;
      m_call.isLstm ? lstmGates(gates(b)) : gruGates(gates(b), m_call.resetsProduct);
      if (all != nullptr) std::copy_n(work.state + b * hidden, hidden, all + stepAt(place(b), d, b));
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
