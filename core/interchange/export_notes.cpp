#include "interchange/export_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/quantities.h"
#include "base/text.h"
#include "planning/directives/directive_form.h"
#include "planning/types/pin_answers.h"
#include "planning/types/type_answers.h"

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
  for (const CoverBody& body : plan.bodies)
    addHonoured(plannedBody(body), path.into(plan.graph().node(body.holder), body.attribute), nodes);
}

/// Returns whether what was asked for is not so.
bool saysOtherwise(DirectiveOutcome outcome) {
  return pinAnswerOf(outcome) == PinAnswer::Refused || outcome == DirectiveOutcome::Nothing ||
         outcome == DirectiveOutcome::Inner;
}

/// The edits of the network that pins ask for, those in its bodies first.
void addEdits(const Plan& plan, const BodyPath& path, std::vector<std::string>& edits) {
  for (const CoverBody& body : plan.bodies)
    addEdits(plannedBody(body), path.into(plan.graph().node(body.holder), body.attribute), edits);
  for (const PrecisionGrant& grant : plan.precisionMap)
    if (grant.reason == TypeReason::PinByEdit)
      edits.push_back(path.of(plan.graph().node(grant.node).name) + ": " + editFor(plan, grant.node, grant.asked));
}

}  // namespace

std::vector<ExportNote> pinsNotHonoured(const Plan& plan) {
  std::set<std::string> honoured;
  addHonoured(plan, {}, honoured);
  std::vector<ExportNote> notes;
  std::set<std::string> said;
  for (const DirectiveAnswer& answer : plan.answers) {
    const Directive* directive = saysOtherwise(answer.outcome) ? findDirective(plan, answer.directive) : nullptr;
    if (directive == nullptr || !asksForAType(*directive)) continue;
    const bool holds = formOf(*directive).asks == RequestedType::Calculated && answer.about.size() == 1 &&
                       honoured.contains(answer.about[0].text());
    if (holds && answer.outcome != DirectiveOutcome::Overridden) continue;
    const Decision& decision = plan.decisions[answer.decision];
    std::string text = fmt::format("a directive is not honoured: {}: {} {}", optionText(*directive),
                                   subjectsOf(decision), message(decision));
    if (said.insert(text).second) notes.push_back({std::move(text), answer.outcome == DirectiveOutcome::Refused});
  }
  return notes;
}

std::vector<ExportNote> tensorrtNotes(const Plan& plan) {
  std::vector<ExportNote> notes = pinsNotHonoured(plan);
  if (plan.target.acceleratedBackend != "tensorrt") {
    notes.push_back(
        {fmt::format("the plan was made for {}, and its answers to pins do not apply to TensorRT; plan for a tensorrt "
                     "target to see what is known about TensorRT",
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
  addEdits(plan, {}, edits);
  return Diagnostic{
      .message = fmt::format("{} cannot be written for {}: its networks are strongly typed and have no layer "
                             "precisions; the types of the model decide",
                             format, plan.target.name),
      .where = {.attribute = "--to"},
      .help = "Use --to onnx, which writes the types of the plan into the network" +
              (edits.empty() ? "; or plan for tensorrt-10." : "; or change the model: " + joined(edits, "; ") + ".")};
}

std::string workspaceMiB(const Plan& plan) {
  constexpr double kMiB = 1 << 20;
  if (plan.options.workspaceBytes <= 0) return {};
  return fmt::format("{:.12g}", static_cast<double>(plan.options.workspaceBytes) / kMiB);
}

std::string changeOfCasts(std::int64_t casts, std::int64_t bytes) {
  return fmt::format("{} and {} to move", counted(std::abs(casts), casts < 0 ? "fewer Cast" : "more Cast"),
                     inBytesDifference(bytes));
}

}  // namespace fusescope
