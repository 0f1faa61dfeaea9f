// Operators that sample an image at other positions.
#include <algorithm>
#include <cstring>
#include <memory>

#include "frontends/onnx/adapters/adapters_by_family.h"

namespace fusescope::adapting {
namespace {

/// Upsample and Resize before 11 had only one mode: x_original = x_resized / scale and, where an axis grows, the
/// nearest element below it.
void setOldCoordinates(FileNode& node) {
  setAttribute(node, "coordinate_transformation_mode", std::string("asymmetric"));
  setAttribute(node, "nearest_mode", std::string("floor"));
  if (const auto* mode = attributeAs<std::string>(node, "mode"); mode != nullptr && *mode == "bilinear")
    setAttribute(node, "mode", std::string("linear"));
}

std::string floatsConstant(const std::string& name, const std::vector<float>& values, AdaptContext& context) {
  const auto kept = std::make_shared<const std::vector<float>>(values);
  return context.addTensor(name, {.name = {},
                                  .dtype = DataType::F32,
                                  .dims = {static_cast<std::int64_t>(kept->size())},
                                  .owner = kept,
                                  .data = reinterpret_cast<const std::byte*>(kept->data()),
                                  .hasData = true});
}

/// Returns the elements of a constant float32 input; none if it is not one.
std::vector<float> constantFloats(const FileNode& node, std::size_t slot, AdaptContext& context) {
  const onnxlib::FileTensor* tensor = hasInput(node, slot) ? context.constant(node.inputs[slot]) : nullptr;
  if (tensor == nullptr || tensor->dtype != DataType::F32 || tensor->dims.size() != 1 || tensor->data == nullptr)
    return {};
  std::vector<float> values(static_cast<std::size_t>(tensor->dims[0]));
  std::memcpy(values.data(), tensor->data, values.size() * sizeof(float));
  return values;
}

}  // namespace

/// Upsample before 9: the scales were an attribute.
Result<Nodes> upsampleScales(FileNode node, AdaptContext& context) {
  if (const auto* scales = attributeAs<std::vector<float>>(node, "scales"))
    setInput(node, 1, floatsConstant(node.displayName() + "/scales", *scales, context));
  removeAttribute(node, "scales");
  return only(std::move(node));
}

/// Upsample became Resize in 10.
Result<Nodes> upsampleToResize(FileNode node, AdaptContext& context) {
  node.op = "Resize";
  return resizeSlots(std::move(node), context);
}

/// Resize before 11 had X and scales, with no region of interest between them. The nearest element was the one below
/// where an axis grows, and the one above where it shrinks; if both occur, the axes that grow are resized first.
Result<Nodes> resizeSlots(FileNode node, AdaptContext& context) {
  if (node.inputs.size() > 1) node.inputs.insert(node.inputs.begin() + 1, std::string());
  setOldCoordinates(node);
  const auto* mode = attributeAs<std::string>(node, "mode");
  const std::vector<float> scales = constantFloats(node, 2, context);
  const auto shrinks = [](float scale) { return scale < 1.0F; };
  if ((mode != nullptr && *mode != "nearest") || std::ranges::none_of(scales, shrinks)) return only(std::move(node));
  Nodes nodes;
  if (std::ranges::any_of(scales, [](float scale) { return scale > 1.0F; })) {
    std::vector<float> growing, shrinking;
    for (const float scale : scales) {
      growing.push_back(std::max(scale, 1.0F));
      shrinking.push_back(std::min(scale, 1.0F));
    }
    FileNode first = node;
    first.name = node.displayName() + "/grown";
    first.inputs[2] = floatsConstant(first.name + "_scales", growing, context);
    first.outputs = {context.freshValue(first.name)};
    node.inputs[0] = first.outputs[0];
    node.inputs[2] = floatsConstant(node.displayName() + "/shrunk_scales", shrinking, context);
    nodes.push_back(std::move(first));
  }
  setAttribute(node, "nearest_mode", std::string("ceil"));
  nodes.push_back(std::move(node));
  return nodes;
}

/// Resize before 13 had the mode tf_half_pixel_for_nn, which tf2onnx still writes: x = (x_resized + 0.5) / scale. This
/// is half_pixel's x + 0.5: floor(h + 0.5) is h rounded half up, and h + 0.5 rounded half down is ceil(h).
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
