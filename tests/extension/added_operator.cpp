#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

Result<Types> inferHalve(const InferContext& context) {
  return Types{context.input(0)};
}

template <class T>
Result<Tensors> halveAs(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  const auto x = context.input(0).data<T>();
  const auto y = result.mutableData<T>();
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] / 2;
  return Tensors{std::move(result)};
}

}  // namespace

void registerHalve(OpRegistry& registry) {
  registry.add({.op = "Halve",
                .kind = OpKind::Elementwise,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferHalve,
                .kernel = FUSESCOPE_FLOAT_KERNEL(halveAs<T>(context)),
                .signature = {"T", {{'T', kWideFloatTypes}}}});
}

}  // namespace fusescope::ops
