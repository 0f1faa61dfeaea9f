#include "ui/dialogs/export_dialog.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QRegularExpression>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

#include "base/files.h"
#include "target/target_table.h"
#include "ui/dialogs/export_memory.h"
#include "ui/docks/dock_widgets.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

const QString kDo = QStringLiteral("do"), kFormatLink = QStringLiteral("format:");

QString link(const QString& what, const QString& words) {
  return QStringLiteral("<a href='%1:%2'>%3</a>").arg(kDo, what, words.toHtmlEscaped());
}

/// The newest version that the plan's target knows the operators of; of another target than TensorRT a usual one.
QString trtVersionFor(const Plan& plan) {
  constexpr std::string_view kTensorrt = "tensorrt-";
  const std::string_view name = plan.target.name;
  if (!name.starts_with(kTensorrt)) return QStringLiteral("10.3");
  const std::string major(name.substr(kTensorrt.size()));
  const auto table = std::ranges::find(targetTables(), name, &TargetTable::name);
  const bool numbered = major.find_first_not_of("0123456789") == std::string::npos;
  const bool known = table != targetTables().end() && (!numbered || table->operatorsOf.starts_with(major + "."));
  return qs(known ? table->operatorsOf : major + ".0");
}

QString sentence(QString words) {
  if (!words.isEmpty()) words[0] = words[0].toUpper();
  return words;
}

}  // namespace

