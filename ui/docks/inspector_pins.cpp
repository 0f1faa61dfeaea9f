#include "ir/graph.h"
#include "planning/types/pin_answers.h"
#include "ui/docks/inspector_html.h"
#include "ui/docks/inspector_text.h"
#include "ui/document/directive_edits.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Returns the directives that name one of the nodes, each with a link that removes it.
QString directivesText(const Plan& plan, const std::vector<NodeId>& nodes, const Theme& theme) {
  QStringList lines;
  for (const NodeId node : nodes) {
    for (const Directive* directive : directivesNaming(plan.options.directives, plan.graph().node(node).name))
      lines << QStringLiteral("<div>%1 &nbsp;<a href='remove:%2'>remove</a></div>")
                   .arg(html(inWords(*directive)), html(directive->id));
  }
  if (lines.isEmpty()) return {};
  if (lines.size() > 1 && !plan.model->isBody)
    lines << QStringLiteral("<div><a href='do:clear'>remove all of them</a></div>");
  return heading(QStringLiteral("Directives"), theme) + lines.join(QString());
}

QString answerTitle(PinAnswer answer) {
  switch (answer) {
    case PinAnswer::Free:
      return QStringLiteral("Free");
    case PinAnswer::Price:
      return QStringLiteral("At a price");
    case PinAnswer::Granted:
      return QStringLiteral("Holds");
    case PinAnswer::Refused:
      return QStringLiteral("Refused");
    case PinAnswer::Nothing:
      return QStringLiteral("Nothing to pin");
  }
  return {};
}

QColor answerColor(PinAnswer answer, const Theme& theme) {
  if (answer == PinAnswer::Refused) return theme.error;
  return answer == PinAnswer::Price || answer == PinAnswer::Nothing ? theme.warning : theme.success;
}

/// Returns the answers to the pins on the nodes, without repetitions, followed by the price of all pins of the plan.
QString answersText(const Plan& plan, const std::vector<NodeId>& nodes, const Theme& theme) {
  QStringList lines;
  for (const NodeId node : nodes) {
    for (const DirectiveAnswer* said : pinAnswersAbout(plan, Subject::node(plan.graph().node(node).name))) {
      const PinAnswer answer = pinAnswerOf(said->outcome);
      lines << QStringLiteral("<div style='margin-bottom:3px'><span style='color:%1'><b>%2</b></span> · %3</div>")
                   .arg(answerColor(answer, theme).name(), answerTitle(answer),
                        withoutOptions(qs(answerText(plan, said->decision))).toHtmlEscaped());
    }
  }
  if (lines.isEmpty()) return {};
  lines.removeDuplicates();
  if (plan.pinsTogether)
    lines << QStringLiteral("<div style='color:%1'>%2</div>")
                 .arg(theme.dimText.name(), html(answerText(plan, plan.pinsTogether->decision)));
  return heading(QStringLiteral("Answers to pins"), theme) + lines.join(QString());
}

}  // namespace

QString pinsText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme) {
  return directivesText(*snapshot.plan, nodes, theme) + answersText(snapshot.requestedPlan(), nodes, theme);
}

}  // namespace fusescope
