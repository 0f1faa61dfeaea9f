// Operators that are typed, planned and drawn, but have no reference kernel: ImageDecoder, whose
// formats (JPEG, PNG, WebP, TIFF …) would take libraries that a compiler's workbench has no other use for.
#include <fmt/format.h>

#include "ops/families.h"
#include "ops/support/infer_support.h"

namespace fusescope::ops {
namespace {

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
  registry.add(plannedOnly("ImageDecoder", OpKind::Other, 1, 1, 1, inferImageDecoder));
}

}  // namespace fusescope::ops
