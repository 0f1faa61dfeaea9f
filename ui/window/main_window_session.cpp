#include <QAction>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>

#include "base/files.h"
#include "session/inputs/sample_source.h"
#include "ui/canvas/color_mode.h"
#include "ui/compare/two_views.h"
#include "ui/dialogs/bisect_dialog.h"
#include "ui/dialogs/calibrate_dialog.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/dialogs/diff_dialog.h"
#include "ui/dialogs/inputs_dialog.h"
#include "ui/dialogs/run_settings_dialog.h"
#include "ui/dialogs/tune_dialog.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/document/session_folder.h"
#include "ui/window/extract_action.h"
#include "ui/window/import_action.h"
#include "ui/window/main_window.h"
#include "ui/window/message_keys.h"

namespace fusescope {

namespace {

const QString kMissingKey = QStringLiteral("missing");
const QString kChangedKey = QStringLiteral("changed");
const QString kElsewhereKey = QStringLiteral("elsewhere");
const QString kMadeKey = QStringLiteral("made");
const QString kInputsKey = QStringLiteral("inputs");
constexpr int kViewVersion = 2;  ///< the version of "view" in core/session/SESSION_FORMAT.md
constexpr const char* kBuildWhileEditing = "build_while_editing";  ///< a field of the view that a session stores

QStringList strings(const Json& json, const char* key) {
  QStringList list;
  if (!json.is_object() || !json.contains(key) || !json[key].is_array()) return list;
  for (const Json& entry : json[key])
    if (entry.is_string()) list << qs(entry.get<std::string>());
  return list;
}

Json jsonOf(const QStringList& list) {
  Json json = Json::array();
  for (const QString& entry : list) json.push_back(entry.toStdString());
  return json;
}

double numberAt(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0;
}

/// Returns a text such as "fp16_overflow/model.onnx: work of 2026-01-31 12:34, 2 directives, 1 run".
QString leftText(const SessionFolder::Left& left) {
  const QString name =
      left.savedAs.isEmpty() ? left.model.section(QLatin1Char('/'), -2) : QFileInfo(left.savedAs).fileName();
  return QStringLiteral("%1: work of %2, %3, %4")
      .arg(name, left.when, plural(left.pins, QStringLiteral("directive")), plural(left.runs, QStringLiteral("run")));
}

std::string textAt(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

}  // namespace

void MainWindow::reloadAndRefit(const std::string& former) {
  auto* once = new QObject(this);  // receives only the signals of the next opening, whatever its result is
  connect(m_document.get(), &PlanDocument::modelChanged, once, [this, former, path = m_document->path()] {
    if (m_document->path() == path) m_controller->refit(former);  // otherwise another file has been opened meanwhile
  });
  connect(m_document.get(), &PlanDocument::openingEnded, once, &QObject::deleteLater);
  m_document->reload();
}

void MainWindow::connectSession() {
  m_session->setView([this] { return viewState(); });
  connect(m_session.get(), &SessionKeeper::changed, this, &MainWindow::refreshTitle);
  connect(m_session.get(), &SessionKeeper::failed, this, &MainWindow::showProblem);
  connect(m_session.get(), &SessionKeeper::restored, this, &MainWindow::restoreView);
  connect(m_session.get(), &SessionKeeper::modelMissing, this, [this](const QString& session, const QString& model) {
    m_messages->show(kMissingKey,
                     QStringLiteral("%1 is about %2, which is not there.").arg(QFileInfo(session).fileName(), model),
                     {{QStringLiteral("Locate…"), [this] {
                         const QString path =
                             QFileDialog::getOpenFileName(this, QStringLiteral("Where is the model now?"), QString(),
                                                          QStringLiteral("Models (*.onnx *.pt2);;All files (*)"));
                         if (!path.isEmpty()) m_session->locate(path);
                       }}});
  });
  connect(m_session.get(), &SessionKeeper::modelChangedOnDisk, this, [this](const QString& path, bool inWeightsAlone) {
    QList<MessageBar::Action> actions{{QStringLiteral("Reload"), [this] { m_document->reload(); }}};
    const Run* former = inWeightsAlone ? m_controller->refittable() : nullptr;
    if (former != nullptr)
      actions.push_back({QStringLiteral("Reload and refit %1").arg(Runs::title(*former)),
                         [this, id = former->id] { reloadAndRefit(id); }});
    const QString changed = inWeightsAlone ? QStringLiteral("The weights of %1 have changed on disk, and nothing else.")
                                           : QStringLiteral("%1 has changed on disk.");
    m_messages->show(
        kChangedKey,
        changed.arg(QFileInfo(path).fileName()) + QStringLiteral(" The displayed model is the file before that."),
        actions);
  });
  connect(m_session.get(), &SessionKeeper::openElsewhere, this, [this](const QString& session) {
    m_messages->show(kElsewhereKey,
                     QStringLiteral("%1 is open in another window. This is a copy, to be saved under another name.")
                         .arg(QFileInfo(session).fileName()),
                     {});
  });
  connect(m_controller.get(), &RunController::filesRefused, this,
          [this](const QString& problem) { m_messages->show(kFilesKey, QStringLiteral("✗ ") + problem, {}); });
  connect(m_made.get(), &ShownMade::failed, this,
          [this](const QString& problem) { m_messages->show(kMadeKey, problem, {}); });
  connect(m_document.get(), &PlanDocument::optionsDropped, this, [this](const QStringList& dropped) {
    m_messages->show(kDroppedKey,
                     QStringLiteral("The model has changed, and this does not apply to it any more:\n") +
                         dropped.join(QLatin1Char('\n')),
                     {});
  });
  // Messages about the previous model are closed, and a session that was waiting for its model stops waiting.
  connect(m_document.get(), &PlanDocument::graphChanged, this, [this](const Graph* before) {
    if (before != nullptr) return;
    for (const QString& key : {kChangedKey, kMissingKey, kDroppedKey, kMadeKey, kRecipeKey, kJobKey, kFilesKey})
      m_messages->close(key);
    cancelExtraction(*this);
    forgetProgram(*this);
  });
  connect(m_session.get(), &SessionKeeper::began, this, &MainWindow::findInputsBesideModel);
  connect(m_session.get(), &SessionKeeper::began, m_builds.get(), [this] { m_builds->choose(std::nullopt); });
  connect(m_session.get(), &SessionKeeper::restored, this, [this] { m_messages->close(kInputsKey); });
  connect(m_runs.get(), &Runs::settingsChanged, this, [this] {
    if (!m_runs->settings().inputs.empty()) m_messages->close(kInputsKey);
  });
}

void MainWindow::keepSessionsIn(const QString& folder) {
  m_session->setFolder(folder);
  offerLeft();
}

/// There is one message for the newest session; all others are in its menu.
void MainWindow::offerLeft() {
  const std::vector<SessionFolder::Left> all = m_session->left();
  if (all.empty()) return;
  const SessionFolder::Left& newest = all.front();
  QList<MessageBar::Action> actions{{QStringLiteral("Recover"), [this, file = newest.file] { recover(file); }},
                                    {QStringLiteral("Discard"), [this, file = newest.file] {
                                       m_session->discard(file);
                                       offerLeft();
                                     }}};
  const auto others = static_cast<std::int64_t>(all.size()) - 1;
  if (others > 0) actions.append({QStringLiteral("%1 more…").arg(others), [this] { chooseLeft(); }});
  m_messages->show(newest.file, QStringLiteral("Fusescope ended without closing %1.").arg(leftText(newest)), actions);
}

void MainWindow::chooseLeft() {
  auto* menu = new QMenu(this);
  menu->setObjectName(QStringLiteral("left"));
  menu->setAttribute(Qt::WA_DeleteOnClose);
  for (const SessionFolder::Left& left : m_session->left())
    menu->addAction(QStringLiteral("Recover %1").arg(captionText(leftText(left))), this,
                    [this, file = left.file] { recover(file); });
  menu->addSeparator();
  menu->addAction(QStringLiteral("Discard all of them"), this, [this] {
    for (const SessionFolder::Left& left : m_session->left()) m_session->discard(left.file);
  });
  // If the user chooses nothing, the question is shown again.
  const auto chosen = std::make_shared<bool>(false);
  connect(menu, &QMenu::triggered, this, [chosen] { *chosen = true; });
  connect(
      menu, &QMenu::aboutToHide, this,
      [this, chosen] {
        if (!*chosen) offerLeft();
      },
      Qt::QueuedConnection);
  menu->popup(m_messages->mapToGlobal(m_messages->rect().bottomLeft()));
}

void MainWindow::recover(const QString& session) {
  if (mayLeave()) m_session->recover(session);
}

void MainWindow::refreshTitle() {
  if (!m_document->model()) return setWindowTitle(QStringLiteral("Fusescope"));
  const QString model = m_document->path().section(QLatin1Char('/'), -2);
  const QString name = m_session->path().isEmpty()
                           ? model
                           : QStringLiteral("%1 (%2)").arg(QFileInfo(m_session->path()).fileName(), model);
  const QString made = m_made->words();
  setWindowTitle(QStringLiteral("%1[*] — %2Fusescope").arg(name, made.isEmpty() ? made : made + QStringLiteral(" — ")));
  setWindowModified(m_session->unsaved());
}

bool MainWindow::mayLeave() {
  if (!m_session->unsaved()) return true;
  QMessageBox box(QMessageBox::Question, QStringLiteral("Save the session?"),
                  QStringLiteral("Directives and runs of %1 are not saved.").arg(m_session->modelName()),
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
  box.setDefaultButton(QMessageBox::Save);
  switch (box.exec()) {
    case QMessageBox::Save:
      return saveSession(false);
    case QMessageBox::Discard:
      return true;
    default:
      return false;
  }
}

bool MainWindow::saveSession(bool as) {
  if (!m_document->model()) return false;
  QString path = m_session->path();
  if (as || path.isEmpty()) {
    const QString name = QFileInfo(m_document->path()).completeBaseName() + kSessionSuffix;
    path = QFileDialog::getSaveFileName(this, QStringLiteral("Save the session"), besideModel(*m_document, name),
                                        QStringLiteral("Sessions (*.fsession)"));
    if (path.isEmpty()) return false;
    if (QFileInfo(path).suffix().isEmpty()) path += kSessionSuffix;
  }
  const Status written = m_session->save(path);
  if (!written.ok()) showProblem(QStringLiteral("The session was not saved"), problemText(written.error()));
  return written.ok();
}

Json MainWindow::viewState() const {
  const CanvasView view = m_canvas->view();
  Json state{{"version", kViewVersion},   {"centre", {view.centre.x(), view.centre.y()}},
             {"zoom", view.zoom},         {"color", m_canvas->colorMode().name},
             {"only", jsonOf(view.only)}, {"selection", jsonOf(m_canvas->selection())},
             {"lanes", m_runs->lanes()},  {"two_views", m_twoViews->state()}};
  if (m_builds->chosen()) state[kBuildWhileEditing] = *m_builds->chosen();
  for (const ContainerKind* kind : containerKinds())
    if (!kind->turnedKey.empty()) state[std::string(kind->turnedKey)] = jsonOf(view.open.turned(*kind).values());
  return state;
}

void MainWindow::restoreView(const Json& state) {
  CanvasView view;
  for (const ContainerKind* kind : containerKinds()) {
    if (kind->turnedKey.empty()) continue;
    // If an earlier version saved the view, or nobody did, the open blocks are chosen again.
    view.atRest = view.atRest || !state.contains(std::string(kind->turnedKey));
    const QStringList turned = strings(state, std::string(kind->turnedKey).c_str());
    view.open.setTurned(*kind, QSet<QString>(turned.begin(), turned.end()));
  }
  view.zoom = numberAt(state, "zoom");
  view.only = strings(state, "only");
  if (state.is_object() && state.contains("centre") && state["centre"].is_array() && state["centre"].size() == 2 &&
      state["centre"][0].is_number() && state["centre"][1].is_number())
    view.centre = QPointF(state["centre"][0].get<double>(), state["centre"][1].get<double>());
  m_canvas->setNextView(std::move(view));
  const Json builds = state.is_object() ? state.value(kBuildWhileEditing, Json()) : Json();
  m_builds->choose(builds.is_boolean() ? std::optional(builds.get<bool>()) : std::nullopt);
  if (const ColorMode* mode = findColorMode(textAt(state, "color"))) m_canvas->setColorMode(*mode);
  selectNamed(*m_selection, *m_document->snapshot(), strings(state, "selection"));
  std::vector<std::string> lanes;
  for (const QString& id : strings(state, "lanes")) lanes.push_back(id.toStdString());
  m_runs->setLanes(std::move(lanes));
  if (!state.is_object() || !state.contains("two_views")) return;
  const Json& twoViews = state["two_views"];
  m_twoViews->restore(twoViews);
  if (twoViews.is_object() && twoViews.value("shown", Json()) == true) showTwoViews(true);
}

void MainWindow::setInputs(const SampleSource& inputs) {
  RunSettings settings = m_runs->settings();
  settings.inputs = inputs;
  m_runs->setSettings(settings);
}

void MainWindow::findInputsBesideModel() {
  m_messages->close(kInputsKey);
  if (!m_document->model()->network.empty()) return takeExampleInputs(*this);
  if (!m_runs->settings().inputs.empty()) return;  // the file contains inputs itself
  const QString file = besideModel(*m_document, QStringLiteral("io.npz"));
  if (m_document->kind() != ArtifactKind::Model || !QFileInfo::exists(file)) return;
  const auto take = [this, inputs = SampleSource{.paths = {file.toStdString()}}] { setInputs(inputs); };
  if (isBundledSample(m_document->path())) return take();
  m_messages->show(kInputsKey,
                   QStringLiteral("%1 is beside the model. Without inputs, runs use random numbers.")
                       .arg(QFileInfo(file).fileName()),
                   {{QStringLiteral("Use it as inputs"), take}});
}

void MainWindow::editInputs() {
  opened<InputsDialog>(context(), this);
}

void MainWindow::calibrate() {
  opened<CalibrateDialog>(context(), *m_worker, this);
}

void MainWindow::tune() {
  opened<TuneDialog>(context(), *m_worker, this);
}

void MainWindow::bisect() {
  opened<BisectDialog>(context(), *m_worker, this);
}

void MainWindow::compareWithFile() {
  auto* dialog = opened<DiffDialog>(context(), this);
  connect(dialog, &QDialog::accepted, this, [this] { showDock(QStringLiteral("Validation")); });
}

void MainWindow::evaluateErrors() {
  showDock(QStringLiteral("Runs"));
  m_controller->evaluateErrors();
  m_canvas->setColorMode(*findColorMode("error"));
}

QString MainWindow::firstWrong() const {
  const auto failure = m_runs->failure();
  if (!failure) return {};
  return qs(failure->node.valid() ? failure->name : failure->value);
}

void MainWindow::goToFirstWrong() {
  if (firstWrong().isEmpty()) return;
  goTo(context(), firstWrong());
  m_canvas->centreSelection();
  showDock(QStringLiteral("Inspector"));
}

void MainWindow::editRunSettings() {
  opened<RunSettingsDialog>(context(), this);
}

}  // namespace fusescope
