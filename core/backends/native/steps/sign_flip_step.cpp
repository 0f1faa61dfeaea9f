#include "backends/native/steps/sign_flip_step.h"

#include "backends/native/kernels/byte_matrix.h"
#include "backends/native/kernels/parallel.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kFewSigns = 256 * 1024, kLeastSigns = 16 * 1024;

class SignFlipStep final : public Step {
 public:
  SignFlipStep(Ref from, Ref to, int threads) : m_from(std::move(from)), m_to(std::move(to)), m_threads(threads) {}

  Status run(Memory memory, std::byte*) const override {
    const auto* from = elementsAt<std::uint8_t>(m_from, memory);
    auto* to = elementsAt<std::uint8_t>(m_to, memory);
    const std::int64_t count = m_from.count();
    const int threads = count > kFewSigns ? m_threads : 1;
    forEachPiece(Claims(count, threads, kLeastSigns), threads, [&](std::int64_t begin, std::int64_t end, int) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) to[i] = from[i] ^ kSignFlip;
    });
    return Done{};
  }

 private:
  Ref m_from, m_to;
  int m_threads;
};

}  // namespace

std::unique_ptr<Step> makeSignFlipStep(Ref from, Ref to, int threads) {
  return std::make_unique<SignFlipStep>(std::move(from), std::move(to), threads);
}

}  // namespace fusescope::native
