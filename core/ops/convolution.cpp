// Convolutions over any number of spatial axes: unfolded into columns, then a matrix product.
#include <fmt/format.h>

#include "ops/families.h"
#include "ops/support/extent_arithmetic.h"
#include "ops/support/filter_flops.h"
#include "ops/support/kernel_support.h"
#include "ops/support/multiply.h"
#include "ops/support/strided.h"
#include "ops/support/unfold.h"
#include "ops/support/window.h"

namespace fusescope::ops {
namespace {

/// Returns the spatial extents of a weight if all are known.
std::optional<Dims> kernelOf(const Shape& weight) {
  if (!weight.ranked || weight.rank() < 3) return std::nullopt;
  return Shape::of(std::vector<Dim>(weight.dims.begin() + 2, weight.dims.end())).fixed();
}

Result<std::int64_t> groupOf(const Node& node) {
  const std::int64_t group = node.intAttribute("group", 1);
  if (group < 1) return attributeProblem("group", fmt::format("is {}, expected at least 1", group));
  return group;
}

Status checkBias(const InferContext& context, const Dim& channels) {
  if (!context.hasInput(2)) return Done{};
  TRY(requireRank(context, 2, 1));
  const Shape& bias = context.input(2).shape;
  if (bias.ranked)
    TRY(unified(context, bias.dims[0], channels, "the extent of the bias and the number of output channels"));
  return Done{};
}

/// Checks what Conv and ConvTranspose have in common. Returns nothing if a rank is unknown.
Result<std::optional<std::size_t>> spatialRank(const InferContext& context) {
  const Shape &x = context.input(0).shape, &w = context.input(1).shape;
  if (!x.ranked && !w.ranked) return std::optional<std::size_t>();
  const std::size_t rank = x.ranked ? x.rank() : w.rank();
  if (rank < 3) return problem(fmt::format("the input has rank {}, expected at least 3", rank));
  if (x.ranked && w.ranked && x.rank() != w.rank())
    return problem(fmt::format("the input has rank {}, but the weight has rank {}", x.rank(), w.rank()));
  return std::optional(rank - 2);
}

Result<Types> inferConv(const InferContext& context) {
  const DataType type = context.input(0).dtype;
  const std::int64_t group = TRY(groupOf(context.node()));
  const auto spatial = TRY(spatialRank(context));
  if (!spatial) return one(type, Shape::unknown());
  const Shape x = context.input(0).shape.ranked ? context.input(0).shape : unknownOfRank(*spatial + 2);
  const Shape w = context.input(1).shape.ranked ? context.input(1).shape : unknownOfRank(*spatial + 2);
  if (x.dims[1].known() && w.dims[1].known() &&
      (w.dims[1].size > x.dims[1].size || x.dims[1].size != w.dims[1].size * group))
    return problem(fmt::format("the input has {} channels, but the weight expects {} in each of {} groups",
                               x.dims[1].size, w.dims[1].size, group));
  context.demand({.left = x.dims[1], .right = scaledExtent(w.dims[1], group)});
  if (w.dims[0].known() && w.dims[0].size % group != 0)
    return attributeProblem("group", fmt::format("{} does not divide the {} output channels", group, w.dims[0].size));
  TRY(checkBias(context, w.dims[0]));
  Shape result = unknownOfRank(*spatial + 2);
  result.dims[0] = x.dims[0];
  result.dims[1] = w.dims[0];
  const auto kernel = kernelOf(w);
  if (!kernel) return one(type, std::move(result));
  for (const std::int64_t extent : *kernel)
    if (extent < 1) return problem("the weight has an empty kernel");
  const Window window = TRY(Window::read(context.node(), *spatial, *kernel));
  for (std::size_t i = 0; i < *spatial; ++i) result.dims[2 + i] = TRY(window.outputDim(context, i, x.dims[2 + i]));
  return one(type, std::move(result));
}

template <class T>
void addBias(const Tensor& bias, Tensor& result) {
  const std::int64_t channels = result.dims()[1];
  const std::int64_t area = channels == 0 || result.dims()[0] == 0 ? 0 : result.count() / channels / result.dims()[0];
  const auto perChannel = bias.data<T>();
  T* to = result.mutableData<T>().data();
  for (std::int64_t i = 0; i < result.dims()[0] * channels; ++i)
    for (std::int64_t p = 0; p < area; ++p) *to++ += perChannel[static_cast<std::size_t>(i % channels)];
}

template <class T>
void convInto(const KernelContext& context, const Window& window, Tensor& result) {
  const Tensor &x = context.input(0), &w = context.input(1);
  const std::int64_t group = context.node().intAttribute("group", 1);
  const Dims spatial(x.dims().begin() + 2, x.dims().end()), out(result.dims().begin() + 2, result.dims().end());
  const std::int64_t inputArea = elementCount(spatial).value(), area = elementCount(out).value();
  const std::int64_t channels = w.dims()[1], filters = w.dims()[0] / group;
  const std::int64_t depth = channels * elementCount(window.kernel).value();
  const bool direct = isPointwise(window);
  std::vector<T> columns(direct ? 0 : static_cast<std::size_t>(depth * area));
  const T* from = x.data<T>().data();
  T* to = result.mutableData<T>().data();
  for (std::int64_t image = 0; image < x.dims()[0]; ++image) {
    for (std::int64_t g = 0; g < group; ++g) {
      if (!direct) unfold(from, channels, spatial, out, window, columns.data());
      multiply(w.data<T>().data() + g * filters * depth, direct ? from : columns.data(), to, filters, depth, area);
      from += channels * inputArea;
      to += filters * area;
    }
  }
  if (context.hasInput(2)) addBias<T>(context.input(2), result);
}

Result<Tensors> conv(const KernelContext& context) {
  const Tensor &x = context.input(0), &w = context.input(1);
  const Dims spatial(x.dims().begin() + 2, x.dims().end());
  Window window = TRY(Window::read(context.node(), spatial.size(), Dims(w.dims().begin() + 2, w.dims().end())));
  window.resolvePads(spatial);
  Tensor result = TRY(allocateOutput(context));
  if (result.count() == 0) return Tensors{std::move(result)};
  dispatchFloat(x.type(), [&]<class T>(std::type_identity<T>) { convInto<T>(context, window, result); });
  return Tensors{std::move(result)};
}

std::int64_t biasFlops(std::span<const Dims> inputs, const Dims& output) {
  return inputs.size() > 2 ? workOf(output) : 0;
}

std::int64_t convFlops(const Node&, std::span<const Dims> inputs, std::span<const Dims> outputs) {
  if (inputs.size() < 2 || outputs.empty()) return 0;
  return addedWork(filterFlops(outputs[0], inputs[1]), biasFlops(inputs, outputs[0]));
}

/// A transposed convolution: the window, and what is added or requested at the end of the output.
struct Transposed {
  Window window;
  Dims outputPadding, outputShape;

