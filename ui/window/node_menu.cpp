#include "ui/window/node_menu.h"

#include <algorithm>
#include <functional>

#include "ir/graph.h"
#include "planning/directives/directive_form.h"
#include "planning/patterns/module_pattern.h"
#include "ui/docks/copy_command.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/menu_title.h"
#include "ui/window/edit_preview.h"

namespace fusescope {

namespace {

/// The nodes that the menu is about, in the network or in a body.
struct Chosen {
  std::shared_ptr<const PlanSnapshot> network;
  const PlanSnapshot* where = nullptr;
  BodyPath path;
  std::vector<NodeId> nodes;

  static Chosen of(const DockContext& context, const std::vector<NodeId>& nodes) {
    const auto snapshot = context.document.snapshot();
    if (!snapshot) return {};
    if (const auto inside = snapshot->inside(context.selection.inside()))
      return {snapshot, inside->body, inside->place.bodies, inside->nodes};
    return {snapshot, snapshot.get(), {}, nodes};
  }
  const Plan& plan() const { return *where->plan; }
  std::vector<std::string> names(const std::vector<NodeId>& some) const {
    std::vector<std::string> names;
    for (const NodeId node : some) names.push_back(path.of(where->graph().node(node).name));
    return names;
  }
};

/// Says why a node cannot have a type; empty if it can.
using Refusal = std::function<QString(NodeId)>;

/// Returns why none of `nodes` can have the type; empty if one can.
QString refusal(const std::vector<NodeId>& nodes, const Refusal& refusalOf) {
  QString first;
  for (const NodeId node : nodes) {
    const QString reason = refusalOf(node);
    if (reason.isEmpty()) return {};
    if (first.isEmpty()) first = reason;
  }
  return first;
}

std::vector<NodeId> notRefused(std::vector<NodeId> nodes, const Refusal& refusalOf) {
  std::erase_if(nodes, [&](NodeId node) { return !refusalOf(node).isEmpty(); });
  return nodes;
}

template <class Act>
QAction* add(QMenu& menu, const QString& text, const QString& problem, const QString& tip, Act act) {
  QAction* action = menu.addAction(text, &menu, act);
  action->setEnabled(problem.isEmpty());
  action->setToolTip(tipText(problem.isEmpty() ? tip : problem));
  action->setData(problem);  // as plain text, for EditPreview
  return action;
}

void fillTypes(QMenu& menu, const DockContext& context, const Chosen& chosen, Strictness strictness, bool output) {
  menu.setToolTipsVisible(true);
  auto* preview = new EditPreview(menu, context);
  const bool ranges = context.document.ranges() != nullptr;
  for (const DataType type : {DataType::F32, DataType::F16, DataType::BF16, DataType::I8}) {
    if (output && type == DataType::I8) continue;
    const QString unknown = timeUnknownReason(chosen.plan(), type);
    const QString tip = unknown.isEmpty() ? QString() : QStringLiteral("Time: ") + unknown;
    const Refusal refusalOf = [&](NodeId node) {
      return output ? outputTypeRefusal(chosen.plan(), node, type) : pinRefusal(chosen.plan(), node, type, ranges);
    };
    const auto able = chosen.names(notRefused(chosen.nodes, refusalOf));
    const auto pin = [context, able, type, strictness, output] {
      if (output) {
        context.document.pinOutput(able, type, strictness);
      } else {
        context.document.pin(able, type, strictness);
      }
    };
    QAction* entry = add(menu, qs(type), refusal(chosen.nodes, refusalOf), tip, pin);
    preview->add(entry, withType(context.document.directives(), able,
                                 output ? DirectiveKind::PinOutput : DirectiveKind::Pin, type, strictness));
  }
  preview->finish();
}

/// Adds the entry for a directive that has no argument except nodes.
void addDirective(QMenu& menu, EditPreview& preview, const DockContext& context, const Chosen& chosen,
                  const DirectiveForm& form) {
  const std::string problem =
      form.menu.pointless == nullptr ? "" : form.menu.pointless(chosen.plan(), chosen.nodes.front());
  const auto about = chosen.names(form.menu.lastOnly ? std::vector{chosen.nodes.back()} : chosen.nodes);
  const std::string rule = form.menu.rule == nullptr ? "" : form.menu.rule(chosen.plan(), chosen.nodes.back());
  const QString tip = rule.empty() ? qs(form.menu.tip) : QStringLiteral("%1: %2").arg(qs(form.menu.tip), qs(rule));
  QAction* entry = add(menu, qs(form.menu.text), qs(problem), tip,
                       [context, about, kind = kindOf(form), rule] { context.document.direct(about, kind, rule); });
  preview.add(entry, withKind(context.document.directives(), about, kindOf(form), rule));
}

/// Adds pins for a whole module. Such a pin is one directive, `module:PATH`, which also applies to the same module of
/// another file. Whether the pattern matches exactly these nodes is determined on another thread.
void addModulePins(QMenu& menu, const DockContext& context, const Chosen& chosen) {
  const std::int32_t index = chosen.where == chosen.network.get() ? chosen.where->moduleOf(chosen.nodes) : -1;
  if (index < 0 || chosen.where->modules->byStructure) return;
  const Module& module = chosen.where->modules->modules[static_cast<std::size_t>(index)];
  QMenu* pins = menu.addMenu(QStringLiteral("Pin module %1 to").arg(captionText(qs(module.path))));
  pins->setToolTipsVisible(true);
  pins->setEnabled(false);
  pins->menuAction()->setToolTip(QStringLiteral("Checking whether a pattern matches exactly this module …"));
  const auto find = [network = chosen.network, module](const StopToken&) {
    const Model& original = *unquantized(network->plan->model);
    PatternMatcher matcher(original);
    return exactPattern(matcher, *original.graph, network->graph(), module);
  };
  context.jobs.run(QStringLiteral("module_pattern"), pins, find, [pins, context, chosen](const std::string& pattern) {
    pins->menuAction()->setToolTip(
        pattern.empty() ? QStringLiteral("No pattern matches exactly this module: select it and pin its nodes.")
                        : QString());
    if (pattern.empty()) return;
    pins->setEnabled(true);
    const bool ranges = context.document.ranges() != nullptr;
    auto* preview = new EditPreview(*pins, context);
    for (const DataType type : {DataType::F32, DataType::F16, DataType::BF16, DataType::I8}) {
      const Refusal refusalOf = [&](NodeId node) { return pinRefusal(chosen.plan(), node, type, ranges); };
      QAction* entry = add(*pins, qs(type), refusal(chosen.nodes, refusalOf), qs(pattern),
                           [context, pattern, type] { context.document.pin({pattern}, type, Strictness::Prefer); });
      preview->add(entry,
                   withType(context.document.directives(), {pattern}, DirectiveKind::Pin, type, Strictness::Prefer));
    }
    preview->finish();
  });
}

/// Returns a title such as "node_Conv_7 · Conv", "node_Conv_7 · Conv + Relu" for a kernel, "layer.3 · attention" for a
/// module, or "5 nodes".
QString titleOf(const Chosen& chosen) {
  const FusedNode* kernel = chosen.where->fusedWithExactly(chosen.nodes);
  if (chosen.nodes.size() > 1 && kernel == nullptr) {
    const std::int32_t module = chosen.where->moduleOf(chosen.nodes);
    return module < 0 ? namesText(chosen.names(chosen.nodes))
                      : qs(chosen.where->modules->modules[static_cast<std::size_t>(module)].title);
  }
  QStringList operators;
  for (const NodeId node : chosen.nodes) operators << qs(chosen.where->graph().node(node).op);
  const NodeId root = kernel != nullptr ? PlanSnapshot::mainNodeOf(*kernel) : chosen.nodes.front();
  return qs(chosen.names({root}).front()) + QStringLiteral(" · ") + operators.join(QStringLiteral(" + "));
}

}  // namespace

void fillNodeMenu(QMenu& menu, const DockContext& context, const std::vector<NodeId>& nodes) {
  const Chosen chosen = Chosen::of(context, nodes);
  menu.clear();
  menu.setToolTipsVisible(true);
  if (chosen.nodes.empty()) {
    menu.addAction(QStringLiteral("Select a node first"))->setEnabled(false);
    return;
  }
  const auto names = chosen.names(chosen.nodes);
  addMenuTitle(menu, titleOf(chosen));
  fillTypes(*menu.addMenu(QStringLiteral("Pin to (prefer)")), context, chosen, Strictness::Prefer, false);
  fillTypes(*menu.addMenu(QStringLiteral("Pin to (obey)")), context, chosen, Strictness::Obey, false);
  fillTypes(*menu.addMenu(QStringLiteral("Output type")), context, chosen, Strictness::Prefer, true);
  addModulePins(menu, context, chosen);
  menu.addSeparator();
  qDeleteAll(menu.findChildren<EditPreview*>(QString(), Qt::FindDirectChildrenOnly));
  auto* preview = new EditPreview(menu, context);
  for (const DirectiveForm* form : directiveForms())
    if (!form->menu.text.empty()) addDirective(menu, *preview, context, chosen, *form);
  const bool directed = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return !directivesNaming(context.document.directives(), name).empty();
  });
  QAction* clear =
      add(menu, QStringLiteral("Clear its directives"),
          directed
              ? QString()
              : QStringLiteral("No directive names this node; a pattern may match it, see the Inspector of the model."),
          QString(), [context, names] { context.document.clearDirectives(names); });
  preview->add(clear, withoutNodes(context.document.directives(), names));
  QWidget* window = &menu;
  while (window->parentWidget() != nullptr) window = window->parentWidget();
  add(menu, QStringLiteral("Extract…"),
      chosen.where == chosen.network.get()
          ? QString()
          : QStringLiteral("A part consists of whole nodes of the main graph: select the node that has the body."),
      QStringLiteral("Writes them as a separate network, with the values of its inputs"),
      [context] { context.act("extract"); });
  add(menu, QStringLiteral("Copy as command"), QString(), QStringLiteral("A shell command that explains it"),
      [context, window, name = names.front()] { copyCommand(context, *window, explainCommandOf(context, name)); });
  preview->finish();
}

}  // namespace fusescope
