#include "backends/native/steps/rechecked_step.h"

#include <mutex>

#include "backends/number_checks.h"
#include "base/aligned_memory.h"

namespace fusescope::native {
namespace {

class RecheckedStep final : public Step {
 public:
  RecheckedStep(std::unique_ptr<Step> fast, MakeExactStep exact)
      : m_fast(std::move(fast)), m_makeExact(std::move(exact)) {}

  std::size_t scratchBytes() const override { return m_fast->scratchBytes(); }

  Status run(Memory memory, std::byte* scratch) const override {
    if (isCheckedLater()) return m_fast->run(memory, scratch);
    takeInvalid();  // discards invalid operations from before this step
    TRY(m_fast->run(memory, scratch));
    if (!takeInvalid()) return Done{};
    const std::lock_guard lock(m_mutex);
    if (m_exact == nullptr) m_exact = TRY(m_makeExact(static_cast<BufferIndex>(memory.size())));
    const AlignedMemory own(m_exact->scratchBytes());
    return m_exact->run(memory, own.data());
  }

 private:
  std::unique_ptr<Step> m_fast;
  MakeExactStep m_makeExact;
  mutable std::mutex m_mutex;
  mutable std::unique_ptr<Step> m_exact;  ///< is made on first use, under m_mutex
};

}  // namespace

std::unique_ptr<Step> makeRecheckedStep(std::unique_ptr<Step> fast, MakeExactStep exact) {
  return std::make_unique<RecheckedStep>(std::move(fast), std::move(exact));
}

}  // namespace fusescope::native
