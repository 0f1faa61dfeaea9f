#include "frontends/torch/program_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "frontends/torch/input_tree.h"
#include "frontends/torch/symbolic_extents.h"

namespace fusescope::torch {
namespace {

/// The largest extent that is assumed if the file has no bound, unless the example is larger.
constexpr std::int64_t kAssumedMost = 1024;

bool isUsers(const ProgramInput& input) {
  return input.kind == ProgramInput::Kind::User || input.kind == ProgramInput::Kind::Constant;
}

/// Reads L['x'].size()[1] at the beginning of `text`, and removes it.
std::optional<InputAxis> takeAxis(std::string_view& text) {
  constexpr std::string_view kBegin = "L['", kMiddle = "'].size()[";
  const std::size_t end = text.find(kMiddle);
  if (!text.starts_with(kBegin) || end == std::string_view::npos) return std::nullopt;
  InputAxis axis{text.substr(kBegin.size(), end - kBegin.size()), 0};
  text.remove_prefix(end + kMiddle.size());
  const auto read = std::from_chars(text.data(), text.data() + text.size(), axis.second);
  const auto digits = static_cast<std::size_t>(read.ptr - text.data());
  if (read.ec != std::errc() || digits == text.size() || text[digits] != ']') return std::nullopt;
  text.remove_prefix(digits + 1);
  return axis;
}

/// Returns the two extents that a guard equates: L['x'].size()[1] == L['mask'].size()[1].
std::optional<std::pair<InputAxis, InputAxis>> equatedBy(std::string_view guard) {
  constexpr std::string_view kEqual = " == ";
  const auto first = takeAxis(guard);
  if (!first || !guard.starts_with(kEqual)) return std::nullopt;
  guard.remove_prefix(kEqual.size());
  const auto second = takeAxis(guard);
  if (!second || !guard.empty()) return std::nullopt;
  return std::pair(*first, *second);
}

/// Returns the bounds of an extent, from the ranges of its symbols or of the expression itself.
SymbolRange boundsOf(const ExportedProgram& program, const SymbolicNumber& extent) {
  const ExtentExpression expression = extentExpressionOf(extent.expression);
  if (!expression.valid()) return {};
  if (const auto whole = program.ranges.find(expression.text()); whole != program.ranges.end()) return whole->second;
  const auto at = [&](auto bound) {
    return expression.at([&](const std::string& symbol) -> std::optional<std::int64_t> {
      const auto range = program.ranges.find(symbol);
      return range == program.ranges.end() ? std::nullopt : range->second.*bound;
    });
  };
  return {.least = at(&SymbolRange::least), .most = at(&SymbolRange::most)};
}

void addOpen(const ExportedProgram& program, const SymbolicNumber& extent, InputSpec& spec,
             std::vector<Decision>& decisions) {
  const SymbolRange bounds = boundsOf(program, extent);
  const std::int64_t example = std::max<std::int64_t>(extent.hint.value_or(1), 1);
  const std::int64_t least = std::max<std::int64_t>(bounds.least.value_or(1), 1);
  const std::int64_t most = std::max(bounds.most.value_or(std::max(kAssumedMost, example)), least);
  if (!bounds.most)
    decisions.push_back(
        decide("import.extent_without_bound", {Subject::value(spec.name)}, "import",
               {{"axis", static_cast<std::int64_t>(spec.opt.size())}, {"input", spec.name}, {"max", most}}));
  spec.min.push_back(least);
  spec.opt.push_back(std::clamp(example, least, most));
  spec.max.push_back(most);
  spec.source = kFromExample;
}

}  // namespace

std::vector<UserInput> userInputsOf(const ExportedProgram& program) {
  std::vector<UserInput> inputs;
  for (const ProgramInput& input : program.inputs)
    if (isUsers(input))
      inputs.push_back({.name = input.value,
                        .value = input.value,
                        .isConstant = input.kind == ProgramInput::Kind::Constant,
                        .constant = input.constant});
  const std::vector<std::string> names = leafNames(program.inputTree, program.argumentNames);
  for (std::size_t i = 0; names.size() == inputs.size() && i < inputs.size(); ++i)
    if (!names[i].empty()) inputs[i].name = names[i];
  return inputs;
}

std::vector<std::vector<InputAxis>> equalExtentsOf(const ExportedProgram& program) {
  std::vector<std::vector<InputAxis>> groups;
  const auto groupOf = [&](const InputAxis& axis) {
    return std::ranges::find_if(groups,
                                [&](const auto& group) { return std::ranges::find(group, axis) != group.end(); });
  };
  std::map<std::string, std::size_t> byExpression;
  for (const UserInput& input : userInputsOf(program)) {
    const auto tensor = program.graph.tensors.find(input.value);
    if (input.isConstant || tensor == program.graph.tensors.end()) continue;
    for (std::size_t axis = 0; axis < tensor->second.sizes.size(); ++axis) {
      const std::string symbol = extentOf(tensor->second.sizes[axis]).symbol;
      if (symbol.empty()) continue;
      const auto [known, isNew] = byExpression.try_emplace(symbol, groups.size());
      if (isNew) groups.emplace_back();
      groups[known->second].emplace_back(input.name, axis);
    }
  }
  for (const std::string& guard : program.guards) {
    const auto equal = equatedBy(guard);
    if (!equal) continue;
    const auto first = groupOf(equal->first), second = groupOf(equal->second);
    if (first == groups.end() || second == groups.end() || first == second) continue;
    first->insert(first->end(), second->begin(), second->end());
    second->clear();
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  return groups;
}

InputSpec inputSpecOf(const ExportedProgram& program, const UserInput& input, std::vector<Decision>& decisions) {
  InputSpec spec{.name = input.name, .min = {}, .opt = {}, .max = {}, .source = "file"};
  const auto tensor = program.graph.tensors.find(input.value);
  if (tensor == program.graph.tensors.end()) {
    if (program.graph.integers.contains(input.value)) spec.dtype = DataType::I64;
    return spec;
  }
  spec.dtype = tensor->second.type;
  for (const SymbolicNumber& extent : tensor->second.sizes) {
    if (!extent.known || *extent.known < 0) {
      addOpen(program, extent, spec, decisions);
      continue;
    }
    for (Dims* dims : {&spec.min, &spec.opt, &spec.max}) dims->push_back(*extent.known);
  }
  return spec;
}

std::string rangeMisfit(const ExportedProgram& program, const UserInput& input, const InputSpec& said) {
  const auto tensor = program.graph.tensors.find(input.value);
  if (tensor == program.graph.tensors.end()) return "the input is not a tensor";
  const std::vector<SymbolicNumber>& sizes = tensor->second.sizes;
  if (said.opt.size() != sizes.size()) return "the input has a different number of extents";
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const bool isKnown = sizes[axis].known && *sizes[axis].known >= 0;
    const SymbolRange bounds =
        isKnown ? SymbolRange{sizes[axis].known, sizes[axis].known} : boundsOf(program, sizes[axis]);
    if ((!bounds.least || said.min[axis] >= *bounds.least) && (!bounds.most || said.max[axis] <= *bounds.most))
      continue;
    if (isKnown) return fmt::format("extent {} of the input is {}", axis, *bounds.least);
    return fmt::format("extent {} was exported for {} to {}", axis, bounds.least.value_or(0),
                       bounds.most ? std::to_string(*bounds.most) : "any number");
  }
  return {};
}

Result<std::map<std::string, Tensor>> exampleTensors(const ExportedProgram& program, const SavedObjects& examples,
                                                     CopyBudget& budget) {
  const std::vector<UserInput> inputs = userInputsOf(program);
  const std::vector<std::uint32_t> leaves = TRY(exampleLeaves(program.inputTree, examples.pickle()));
  if (leaves.size() != inputs.size())
    return Diagnostic{
        .message = fmt::format("contains {} example inputs, but the graph reads {}", leaves.size(), inputs.size())};
  std::map<std::string, Tensor> tensors;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PickleValue& value = examples.at(leaves[i]);
    if (value.kind == PickleValue::Kind::Tensor)
      tensors.emplace(inputs[i].name, TRY(examples.tensor(value, budget)));
    else if (value.kind == PickleValue::Kind::Int && !inputs[i].isConstant)
      tensors.emplace(inputs[i].name, Tensor::ofInt64({value.integer}).reshaped({}));
  }
  return tensors;
}

}  // namespace fusescope::torch
