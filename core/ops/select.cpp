// Elements that are chosen by their value or by a condition.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

// --- TopK

Result<Types> inferTopK(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 1));
  const TensorType& x = context.input(0);
  Shape shape = x.shape;
  if (shape.ranked) {
    const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", -1), shape.rank()));
    const auto k = knownInt(context, 1);
    if (k && (*k < 0 || (shape.dims[axis].known() && *k > shape.dims[axis].size)))
      return problem(fmt::format("k is {}, but the axis has {} elements", *k, shape.dims[axis].size));
    shape.dims[axis] = k ? Dim(*k) : Dim();
  }
  return Types{{x.dtype, shape}, {DataType::I64, shape}};
}

template <class T>
void topKLine(const T* from, T* values, std::int64_t* indices, const AxisSplit& split, std::int64_t k, bool largest) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(split.extent));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const T left = from[a * split.inner], right = from[b * split.inner];
    // NaN counts as the largest.
    if (left != left || right != right)
      return largest ? left != left && right == right : left == left && right != right;
    return largest ? left > right : left < right;
  });
  for (std::int64_t i = 0; i < k; ++i) {
    values[i * split.inner] = from[order[static_cast<std::size_t>(i)] * split.inner];
    indices[i * split.inner] = order[static_cast<std::size_t>(i)];
  }
}

Result<Tensors> topK(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const Dims dims = context.outputDims(0);
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", -1), dims.size()));
  const bool largest = context.node().intAttribute("largest", 1) != 0;
  const AxisSplit split = splitAt(x.dims(), axis);
  Tensor values = TRY(allocateOutput(context)), indices = TRY(allocate(DataType::I64, dims));
  dispatchNumber(x.type(), [&]<class T>(std::type_identity<T>) {
    for (std::int64_t line = 0; line < split.outer * split.inner; ++line) {
      const std::int64_t outer = line / split.inner, inner = line % split.inner;
      const std::int64_t to = outer * dims[axis] * split.inner + inner;
      topKLine<T>(x.data<T>().data() + outer * split.extent * split.inner + inner, values.mutableData<T>().data() + to,
                  indices.mutableData<std::int64_t>().data() + to, split, dims[axis], largest);
    }
  });
  return Tensors{std::move(values), std::move(indices)};
}

// --- Compress

Result<Types> inferCompress(const InferContext& context) {
  const TensorType& x = context.input(0);
  TRY(requireRank(context, 1, 1));
  if (!context.node().hasAttribute("axis") || !x.shape.ranked)
    return one(x.dtype, context.node().hasAttribute("axis") ? Shape::unknown() : unknownOfRank(1));
  Shape shape = x.shape;
  shape.dims[TRY(normalizedAxis(context.node().intAttribute("axis", 0), shape.rank()))] = Dim();
  return one(x.dtype, std::move(shape));
}

Result<Tensors> compress(const KernelContext& context) {
  const bool flat = !context.node().hasAttribute("axis");
  const Tensor x = flat ? context.input(0).reshaped({context.input(0).count()}) : context.input(0);
  const std::size_t axis = TRY(normalizedAxis(flat ? 0 : context.node().intAttribute("axis", 0), x.dims().size()));
  const AxisSplit split = splitAt(x.dims(), axis);
  std::vector<std::int64_t> kept;
  const Tensor& condition = context.input(1);
  if (condition.count() > split.extent) return problem("the condition is longer than the axis");
  for (std::int64_t i = 0; i < condition.count(); ++i)
    if (condition.asInt64(i) != 0) kept.push_back(i);
  Dims dims = x.dims();
  dims[axis] = std::ssize(kept);
  return dispatchStorage(x.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(x.type(), dims));
    T* to = builder.elements().data();
    const T* from = elementsOf<T>(x).data();
    for (std::int64_t o = 0; o < split.outer; ++o)
      for (const std::int64_t place : kept) {
        const T* start = from + (o * split.extent + place) * split.inner;
        to = std::copy(start, start + split.inner, to);
      }
    return Tensors{std::move(builder).finish()};
  });
}

// --- Unique

Result<Types> inferUnique(const InferContext& context) {
  const TensorType& x = context.input(0);
  Shape shape = x.shape;
  if (!context.node().hasAttribute("axis"))
    shape = unknownOfRank(1);
  else if (shape.ranked)
    shape.dims[TRY(normalizedAxis(context.node().intAttribute("axis", 0), shape.rank()))] = Dim();
  const TensorType indices{DataType::I64, unknownOfRank(1)};
  return Types{{x.dtype, shape}, indices, indices, indices};
}

/// The distinct slices of a tensor along an axis: for each, its first index and how often it occurs; and for each
/// slice, which of them it is.
struct Distinct {
  std::vector<std::int64_t> first, inverse, counts;
};