ExportDialog::ExportDialog(const DockContext& context, WorkerClient& worker, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_format(new QComboBox),
      m_weights(new QComboBox),
      m_borders(new QComboBox),
      m_version(new QLineEdit),
      m_log(new QLineEdit),
      m_logRow(new QWidget),
      m_check(new QCheckBox(QStringLiteral("Check its numbers on"))),
      m_inputs(new InputsButton(context)),
      m_summary(new QLabel),
      m_form(new QFormLayout),
      m_pages(new QStackedWidget),
      m_preview(new QPlainTextEdit),
      m_report(new QTextBrowser),
      m_job(worker) {
  setWindowTitle(QStringLiteral("Export"));
  resize(680, 560);
  m_summary->setWordWrap(true);
  m_preview->setReadOnly(true);
  m_preview->setFont(monoFont());
  m_preview->setLineWrapMode(QPlainTextEdit::NoWrap);
  m_preview->setAccessibleName(QStringLiteral("Preview"));
  m_report->setOpenLinks(false);
  m_report->setAccessibleName(QStringLiteral("What was written"));
  m_report->document()->setDocumentMargin(8);
  m_pages->addWidget(m_preview);
  m_pages->addWidget(m_report);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  m_cancel = plainButton(QStringLiteral("Cancel"));
  buttons->addButton(m_cancel, QDialogButtonBox::ActionRole);
  buttons->addButton(copyCommandButton(context, [this] { return command(); }), QDialogButtonBox::ActionRole);
  m_save = buttons->addButton(QStringLiteral("Save as…"), QDialogButtonBox::ActionRole);
  m_save->setDefault(true);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(makeForm());
  layout->addWidget(m_summary);
  layout->addWidget(m_pages, 1);
  layout->addWidget(buttons);
  connect(m_format, qOverload<int>(&QComboBox::currentIndexChanged), this, &ExportDialog::refresh);
  connect(&context.document, &PlanDocument::planChanged, this, &ExportDialog::refresh);
  connect(&context.runs, &Runs::settingsChanged, this, &ExportDialog::renew);
  connect(&m_job, &WorkerJob::changed, this, &ExportDialog::renew);
  connect(m_save, &QPushButton::clicked, this, &ExportDialog::save);
  connect(m_cancel, &QPushButton::clicked, &m_job, &WorkerJob::cancel);
  connect(m_report, &QTextBrowser::anchorClicked, this, &ExportDialog::follow);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  beginAsLast();
  refresh();
}

/// With the format and the options that somebody exported with last.
void ExportDialog::beginAsLast() {
  const QSignalBlocker quiet(m_format);
  if (const int last = m_format->findData(rememberedFormat()); last >= 0) m_format->setCurrentIndex(last);
  for (const Exporter& each : exporters()) {
    if (!each.takesSamples) continue;
    const RememberedExport chosen = rememberedExport(qs(each.name), QString());
    m_weights->setCurrentIndex(static_cast<int>(chosen.weights));
    m_borders->setCurrentIndex(static_cast<int>(chosen.borders));
    m_check->setChecked(chosen.check);
  }
}

QLayout* ExportDialog::makeForm() {
  for (const Exporter& each : exporters()) m_format->addItem(qs(each.title), qs(each.name));
  m_log->setPlaceholderText(QStringLiteral("log of a verbose build by trtexec, for the exact names (optional)"));
  auto* browse = plainButton(QStringLiteral("Browse…"));
  auto* logRow = new QHBoxLayout(m_logRow);
  logRow->setContentsMargins(0, 0, 0, 0);
  logRow->addWidget(m_log, 1);
  logRow->addWidget(browse);
  m_weights->addItem(QStringLiteral("converted to what they are calculated in"));  // as WeightTypes
  m_weights->addItem(QStringLiteral("kept, with a Cast behind each"));
  m_borders->addItem(QStringLiteral("keep the types of the file"));  // as BorderTypes
  m_borders->addItem(QStringLiteral("get those of the plan"));
  m_check->setChecked(true);
  m_check->setToolTip(QStringLiteral(
      "Every output is held against float32 by the tolerance of the session, on each sample, by the "
      "reference with every value between two nodes stored and by the engine. Casts are added where that "
      "needs them; what still fails is not written"));
  m_form->addRow(QStringLiteral("Format"), m_format);
  m_form->addRow(QStringLiteral("TensorRT version"), m_version);
  m_form->addRow(QStringLiteral("Layer names"), m_logRow);
  m_form->addRow(QStringLiteral("Weights are"), m_weights);
  m_form->addRow(QStringLiteral("Inputs, outputs"), m_borders);
  m_form->addRow(m_check, m_inputs);
  connect(m_version, &QLineEdit::textChanged, this, &ExportDialog::refresh);
  connect(m_log, &QLineEdit::textChanged, this, &ExportDialog::refresh);
  connect(browse, &QPushButton::clicked, this, &ExportDialog::chooseLog);
  return m_form;
}

const Exporter& ExportDialog::exporter() const {
  return *findExporter(m_format->currentData().toString().toStdString());
}

/// Another format, plan or wish: what was shown is of the one before.
void ExportDialog::refresh() {
  const Exporter& chosen = exporter();
  if (!m_version->isModified()) {
    const QSignalBlocker quiet(m_version);
    const Plan& plan = *m_context.document.snapshot()->plan;
    const auto chosen = rememberedExport(m_format->currentData().toString(), qs(plan.target.name)).version;
    m_version->setText(chosen.value_or(trtVersionFor(plan)));
  }
  const bool trtexec = chosen.name == "trtexec", network = !chosen.isText;
  showRow(*m_form, m_version, chosen.takesVersion);
  showRow(*m_form, m_logRow, trtexec);
  for (QWidget* field : std::initializer_list<QWidget*>{m_weights, m_borders, m_inputs})
    showRow(*m_form, field, chosen.takesSamples);
  m_pages->setCurrentIndex(network ? 1 : 0);
  m_report->clear();
  m_report->setPlaceholderText(
      chosen.name == "pt2"
          ? QStringLiteral(
                "What is to be known of the program is said here when it is made: nodes that stay in float32, "
                "and why.")
          : QStringLiteral("What is to be known of the network is said here when it is made: Casts that were added, a "
                           "raised opset, edges that the plan holds wider."));
  m_summary->setText(sentence(qs(chosen.summary)));
  m_writable = false;
  renew();
  if (network) return m_context.jobs.cancel(QStringLiteral("export"));
  const auto snapshot = m_context.document.snapshot();
  const auto work = [plan = snapshot->plan, write = chosen.write, version = m_version->text().toStdString(),
                     log =
                         trtexec ? m_log->text().toStdString() : std::string()](const StopToken&) -> Result<Exported> {
    ExportOptions options;
    options.trtVersion = version;
    if (!log.empty()) options.layerNames = TRY(readTextFile(log));
    return write(*plan, options);
  };
  m_context.jobs.run(QStringLiteral("export"), this, work, [this](const Result<Exported>& file) { preview(file); });
}

void ExportDialog::preview(const Result<Exported>& file) {
  m_writable = file.ok();
  m_pages->setCurrentIndex(file.ok() ? 0 : 1);
  m_preview->setPlainText(file.ok() ? qs(file.value().text) : QString());
  if (file.ok()) {
    QString said = m_summary->text();
    for (const ExportNote& note : file.value().notes)
      said += QStringLiteral("\n⚠ ") + sentence(withoutOptions(qs(note.text)));
    m_summary->setText(said);
  } else {
    m_summary->setText(QStringLiteral("✗ This plan cannot be written in that format."));
    sayWhyNot(file.error());
  }
  renew();
}

void ExportDialog::renew() {
  const bool network = !exporter().isText, given = !m_context.runs.settings().inputs.empty();
  const QString busy = working() ? QStringLiteral("The network is being written: wait, or cancel it.") : QString();
  for (QWidget* wish : std::initializer_list<QWidget*>{m_format, m_weights, m_borders, m_inputs}) offer(*wish, busy);
  offer(*m_check, !busy.isEmpty() ? busy
                  : given         ? QString()
                                  : QStringLiteral("Give inputs first: the numbers are checked on them."));
  offer(*m_save, !busy.isEmpty() ? busy
                 : network || m_writable
                     ? QString()
                     : QStringLiteral("There is nothing to save: this plan cannot be written in that "
                                      "format, or it is not known yet."));
  m_cancel->setVisible(network);
  offer(*m_cancel, working() ? QString() : QStringLiteral("Nothing is under way."));
  if (working()) m_summary->setText(m_job.text());
}

void ExportDialog::chooseLog() {
  const QString path = QFileDialog::getOpenFileName(this, QStringLiteral("A verbose trtexec log"));
  if (!path.isEmpty()) m_log->setText(path);
}

void ExportDialog::save() {
  const bool network = !exporter().isText;
  const QString folder = rememberedFolder();
  const QString path = QFileDialog::getSaveFileName(
      this, QStringLiteral("Export"),
      folder.isEmpty() ? besideModel(m_context.document, fileName()) : QDir(folder).filePath(fileName()));
  if (path.isEmpty()) return;
  remember(path);
  if (network) return saveNetwork(path);
  const Status written = writeFileAtomically(path.toStdString(), m_preview->toPlainText().toStdString());
  if (written.ok()) {
    accept();
  } else {
    QMessageBox::warning(this, QStringLiteral("Export"), problemText(written.error()));
  }
}

void ExportDialog::remember(const QString& path) const {
  RememberedExport chosen{.weights = static_cast<WeightTypes>(m_weights->currentIndex()),
                          .borders = static_cast<BorderTypes>(m_borders->currentIndex()),
                          .check = m_check->isChecked()};
  if (m_version->isModified()) chosen.version = m_version->text();
  rememberExport(m_format->currentData().toString(), qs(m_context.document.snapshot()->plan->target.name), chosen,
                 path);
}

/// A file of this name: of the network or text that is exported.
QString ExportDialog::fileName() const {
  const QString extension = QString(qs(exporter().extension)).remove(QLatin1Char('.'));
  if (exporter().isText) return QStringLiteral("precision.") + extension;
  return QFileInfo(m_context.document.path()).completeBaseName() + QStringLiteral("_typed.") + extension;
}

WorkerRequest ExportDialog::request(const QString& path) const {
  WorkerRequest request = requestFor(m_context, WorkerOp::Export);
  request.exported = {.format = std::string(exporter().name), .path = path.toStdString()};
  request.exported.check = false;
  if (!exporter().takesSamples) return request;
  request.exported.weights = static_cast<WeightTypes>(m_weights->currentIndex());
  request.exported.borders = static_cast<BorderTypes>(m_borders->currentIndex());
  request.exported.check = m_check->isChecked() && !request.inputs.empty();
  return request;
}

/// What writes the same into the folder in which it is run.
CommandWork ExportDialog::command() const {
  std::vector<std::string> more;
  const auto add = [&more](const char* option, const QLineEdit& field) {
    if (!field.text().trimmed().isEmpty()) more.insert(more.end(), {option, field.text().trimmed().toStdString()});
  };
  if (exporter().takesVersion) add("--trt-version", *m_version);
  if (exporter().name == "trtexec") add("--layer-names", *m_log);
  return requestCommand(request(fileName()), more);
}

void ExportDialog::saveNetwork(const QString& path) {
  const WorkerRequest request = this->request(path);
  m_report->clear();
  m_job.start(
      request, [](const Json& reply) -> Result<Json> { return reply; },
      [this](const Result<Json>& written) {
        written.ok() ? showWritten(written.value()) : showRefused(written.error());
      });
}

void ExportDialog::showWritten(const Json& written) {
  const QString path = qs(written.value("path", std::string()));
  const Json bytes = written.value("bytes", Json());
  m_summary->setText(QStringLiteral("✓ Written: %1, %2")
                         .arg(path, bytesText(bytes.is_number() ? std::optional(bytes.get<std::int64_t>())
                                                                : std::optional<std::int64_t>())));
  QString text;
  if (const Json numbers = written.value("numbers", Json()); numbers.is_object())
    text = QStringLiteral("<p>%1</p>")
               .arg(sentence(withoutOptions(qs(numbers.value("summary", std::string())))).toHtmlEscaped());
  for (const Json& note : written.value("warnings", Json::array()))
    text += QStringLiteral("<p>⚠ %1</p>")
                .arg(withLinks(sentence(withoutOptions(qs(note.get<std::string>()))), *m_context.document.snapshot()));
  m_report->setHtml(text.isEmpty() ? QStringLiteral("<p>Nothing else is to be known of it.</p>") : text);
}

void ExportDialog::showRefused(const Diagnostic& problem) {
  if (problem.cancelled) return m_summary->setText(QStringLiteral("Cancelled; nothing was written."));
  m_summary->setText(QStringLiteral("✗ Nothing was written."));
  sayWhyNot(problem);
}

/// `html` with links to what it names: Tune, the session's tolerance, and other formats, which get their titles.
QString ExportDialog::withSteps(QString html) const {
  html.replace(QStringLiteral("Tune…"), link(QStringLiteral("tune"), QStringLiteral("Tune…")));
  const QString tolerance = QStringLiteral("the tolerance of the session");
  html.replace(tolerance, link(QStringLiteral("run_settings"), tolerance));
  for (const Exporter& other : exporters())
    if (&other != &exporter())
      html.replace(QRegularExpression(QStringLiteral("the format %1(?![\\w-])").arg(qs(other.name))),
                   QStringLiteral("the format ") + link(kFormatLink + qs(other.name), qs(other.title)));
  return html;
}

void ExportDialog::follow(const QUrl& to) {
  const QString what = QUrl::fromPercentEncoding(to.path(QUrl::FullyEncoded).toUtf8());
  if (to.scheme() != kDo) return goTo(m_context, what, this);
  if (what.startsWith(kFormatLink)) return setFormat(what.mid(kFormatLink.size()));
  m_context.act(what.toLatin1().constData());
}

/// With links to where it is and to what helps, in place of the preview.
void ExportDialog::sayWhyNot(const Diagnostic& problem) {
  QString place;
  for (const std::string& name : {problem.where.node, problem.where.value})
    if (!name.empty()) place += QStringLiteral("<p>At %1</p>").arg(nodeLink(name));
  Diagnostic said = problem;
  said.where = {};  // it stands above
  m_report->setHtml(
      place +
      QStringLiteral("<p>%1</p>").arg(withSteps(withLinks(problemInWords(said), *m_context.document.snapshot()))));
}

}  // namespace fusescope
