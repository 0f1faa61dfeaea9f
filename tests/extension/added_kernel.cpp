#include "backends/native/lowering/emitter.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kHalveKernel{.name = "halve", .weight = 1};

class HalveStep final : public Step {
 public:
  HalveStep(Ref x, Ref half) : m_x(std::move(x)), m_half(std::move(half)) {}

  Status run(Memory memory, std::byte*) const override {
    const auto* x = elementsAt<const float>(m_x, memory);
    auto* half = elementsAt<float>(m_half, memory);
    for (std::int64_t i = 0; i < m_x.count(); ++i) half[i] = 0.5f * x[i];
    return Done{};
  }

 private:
  Ref m_x, m_half;
};

Result<bool> emitHalve(Context& context, const Node& node) {
  if (!node.is("Halve") || context.typeOf(node.input(0)) != DataType::F32) return false;
  const Ref x = TRY(context.plain(TRY(context.ref(node.input(0)))));
  const Ref half = context.allocate(node.outputs[0]);
  context.define(node.outputs[0], half);
  context.chose({.kind = kHalveKernel});
  context.program().addStep(std::make_unique<HalveStep>(x, half), {x.buffer}, {half.buffer});
  return true;
}

}  // namespace

extern const Emitter kHalveEmitter{.name = "halve", .emit = emitHalve};

}  // namespace fusescope::native
