// Operators that are typed, planned and drawn, but have no reference kernel: control flow, and ImageDecoder, whose
// formats (JPEG, PNG, WebP, TIFF …) would take libraries that a compiler's workbench has no other use for.
#include <fmt/format.h>

#include "ops/families.h"
#include "ops/support/infer_support.h"

namespace fusescope::ops {
namespace {

/// As many outputs of unknown type as the node has.
Result<Types> inferNothing(const InferContext& context) {
  return Types(std::max<std::size_t>(context.node().outputs.size(), 1));
}

/// If: what both branches agree on.
Result<Types> inferIf(const InferContext& context) {
  Types types = TRY(inferNothing(context));
  const auto branch = [&](const char* key) -> const Graph* {
    const auto found = context.node().attributes.find(key);
    if (found == context.node().attributes.end()) return nullptr;
    const auto* subgraph = std::get_if<Subgraph>(&found->second);
    return subgraph == nullptr ? nullptr : subgraph->graph.get();
  };
  const Graph *yes = branch("then_branch"), *no = branch("else_branch");
  if (yes == nullptr || no == nullptr)
    return attributeProblem(yes == nullptr ? "then_branch" : "else_branch", "is missing");
  if (yes->outputs().size() != no->outputs().size()) return problem("the branches have different numbers of outputs");
  for (std::size_t i = 0; i < std::min(types.size(), yes->outputs().size()); ++i) {
    const TensorType &a = yes->value(yes->outputs()[i]).type, &b = no->value(no->outputs()[i]).type;
    if (a.dtype == b.dtype) types[i].dtype = a.dtype;
    if (!a.shape.ranked || !b.shape.ranked || a.shape.rank() != b.shape.rank()) continue;
    types[i].shape = a.shape;
    for (std::size_t d = 0; d < a.shape.rank(); ++d)
      if (a.shape.dims[d] != b.shape.dims[d]) types[i].shape.dims[d] = Dim();
  }
  return types;
}

/// ImageDecoder: height, width and channels of the decoded picture.
Result<Types> inferImageDecoder(const InferContext& context) {
  TRY(requireRank(context, 0, 1));
  const std::string format = TRY(choiceAttribute(context.node(), "pixel_format", "RGB", {"RGB", "BGR", "Grayscale"}));
  return one(DataType::U8, Shape::of({Dim(), Dim(), Dim(format == "Grayscale" ? 1 : 3)}));
}

OpSchema plannedOnly(std::string op, OpKind kind, int minInputs, int maxInputs, int maxOutputs, InferFunction infer) {
  return {.op = std::move(op),
          .kind = kind,
          .minInputs = minInputs,
          .maxInputs = maxInputs,
          .infer = std::move(infer),
          .deterministic = kind != OpKind::Random,
          .maxOutputs = maxOutputs};
}

}  // namespace

void registerPlannedOnly(OpRegistry& registry) {
  registry.add(plannedOnly("If", OpKind::ControlFlow, 1, -1, -1, inferIf));
  registry.add(plannedOnly("ImageDecoder", OpKind::Other, 1, 1, 1, inferImageDecoder));
  registry.add(plannedOnly("Loop", OpKind::ControlFlow, 0, 100'000, -1, inferNothing));
  registry.add(plannedOnly("Scan", OpKind::ControlFlow, 1, -1, -1, inferNothing));
}

}  // namespace fusescope::ops
