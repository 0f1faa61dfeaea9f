#include <algorithm>

#include "backends/native/lowering/emitter.h"
#include "planning/kinds.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kSiblingsKernel{.name = "siblings", .weight = 1};

/// max(x, 0) and -x, reading x once. All are of f32, row-major.
class SiblingsStep final : public Step {
 public:
  SiblingsStep(Ref x, Ref positive, Ref negated)
      : m_x(std::move(x)), m_positive(std::move(positive)), m_negated(std::move(negated)) {}

  Status run(Memory memory, std::byte*) const override {
    const auto* x = elementsAt<const float>(m_x, memory);
    auto *positive = elementsAt<float>(m_positive, memory), *negated = elementsAt<float>(m_negated, memory);
    for (std::int64_t i = 0; i < m_x.count(); ++i) {
      positive[i] = std::max(x[i], 0.0f);
      negated[i] = -x[i];
    }
    return Done{};
  }

 private:
  Ref m_x, m_positive, m_negated;
};

Status emitSiblings(Context& context, const Node& relu, const Node& neg) {
  TRY(context.flush());
  const Ref x = TRY(context.plain(TRY(context.ref(relu.input(0)))));
  const Ref positive = context.allocate(relu.outputs[0]), negated = context.allocate(neg.outputs[0]);
  context.define(relu.outputs[0], positive);
  context.define(neg.outputs[0], negated);
  context.chose({.kind = kSiblingsKernel});
  context.program().addStep(std::make_unique<SiblingsStep>(x, positive, negated), {x.buffer},
                            {positive.buffer, negated.buffer});
  return Done{};
}

void claimSiblings(Context& context, Units& units) {
  if (context.fused().kind != kinds::kSiblings) return;
  const std::vector<Binding> parts = bindingsOf(context.fused().bindings, roles::kPart);
  const Node &relu = context.node(parts[0].node), &neg = context.node(parts[1].node);
  if (!relu.is("Relu") || !neg.is("Neg")) return;
  if (context.typeOf(relu.input(0)) != DataType::F32) return;
  const auto emit = [&relu, &neg](Context& at) { return emitSiblings(at, relu, neg); };
  units.add(relu.id, emit, {relu.id, neg.id});
}

}  // namespace

extern const Emitter kSiblingsEmitter{.name = "siblings", .claim = claimSiblings};

}  // namespace fusescope::native
