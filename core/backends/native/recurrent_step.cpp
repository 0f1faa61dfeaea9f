#include "backends/native/recurrent_step.h"

#include <algorithm>

#include "backends/native/gemm.h"
#include "backends/native/recurrent_gates.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kParallelProduct = 256 * 1024;  // multiply-adds from which a product is worth several threads
constexpr std::int64_t kLine = 16;                     // floats of a cache line

std::int64_t padded(std::int64_t count) {
  return (count + kLine - 1) / kLine * kLine;
}

/// A constant matrix [k, n], packed once.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Column j is row j of `from`, whose rows are `k` long.
  PackedMatrix(const float* from, std::int64_t k, std::int64_t n)
      : m_k(k),
        m_n(n),
        m_panels((n + gemmPanel() - 1) / gemmPanel()),
        m_packed(static_cast<std::size_t>(packedCount(k, n))) {
    packPanels(from, 1, k, k, n, 0, m_panels, m_packed.data());
  }
  std::size_t bytes() const { return m_packed.size() * sizeof(float); }

  /// c [m, n] = a [m, k] · this (+ bias), rows of c `ldc` apart.
  void multiply(const float* a, std::int64_t m, float* c, std::int64_t ldc, const float* bias, int threads) const {
    const GemmTask whole{.a = a,
                         .lda = m_k,
                         .packed = m_packed.data(),
                         .c = c,
                         .ldc = ldc,
                         .bias = bias,
                         .m = m,
                         .n = m_n,
                         .k = m_k,
                         .firstPanel = 0,
                         .panels = m_panels};
    const int parts =
        m * m_n * m_k < kParallelProduct ? 1 : static_cast<int>(std::min<std::int64_t>(threads, m_panels));
    if (parts == 1) return runGemm(whole);
#pragma omp parallel for schedule(static) num_threads(parts)
    for (int part = 0; part < parts; ++part) {
      GemmTask task = whole;
      task.firstPanel = m_panels * part / parts;
      task.panels = m_panels * (part + 1) / parts - task.firstPanel;
      runGemm(task);
    }
  }

 private:
  std::int64_t m_k = 0, m_n = 0, m_panels = 0;
  std::vector<float> m_packed;
};

/// The weights of one direction.
struct Direction {
  PackedMatrix input, recurrent;
  PackedMatrix third;  ///< GRU that resets before the product: the product of its third gate, apart from the others
  std::vector<float> bias, lateBias;
};

class RecurrentStep final : public Step {
 public:
  RecurrentStep(RecurrentCall call, int threads)
      : m_call(std::move(call)), m_threads(threads), m_gates(m_call.isLstm ? 4 : 3) {
    for (std::size_t d = 0; d < m_call.fromEnd.size(); ++d)
      m_directions.push_back(directionOf(static_cast<std::int64_t>(d)));
    m_call.w = m_call.r = m_call.b = Tensor();
  }

  Status run(Memory memory, std::byte* scratch) override {
    auto* floats = reinterpret_cast<float*>(scratch);
    const auto count = static_cast<int>(m_directions.size());
    const int outer = std::min(count, m_threads);
    if (outer == 1) {
      for (int d = 0; d < count; ++d) runDirection(d, memory, floats + d * scratchFloats(), m_threads);
      return Done{};
    }
#pragma omp parallel for schedule(static) num_threads(outer)
    for (int d = 0; d < count; ++d) runDirection(d, memory, floats + d * scratchFloats(), 1);
    return Done{};
  }

  std::size_t scratchBytes() const override {
    return static_cast<std::size_t>(scratchFloats()) * m_directions.size() * sizeof(float);
  }

  std::size_t weightBytes() const override {
    std::size_t bytes = 0;
    for (const Direction& d : m_directions)
      bytes +=
          d.input.bytes() + d.recurrent.bytes() + d.third.bytes() + (d.bias.size() + d.lateBias.size()) * sizeof(float);
    return bytes;
  }

 private:
  std::int64_t width() const {
    return m_gates * m_call.hidden;
  }
  std::int64_t states() const {
    return m_call.batch * m_call.hidden;
  }
  bool resetsFirst() const {
    return !m_call.isLstm && !m_call.resetsProduct;
  }
  std::int64_t scratchFloats() const {
    return padded(m_call.time * m_call.batch * width()) + padded(m_call.batch * width()) + 3 * padded(states());
  }

