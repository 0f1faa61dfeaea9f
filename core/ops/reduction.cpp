// Reductions over any axes, to a number or to an index, and running sums.
#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/support/extremes.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/strided.h"
#include "ops/support/work.h"

namespace fusescope::ops {
namespace {

/// Returns the axes that a Reduce node reduces, or nothing if they are unknown. If they are absent or empty, they are
/// all axes, or none if noop_with_empty_axes is set.
Result<std::optional<std::vector<std::size_t>>> reducedAxes(const Node& node, std::size_t rank, bool given,
                                                            const std::optional<Ints>& axes) {
  if (given && !axes) return std::optional<std::vector<std::size_t>>();
  if (given && !axes->empty()) return std::optional(TRY(normalizedAxes(*axes, rank)));
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < rank && node.intAttribute("noop_with_empty_axes", 0) == 0; ++i) all.push_back(i);
  return std::optional(std::move(all));
}

Result<Types> inferReduce(const InferContext& context) {
  const TensorType& x = context.input(0);
  const Node& node = context.node();
  const bool keep = node.intAttribute("keepdims", 1) != 0;
  if (!x.shape.ranked) return one(x.dtype, Shape::unknown());
  const auto axes = TRY(reducedAxes(node, x.shape.rank(), context.hasInput(1), knownInts(context, 1)));
  if (!axes) return one(x.dtype, keep ? unknownOfRank(x.shape.rank()) : Shape::unknown());
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    const bool reduced = std::find(axes->begin(), axes->end(), i) != axes->end();
    if (!reduced) dims.push_back(x.shape.dims[i]);
    if (reduced && keep) dims.push_back(Dim(1));
  }
  return one(x.dtype, Shape::of(std::move(dims)));
}

// A reduction consists of the initial state, adding an element, and the final result. Floats accumulate in double.
template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double,
                                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

struct SumOf {
  template <class A>
  static A start() {
    return A(0);
  }
  template <class A>
  static void add(A& state, A x) {
    state += x;
  }
  template <class A>
  static A finish(A state, std::int64_t) {
    return state;
  }
};
struct MeanOf : SumOf {
  template <class A>
  static A finish(A state, std::int64_t count) {
    return count == 0 && std::is_integral_v<A> ? A(0) : state / static_cast<A>(count);
  }
};
struct L1Of : SumOf {
  template <class A>
  static void add(A& state, A x) {
    if constexpr (std::is_signed_v<A>)
      state += x < 0 ? -x : x;
    else
      state += x;
  }
};
struct SumSquareOf : SumOf {
  template <class A>
  static void add(A& state, A x) {
    state += x * x;
  }
};
struct L2Of : SumSquareOf {
  template <class A>
  static A finish(A state, std::int64_t) {
    return static_cast<A>(std::sqrt(static_cast<double>(state)));
  }
};
struct LogSumOf : SumOf {
  template <class A>
  static A finish(A state, std::int64_t) {
    return static_cast<A>(std::log(static_cast<double>(state)));
  }
};
struct ProdOf : SumOf {
  template <class A>
  static A start() {
    return A(1);
  }
  template <class A>
  static void add(A& state, A x) {
    if constexpr (std::is_integral_v<A>)
      state = static_cast<A>(static_cast<std::uint64_t>(state) * static_cast<std::uint64_t>(x));
    else
      state *= x;
  }
};
struct GreatestOf : SumOf {
  template <class A>
  static A start() {
    return std::numeric_limits<A>::has_infinity ? -std::numeric_limits<A>::infinity()
                                                : std::numeric_limits<A>::lowest();
  }
  template <class A>
  static void add(A& state, A x) {
    state = largerOf(state, x);
  }
};
struct LeastOf : SumOf {
  template <class A>
  static A start() {
    return std::numeric_limits<A>::has_infinity ? std::numeric_limits<A>::infinity() : std::numeric_limits<A>::max();
  }
  template <class A>
  static void add(A& state, A x) {
    state = smallerOf(state, x);
  }
};

