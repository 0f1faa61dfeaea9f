// Windows over spatial axes that compute a maximum, a mean or a norm.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/support/extent_arithmetic.h"
#include "ops/support/extremes.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/strided.h"
#include "ops/support/window.h"
#include "ops/support/work.h"

namespace fusescope::ops {
namespace {

Result<Shape> pooledShape(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 3));
  const Shape& x = context.input(0).shape;
  if (!x.ranked) return Shape::unknown();
  const Window window = TRY(Window::read(context.node(), x.rank() - 2, {}));
  for (std::size_t i = 0; i < window.kernel.size(); ++i)
    if (window.padBegin[i] >= window.reach(i) || window.padEnd[i] >= window.reach(i))
      return attributeProblem("pads", fmt::format("contains {} and {}, but each must be smaller than the window of {}",
                                                  window.padBegin[i], window.padEnd[i], window.reach(i)));
  Shape result = x;
  for (std::size_t i = 0; i < window.kernel.size(); ++i)
    result.dims[2 + i] = TRY(window.outputDim(context, i, x.dims[2 + i]));
  return result;
}

Result<Types> inferPool(const InferContext& context) {
  return one(context.input(0).dtype, TRY(pooledShape(context)));
}

Result<Types> inferMaxPool(const InferContext& context) {
  const Shape shape = TRY(pooledShape(context));
  return Types{{context.input(0).dtype, shape}, {DataType::I64, shape}};
}

Result<Types> inferLpPool(const InferContext& context) {
  if (context.node().intAttribute("p", 2) < 1) return attributeProblem("p", "must be positive");
  return inferPool(context);
}

/// The images (batch times channels) of a pooling node and the window over them.
struct Pool {
  Window window;
  Dims in, out;
  std::int64_t images = 0, inArea = 0, outArea = 0;

  static Result<Pool> read(const KernelContext& context) {
    Pool pool;
    const Dims &x = context.input(0).dims(), y = context.outputDims(0);
    pool.in.assign(x.begin() + 2, x.end());
    pool.out.assign(y.begin() + 2, y.end());
    pool.window = TRY(Window::read(context.node(), pool.in.size(), {}));
    pool.window.resolvePads(pool.in);
    pool.images = x[0] * x[1];
    pool.inArea = elementCount(pool.in).value();
    pool.outArea = elementCount(pool.out).value();
    return pool;
  }

  /// Calls f(position, offset in the image) for every tap inside the input, position by position, and after each
  /// position `end`(position, taps inside, taps inside input or padding).
  template <class F, class End>
  void forEachTap(F f, End end) const {
    const Dims strides = denseStrides(in);
    std::int64_t position = 0;
    forEachIndex(out, [&](const Dims& at) {
      std::int64_t inside = 0, padded = 0;
      forEachIndex(window.kernel, [&](const Dims& tap) {
        std::int64_t offset = 0;
        bool hits = true, inPadding = true;
        for (std::size_t i = 0; i < tap.size(); ++i) {
          const std::int64_t place = at[i] * window.strides[i] + tap[i] * window.dilations[i] - window.padBegin[i];
          hits = hits && place >= 0 && place < in[i];
          inPadding = inPadding && place < in[i] + window.padEnd[i];
          offset += place * strides[i];
        }
        if (hits) f(position, offset);
        inside += hits ? 1 : 0;
        padded += inPadding ? 1 : 0;
        return true;
      });
      end(position++, inside, padded);
      return true;
    });
  }
};

/// Converts a row-major offset to the offset if the last two axes were stored column by column.
std::int64_t columnMajor(std::int64_t offset, const Dims& dims) {
  std::int64_t result = 0, stride = 1;
  Dims index(dims.size());
  for (std::size_t i = dims.size(); i-- > 0; offset /= dims[i]) index[i] = offset % dims[i];
  for (std::size_t i = 0; i < dims.size(); stride *= dims[i++]) result += index[i] * stride;
  return result;
}

