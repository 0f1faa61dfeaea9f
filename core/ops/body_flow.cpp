#include "ops/body_flow.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ops/op_schema.h"
#include "ops/support/body_types.h"

namespace fusescope {

Result<TypeFlow> flowBody(const Node& node, const std::string& attribute, std::span<const TensorType* const> types,
                          std::span<const Tensor* const> constants) {
  const InferContext context(node, types, constants);
  const OpSchema* schema = OpRegistry::standard().find(node);
  if (schema != nullptr && schema->bodyInputs)
    return ops::inferBody(context, attribute, {.types = TRY(schema->bodyInputs(context, attribute))});
  const Graph& body = *TRY(ops::bodyOf(node, attribute)).graph;
  const std::size_t own = body.inputs().size() - std::min(body.inputs().size(), context.captures(attribute).size());
  std::vector<TensorType> declared;
  for (std::size_t i = 0; i < own; ++i) declared.push_back(body.value(body.inputs()[i]).type);
  return ops::inferBody(context, attribute, {.types = std::move(declared)});
}

}  // namespace fusescope