/// Calls f(element index, cell index) for every element of `from` and the cell of the result to which it belongs.
template <class F>
void forEachCell(const Dims& from, const std::vector<std::size_t>& axes, F f) {
  Dims kept = from;
  for (const std::size_t axis : axes) kept[axis] = 1;
  forEachRun<2>(from, {denseStrides(from), broadcastStrides(kept, from)},
                [&](const auto& at, const auto& step, std::int64_t count) {
                  for (std::int64_t k = 0; k < count; ++k) f(at[0] + k, static_cast<std::size_t>(at[1] + k * step[1]));
                });
}

Result<std::vector<std::size_t>> kernelAxes(const KernelContext& context) {
  const bool given = context.hasInput(1);
  const auto axes = TRY(reducedAxes(context.node(), context.input(0).dims().size(), given,
                                    given ? std::optional(int64Values(context.input(1))) : std::nullopt));
  return axes.value();  // known, because kernels are given whole tensors
}

template <class T, class Op>
void reduceInto(const Tensor& x, const std::vector<std::size_t>& axes, Tensor& result) {
  using A = Accumulator<T>;
  const auto to = result.mutableData<T>();
  std::vector<A> state(to.size(), Op::template start<A>());
  const T* from = x.data<T>().data();
  forEachCell(x.dims(), axes, [&](std::int64_t i, std::size_t cell) { Op::add(state[cell], static_cast<A>(from[i])); });
  std::int64_t count = 1;
  for (const std::size_t axis : axes) count *= x.dims()[axis];
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<T>(Op::finish(state[i], count));
    if constexpr (std::is_integral_v<T> && (std::is_same_v<Op, GreatestOf> || std::is_same_v<Op, LeastOf>))
      if (count == 0)
        to[i] = std::is_same_v<Op, GreatestOf> ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  }
}

template <class Op>
Result<Tensors> reduce(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  const auto axes = TRY(kernelAxes(context));
  dispatchNumber(result.type(),
                 [&]<class T>(std::type_identity<T>) { reduceInto<T, Op>(context.input(0), axes, result); });
  return Tensors{std::move(result)};
}

/// Calculates log(sum(exp(x))). The largest element is factored out first, so that nothing overflows.
template <class T>
void logSumExpInto(const Tensor& x, const std::vector<std::size_t>& axes, Tensor& result) {
  const auto to = result.mutableData<T>();
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  std::vector<double> most(to.size(), kLeast), sums(to.size(), 0);
  const T* from = x.data<T>().data();
  forEachCell(x.dims(), axes, [&](std::int64_t i, std::size_t cell) {
    most[cell] = std::max(most[cell], static_cast<double>(from[i]));
  });
  for (double& value : most)
    if (std::isinf(value)) value = 0;
  forEachCell(x.dims(), axes, [&](std::int64_t i, std::size_t cell) {
    sums[cell] += std::exp(static_cast<double>(from[i]) - most[cell]);
  });
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(std::log(sums[i]) + most[i]);
}

Result<Tensors> logSumExp(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  const auto axes = TRY(kernelAxes(context));
  dispatchNumber(result.type(),
                 [&]<class T>(std::type_identity<T>) { logSumExpInto<T>(context.input(0), axes, result); });
  return Tensors{std::move(result)};
}

std::int64_t onePerInput(const Node&, std::span<const Dims> inputs, std::span<const Dims>) {
  return inputs.empty() ? 0 : workOf(inputs[0]);
}

OpSchema reduction(std::string op, KernelFunction kernel, TypeSet types = kNumberTypes) {
  return {.op = std::move(op),
          .kind = OpKind::Reduction,
          .minInputs = 1,
          .maxInputs = 2,
          .infer = inferReduce,
          .kernel = widened(std::move(kernel)),
          .flops = onePerInput,
          .signature = {"TI", {{'T', types}, {'I', kInt64Type}}}};
}

// --- the index of the extreme

Result<Types> inferArg(const InferContext& context) {
  Shape shape = context.input(0).shape;
  if (!shape.ranked) return one(DataType::I64, Shape::unknown());
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), shape.rank()));
  if (shape.dims[axis] == Dim(0)) return problem("the axis has no elements to choose from");
  if (context.node().intAttribute("keepdims", 1) != 0)
    shape.dims[axis] = Dim(1);
  else
    shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return one(DataType::I64, std::move(shape));
}