template <class T>
Result<Tensors> maxPoolAs(const KernelContext& context) {
  const Pool pool = TRY(Pool::read(context));
  Tensor result = TRY(allocateOutput(context));
  const bool columns = context.node().intAttribute("storage_order", 0) != 0;
  Tensor indices;
  if (context.outputCount() > 1) indices = TRY(allocateOutput(context, 1));
  constexpr T kLeast =
      std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  for (std::int64_t image = 0; image < pool.images; ++image) {
    const T* from = context.input(0).data<T>().data() + image * pool.inArea;
    T* to = result.mutableData<T>().data() + image * pool.outArea;
    T most = kLeast;
    std::int64_t place = -1;
    const auto take = [&](std::int64_t, std::int64_t offset) {
      if (place >= 0 && !isAbove(from[offset], most)) return;
      most = from[offset];
      place = offset;
    };
    const auto finish = [&](std::int64_t position, std::int64_t, std::int64_t) {
      to[position] = most;
      if (context.outputCount() > 1)
        indices.mutableData<std::int64_t>()[static_cast<std::size_t>(image * pool.outArea + position)] =
            image * pool.inArea + (columns && place >= 0 ? columnMajor(place, pool.in) : place);
      most = kLeast;
      place = -1;
    };
    pool.forEachTap(take, finish);
  }
  Tensors results{std::move(result)};
  if (context.outputCount() > 1) results.push_back(std::move(indices));
  return results;
}

Result<Tensors> maxPool(const KernelContext& context) {
  return dispatchNumber(context.input(0).type(), [&]<class T>(std::type_identity<T>) { return maxPoolAs<T>(context); });
}

/// Sums f(element) over each window; `finish(sum, inside, padded)` returns the result.
template <class T, class F, class Finish>
Result<Tensors> sumPool(const KernelContext& context, F f, Finish finish) {
  const Pool pool = TRY(Pool::read(context));
  Tensor result = TRY(allocateOutput(context));
  for (std::int64_t image = 0; image < pool.images; ++image) {
    const T* from = context.input(0).data<T>().data() + image * pool.inArea;
    T* to = result.mutableData<T>().data() + image * pool.outArea;
    double sum = 0;
    pool.forEachTap([&](std::int64_t, std::int64_t offset) { sum += f(static_cast<double>(from[offset])); },
                    [&](std::int64_t position, std::int64_t inside, std::int64_t padded) {
                      to[position] = static_cast<T>(finish(sum, inside, padded));
                      sum = 0;
                    });
  }
  return Tensors{std::move(result)};
}

Result<Tensors> averagePool(const KernelContext& context) {
  const bool withPadding = context.node().intAttribute("count_include_pad", 0) != 0;
  return dispatchFloat(context.input(0).type(), [&]<class T>(std::type_identity<T>) {
    return sumPool<T>(
        context, [](double x) { return x; },
        [=](double sum, std::int64_t inside, std::int64_t padded) {
          return sum / static_cast<double>(withPadding ? padded : inside);
        });
  });
}

Result<Tensors> lpPool(const KernelContext& context) {
  const auto p = static_cast<double>(context.node().intAttribute("p", 2));
  return dispatchFloat(context.input(0).type(), [&]<class T>(std::type_identity<T>) {
    return sumPool<T>(
        context, [=](double x) { return std::pow(std::fabs(x), p); },
        [=](double sum, std::int64_t, std::int64_t) { return std::pow(sum, 1 / p); });
  });
}

// --- over the whole image

Result<Types> inferGlobalPool(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 3));
  TensorType type = context.input(0);
  for (std::size_t i = 2; i < type.shape.rank(); ++i) type.shape.dims[i] = Dim(1);
  return Types{type};
}

/// Computes one number for each image with f(first element, number of elements).
template <class T, class F>
Result<Tensors> globalPool(const KernelContext& context, F f) {
  const Tensor& x = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const std::int64_t images = result.count(), area = images == 0 ? 0 : x.count() / images;
  if (area == 0 && images > 0) return problem("the input has no spatial elements");
  for (std::int64_t i = 0; i < images; ++i)
    result.mutableData<T>()[static_cast<std::size_t>(i)] = static_cast<T>(f(x.data<T>().data() + i * area, area));
  return Tensors{std::move(result)};
}

template <class Make>
KernelFunction globalKernel(Make make) {
  return widened([make](const KernelContext& context) {
    return dispatchFloat(context.input(0).type(),
                         [&]<class T>(std::type_identity<T>) { return globalPool<T>(context, make(context.node())); });
  });
}

auto globalMean(const Node&) {
  return [](const auto* from, std::int64_t count) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(from[i]);
    return sum / static_cast<double>(count);
  };
}

auto globalMax(const Node&) {
  return [](const auto* from, std::int64_t count) {
    auto most = from[0];
    for (std::int64_t i = 1; i < count; ++i) most = largerOf(most, from[i]);
    return most;
  };
}

auto globalNorm(const Node& node) {
  const auto p = static_cast<double>(node.intAttribute("p", 2));
  return [=](const auto* from, std::int64_t count) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += std::pow(std::fabs(static_cast<double>(from[i])), p);
    return std::pow(sum, 1 / p);
  };
}

// --- the reverse