  Direction directionOf(std::int64_t d) const {
    const std::int64_t hidden = m_call.hidden, features = m_call.features;
    const float* w = m_call.w.data<float>().data() + d * width() * features;
    const float* r = m_call.r.data<float>().data() + d * width() * hidden;
    Direction direction;
    direction.input = PackedMatrix(w, features, width());
    direction.recurrent = PackedMatrix(r, hidden, resetsFirst() ? 2 * hidden : width());
    if (resetsFirst()) direction.third = PackedMatrix(r + 2 * hidden * hidden, hidden, hidden);
    if (m_call.b.count() == 0) return direction;
    const float *wb = m_call.b.data<float>().data() + d * 2 * width(), *rb = wb + width();
    direction.bias.assign(wb, wb + width());
    const std::int64_t early = m_call.resetsProduct ? 2 * hidden : width();
    for (std::int64_t k = 0; k < early; ++k) direction.bias[static_cast<std::size_t>(k)] += rb[k];
    direction.lateBias.assign(rb + early, rb + width());
    return direction;
  }

  // Where a step of a sequence, and a state, lie in X, Y, Y_h and Y_c.
  std::int64_t row(std::int64_t t, std::int64_t b) const {
    return m_call.batchFirst ? b * m_call.time + t : t * m_call.batch + b;
  }
  std::int64_t stepAt(std::int64_t t, std::int64_t d, std::int64_t b) const {
    const auto directions = static_cast<std::int64_t>(m_directions.size());
    return (m_call.batchFirst ? (b * m_call.time + t) * directions + d : (t * directions + d) * m_call.batch + b) *
           m_call.hidden;
  }
  std::int64_t stateAt(std::int64_t d, std::int64_t b) const {
    const auto directions = static_cast<std::int64_t>(m_directions.size());
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

  void runDirection(std::int64_t d, Memory memory, float* scratch, int threads) const {
    const Direction& direction = m_directions[static_cast<std::size_t>(d)];
    const std::int64_t rows = m_call.time * m_call.batch, hidden = m_call.hidden;
    float* projected = scratch;
    float* recurrent = projected + padded(rows * width());
    float* state = recurrent + padded(m_call.batch * width());
    float* cell = state + padded(states());
    float* reset = cell + padded(states());
    if (rows > 0)
      direction.input.multiply(elementsAt<float>(m_call.x, memory), rows, projected, width(),
                               direction.bias.empty() ? nullptr : direction.bias.data(), threads);
    start(m_call.initialState, d, memory, state);
    if (m_call.isLstm) start(m_call.initialCell, d, memory, cell);
    float* all = m_call.all ? elementsAt<float>(*m_call.all, memory) : nullptr;
    for (std::int64_t s = 0; s < m_call.time; ++s) {
      const std::int64_t t = m_call.fromEnd[static_cast<std::size_t>(d)] ? m_call.time - 1 - s : s;
      const auto gates = [&](std::int64_t b) {
        return GateRow{.projected = projected + row(t, b) * width(),
                       .recurrent = recurrent + b * width(),
                       .lateBias = direction.lateBias.empty() ? nullptr : direction.lateBias.data(),
                       .state = state + b * hidden,
                       .cell = cell + b * hidden,
                       .reset = reset + b * hidden,
                       .hidden = hidden};
      };
      direction.recurrent.multiply(state, m_call.batch, recurrent, width(), nullptr, threads);
      if (resetsFirst()) {
        for (std::int64_t b = 0; b < m_call.batch; ++b) resetState(gates(b));
        direction.third.multiply(reset, m_call.batch, recurrent + 2 * hidden, width(), nullptr, threads);
      }
      for (std::int64_t b = 0; b < m_call.batch; ++b) {
        m_call.isLstm ? lstmGates(gates(b)) : gruGates(gates(b), m_call.resetsProduct);
        if (all != nullptr) std::copy_n(state + b * hidden, hidden, all + stepAt(t, d, b));
      }
    }
    deliver(state, d, memory, m_call.state);
    if (m_call.isLstm) deliver(cell, d, memory, m_call.cell);
  }

  RecurrentCall m_call;
  int m_threads;
  std::int64_t m_gates;
  std::vector<Direction> m_directions;
};

}  // namespace

std::unique_ptr<Step> makeRecurrentStep(RecurrentCall call, int threads) {
  return std::make_unique<RecurrentStep>(std::move(call), threads);
}

}  // namespace fusescope::native
