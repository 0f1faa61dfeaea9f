#include "backends/native/steps/gemm_step.h"

#include <omp.h>

#include <algorithm>

#include "backends/native/kernels/code_panels.h"
#include "backends/native/kernels/float_rows.h"
#include "backends/native/kernels/gemm.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

/// Rows that are multiplied together if they have to be widened first.
constexpr std::int64_t kWideRows = 96;
/// Rows of a panel of codes that are widened at a time: they stay in the first cache.
constexpr std::int64_t kWidenedRows = 256;
/// With up to this many rows of a, codes are not widened before they are multiplied.
constexpr std::int64_t kRowsInRegisters = 4;

/// Multiplies one matrix a [m, k] by constant weights with our own kernel. Any of the matrices may contain narrow
/// floats.
class GemmStep final : public Step {
 public:
  GemmStep(Ref a, std::int64_t m, std::int64_t k, std::vector<GemmTarget> targets, int threads)
      : m_a(std::move(a)), m_m(m), m_k(k), m_targets(std::move(targets)), m_threads(threads) {
    std::int64_t columns = 0;
    for (const GemmTarget& target : m_targets) columns += target.n;
    m_work = m_m * m_k * columns;
    if (m_work <= 64 * 1024) m_threads = 1;
    m_isWidened = isNarrow(m_a.dtype);
    for (const GemmTarget& target : m_targets) {
      m_isRounded = m_isRounded || isNarrow(target.c.dtype);
      m_hasCodes = m_hasCodes || target.codes.has_value();
    }
    m_rows = m_isWidened || m_isRounded ? std::min(m_m, kWideRows) : m_m;
    for (std::int64_t row = 0; row < m_m; row += m_rows)
      for (std::size_t i = 0; i < m_targets.size(); ++i) share(i, row, columns);
  }

  std::size_t scratchBytes() const override { return ownBytes() * static_cast<std::size_t>(m_threads); }

  Status run(Memory memory, std::byte* scratch) const override {
    if (m_threads == 1) {
      runAll(memory, scratch);
    } else {
#pragma omp parallel num_threads(m_threads)
      runAll(memory, scratch + ownBytes() * static_cast<std::size_t>(omp_get_thread_num()));
    }
    return Done{};
  }

 private:
  struct Part {
    std::size_t target;
    std::int64_t row, firstPanel, panels;
  };

