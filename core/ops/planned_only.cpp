// Operators that are typed, planned and drawn, but have no reference kernel: ImageDecoder, whose formats (JPEG, PNG,
// WebP, TIFF …) would need libraries that this program does not use otherwise.
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

}  // namespace

void registerPlannedOnly(OpRegistry& registry) {
  registry.add(
      {.op = "ImageDecoder", .kind = OpKind::Other, .minInputs = 1, .maxInputs = 1, .infer = inferImageDecoder});
}

}  // namespace fusescope::ops
