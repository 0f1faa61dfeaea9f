// Einsum with any number of operands: a sum over every index that the output does not name.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ops/families.h"
#include "ops/support/einsum_equation.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/strided.h"
#include "ops/support/work.h"

namespace fusescope::ops {
namespace {

Result<Types> inferEinsum(const InferContext& context) {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < context.inputCount(); ++i) {
    if (!context.input(i).shape.ranked) return one(context.input(0).dtype, Shape::unknown());
    ranks.push_back(context.input(i).shape.rank());
  }
  const EinsumEquation equation = TRY(einsumEquation(context.node(), ranks));
  std::map<char, Shape> extents;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
      const Shape one = Shape::of({context.input(i).shape.dims[axis]});
      const auto [found, isNew] = extents.try_emplace(equation.inputs[i][axis], one);
      if (!isNew) found->second = TRY(broadcast(found->second, one));
    }
  std::vector<Dim> dims;
  for (const char label : equation.output) dims.push_back(extents.at(label).dims[0]);
  return one(context.input(0).dtype, Shape::of(std::move(dims)));
}

/// The labels in the order of the loops (those of the output, then the summed ones) and their extents.
struct EinsumWalk {
  std::string labels;
  Dims dims;
};

EinsumWalk walkOf(const KernelContext& context, const EinsumEquation& equation) {
  EinsumWalk walk{equation.output, Dims(equation.output.size(), 1)};
  for (std::size_t i = 0; i < equation.inputs.size(); ++i)
    for (std::size_t axis = 0; axis < equation.inputs[i].size(); ++axis) {
      std::size_t at = walk.labels.find(equation.inputs[i][axis]);
      if (at == std::string::npos) {
        at = walk.labels.size();
        walk.labels += equation.inputs[i][axis];
        walk.dims.push_back(1);
      }
      if (context.input(i).dims()[axis] != 1) walk.dims[at] = context.input(i).dims()[axis];
    }
  return walk;
}

/// Returns the strides of operand `i` in the order of the loops. An axis that occurs twice is a diagonal, and an extent
/// of 1 is broadcast.
Dims stridesAlong(const KernelContext& context, const EinsumEquation& equation, const EinsumWalk& walk, std::size_t i) {
  const Dims& dims = context.input(i).dims();
  const Dims dense = denseStrides(dims);
  Dims strides(walk.dims.size(), 0);
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] != 1) strides[walk.labels.find(equation.inputs[i][axis])] += dense[axis];
  return strides;
}

template <class T>
void sumInto(const KernelContext& context, const EinsumEquation& equation, Tensor& result) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
  const EinsumWalk walk = walkOf(context, equation);
  const std::size_t kept = equation.output.size();
  const Dims outer(walk.dims.begin(), walk.dims.begin() + static_cast<std::ptrdiff_t>(kept));
  const Dims summed(walk.dims.begin() + static_cast<std::ptrdiff_t>(kept), walk.dims.end());
  std::vector<Dims> outerStrides, innerStrides;
  std::vector<const T*> data;
  for (std::size_t i = 0; i < context.inputCount(); ++i) {
    const Dims strides = stridesAlong(context, equation, walk, i);
    outerStrides.emplace_back(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(kept));
    innerStrides.emplace_back(strides.begin() + static_cast<std::ptrdiff_t>(kept), strides.end());
    data.push_back(context.input(i).data<T>().data());
  }
  T* to = result.mutableData<T>().data();
  const std::size_t count = data.size();
  std::vector<std::int64_t> base(count);
  forEachIndex(outer, [&](const Dims& index) {
    for (std::size_t i = 0; i < count; ++i) base[i] = offsetOf(index, outerStrides[i]);
    Sum sum = 0;
    // One or two operands, the usual case, are multiplied in runs; more operands are multiplied element by element.
    const Dims &first = innerStrides[0], &second = innerStrides[count > 1 ? 1 : 0];
    if (count <= 2) {
      forEachRun<2>(summed, {first, second}, [&](const auto& at, const auto& step, std::int64_t n) {
        const T* a = data[0] + base[0] + at[0];
        const T* b = count > 1 ? data[1] + base[1] + at[1] : nullptr;
        for (std::int64_t k = 0; k < n; ++k)
          sum += static_cast<Sum>(a[k * step[0]]) * (b == nullptr ? Sum(1) : static_cast<Sum>(b[k * step[1]]));
      });
    } else {
      forEachIndex(summed, [&](const Dims& inner) {
        Sum product = 1;
        for (std::size_t i = 0; i < count; ++i)
          product *= static_cast<Sum>(data[i][base[i] + offsetOf(inner, innerStrides[i])]);
        sum += product;
        return true;
      });
    }
    *to++ = static_cast<T>(sum);
    return true;
  });
}

Result<Tensors> einsum(const KernelContext& context) {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < context.inputCount(); ++i) ranks.push_back(context.input(i).dims().size());
  const EinsumEquation equation = TRY(einsumEquation(context.node(), ranks));
  Tensor result = TRY(allocateOutput(context));
  dispatchNumber(result.type(), [&]<class T>(std::type_identity<T>) { sumInto<T>(context, equation, result); });
  return Tensors{std::move(result)};
}

/// Counts two operations per step of the loops, as in a matrix product: a multiplication and an addition.
std::int64_t einsumFlops(const Node& node, std::span<const Dims> inputs, std::span<const Dims>) {
  std::vector<std::size_t> ranks;
  for (const Dims& dims : inputs) ranks.push_back(dims.size());
  const auto equation = einsumEquation(node, ranks);
  if (!equation.ok()) return 0;
  std::map<char, std::int64_t> extents;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t axis = 0; axis < inputs[i].size(); ++axis) {
      std::int64_t& extent = extents[equation.value().inputs[i][axis]];
      extent = std::max(extent, inputs[i][axis]);
    }
  Dims walk{2};
  for (const auto& [label, extent] : extents) walk.push_back(extent);
  return workOf(walk);
}

}  // namespace

void registerEinsum(OpRegistry& registry) {
  registry.add({.op = "Einsum",
                .kind = OpKind::MatMul,
                .minInputs = 1,
                .maxInputs = -1,
                .infer = inferEinsum,
                .kernel = widened(einsum),
                .flops = einsumFlops,
                .signature = {"T", {{'T', kNumberTypes}}}});
}

}  // namespace fusescope::ops
