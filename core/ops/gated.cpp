// Gated activations of two inputs: SwiGLU.
#include <cmath>

#include "ops/families.h"
#include "ops/support/kernel_support.h"
#include "ops/support/require_extents.h"

namespace fusescope::ops {
namespace {

Result<Types> inferSwiGlu(const InferContext& context) {
  const TensorType& gate = context.input(0);
  if (!gate.shape.ranked) return one(gate.dtype, context.input(1).shape);
  TRY(requireExtents(context, 1, "B", gate.shape.dims));
  return Types{gate};
}

/// y = a · sigmoid(alpha · a) · b
template <class T>
Result<Tensors> swiGluAs(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  const T alpha = static_cast<T>(context.node().floatAttribute("alpha", 1.0F));
  const auto a = context.input(0).data<T>(), b = context.input(1).data<T>();
  const auto y = result.mutableData<T>();
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = a[i] / (T(1) + std::exp(-alpha * a[i])) * b[i];
  return Tensors{std::move(result)};
}

}  // namespace

void registerGated(OpRegistry& registry) {
  registry.add({.op = "SwiGLU",
                .kind = OpKind::Elementwise,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferSwiGlu,
                .kernel = FUSESCOPE_FLOAT_KERNEL(swiGluAs<T>(context)),
                .signature = {"TT", {{'T', kWideFloatTypes}}}});
}

}  // namespace fusescope::ops
