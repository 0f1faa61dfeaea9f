// Einsum with any number of operands: a sum over every index that the output does not name.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/strided.h"

namespace fusescope::ops {
namespace {

/// An equation with its ellipses spelled out: axes that an ellipsis stands for are the labels '0', '1', … counted
/// from the last.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

Diagnostic wrongEquation(const std::string& message) {
  return attributeProblem("equation", message);
}

/// One term for an operand of `rank` axes.
Result<std::string> expandedTerm(const std::string& term, std::size_t rank) {
  const std::size_t dots = term.find("...");
  if (dots == std::string::npos) {
    if (term.size() != rank)
      return wrongEquation(fmt::format("'{}' names {} axes of an operand of rank {}", term, term.size(), rank));
    return term;
  }
  if (term.size() - 3 > rank || rank - (term.size() - 3) > 10)
    return wrongEquation(fmt::format("'{}' does not fit an operand of rank {}", term, rank));
  std::string hidden;
  for (std::size_t i = rank - (term.size() - 3); i-- > 0;) hidden += static_cast<char>('0' + i);
  return term.substr(0, dots) + hidden + term.substr(dots + 3);
}

Result<Equation> parsed(const Node& node, const std::vector<std::size_t>& ranks) {
  std::string text = node.textAttribute("equation", "");
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::vector<std::string> terms{""};
  for (const char c : left) {
    if (c == ',')
      terms.emplace_back();
    else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '.')
      terms.back() += c;
    else
      return wrongEquation(fmt::format("'{}' does not belong in an equation", c));
  }
  if (terms.size() != ranks.size())
    return wrongEquation(fmt::format("names {} operands, but there are {}", terms.size(), ranks.size()));
  Equation equation;
  std::string hidden;
  std::map<char, int> uses;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    equation.inputs.push_back(TRY(expandedTerm(terms[i], ranks[i])));
    for (const char label : equation.inputs.back()) ++uses[label];
  }
  for (char label = '9'; label >= '0'; --label)
    if (uses.contains(label)) hidden += label;
  if (arrow == std::string::npos) {
    equation.output = hidden;
    for (const auto& [label, count] : uses)
      if (count == 1 && std::isalpha(static_cast<unsigned char>(label)) != 0) equation.output += label;
    return equation;
  }
  equation.output = text.substr(arrow + 2);
  if (const std::size_t dots = equation.output.find("..."); dots != std::string::npos)
    equation.output.replace(dots, 3, hidden);
  for (const char label : equation.output)
    if (!uses.contains(label) || std::ranges::count(equation.output, label) != 1)
      return wrongEquation(fmt::format("the output's '{}' must be named once, and by an operand", label));
  return equation;
}

Result<Types> inferEinsum(const InferContext& context) {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < context.inputCount(); ++i) {
    if (!context.input(i).shape.ranked) return one(context.input(0).dtype, Shape::unknown());
    ranks.push_back(context.input(i).shape.rank());
  }
  const Equation equation = TRY(parsed(context.node(), ranks));
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

/// Labels in the order in which they are walked (the output's, then the summed ones) and their extents.
struct Walk {
  std::string labels;
  Dims dims;
};

Walk walkOf(const KernelContext& context, const Equation& equation) {
  Walk walk{equation.output, Dims(equation.output.size(), 1)};
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

/// Strides of operand `i` along the walk; an axis named twice is its diagonal, an extent of 1 is broadcast.
Dims stridesAlong(const KernelContext& context, const Equation& equation, const Walk& walk, std::size_t i) {
  const Dims& dims = context.input(i).dims();
  const Dims dense = denseStrides(dims);
  Dims strides(walk.dims.size(), 0);
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] != 1) strides[walk.labels.find(equation.inputs[i][axis])] += dense[axis];
  return strides;
}

template <class T>
void sumInto(const KernelContext& context, const Equation& equation, Tensor& result) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
  const Walk walk = walkOf(context, equation);
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
    // The usual one or two operands go run by run; more are multiplied element by element.
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
  const Equation equation = TRY(parsed(context.node(), ranks));
  Tensor result = TRY(allocateOutput(context));
  dispatchNumber(result.type(), [&]<class T>(std::type_identity<T>) { sumInto<T>(context, equation, result); });
  return Tensors{std::move(result)};
}

/// Two per place of the walk, as a matrix product: a multiplication and an addition.
std::int64_t einsumFlops(const Node& node, std::span<const Dims> inputs, std::span<const Dims>) {
  std::vector<std::size_t> ranks;
  for (const Dims& dims : inputs) ranks.push_back(dims.size());
  const auto equation = parsed(node, ranks);
  if (!equation.ok()) return 0;
  std::map<char, std::int64_t> extents;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t axis = 0; axis < inputs[i].size(); ++axis) {
      std::int64_t& extent = extents[equation.value().inputs[i][axis]];
      extent = std::max(extent, inputs[i][axis]);
    }
  Dims walk{2};
  for (const auto& [label, extent] : extents) walk.push_back(extent);
  return elementCount(walk).value_or(0);
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
