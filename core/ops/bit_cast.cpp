// BitCast: the same bits seen as another element type.
#include <fmt/format.h>

#include <memory>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

std::size_t bitsOf(DataType type) {
  return byteSize(type, 8);
}

Result<Types> inferBitCast(const InferContext& context) {
  const DataType from = context.input(0).dtype;
  if (!context.node().hasAttribute("to")) return attributeProblem("to", "is missing");
  const DataType to = TRY(typeAttribute(context.node(), "to", DataType::Undefined));
  if (to == DataType::String) return attributeProblem("to", "a text has no fixed number of bits");
  if (from != DataType::Undefined && bitsOf(from) != bitsOf(to))
    return attributeProblem("to", fmt::format("is {} with {} bits, but the input is {} with {}", name(to), bitsOf(to),
                                              name(from), bitsOf(from)));
  return one(to, context.input(0).shape);
}

Result<Tensors> bitCast(const KernelContext& context) {
  const auto source = std::make_shared<const Tensor>(context.input(0));
  return Tensors{Tensor::view(context.outputType(0), source->dims(), source, source->bytes())};
}

}  // namespace

void registerBitCast(OpRegistry& registry) {
  registry.add({.op = "BitCast",
                .kind = OpKind::Movement,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferBitCast,
                .kernel = bitCast});
}

}  // namespace fusescope::ops