Result<Types> inferMaxUnpool(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 3));
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, Shape::unknown());
  TRY(requireRank(context, 1, x.shape.rank()));
  if (context.hasInput(2)) {
    const auto wanted = knownInts(context, 2);
    if (!wanted) return one(x.dtype, unknownOfRank(x.shape.rank()));
    if (wanted->size() != x.shape.rank()) return problem("output_shape must have an entry for each axis");
    for (const std::int64_t extent : *wanted) TRY(checkedExtent(extent, "an entry of output_shape"));
    return one(x.dtype, Shape::of(*wanted));
  }
  const Window window = TRY(Window::read(context.node(), x.shape.rank() - 2, {}));
  Shape result = x.shape;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const Dim& in = x.shape.dims[2 + i];
    const std::int64_t rest = window.kernel[i] - window.strides[i] - window.padBegin[i] - window.padEnd[i];
    result.dims[2 + i] = in.known() ? TRY(checkedExtent(in.size * window.strides[i] + rest, "the extent of the output"))
                                    : scaledExtent(in, window.strides[i], rest);
  }
  return one(x.dtype, std::move(result));
}

Result<Tensors> maxUnpool(const KernelContext& context) {
  const Tensor &x = context.input(0), &indices = context.input(1);
  if (indices.count() != x.count()) return problem("the indices must have as many elements as the input");
  Tensor result = TRY(allocateOutput(context));
  // Indices are relative to the extents that kernel, strides and pads imply; output_shape may be larger.
  Window window = TRY(Window::read(context.node(), x.dims().size() - 2, {}));
  Dims pooled = x.dims();
  for (std::size_t i = 0; i < window.kernel.size(); ++i)
    pooled[2 + i] =
        (x.dims()[2 + i] - 1) * window.strides[i] + window.kernel[i] - window.padBegin[i] - window.padEnd[i];
  const Dims strides = denseStrides(result.dims());
  return dispatchFloat(x.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    for (std::int64_t i = 0; i < x.count(); ++i) {
      std::int64_t rest = TRY(checkedIndex(indices.asInt64(i), elementCount(pooled).value_or(0))), at = 0;
      for (std::size_t axis = pooled.size(); axis-- > 0; rest /= pooled[axis]) {
        if (rest % pooled[axis] >= result.dims()[axis]) return problem("an index is outside output_shape");
        at += rest % pooled[axis] * strides[axis];
      }
      result.mutableData<T>()[static_cast<std::size_t>(at)] = x.data<T>()[static_cast<std::size_t>(i)];
    }
    return Tensors{std::move(result)};
  });
}

// --- registration

std::int64_t poolFlops(const Node& node, std::span<const Dims>, std::span<const Dims> outputs) {
  if (outputs.empty()) return 0;
  return workOf({workOf(outputs[0]), workOf(node.intsAttribute("kernel_shape"))});
}

std::int64_t globalFlops(const Node&, std::span<const Dims> inputs, std::span<const Dims>) {
  return inputs.empty() ? 0 : workOf(inputs[0]);
}

OpSchema pooling(std::string op, InferFunction infer, KernelFunction kernel, FlopsFunction flops,
                 TypeSet types = kFloatTypes) {
  return {.op = std::move(op),
          .kind = OpKind::Pooling,
          .minInputs = 1,
          .maxInputs = 1,
          .infer = std::move(infer),
          .kernel = widened(std::move(kernel)),
          .flops = std::move(flops),
          .signature = {"T", {{'T', types}}}};
}

}  // namespace

void registerPooling(OpRegistry& registry) {
  registry.add(pooling("AveragePool", inferPool, averagePool, poolFlops));
  registry.add(pooling("GlobalAveragePool", inferGlobalPool, globalKernel(globalMean), globalFlops));
  registry.add(pooling("GlobalLpPool", inferGlobalPool, globalKernel(globalNorm), globalFlops));
  registry.add(pooling("GlobalMaxPool", inferGlobalPool, globalKernel(globalMax), globalFlops));
  registry.add(pooling("LpPool", inferLpPool, lpPool, poolFlops));
  OpSchema maxPoolSchema = pooling("MaxPool", inferMaxPool, maxPool, poolFlops, kNumberTypes);
  maxPoolSchema.maxOutputs = 2;
  registry.add(std::move(maxPoolSchema));
  registry.add({.op = "MaxUnpool",
                .kind = OpKind::Pooling,
                .minInputs = 2,
                .maxInputs = 3,
                .infer = inferMaxUnpool,
                .kernel = widened(maxUnpool),
                .flops = {},
                .signature = {"TII", {{'T', kFloatTypes}, {'I', kInt64Type}}}});
}

}  // namespace fusescope::ops
