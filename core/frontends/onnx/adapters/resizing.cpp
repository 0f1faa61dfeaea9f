// Operators that sample an image at other places.
#include <memory>

#include "frontends/onnx/adapters/adapters_by_family.h"

namespace fusescope::adapting {
namespace {

/// Upsample and Resize before 11 knew one way only: x_original = x_resized / scale, and the nearest below it.
void setOldCoordinates(FileNode& node) {
  setAttribute(node, "coordinate_transformation_mode", std::string("asymmetric"));
  setAttribute(node, "nearest_mode", std::string("floor"));
  if (const auto* mode = attributeAs<std::string>(node, "mode"); mode != nullptr && *mode == "bilinear")
    setAttribute(node, "mode", std::string("linear"));
}

}  // namespace

/// Upsample before 9: the scales were an attribute.
Result<Nodes> upsampleScales(FileNode node, AdaptContext& context) {
  if (const auto* scales = attributeAs<std::vector<float>>(node, "scales")) {
    const auto kept = std::make_shared<const std::vector<float>>(*scales);
    setInput(
        node, 1,
        context.addTensor(node.displayName() + "/scales", {.name = {},
                                                           .dtype = DataType::F32,
                                                           .dims = {static_cast<std::int64_t>(kept->size())},
                                                           .owner = kept,
                                                           .data = reinterpret_cast<const std::byte*>(kept->data()),
                                                           .hasData = true}));
  }
  removeAttribute(node, "scales");
  return only(std::move(node));
}

/// Upsample became Resize in 10.
Result<Nodes> upsampleToResize(FileNode node, AdaptContext& context) {
  node.op = "Resize";
  return resizeSlots(std::move(node), context);
}

/// Resize before 11: X and scales, no region of interest between them.
Result<Nodes> resizeSlots(FileNode node, AdaptContext&) {
  if (node.inputs.size() > 1) node.inputs.insert(node.inputs.begin() + 1, std::string());
  setOldCoordinates(node);
  return only(std::move(node));
}

/// Resize before 13 had the mode tf_half_pixel_for_nn: x = (x_resized + 0.5) / scale, which is half_pixel's x + 0.5:
/// floor(h + 0.5) is h rounded half up, and h + 0.5 rounded half down is ceil(h).
Result<Nodes> resizeHalfPixelForNearest(FileNode node, AdaptContext&) {
  const auto* coordinates = attributeAs<std::string>(node, "coordinate_transformation_mode");
  if (coordinates == nullptr || *coordinates != "tf_half_pixel_for_nn") return only(std::move(node));
  const auto* mode = attributeAs<std::string>(node, "mode");
  const auto* rounding = attributeAs<std::string>(node, "nearest_mode");
  const std::string rounds = rounding == nullptr ? "round_prefer_floor" : *rounding;
  if ((mode != nullptr && *mode != "nearest") || (rounds != "floor" && rounds != "round_prefer_floor"))
    return cannotAdapt(node, "tf_half_pixel_for_nn has no newer form with this mode and rounding",
                       "Export it with the coordinates half_pixel, or with the rounding floor.");
  setAttribute(node, "nearest_mode", std::string(rounds == "floor" ? "round_prefer_ceil" : "ceil"));
  setAttribute(node, "coordinate_transformation_mode", std::string("half_pixel"));
  return only(std::move(node));
}

/// An empty constant in an optional slot means "absent" (roi, scales).
Result<Nodes> emptyInputsAbsent(FileNode node, AdaptContext& context) {
  for (std::size_t slot = 1; slot < node.inputs.size(); ++slot) {
    const onnxlib::FileTensor* constant = context.constant(node.inputs[slot]);
    if (constant != nullptr && constant->dims == Ints{0}) node.inputs[slot].clear();
  }
  return only(std::move(node));
}

/// GridSample before 20 called its modes bilinear and bicubic.
Result<Nodes> gridSampleModes(FileNode node, AdaptContext&) {
  const auto* mode = attributeAs<std::string>(node, "mode");
  if (mode == nullptr) return only(std::move(node));
  const std::string newer = *mode == "bilinear" ? "linear" : *mode == "bicubic" ? "cubic" : *mode;
  setAttribute(node, "mode", newer);
  return only(std::move(node));
}

/// RoiAlign before 16 did not shift by half a pixel.
Result<Nodes> roiAlignCoordinates(FileNode node, AdaptContext&) {
  setAttribute(node, "coordinate_transformation_mode", std::string("output_half_pixel"));
  return only(std::move(node));
}

}  // namespace fusescope::adapting
