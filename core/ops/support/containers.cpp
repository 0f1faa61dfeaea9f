#include "ops/support/containers.h"

#include <fmt/format.h>

namespace fusescope::ops {

OpSchema containerSchema(std::string op, int minInputs, int maxInputs, InferFunction infer, KernelFunction kernel) {
  return {.op = std::move(op),
          .kind = OpKind::Movement,
          .minInputs = minInputs,
          .maxInputs = maxInputs,
          .infer = std::move(infer),
          .kernel = std::move(kernel),
          .extentsDependOnData = true,
          .takesContainers = true};
}

Status requireSequence(const InferContext& context, std::size_t i) {
  const TensorType& type = context.input(i);
  if (isUnknown(type) || type.container == Container::Sequence) return Done{};
  return problem(fmt::format("input {} is {}, expected a sequence", i, type.text()));
}

Status requireTensor(const InferContext& context, std::size_t i) {
  const TensorType& type = context.input(i);
  if (type.container == Container::None) return Done{};
  return problem(fmt::format("input {} is {}, expected a tensor", i, type.text()));
}

Result<std::size_t> placeAt(const Tensor& position, std::size_t limit) {
  if (position.container() != Container::None || position.count() != 1)
    return problem("a position in a sequence must be a single number");
  const auto size = static_cast<std::int64_t>(limit);
  const std::int64_t given = position.asInt64(0);
  if (given < -size || given >= size)
    return problem(fmt::format("position {} is outside a sequence of {} elements", given, size));
  return static_cast<std::size_t>(given < 0 ? given + size : given);
}

}  // namespace fusescope::ops
