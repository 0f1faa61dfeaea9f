// The last operators of detectors: indices of elements that are not zero, and boxes that do not overlap better ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "ops/families.h"
#include "ops/support/kernel_support.h"
#include "ops/support/require_extents.h"
#include "ops/support/strided.h"

namespace fusescope::ops {
namespace {

// --- NonZero

/// The result has one row for each axis (none for a scalar) and one column for each element that is not zero.
Result<Types> inferNonZero(const InferContext& context) {
  const Shape& x = context.input(0).shape;
  return one(DataType::I64, Shape::of({x.ranked ? Dim(std::ssize(x.dims)) : Dim(), Dim()}));
}

/// Returns whether element `i` is not zero; an empty text counts as zero.
bool isNonZero(const Tensor& x, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  switch (x.type()) {
    case DataType::String:
      return !x.strings()[at].empty();
    case DataType::C64:
      return x.data<std::complex<float>>()[at] != std::complex<float>();
    case DataType::C128:
      return x.data<std::complex<double>>()[at] != std::complex<double>();
    default:
      return isFloat(x.type()) ? x.asDouble(i) != 0 : x.asInt64(i) != 0;
  }
}

Result<Tensors> nonZero(const KernelContext& context) {
  const Tensor& x = context.input(0);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < x.count(); ++i)
    if (isNonZero(x, i)) places.push_back(i);
  const std::int64_t count = std::ssize(places);
  Tensor result = TRY(allocate(DataType::I64, {std::ssize(x.dims()), count}));
  const Dims strides = denseStrides(x.dims());
  std::int64_t* to = result.mutableData<std::int64_t>().data();
  for (std::size_t axis = 0; axis < x.dims().size(); ++axis)
    for (const std::int64_t place : places) *to++ = place / strides[axis] % x.dims()[axis];
  return Tensors{std::move(result)};
}

// --- NonMaxSuppression

Result<Types> inferNonMaxSuppression(const InferContext& context) {
  TRY(requireRank(context, 0, 3));
  TRY(requireRank(context, 1, 3));
  const Dim batches =
      TRY(unified(context, extentOf(context, 0, 0), extentOf(context, 1, 0), "the batch sizes of boxes and scores"));
  const Dim boxes = TRY(unified(context, extentOf(context, 0, 1), extentOf(context, 1, 2),
                                "the numbers of boxes in boxes and in scores"));
  TRY(requireExtents(context, 0, "boxes", {batches, boxes, Dim(4)}));
  const std::int64_t format = context.node().intAttribute("center_point_box", 0);
  if (format != 0 && format != 1)
    return attributeProblem("center_point_box", fmt::format("is {}, expected 0 or 1", format));
  return one(DataType::I64, Shape::of({Dim(), Dim(3)}));
}

struct Box {
  double left, top, right, bottom;
  double area() const { return (right - left) * (bottom - top); }
};

/// Reads a box from the four numbers at `at`: the centre and the extents, or any two opposite corners (y, x, y, x).
Box boxAt(const float* at, bool centred) {
  const auto a = static_cast<double>(at[0]), b = static_cast<double>(at[1]);
  const auto c = static_cast<double>(at[2]), d = static_cast<double>(at[3]);
  if (centred) return {a - c / 2, b - d / 2, a + c / 2, b + d / 2};
  return {std::min(b, d), std::min(a, c), std::max(b, d), std::max(a, c)};
}

/// Returns the intersection over the union of two boxes, or 0 if either is empty.
double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0 && height > 0) || !(a.area() > 0 && b.area() > 0)) return 0;
  return width * height / (a.area() + b.area() - width * height);
}

struct Suppression {
  std::int64_t most = 0;
  double overlap = 0;
  std::optional<double> score;
};

Result<Suppression> readSuppression(const KernelContext& context) {
  constexpr std::array kNames{"max_output_boxes_per_class", "iou_threshold", "score_threshold"};
  for (std::size_t i = 2; i < 5; ++i)
    if (context.hasInput(i) && context.input(i).count() != 1)
      return problem(fmt::format("{} must be a single number", kNames[i - 2]));
  Suppression suppression;
  if (context.hasInput(2)) suppression.most = context.input(2).asInt64(0);
  if (context.hasInput(3)) suppression.overlap = context.input(3).asDouble(0);
  if (context.hasInput(4)) suppression.score = context.input(4).asDouble(0);
  if (!(suppression.overlap >= 0 && suppression.overlap <= 1))
    return problem(fmt::format("iou_threshold is {}, expected 0 to 1", suppression.overlap));
  return suppression;
}

/// Returns the boxes of one image that are kept for one class, best score first, and the first of equal ones.
std::vector<std::int64_t> keptBoxes(const float* boxes, const float* scores, std::int64_t count, bool centred,
                                    const Suppression& suppression) {
  std::vector<std::int64_t> order, kept;
  // The operator's page says that scores below the threshold are dropped; its reference implementation and the runtimes
  // also drop scores equal to it.
  for (std::int64_t i = 0; i < count; ++i)
    if (!suppression.score || static_cast<double>(scores[i]) > *suppression.score)
      if (!std::isnan(scores[i])) order.push_back(i);
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) { return scores[a] > scores[b]; });
  for (const std::int64_t candidate : order) {
    if (std::ssize(kept) >= suppression.most) break;
    const Box box = boxAt(boxes + candidate * 4, centred);
    const bool covered = std::ranges::any_of(kept, [&](std::int64_t other) {
      return overlap(box, boxAt(boxes + other * 4, centred)) > suppression.overlap;
    });
    if (!covered) kept.push_back(candidate);
  }
  return kept;
}

Result<Tensors> nonMaxSuppression(const KernelContext& context) {
  const Tensor &boxes = context.input(0), &scores = context.input(1);
  const Suppression suppression = TRY(readSuppression(context));
  const bool centred = context.node().intAttribute("center_point_box", 0) != 0;
  const std::int64_t count = boxes.dims()[1], classes = scores.dims()[1];
  std::vector<std::int64_t> selected;
  for (std::int64_t image = 0; image < boxes.dims()[0]; ++image)
    for (std::int64_t label = 0; label < classes; ++label) {
      const float* from = scores.data<float>().data() + (image * classes + label) * count;
      for (const std::int64_t box :
           keptBoxes(boxes.data<float>().data() + image * count * 4, from, count, centred, suppression))
        selected.insert(selected.end(), {image, label, box});
    }
  const std::int64_t rows = std::ssize(selected) / 3;
  return Tensors{Tensor::copyOf<std::int64_t>(DataType::I64, {rows, 3}, selected)};
}

}  // namespace

void registerDetection(OpRegistry& registry) {
  registry.add({.op = "NonMaxSuppression",
                .kind = OpKind::Other,
                .minInputs = 2,
                .maxInputs = 5,
                .infer = inferNonMaxSuppression,
                .kernel = nonMaxSuppression,
                .signature = {"FFIFF", {{'F', {DataType::F32}}, {'I', kInt64Type}}},
                .extentsDependOnData = true});
  registry.add({.op = "NonZero",
                .kind = OpKind::Other,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferNonZero,
                .kernel = nonZero,
                .signature = {"T", {{'T', kAnyType}}},
                .extentsDependOnData = true});
}

}  // namespace fusescope::ops