template <bool largest>
Result<Tensors> argExtreme(const KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), x.dims().size()));
  const bool last = context.node().intAttribute("select_last_index", 0) != 0;
  const AxisSplit split = splitAt(x.dims(), axis);
  std::int64_t* to = result.mutableData<std::int64_t>().data();
  dispatchNumber(x.type(), [&]<class T>(std::type_identity<T>) {
    for (std::int64_t line = 0; line < split.outer * split.inner; ++line) {
      const T* from = x.data<T>().data() + line / split.inner * split.extent * split.inner + line % split.inner;
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < split.extent; ++k) {
        const T value = from[k * split.inner], champion = from[best * split.inner];
        if ((largest ? value > champion : value < champion) || (last && value == champion)) best = k;
      }
      *to++ = best;
    }
  });
  return Tensors{std::move(result)};
}

OpSchema argSchema(std::string op, KernelFunction kernel) {
  return {.op = std::move(op),
          .kind = OpKind::Reduction,
          .minInputs = 1,
          .maxInputs = 1,
          .infer = inferArg,
          .kernel = widened(std::move(kernel)),
          .flops = onePerInput,
          .signature = {"T", {{'T', kNumberTypes}}}};
}

// --- running sums and products

Result<Types> inferCumulative(const InferContext& context) {
  const auto axis = knownInt(context, 1);
  if (axis && context.input(0).shape.ranked) TRY(normalizedAxis(*axis, context.input(0).shape.rank()));
  return inferLikeFirst(context);
}

/// Combines each element with those before it along the axis: their product, or their sum. Integers wrap.
template <bool product>
Result<Tensors> cumulative(const KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  if (context.input(1).count() != 1) return problem("the axis must be a single number");
  const std::size_t axis = TRY(normalizedAxis(context.input(1).asInt64(0), x.dims().size()));
  const bool exclusive = context.node().intAttribute("exclusive", 0) != 0;
  const bool reverse = context.node().intAttribute("reverse", 0) != 0;
  const AxisSplit split = splitAt(x.dims(), axis);
  dispatchNumber(x.type(), [&]<class T>(std::type_identity<T>) {
    for (std::int64_t line = 0; line < split.outer * split.inner; ++line) {
      const std::int64_t start = line / split.inner * split.extent * split.inner + line % split.inner;
      using A = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
      A state = product ? 1 : 0;
      for (std::int64_t k = 0; k < split.extent; ++k) {
        const std::int64_t at = start + (reverse ? split.extent - 1 - k : k) * split.inner;
        const auto value = static_cast<A>(x.data<T>()[static_cast<std::size_t>(at)]);
        const A next = product ? state * value : state + value;
        result.mutableData<T>()[static_cast<std::size_t>(at)] = static_cast<T>(exclusive ? state : next);
        state = next;
      }
    }
  });
  return Tensors{std::move(result)};
}

}  // namespace

void registerReduction(OpRegistry& registry) {
  registry.add(argSchema("ArgMax", argExtreme<true>));
  registry.add(argSchema("ArgMin", argExtreme<false>));
  registry.add({.op = "CumProd",
                .kind = OpKind::Reduction,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferCumulative,
                .kernel = widened(cumulative<true>),
                .signature = {"TI", {{'T', kNumberTypes}, {'I', kIndexTypes}}}});
  registry.add({.op = "CumSum",
                .kind = OpKind::Reduction,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferCumulative,
                .kernel = widened(cumulative<false>),
                .signature = {"TI", {{'T', kNumberTypes}, {'I', kIndexTypes}}}});
  registry.add(reduction("ReduceL1", reduce<L1Of>));
  registry.add(reduction("ReduceL2", reduce<L2Of>));
  registry.add(reduction("ReduceLogSum", reduce<LogSumOf>));
  registry.add(reduction("ReduceLogSumExp", logSumExp));
  registry.add(reduction("ReduceMax", reduce<GreatestOf>, kNumberTypes | kBoolType));
  registry.add(reduction("ReduceMean", reduce<MeanOf>));
  registry.add(reduction("ReduceMin", reduce<LeastOf>, kNumberTypes | kBoolType));
  registry.add(reduction("ReduceProd", reduce<ProdOf>));
  registry.add(reduction("ReduceSum", reduce<SumOf>));
  registry.add(reduction("ReduceSumSquare", reduce<SumSquareOf>));
}

}  // namespace fusescope::ops
