#include "ui/document/directive_edits.h"

#include <algorithm>

#include "planning/quantized_model.h"
#include "planning/truncate_modes.h"
#include "planning/types/pin_choices.h"
#include "target/target.h"
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
  return truncateModesOf(directives);
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

QString pinRefusal(const Plan& plan, NodeId node, DataType type, bool ranges) {
  return withoutOptions(qs(whyNotPinned(plan, node, type, ranges)));
}

QString outputTypeRefusal(const Plan& plan, NodeId node, DataType type) {
  return qs(whyNotStored(plan, node, type));
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