  static Result<Transposed> read(const Node& node, std::size_t spatial, Dims kernel) {
    Transposed result{.window = TRY(Window::read(node, spatial, std::move(kernel)))};
    result.outputPadding = node.intsAttribute("output_padding", Dims(spatial, 0));
    result.outputShape = node.intsAttribute("output_shape");
    if (result.outputPadding.size() != spatial)
      return attributeProblem("output_padding", "must have one entry for each spatial axis");
    if (!result.outputShape.empty() && result.outputShape.size() != spatial)
      return attributeProblem("output_shape", "must have one entry for each spatial axis");
    return result;
  }
  /// Returns the extent before padding is removed.
  std::int64_t full(std::size_t axis, std::int64_t input) const {
    return window.strides[axis] * (input - 1) + outputPadding[axis] + window.reach(axis);
  }
  Result<Dim> outputDim(std::size_t axis, const Dim& input) const {
    if (!outputShape.empty()) return checkedExtent(outputShape[axis], "the extent of the output");
    const bool same = window.autoPad == "SAME_UPPER" || window.autoPad == "SAME_LOWER";
    if (!input.known()) {
      const std::int64_t unpadded = full(axis, 0) - window.padBegin[axis] - window.padEnd[axis];
      return scaledExtent(input, window.strides[axis], same ? 0 : unpadded);
    }
    if (same) return Dim(input.size * window.strides[axis]);
    return checkedExtent(full(axis, input.size) - window.padBegin[axis] - window.padEnd[axis],
                         "the extent of the output");
  }
  /// Sets the padding at the beginning, once the extent of the output is known.
  void resolvePads(const Dims& input, const Dims& output) {
    if (outputShape.empty() && window.autoPad != "SAME_UPPER" && window.autoPad != "SAME_LOWER") return;
    for (std::size_t i = 0; i < input.size(); ++i) {
      const std::int64_t total = std::max<std::int64_t>(0, full(i, input[i]) - output[i]);
      window.padBegin[i] = window.autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      window.padEnd[i] = total - window.padBegin[i];
    }
  }
};

Result<Types> inferConvTranspose(const InferContext& context) {
  const DataType type = context.input(0).dtype;
  const std::int64_t group = TRY(groupOf(context.node()));
  const auto spatial = TRY(spatialRank(context));
  if (!spatial) return one(type, Shape::unknown());
  const Shape x = context.input(0).shape.ranked ? context.input(0).shape : unknownOfRank(*spatial + 2);
  const Shape w = context.input(1).shape.ranked ? context.input(1).shape : unknownOfRank(*spatial + 2);
  TRY(unified(context, x.dims[1], w.dims[0], "the numbers of channels of input and weight"));
  if (w.dims[0].known() && w.dims[0].size % group != 0)
    return attributeProblem("group", fmt::format("{} does not divide the {} input channels", group, w.dims[0].size));
  Shape result = unknownOfRank(*spatial + 2);
  result.dims[0] = x.dims[0];
  if (w.dims[1].known()) result.dims[1] = Dim(w.dims[1].size * group);
  TRY(checkBias(context, result.dims[1]));
  const auto kernel = kernelOf(w);
  if (!kernel) return one(type, std::move(result));
  for (const std::int64_t extent : *kernel)
    if (extent < 1) return problem("the weight has an empty kernel");
  const Transposed transposed = TRY(Transposed::read(context.node(), *spatial, *kernel));
  for (std::size_t i = 0; i < *spatial; ++i) result.dims[2 + i] = TRY(transposed.outputDim(i, x.dims[2 + i]));
  return one(type, std::move(result));
}

template <class T>
void convTransposeInto(const KernelContext& context, const Window& window, Tensor& result) {
  const Tensor &x = context.input(0), &w = context.input(1);
  const std::int64_t group = context.node().intAttribute("group", 1);
  const Dims spatial(x.dims().begin() + 2, x.dims().end()), out(result.dims().begin() + 2, result.dims().end());
  const std::int64_t area = elementCount(spatial).value(), outputArea = elementCount(out).value();
  const std::int64_t channels = w.dims()[0] / group, filters = w.dims()[1];
  const std::int64_t depth = filters * elementCount(window.kernel).value();
  std::vector<T> turned(static_cast<std::size_t>(channels * depth)), columns(static_cast<std::size_t>(depth * area));
  const T* from = x.data<T>().data();
  T* to = result.mutableData<T>().data();
  for (std::int64_t image = 0; image < x.dims()[0]; ++image) {
    for (std::int64_t g = 0; g < group; ++g) {
      copyStrided<T>({depth, channels}, w.data<T>().data() + g * channels * depth, {1, depth}, turned.data(),
                     {channels, 1});
      multiply(turned.data(), from, columns.data(), depth, channels, area);
      foldAdd(columns.data(), filters, out, spatial, window, to);
      from += channels * area;
      to += filters * outputArea;
    }
  }
  if (context.hasInput(2)) addBias<T>(context.input(2), result);
}

Result<Tensors> convTranspose(const KernelContext& context) {
  const Tensor &x = context.input(0), &w = context.input(1);
  const Dims spatial(x.dims().begin() + 2, x.dims().end());
  Transposed transposed =
      TRY(Transposed::read(context.node(), spatial.size(), Dims(w.dims().begin() + 2, w.dims().end())));
  Tensor result = TRY(allocateOutput(context));
  transposed.resolvePads(spatial, Dims(result.dims().begin() + 2, result.dims().end()));
  if (result.count() == 0) return Tensors{std::move(result)};
  dispatchFloat(x.type(),
                [&]<class T>(std::type_identity<T>) { convTransposeInto<T>(context, transposed.window, result); });
  return Tensors{std::move(result)};
}

std::int64_t convTransposeFlops(const Node&, std::span<const Dims> inputs, std::span<const Dims> outputs) {
  if (inputs.size() < 2 || outputs.empty()) return 0;
  return addedWork(filterFlops(inputs[0], inputs[1]), biasFlops(inputs, outputs[0]));
}

}  // namespace

void registerConvolution(OpRegistry& registry) {
  const OpSignature floats{"TTT", {{'T', kFloatTypes}}};
  registry.add({.op = "Conv",
                .kind = OpKind::Convolution,
                .minInputs = 2,
                .maxInputs = 3,
                .infer = inferConv,
                .kernel = widened(conv),
                .flops = convFlops,
                .signature = floats});
  registry.add({.op = "ConvTranspose",
                .kind = OpKind::Convolution,
                .minInputs = 2,
                .maxInputs = 3,
                .infer = inferConvTranspose,
                .kernel = widened(convTranspose),
                .flops = convTransposeFlops,
                .signature = floats});
}

}  // namespace fusescope::ops
