#include "ui/document/directive_edits.h"

#include <algorithm>

#include "calibration/products.h"
#include "ir/decision.h"
#include "planning/quantized_model.h"
#include "planning/structure.h"
#include "target/target_table.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

template <class T>
bool contains(const std::vector<T>& list, const T& one) {
  return std::ranges::find(list, one) != list.end();
}

bool pinsToInt8(const Directive& directive) {
  return directive.kind == DirectiveKind::Pin && directive.type == DataType::I8;
}

}  // namespace

Directives withType(Directives directives, const std::vector<std::string>& names, DirectiveKind kind, DataType type,
                    Strictness strictness) {
  std::erase_if(directives, [&](const Directive& d) { return d.kind == kind && contains(names, d.pattern); });
  for (const std::string& pattern : names) {
    directives.push_back({.kind = kind, .pattern = pattern, .type = type, .strictness = strictness});
  }
  assignIds(directives);
  return directives;
}

Directives withDirective(Directives directives, Directive addition) {
  std::erase_if(directives, [&](const Directive& d) {
    return d.kind == addition.kind && d.pattern == addition.pattern && d.rule == addition.rule;
  });
  directives.push_back(std::move(addition));
  assignIds(directives);
  return directives;
}

Directives withKind(Directives directives, const std::vector<std::string>& names, DirectiveKind kind,
                    const std::string& rule) {
  for (const std::string& node : names)
    directives = withDirective(std::move(directives), {.kind = kind, .pattern = node, .rule = rule});
  return directives;
}

TruncateModes truncationOf(const Directives& directives) {
  TruncateModes modes;
  for (const Directive& directive : directives) {
    const bool both = directive.kind == DirectiveKind::Truncate;
    if (both || directive.kind == DirectiveKind::TruncateInputs) modes.inputs = directive.truncate;
    if (both || directive.kind == DirectiveKind::TruncateConstants) modes.constants = directive.truncate;
  }
  return modes;
}

Directives withTruncation(Directives directives, TruncateModes modes) {
  std::erase_if(directives, [](const Directive& directive) {
    return directive.kind == DirectiveKind::Truncate || directive.kind == DirectiveKind::TruncateInputs ||
           directive.kind == DirectiveKind::TruncateConstants;
  });
  if (modes.inputs == modes.constants) {
    directives.push_back({.kind = DirectiveKind::Truncate, .truncate = modes.inputs});
  } else {
    directives.push_back({.kind = DirectiveKind::TruncateInputs, .truncate = modes.inputs});
    directives.push_back({.kind = DirectiveKind::TruncateConstants, .truncate = modes.constants});
  }
  assignIds(directives);
  return directives;
}

Directives withoutNodes(Directives directives, const std::vector<std::string>& names) {
  std::erase_if(directives, [&](const Directive& d) { return contains(names, d.pattern); });
  return directives;
}

Directives withoutId(Directives directives, const std::string& id) {
  std::erase_if(directives, [&](const Directive& d) { return d.id == id; });
  return directives;
}

std::vector<Precisions> precisionChoices() {
  using enum DataType;
  return {{}, {F16}, {BF16}, {F16, BF16}, {F16, F32}, {BF16, F32}, {I8}, {I8, F16}, {I8, BF16}, {I8, F32}};
}

PlanOptions withRangesAsAsked(PlanOptions options, const std::shared_ptr<const Ranges>& ranges) {
  if (!asksForIntegers(options)) {
    options.ranges.reset();
  } else if (options.ranges == nullptr) {
    options.ranges = ranges;
  }
  return options;
}

PlanOptions withoutInt8(PlanOptions options) {
  std::erase(options.precisions, DataType::I8);
  std::erase_if(options.directives, pinsToInt8);
  options.ranges.reset();
  return options;
}

std::vector<const Directive*> directivesNaming(const Directives& directives, const std::string& name) {
  std::vector<const Directive*> found;
  for (const Directive& directive : directives) {
    if (directive.pattern == name) found.push_back(&directive);
  }
  return found;
}

QString namesText(const std::vector<std::string>& names) {
  return names.size() == 1 ? qs(names.front())
                           : plural(static_cast<std::int64_t>(names.size()), QStringLiteral("node"));
}

namespace {

QString int8Refusal(const Plan& plan, NodeId id, bool ranges) {
  if (multipliesCodes(plan.graph(), plan.graph().node(id)))
    return QStringLiteral("%1 is written as a product of int8.").arg(qs(plan.graph().node(id).name));
  if (!ranges) return QStringLiteral("int8 needs ranges: Build, Calibrate… first.");
  const Graph& graph = *unquantized(plan.model)->graph;
  if (!graph.has(id)) return QStringLiteral("%1 exists only for int8.").arg(qs(plan.graph().node(id).name));
  const Node& node = graph.node(id);
  if (!multiplies(node)) return QStringLiteral("%1 does not multiply: only products are of int8.").arg(qs(node.name));
  const auto form = productOf(graph, node);
  const auto* none = std::get_if<NoProduct>(&form);
  if (none == nullptr) return {};
  const Decision why = decide(none->code, {Subject::node(node.name)}, "pin", none->arguments);
  return QStringLiteral("%1 %2.").arg(qs(node.name), inWindowWords(why));
}

}  // namespace

QString pinRefusal(const Plan& plan, NodeId id, DataType type, bool ranges) {
  if (type == DataType::I8) return int8Refusal(plan, id, ranges);
  const Node& node = plan.graph().node(id);
  if (!plan.target.computeTypes.contains(type)) {
    return QStringLiteral("%1 does not compute in %2.").arg(qs(plan.target.name), qs(type));
  }
  for (const ValueId value : node.outputs) {
    if (!value.valid()) continue;
    const DataType dtype = plan.graph().value(value).type.dtype;
    if (isFloat(dtype) || dtype == DataType::Undefined) return {};
  }
  const ValueId first = node.outputs.empty() ? ValueId() : node.outputs.front();
  const QString made = first.valid() ? qs(plan.graph().value(first).type.dtype) : QStringLiteral("nothing");
  return QStringLiteral("%1 makes %2, and pins choose among float types.").arg(qs(node.name), made);
}

std::vector<DataType> pinTypes(const Plan& plan, bool ranges) {
  std::vector<DataType> types;
  for (const DataType type : {DataType::F32, DataType::BF16, DataType::F16}) {
    if (plan.target.computeTypes.contains(type)) types.push_back(type);
  }
  if (ranges) types.push_back(DataType::I8);
  return types;
}

QString timeUnknownReason(const Plan& plan, DataType type) {
  if (plan.options.compiler != kOwnCompiler)
    return QStringLiteral("unknown: only a build with %1 can measure it").arg(qs(plan.options.compiler));
  if (plan.target.planningOnly) {
    return QStringLiteral("unknown: %1 is planned for here, not built").arg(qs(plan.target.name));
  }
  if (calculatesIn(plan.target, type)) return {};
  return QStringLiteral("unknown: ") + qs(arithmeticText(plan.target, type));
}

}  // namespace fusescope
