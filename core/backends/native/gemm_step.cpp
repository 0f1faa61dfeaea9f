#include "backends/native/gemm_step.h"

#include <omp.h>

#include <algorithm>

#include "backends/native/code_panels.h"
#include "backends/native/gemm.h"
#include "backends/native/parallel.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

/// Rows of a panel that are widened at a time: they stay in L1.
constexpr std::int64_t kWidenedRows = 256;

/// Products of one a [m, k] by constant weights with our own kernel.
class GemmStep final : public Step {
 public:
  GemmStep(Ref a, std::int64_t m, std::int64_t k, std::vector<GemmTarget> targets, int threads)
      : m_a(std::move(a)), m_m(m), m_k(k), m_targets(std::move(targets)), m_threads(threads) {
    std::int64_t columns = 0;
    for (const GemmTarget& target : m_targets) columns += target.n;
    m_work = m_m * m_k * columns;
    for (std::size_t i = 0; i < m_targets.size(); ++i) share(i, columns);
  }

  std::size_t scratchBytes() const override {
    const bool widens =
        std::ranges::any_of(m_targets, [](const GemmTarget& target) { return target.codes.has_value(); });
    return widens ? widenedBytes() * static_cast<std::size_t>(m_threads) : 0;
  }

  Status run(Memory memory, std::byte* scratch) const override {
    const float* a = elementsAt<float>(m_a, memory);
    forEachInTurn(std::ssize(m_parts), m_work > 64 * 1024 ? m_threads : 1, [&](std::int64_t i) {
      const Part& part = m_parts[static_cast<std::size_t>(i)];
      const GemmTarget& target = m_targets[part.target];
      GemmTask task{.a = a,
                    .lda = m_k,
                    .c = elementsAt<float>(target.c, memory),
                    .ldc = target.n,
                    .bias = target.bias ? elementsAt<float>(*target.bias, memory) : nullptr,
                    .m = m_m,
                    .n = target.n,
                    .k = m_k,
                    .firstPanel = part.firstPanel,
                    .panels = part.panels};
      if (target.codes)
        return runByCodes(*target.codes, task, memory,
                          scratch + widenedBytes() * static_cast<std::size_t>(omp_get_thread_num()));
      task.packed = elementsAt<float>(target.packed, memory);
      runGemm(task);
    });
    return Done{};
  }

 private:
  static std::size_t widenedBytes() {
    return wholeLines(static_cast<std::size_t>(kWidenedRows * gemmPanel()) * sizeof(float));
  }

  /// The panels of `task` one by one, each in stretches of k.
  static void runByCodes(const GemmTarget::Codes& codes, const GemmTask& task, Memory memory, std::byte* scratch) {
    const CodePanels panels{.codes = elementsAt<std::uint8_t>(codes.codes, memory),
                            .scales = elementsAt<float>(codes.scales, memory),
                            .zeros = elementsAt<float>(codes.zeros, memory),
                            .k = task.k,
                            .n = task.n,
                            .block = codes.block,
                            .bits = codes.bits};
    auto* widened = reinterpret_cast<float*>(scratch);
    for (std::int64_t panel = task.firstPanel; panel < task.firstPanel + task.panels; ++panel) {
      const std::int64_t column = panel * gemmPanel();
      for (std::int64_t at = 0; at < task.k; at += kWidenedRows) {
        const std::int64_t depth = std::min(kWidenedRows, task.k - at);
        widenPanel(panels, panel, at, depth, widened);
        GemmTask part = task;
        part.a += at;
        part.packed = widened;
        part.c += column;
        part.bias = task.bias == nullptr || at > 0 ? nullptr : task.bias + column;
        part.n -= column;
        part.k = depth;
        part.firstPanel = 0;
        part.panels = 1;
        part.accumulate = at > 0;
        runGemm(part);
      }
    }
  }

  struct Part {
    std::size_t target;
    std::int64_t firstPanel, panels;
  };

  // Panels are shared out in groups: a thread keeps its part of B and reads all of A.
  void share(std::size_t index, std::int64_t columns) {
    const std::int64_t panels = (m_targets[index].n + gemmPanel() - 1) / gemmPanel();
    const std::int64_t wanted =
        std::max<std::int64_t>(1, m_threads * 4 * m_targets[index].n / std::max<std::int64_t>(1, columns));
    const std::int64_t parts = std::min(panels, wanted);
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = panels * part / parts;
      m_parts.push_back({index, begin, panels * (part + 1) / parts - begin});
    }
  }

  Ref m_a;
  std::int64_t m_m, m_k, m_work = 0;
  std::vector<GemmTarget> m_targets;
  std::vector<Part> m_parts;
  int m_threads;
};

}  // namespace

std::unique_ptr<Step> makeGemmStep(Ref a, std::int64_t m, std::int64_t k, std::vector<GemmTarget> targets,
                                   int threads) {
  return std::make_unique<GemmStep>(std::move(a), m, k, std::move(targets), threads);
}

}  // namespace fusescope::native
