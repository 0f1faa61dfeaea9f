#include "ui/window/node_menu.h"

#include <algorithm>

#include "planning/directives/directive_form.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Why none of `nodes` can be pinned to `type`; empty if one can.
QString refusal(const Plan& plan, const std::vector<NodeId>& nodes, DataType type) {
  QString first;
  for (const NodeId node : nodes) {
    const QString reason = pinRefusal(plan, node, type);
    if (reason.isEmpty()) return {};
    if (first.isEmpty()) first = reason;
  }
  return first;
}

std::vector<NodeId> pinnable(const Plan& plan, std::vector<NodeId> nodes, DataType type) {
  std::erase_if(nodes, [&](NodeId node) { return !pinRefusal(plan, node, type).isEmpty(); });
  return nodes;
}

template <class Act>
QAction* add(QMenu& menu, const QString& text, const QString& problem, const QString& tip, Act act) {
  QAction* action = menu.addAction(text, &menu, act);
  action->setEnabled(problem.isEmpty());
  action->setToolTip(problem.isEmpty() ? tip : problem);
  return action;
}

void fillTypes(QMenu& menu, const DockContext& context, const std::vector<NodeId>& nodes, Strictness strictness,
               bool output) {
  const auto snapshot = context.document.snapshot();
  menu.setToolTipsVisible(true);
  for (const DataType type : {DataType::F32, DataType::F16, DataType::BF16}) {
    const QString unknown = timeUnknownReason(*snapshot->plan, type);
    const QString tip = unknown.isEmpty() ? QString() : QStringLiteral("Time: ") + unknown;
    add(menu, qs(type), refusal(*snapshot->plan, nodes, type), tip,
        [context, snapshot, nodes, type, strictness, output] {
          const auto able = pinnable(*snapshot->plan, nodes, type);
          if (output) {
            context.document.pinOutput(able, type, strictness);
          } else {
            context.document.pin(able, type, strictness);
          }
        });
  }
}

/// The entry of a kind of directive that takes nothing but a node.
void addDirective(QMenu& menu, const DockContext& context, const Plan& plan, const std::vector<NodeId>& nodes,
                  const DirectiveForm& form) {
  const std::string problem = form.menu.pointless == nullptr ? "" : form.menu.pointless(plan, nodes.front());
  const std::vector<NodeId> about = form.menu.lastOnly ? std::vector{nodes.back()} : nodes;
  add(menu, qs(form.menu.text), qs(problem), qs(form.menu.tip),
      [context, about, kind = kindOf(form)] { context.document.direct(about, kind); });
}

}  // namespace

void fillNodeMenu(QMenu& menu, const DockContext& context, const std::vector<NodeId>& nodes) {
  const auto snapshot = context.document.snapshot();
  menu.clear();
  menu.setToolTipsVisible(true);
  if (!snapshot || nodes.empty()) {
    menu.addAction(QStringLiteral("Select a node first"))->setEnabled(false);
    return;
  }
  const auto names = context.document.namesOf(nodes);
  menu.addSection(namesText(names));
  fillTypes(*menu.addMenu(QStringLiteral("Pin to (prefer)")), context, nodes, Strictness::Prefer, false);
  fillTypes(*menu.addMenu(QStringLiteral("Pin to (obey)")), context, nodes, Strictness::Obey, false);
  fillTypes(*menu.addMenu(QStringLiteral("Output type")), context, nodes, Strictness::Prefer, true);
  menu.addSeparator();
  for (const DirectiveForm* form : directiveForms())
    if (!form->menu.text.empty()) addDirective(menu, context, *snapshot->plan, nodes, *form);
  const bool directed = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return !directivesNaming(context.document.directives(), name).empty();
  });
  add(menu, QStringLiteral("Clear its directives"),
      directed ? QString()
               : QStringLiteral("No directive names this node; one by pattern may, see the Inspector of the model."),
      QString(), [context, nodes] { context.document.clearDirectives(nodes); });
}

}  // namespace fusescope