  // Divides the panels into groups, so that a thread keeps its part of B and reads all rows.
  void share(std::size_t index, std::int64_t row, std::int64_t columns) {
    const std::int64_t panels = (m_targets[index].n + gemmPanel() - 1) / gemmPanel();
    const std::int64_t wanted =
        std::max<std::int64_t>(1, m_threads * 4 * m_targets[index].n / std::max<std::int64_t>(1, columns));
    const std::int64_t parts = std::min(panels, wanted);
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = panels * part / parts;
      m_parts.push_back({index, row, begin, panels * (part + 1) / parts - begin});
      m_mostPanels = std::max(m_mostPanels, m_parts.back().panels);
    }
  }

  std::size_t sourceBytes() const {
    return m_isWidened ? wholeLines(static_cast<std::size_t>(m_rows * m_k) * sizeof(float)) : 0;
  }
  std::size_t resultBytes() const {
    return m_isRounded ? wholeLines(static_cast<std::size_t>(m_rows * m_mostPanels * gemmPanel()) * sizeof(float)) : 0;
  }

  static std::size_t widenedBytes() {
    return wholeLines(static_cast<std::size_t>(kWidenedRows * gemmPanel()) * sizeof(float));
  }
  /// Returns the size of one thread's memory: rows of `a`, then results, then a piece of a panel of codes.
  std::size_t ownBytes() const {
    return sourceBytes() + resultBytes() + (m_hasCodes ? widenedBytes() : 0);
  }

  /// Is called by each thread of the team. `mine` is the thread's memory for widened rows and for results.
  void runAll(Memory memory, std::byte* mine) const {
    std::int64_t widenedRow = -1;  // the first of the rows that this thread widened last
#pragma omp for schedule(dynamic)
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
      const Part& part = m_parts[i];
      const std::int64_t count = std::min(m_rows, m_m - part.row);
      auto* own = reinterpret_cast<float*>(mine);
      const float* a = own;
      if (!m_isWidened || widenedRow != part.row) a = readFloats(m_a, memory, part.row * m_k, count * m_k, own);
      widenedRow = part.row;
      multiply(part, count, a, memory, mine + sourceBytes());
    }
  }

  /// `mine` has room for results and, behind them, for a piece of codes.
  void multiply(const Part& part, std::int64_t count, const float* a, Memory memory, std::byte* mine) const {
    const GemmTarget& target = m_targets[part.target];
    const bool isRounded = isNarrow(target.c.dtype);
    const std::int64_t first = part.firstPanel * gemmPanel();
    const std::int64_t columns = std::min(part.panels * gemmPanel(), target.n - first);
    auto* own = reinterpret_cast<float*>(mine);
    GemmTask task{.a = a,
                  .lda = m_k,
                  .c = isRounded ? own : elementsAt<float>(target.c, memory) + part.row * target.n + first,
                  .ldc = isRounded ? columns : target.n,
                  .bias = target.bias ? elementsAt<float>(*target.bias, memory) + first : nullptr,
                  .m = count,
                  .n = columns,
                  .k = m_k,
                  .panels = part.panels};
    if (target.codes) {
      multiplyByCodes(target, part.firstPanel, task, memory, reinterpret_cast<float*>(mine + resultBytes()));
    } else {
      task.packed = floatsAt(target.packed, memory, first * m_k);
      runGemm(task);
    }
    for (std::int64_t row = 0; isRounded && row < count; ++row)
      storeFloats(target.c, memory, (part.row + row) * target.n + first, columns, own + row * columns);
  }

  /// Multiplies by the panels of `task`, which begins at panel `first`, one by one and each in pieces of k.
  static void multiplyByCodes(const GemmTarget& target, std::int64_t first, const GemmTask& task, Memory memory,
                              float* widened) {
    const CodePanels panels{.codes = elementsAt<std::uint8_t>(target.codes->codes, memory),
                            .scales = elementsAt<float>(target.codes->scales, memory),
                            .zeros = elementsAt<float>(target.codes->zeros, memory),
                            .k = task.k,
                            .n = target.n,
                            .block = target.codes->block,
                            .bits = target.codes->bits};
    for (std::int64_t panel = 0; panel < task.panels; ++panel) {
      const std::int64_t column = panel * gemmPanel();
      if (task.m <= kRowsInRegisters) {
        const float* bias = task.bias == nullptr ? nullptr : task.bias + column;
        multiplyByPanel(panels, first + panel, task.a, task.lda, task.m, bias, task.c + column, task.ldc);
        continue;
      }
      for (std::int64_t at = 0; at < task.k; at += kWidenedRows) {
        const std::int64_t depth = std::min(kWidenedRows, task.k - at);
        widenPanel(panels, first + panel, at, depth, widened);
        GemmTask part = task;
        part.a += at;
        part.packed = floatsOf(widened);
        part.c += column;
        part.bias = task.bias == nullptr || at > 0 ? nullptr : task.bias + column;
        part.n -= column;
        part.k = depth;
        part.panels = 1;
        part.accumulate = at > 0;
        runGemm(part);
      }
    }
  }

  Ref m_a;
  std::int64_t m_m, m_k, m_rows = 0, m_mostPanels = 0, m_work = 0;
  std::vector<GemmTarget> m_targets;
  std::vector<Part> m_parts;
  int m_threads;
  bool m_isWidened = false, m_isRounded = false;  ///< whether a has to be widened; whether a result has to be rounded
  bool m_hasCodes = false;
};

}  // namespace

std::unique_ptr<Step> makeGemmStep(Ref a, std::int64_t m, std::int64_t k, std::vector<GemmTarget> targets,
                                   int threads) {
  return std::make_unique<GemmStep>(std::move(a), m, k, std::move(targets), threads);
}

}  // namespace fusescope::native
