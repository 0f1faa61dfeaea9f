#include "interchange/export_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/text.h"
#include "planning/directives/directive_form.h"

namespace fusescope {
namespace {

std::string subjectsOf(const Decision& decision) {
  std::vector<std::string> names;
  for (const Subject& subject : decision.subjects) names.push_back(subject.text());
  return joined(names);
}

/// Adds the nodes whose pins hold, by the precision maps of a plan and of the plans of its bodies.
void addHonoured(const Plan& plan, const BodyPath& path, std::set<std::string>& nodes) {
  for (const PrecisionGrant& grant : plan.precisionMap) {
    if (grant.asked != DataType::Undefined && grant.asked == grant.granted)
      nodes.insert(path.of(plan.graph().node(grant.node).name));
  }
  for (const PlannedBody& body : plan.bodies)
    addHonoured(*body.plan, path.into(plan.graph().node(body.holder), body.attribute), nodes);
}

/// Codes that answer a wish with something else than what it asked for, though nothing refuses it.
bool saysOtherwise(std::string_view code) {
  return code == "precision.nothing_to_pin" || code == "precision.output_inner";
}

}  // namespace

const Directive* directiveOf(const Plan& plan, const std::string& by) {
  const auto colon = by.find(':');
  if (colon == std::string::npos) return nullptr;
  const auto found = std::ranges::find(plan.options.directives, by.substr(colon + 1), &Directive::id);
  return found == plan.options.directives.end() ? nullptr : &*found;
}

std::vector<ExportNote> pinsNotHonoured(const Plan& plan) {
  std::set<std::string> honoured;
  addHonoured(plan, {}, honoured);
  const std::vector<const Decision*> refused = obeyRefusals(plan);
  std::vector<ExportNote> notes;
  std::set<std::string> said;
  for (const Decision& decision : plan.decisions) {
    if (decision.kind != DecisionKind::Precision || (decision.allowed && !saysOtherwise(decision.code))) continue;
    const Directive* directive = directiveOf(plan, decision.by);
    if (directive == nullptr || !asksForAType(*directive)) continue;
    const bool holds = formOf(*directive).asks == AskedType::Calculated && decision.subjects.size() == 1 &&
                       honoured.contains(decision.subjects[0].text());
    if (holds && decision.code != "precision.overridden") continue;
    std::string text =
        fmt::format("not honoured: {}: {} {}", optionText(*directive), subjectsOf(decision), message(decision));
    const bool disobeyed = std::ranges::find(refused, &decision) != refused.end();
    if (said.insert(text).second) notes.push_back({std::move(text), disobeyed});
  }
  return notes;
}

std::vector<ExportNote> tensorrtNotes(const Plan& plan) {
  std::vector<ExportNote> notes = pinsNotHonoured(plan);
  if (plan.target.acceleratedBackend != "tensorrt") {
    notes.push_back(
        {fmt::format("the plan was made for {}: which pins hold there, and at what cost, says nothing of "
                     "TensorRT; plan for a tensorrt target to see what is known of it",
                     plan.options.target)});
  }
  return notes;
}

std::string asComments(const std::vector<ExportNote>& notes) {
  std::string text;
  for (const ExportNote& note : notes) {
    std::string line = note.text;  // names may hold line breaks, and a comment must not end at one
    std::ranges::replace(line, '\n', ' ');
    std::ranges::replace(line, '\r', ' ');
    text += "# " + line + "\n";
  }
  return text;
}

Status refuseStronglyTyped(const Plan& plan, std::string_view format) {
  if (!plan.target.stronglyTyped) return Done{};
  std::vector<std::string> edits;
  for (const Decision& decision : plan.decisions) {
    if (decision.code == "precision.pin_by_edit" && decision.arguments.contains("edit"))
      edits.push_back(subjectsOf(decision) + ": " + decision.arguments["edit"].get<std::string>());
  }
  return Diagnostic{
      .message = fmt::format("{} cannot be written for {}: its networks are strongly typed and have no layer "
                             "precisions; the types of the model decide",
                             format, plan.target.name),
      .where = {.attribute = "--to"},
      .help = edits.empty() ? "Put Casts into the model where its types should change, or plan for tensorrt-10."
                            : "Change the model instead: " + joined(edits, "; ") + "."};
}

std::string workspaceMiB(const Plan& plan) {
  constexpr double kMiB = 1 << 20;
  if (plan.options.workspaceBytes <= 0) return {};
  return fmt::format("{:.12g}", static_cast<double>(plan.options.workspaceBytes) / kMiB);
}

std::string changeOfCasts(std::int64_t casts, std::int64_t bytes) {
  return fmt::format("{} and {} to move", counted(std::abs(casts), casts < 0 ? "fewer Cast" : "more Cast"),
                     counted(std::abs(bytes), "byte") + (bytes < 0 ? " less" : " more"));
}

}  // namespace fusescope
