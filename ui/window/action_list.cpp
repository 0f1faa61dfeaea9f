#include <QApplication>
#include <QMenu>
#include <QTimer>

#include "probe/found_environment.h"
#include "ui/compare/two_views.h"
#include "ui/document/build_step.h"
#include "ui/document/environment_words.h"
#include "ui/document/known_environments.h"
#include "ui/document/qt_text.h"
#include "ui/window/actions.h"
#include "ui/window/extract_action.h"
#include "ui/window/import_action.h"
#include "ui/window/inputs_action.h"
#include "ui/window/job_file_actions.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"
#include "ui/window/report_action.h"

namespace fusescope {

namespace {

QString noModel(MainWindow& window) {
  return window.document().snapshot() ? QString() : QStringLiteral("Open a model first.");
}

QString noTwoViews(MainWindow& window) {
  return window.showsTwoViews() ? QString() : QStringLiteral("Show two views first (F4).");
}

void fillRecent(MainWindow& window, QMenu& menu) {
  for (const QString& path : PlanDocument::recentFiles())
    menu.addAction(captionText(path), &window, [&window, path] { window.openFile(path); });
  if (menu.isEmpty()) menu.addAction(QStringLiteral("Nothing yet"))->setEnabled(false);
}

void fillSamples(MainWindow& window, QMenu& menu) {
  for (const BundledSample& sample : bundledSamples())
    menu.addAction(captionText(sample.name), &window, [&window, path = sample.path] { window.openFile(path); })
        ->setToolTip(sample.description);
}

void fillSelected(MainWindow& window, QMenu& menu) {
  fillNodeMenu(menu, window.context(), window.selection().nodes());
}

/// Marks a compiler of which not everything has been tried yet.
QString withMark(const QString& title, const Compiler* compiler) {
  if (compiler == nullptr) return title;
  if (!compiler->untried().empty()) return title + QStringLiteral(" (untried)");
  return compiler->untriedToRun().empty() ? title : title + QStringLiteral(" (running is untried)");
}

/// Returns the sentence that explains the mark; empty if there is none.
std::string whyMarked(const Compiler& compiler) {
  const std::string untried = compiler.untried();
  return untried.empty() ? compiler.untriedToRun() : untried;
}

void fillCompilers(MainWindow& window, QMenu& menu);

/// While the menu is open, it shows new answers of compilers and environments. The highlighted entry remains
/// highlighted, and an entry on which the mouse is pressed is not removed.
void followAnswers(MainWindow& window, QMenu& menu) {
  const QString kFollower = QStringLiteral("follows_answers");
  constexpr int kPressedMs = 50;
  if (menu.findChild<QTimer*>(kFollower, Qt::FindDirectChildrenOnly) != nullptr) return;
  auto* follower = new QTimer(&menu);
  follower->setObjectName(kFollower);
  follower->setSingleShot(true);
  follower->setInterval(kPressedMs);
  const auto renew = [&window, &menu, follower] {
    if (!menu.isVisible()) return;
    if (QApplication::mouseButtons() != Qt::NoButton) return follower->start();
    const QVariant active = menu.activeAction() == nullptr ? QVariant() : menu.activeAction()->data();
    menu.clear();
    fillCompilers(window, menu);
    for (QAction* action : menu.actions())
      if (active.isValid() && action->data() == active) menu.setActiveAction(action);
  };
  QObject::connect(follower, &QTimer::timeout, &menu, renew);
  // The calls are queued, because the menu itself asks while it is being filled.
  QObject::connect(&window.controller().compilers(), &Compilers::changed, follower, renew, Qt::QueuedConnection);
  QObject::connect(&window.environments(), &Environments::changed, follower, renew, Qt::QueuedConnection);
  // If other environments replace these, they are followed by another object.
  QObject::connect(&window.environments(), &QObject::destroyed, follower, [follower] { delete follower; });
}

/// Returns the text after the title of a compiler that has not answered yet. Its entry is disabled until then.
QString whileAsked(const Compilers& compilers, const std::string& name) {
  return findCompiler(name) != nullptr && compilers.facts(name) == nullptr ? QStringLiteral(" · being asked …")
                                                                           : QString();
}

/// Fills a menu with the compilers in each environment. Those that cannot build are disabled and say why.
void fillEnvironments(MainWindow& window, QMenu& menu) {
  window.findEnvironmentsOfSession();
  Environments& environments = window.environments();
  environments.ask();
  const std::string& now = window.document().options().compiler;
  for (const KnownEnvironment& known : environments.all()) {
    const QString place = qs(known.environment.name);
    if (isOfNoUse(known) || !known.found) {
      QAction* action = menu.addAction(captionText(QStringLiteral("%1: %2").arg(place, foundWords(known))));
      action->setEnabled(false);
      continue;
    }
    for (const FoundCompiler& found : known.found->compilers) {
      const std::string name = compilerIn(found.compiler, known.environment);
      const Compiler* compiler = found.problem.empty() ? findCompiler(name) : nullptr;
      if (compiler != nullptr) window.controller().compilers().ask(name);
      const QString title = QStringLiteral("%1 %2 · %3").arg(qs(found.compiler), qs(found.version), place).simplified();
      const QString asked = found.problem.empty() ? whileAsked(window.controller().compilers(), name) : QString();
      QAction* action = menu.addAction(captionText(withMark(title, compiler) + asked), &window, [&window, compiler] {
        window.showDock(QStringLiteral("Runs"));
        window.controller().buildWith(*compiler);
      });
      const QString problem = !found.problem.empty() ? qs(found.problem)
                              : compiler == nullptr
                                  ? QStringLiteral("This program has no part for %1.").arg(qs(found.compiler))
                                  : window.controller().buildWithRefusal(*compiler);
      action->setData(qs(name));
      action->setCheckable(true);
      action->setChecked(now == name);
      action->setEnabled(problem.isEmpty());
      action->setToolTip(tipText(problem.isEmpty() && compiler != nullptr ? qs(whyMarked(*compiler)) : problem));
    }
  }
  menu.addSeparator();
  const QString dialog = QStringLiteral("Compilers…");
  menu.addAction(dialog, &window, &MainWindow::showCompilers)->setData(dialog);
}

/// Fills a menu whose entries choose a compiler and build. A compiler that cannot compile says why.
void fillCompilers(MainWindow& window, QMenu& menu) {
  Compilers& compilers = window.controller().compilers();
  compilers.ask();
  followAnswers(window, menu);
  const QString now = qs(window.document().options().compiler);
  for (const Compiler* compiler : allCompilers()) {
    const QString title =
        withMark(compilers.title(compiler->name()), compiler) + whileAsked(compilers, std::string(compiler->name()));
    QAction* action = menu.addAction(captionText(title), &window, [&window, compiler] {
      window.showDock(QStringLiteral("Runs"));
      window.controller().buildWith(*compiler);
    });
    action->setData(qs(compiler->name()));
    action->setCheckable(true);
    action->setChecked(now == qs(compiler->name()));
    const QString problem = window.controller().buildWithRefusal(*compiler);
    action->setEnabled(problem.isEmpty());
    action->setToolTip(tipText(problem.isEmpty() ? qs(whyMarked(*compiler)) : problem));
  }
  fillEnvironments(window, menu);
}

/// Fills a menu with every action for which there is also a command.
void fillCommands(MainWindow& window, QMenu& menu) {
  for (const ActionForm& form : actionForms())
    if (form.command != nullptr)
      menu.addAction(QString::fromUtf8(form.text), &window, [&window, &form] {
        const DockContext context = window.context();
        copyCommand(context, window, form.command(context));
      });
}

QString buildLabel(MainWindow& window) {
  return QStringLiteral("&") + captionText(buildStep(window.document(), window.controller()).words);
}

QString undoLabel(MainWindow& window) {
  return QStringLiteral("Undo ") + captionText(window.document().undoStack().undoText());
}
QString redoLabel(MainWindow& window) {
  return QStringLiteral("Redo ") + captionText(window.document().undoStack().redoText());
}

}  // namespace

const std::vector<ActionForm>& actionForms() {
  static const std::vector<ActionForm> kForms{
#include "ui/window/actions.inc"
  };
  return kForms;
}

}  // namespace fusescope
