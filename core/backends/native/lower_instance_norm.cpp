#include "backends/native/lowering.h"
#include "backends/native/rows.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kParallelCount = 16 * 1024;

/// Plain operands: `from` and `to` [batch, channels, spatial…], `scale` and `bias` [channels].
struct InstanceNorm {
  Ref from, scale, bias, to;
  float epsilon = 0;
};

/// Normalises each channel of each sample over its spatial extents: (x - mean) / sqrt(variance + epsilon) · scale +
/// bias.
class InstanceNormStep final : public Step {
 public:
  InstanceNormStep(InstanceNorm at, int threads) : m_at(std::move(at)), m_threads(threads) {}
  Status run(Memory memory, std::byte*) override {
    const auto* from = elementsAt<const float>(m_at.from, memory);
    const auto* scale = elementsAt<const float>(m_at.scale, memory);
    const auto* bias = elementsAt<const float>(m_at.bias, memory);
    auto* to = elementsAt<float>(m_at.to, memory);
    const std::int64_t channels = m_at.from.dims[1], rows = m_at.from.dims[0] * channels;
    const std::int64_t total = m_at.from.count(), count = rows == 0 ? 0 : total / rows;
#pragma omp parallel for schedule(static) num_threads(m_threads) if (total > kParallelCount)
    for (std::int64_t row = 0; row < rows; ++row) {
      float* target = to + row * count;
      normRow(from + row * count, target, count, {.epsilon = m_at.epsilon}, nullptr, nullptr);
      const float factor = scale[row % channels], offset = bias[row % channels];
      for (std::int64_t i = 0; i < count; ++i) target[i] = target[i] * factor + offset;
    }
    return Done{};
  }

 private:
  InstanceNorm m_at;
  int m_threads;
};

}  // namespace

Result<bool> Lowering::lowerInstanceNorm(const Node& node) {
  if (!node.is("InstanceNormalization") || typeOf(node.input(0)) != DataType::F32) return false;
  InstanceNorm at{.from = TRY(plain(TRY(ref(node.input(0))))),
                  .scale = TRY(plain(TRY(ref(node.input(1))))),
                  .bias = TRY(plain(TRY(ref(node.input(2))))),
                  .to = allocate(node.outputs[0]),
                  .epsilon = node.floatAttribute("epsilon", 1e-5F)};
  define(node.outputs[0], at.to);
  m_implementations.push_back("instance_norm");
  const std::vector<BufferIndex> reads{at.from.buffer, at.scale.buffer, at.bias.buffer}, writes{at.to.buffer};
  m_program.addStep(std::make_unique<InstanceNormStep>(std::move(at), m_threads), reads, writes);
  return true;
}

}  // namespace fusescope::native
