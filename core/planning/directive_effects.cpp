#include "planning/directive_effects.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "target/target_table.h"

namespace fusescope {
namespace {

/// Returns what the compiler of the plan can leave out instead of our rule; null if there is nothing. A table is about
/// the compiler that has its name, and not about others that compile for the same target.
const std::vector<std::string>* leftOutFor(const Plan& plan, const std::string& rule) {
  const std::string& compiler = plan.options.compiler;
  if (plan.target.table == nullptr || compiler.substr(0, compiler.find('@')) != plan.target.table->name) return nullptr;
  const auto known = plan.target.table->noFuse.find(rule);
  return known == plan.target.table->noFuse.end() ? nullptr : &known->second;
}

std::string whyNotLeftOut(const Plan& plan, const Directive& directive) {
  const std::vector<std::string>* optimisers = leftOutFor(plan, directive.rule);
  if (optimisers == nullptr)
    return fmt::format(
        "{} is a rule of our own planning, and nothing that {} can be asked to leave out corresponds to it",
        directive.rule, plan.options.compiler);
  if (directive.pattern.empty()) return {};
  return fmt::format("it leaves out a way of fusing in the whole network or not at all; --no-fuse {} leaves out {}",
                     directive.rule, joined(*optimisers));
}

}  // namespace

std::vector<std::string> optimisersToLeaveOut(const Plan& plan, const Directive& directive) {
  if (directive.kind != DirectiveKind::NoFuse || !directive.pattern.empty()) return {};
  const std::vector<std::string>* optimisers = leftOutFor(plan, directive.rule);
  return optimisers == nullptr ? std::vector<std::string>() : *optimisers;
}

std::string whyNoEffect(const Plan& plan, const Directive& directive) {
  if (plan.options.compiler == kOwnCompiler) return {};
  if (directive.kind == DirectiveKind::NoFuse) return whyNotLeftOut(plan, directive);
  if (directive.kind == DirectiveKind::Split && plan.model->isBody)
    return "it receives the bodies of If, Loop and Scan as a whole";
  return {};
}

std::vector<DirectiveWithoutEffect> directivesWithoutEffect(const Plan& plan) {
  std::vector<DirectiveWithoutEffect> all;
  for (const Directive& directive : plan.options.directives)
    if (std::string why = whyNoEffect(plan, directive); !why.empty()) all.push_back({&directive, std::move(why)});
  return all;
}

void dropWithoutEffect(const Plan& plan, DirectiveMap& directives) {
  if (plan.options.compiler == kOwnCompiler) return;
  const auto isDropped = [&](int index) {
    return index >= 0 && !whyNoEffect(plan, plan.options.directives[static_cast<std::size_t>(index)]).empty();
  };
  std::ranges::replace_if(directives.split, isDropped, -1);
  std::erase_if(directives.noFuse, [&](const DirectiveMap::NoFuse& entry) { return isDropped(entry.directive); });
}

}  // namespace fusescope