/// Orders slices by their elements. NaN comes after all numbers and equals itself.
struct SliceOrder {
  template <class T>
  static bool before(const T& a, const T& b) {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || (a == a && b != b);
    else
      return a < b;
  }
  template <class T>
  bool operator()(const std::vector<T>& a, const std::vector<T>& b) const {
    return std::ranges::lexicographical_compare(a, b, before<T>);
  }
};

template <class T>
Distinct distinctSlices(const Tensor& x, const AxisSplit& split, bool sorted) {
  const T* from = nullptr;
  if constexpr (std::is_same_v<T, std::string>)
    from = x.strings().data();
  else
    from = x.data<T>().data();
  std::map<std::vector<T>, std::int64_t, SliceOrder> seen;
  Distinct distinct;
  std::vector<std::vector<T>> keys;
  for (std::int64_t place = 0; place < split.extent; ++place) {
    std::vector<T> key;
    for (std::int64_t o = 0; o < split.outer; ++o)
      for (std::int64_t i = 0; i < split.inner; ++i) key.push_back(from[(o * split.extent + place) * split.inner + i]);
    const auto [found, isNew] = seen.try_emplace(key, std::ssize(distinct.first));
    if (isNew) {
      distinct.first.push_back(place);
      distinct.counts.push_back(0);
    }
    ++distinct.counts[static_cast<std::size_t>(found->second)];
    distinct.inverse.push_back(found->second);
  }
  if (!sorted) return distinct;
  Distinct ordered;
  std::vector<std::int64_t> rank(distinct.first.size());
  for (const auto& [key, which] : seen) {
    rank[static_cast<std::size_t>(which)] = std::ssize(ordered.first);
    ordered.first.push_back(distinct.first[static_cast<std::size_t>(which)]);
    ordered.counts.push_back(distinct.counts[static_cast<std::size_t>(which)]);
  }
  for (const std::int64_t which : distinct.inverse) ordered.inverse.push_back(rank[static_cast<std::size_t>(which)]);
  return ordered;
}

/// Complex numbers are ordered by their real part, then by the imaginary part.
Distinct slicesOf(const Tensor& x, const AxisSplit& split, bool sorted) {
  if (x.type() == DataType::String) return distinctSlices<std::string>(x, split, sorted);
  if (x.type() == DataType::C64) return distinctSlices<std::array<float, 2>>(x, split, sorted);
  if (x.type() == DataType::C128) return distinctSlices<std::array<double, 2>>(x, split, sorted);
  return dispatchNumber(x.type(), [&]<class T>(std::type_identity<T>) { return distinctSlices<T>(x, split, sorted); });
}

Result<Tensors> unique(const KernelContext& context) {
  const bool flat = !context.node().hasAttribute("axis");
  const bool sorted = context.node().intAttribute("sorted", 1) != 0;
  const Tensor x = flat ? context.input(0).reshaped({context.input(0).count()}) : context.input(0);
  const std::size_t axis = TRY(normalizedAxis(flat ? 0 : context.node().intAttribute("axis", 0), x.dims().size()));
  const AxisSplit split = splitAt(x.dims(), axis);
  const Distinct distinct = slicesOf(x, split, sorted);
  Dims dims = x.dims();
  dims[axis] = std::ssize(distinct.first);
  return dispatchStorage(x.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(x.type(), dims));
    T* to = builder.elements().data();
    const T* from = elementsOf<T>(x).data();
    for (std::int64_t o = 0; o < split.outer; ++o)
      for (const std::int64_t place : distinct.first) {
        const T* start = from + (o * split.extent + place) * split.inner;
        to = std::copy(start, start + split.inner, to);
      }
    return Tensors{std::move(builder).finish(), Tensor::ofInt64(distinct.first), Tensor::ofInt64(distinct.inverse),
                   Tensor::ofInt64(distinct.counts)};
  });
}

}  // namespace

void registerSelect(OpRegistry& registry) {
  registry.add({.op = "Compress",
                .kind = OpKind::Movement,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferCompress,
                .kernel = unpacked(compress),
                .signature = {"TB", {{'T', kAnyType}, {'B', kBoolType}}},
                .extentsDependOnData = true});
  registry.add({.op = "TopK",
                .kind = OpKind::Other,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferTopK,
                .kernel = widened(topK),
                .maxOutputs = 2,
                .signature = {"TI", {{'T', kNumberTypes}, {'I', kInt64Type}}}});
  registry.add(
      {.op = "Unique",
       .kind = OpKind::Other,
       .minInputs = 1,
       .maxInputs = 1,
       .infer = inferUnique,
       .kernel = widened(unique),
       .maxOutputs = 4,
       .signature = {"T", {{'T', kNumberTypes | kBoolType | TypeSet{DataType::String, DataType::C64, DataType::C128}}}},
       .extentsDependOnData = true});
}

}  // namespace fusescope::ops
